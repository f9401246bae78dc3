"""Conversations of several turns as one text, the same for people and judge."""

from __future__ import annotations

from collections.abc import Mapping

SPEAKERS: Mapping[str, str] = {
    "system": "System",
    "developer": "System",
    "user": "User",
    "human": "User",
    "assistant": "Assistant",
    "gpt": "Assistant",
    "tool": "Tool",
    "function": "Tool",
}


def conversation(value: object) -> str | None:
    """The turns of a list of {"role", "content"} objects as one text; None when it is no such list.

    The names "from" and "value" will do too. A single turn of the assistant is its text alone.
    """
    if not isinstance(value, list | tuple) or not value:
        return None
    turns = [_turn(turn) for turn in value]
    known = [turn for turn in turns if turn is not None]
    if len(known) < len(turns):
        return None
    if [speaker for speaker, _ in known] == ["Assistant"]:
        return known[0][1]
    return "\n\n".join(f"{speaker}:\n{text}" for speaker, text in known)


def _turn(value: object) -> tuple[str, str] | None:
    if not isinstance(value, Mapping):
        return None
    speaker = SPEAKERS.get(str(value.get("role", value.get("from", ""))).strip().casefold())
    text = _content(value.get("content", value.get("value")))
    return None if speaker is None or text is None else (speaker, text)


def _content(value: object) -> str | None:
    """A turn's text; content in parts is taken where all of them are texts."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or not value:
        return None
    parts = [part.get("text") if isinstance(part, Mapping) else None for part in value]
    return "".join(map(str, parts)) if all(isinstance(part, str) for part in parts) else None
