"""Which family a model belongs to, from its name; what the table does not know stays unknown."""

from __future__ import annotations

import re
from collections.abc import Mapping

FAMILIES: Mapping[str, str] = {
    "gpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "chatgpt": "openai",
    "claude": "anthropic",
    "gemini": "google",
    "gemma": "google",
    "palm": "google",
    "llama": "meta",
    "mistral": "mistral",
    "mixtral": "mistral",
    "ministral": "mistral",
    "codestral": "mistral",
    "qwen": "alibaba",
    "qwq": "alibaba",
    "deepseek": "deepseek",
    "grok": "xai",
    "command": "cohere",
    "aya": "cohere",
    "phi": "microsoft",
    "nova": "amazon",
    "titan": "amazon",
    "glm": "glm",
    "yi": "yi",
    "kimi": "kimi",
}
_VENDORS = re.compile(r"^(?:[a-z]+\.)+")  # "us.anthropic.claude-3" is "claude-3"


def families_of(name: str, families: Mapping[str, str] | None = None) -> frozenset[str]:
    """The families of a system or judge: the user's own word, else the table's; empty when unknown.

    A distilled model belongs to its own family and to that of its base, so it may have two. The user's word
    may name two as well, with a comma between them.
    """
    if families is not None and name in families:
        return frozenset(part.strip().casefold() for part in families[name].split(",") if part.strip())
    last = name.casefold().strip().split("/")[-1]
    starts = [last, _VENDORS.sub("", last)]
    if "distill" in last:
        starts += re.split(r"[-_]", last)
    return frozenset(family for start in starts if (family := _by_prefix(start)))


def _by_prefix(name: str) -> str:
    """The family whose prefix the name starts with, and no longer word: "yi-34b" but not "yield"."""
    word = re.match(r"o[134](?!\d)|[a-z]+", name)
    return FAMILIES.get(word[0], "") if word else ""
