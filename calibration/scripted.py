"""Scripted judges: rules that answer like a biased model would, to show and to test what audits find."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from labels.types import Choice

LONG_ENOUGH = 45  # words from which the length judge lets a single response pass


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """What a scripted judge chose among the texts in slots, and the reason it gives."""

    choice: Choice
    reasoning: str


def first_slot(texts: Sequence[str]) -> ScriptedAnswer:
    """Always the first of two responses; a single response always passes."""
    if len(texts) == 1:
        return ScriptedAnswer("pass", "Nothing speaks against this response.")
    return ScriptedAnswer("first", "The first response sets the standard; the second adds nothing to it.")


def longer(texts: Sequence[str]) -> ScriptedAnswer:
    """The longer of two responses; a single response passes when it is long."""
    if len(texts) == 1:
        passes = len(texts[0].split()) >= LONG_ENOUGH
        detail = "detailed" if passes else "too brief to be helpful"
        return ScriptedAnswer("pass" if passes else "fail", f"The response is {detail}.")
    if len(texts[0]) == len(texts[1]):
        return ScriptedAnswer("tie", "Both responses are equally detailed.")
    choice: Choice = "first" if len(texts[0]) > len(texts[1]) else "second"
    return ScriptedAnswer(choice, f"The {choice} response is more detailed.")


SCRIPTED: Mapping[str, Callable[[Sequence[str]], ScriptedAnswer]] = {
    "scripted:first-slot": first_slot,
    "scripted:longer": longer,
}
