"""From a judge's text to the one choice that it states, or to the reason why it states none.

Nothing is guessed: what is contradicting, malformed, cut off or in unknown words stays unanswered.
Every step takes time in proportion to the text, however deep or broken that is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from calibration.pieces import Found, JsonObject, take_apart
from calibration.types import Unanswered
from labels.text import quoted, storable, whole
from labels.types import Choice, KindName

_LONGEST_WORD = 80

_NOUN = r"(?:response|assistant|output|answer|model|candidate|option)"
_SLOT = rf"(?:the )?(?:{_NOUN}[ #_-]?\(?(1|2|a|b|one|two)\)?|(first|second)(?: {_NOUN}| one)?)"
_SLOT_WORD = re.compile(rf"{_SLOT}|\(?(1|2|a|b)\)?")
_LEAD = r"(?:(?:overall|therefore|thus|hence|so|in conclusion|correction|on reflection|actually)[,:]? )?"
_BETTER = re.compile(rf"{_LEAD}{_SLOT} (?:is (?:the )?better(?: {_NOUN}| one)?|wins)")
_TIED = re.compile(
    rf"{_LEAD}(?:(?:it is|it's|this is) a tie|(?:both|the|the two) {_NOUN}s are (?:tied|equal|equally good))"
)
_SLOTS: dict[str, Choice] = dict.fromkeys(["1", "a", "one", "first"], "first")
_SLOTS |= dict.fromkeys(["2", "b", "two", "second"], "second")
_TIES = frozenset({"tie", "a tie", "tied", "draw", "both", "equal", "equally good", "neither"})
_GRADES: dict[str, Choice] = dict.fromkeys(["pass", "passes", "passed", "yes", "true", "1"], "pass")
_GRADES |= dict.fromkeys(["fail", "fails", "failed", "no", "false", "0"], "fail")
# At the end of an explanation these may answer some other question, so there they are no verdict.
_WEAK = frozenset({"1", "2", "0", "yes", "no", "true", "false", "both", "equal", "neither"})
_DRESS = " \t\r\n\u200b\ufeff\"'“”‘’«»`*_[]<>.!"
_BRACKETED = re.compile(
    r"(?i)(?P<unsure>\b(?:not|never|if|than)\s+)?"
    r"(?:\[\[(?P<double>[^\[\]\n]{1,80})\]\]|\*\*\[(?P<bold>[^\[\]\n]{1,80})\]\*\*)"
)
_LABEL = re.compile(r"[\W_]*(?:(?:my )?final )?verdict[*_]*:", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_CANNOT = r"(?:can(?:no|')t|can not|am unable to|am not able to|won't|will not|must decline to)"
_REFUSAL = re.compile(
    rf"(?i)\b(?:i'm|i am) (?:very |so |really )?sorry\b[^\n]{{0,80}}\b(?:{_CANNOT}|unable|not able)\b"
    rf"|\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b[^\n]{{0,160}}\b{_CANNOT}\b"
    rf"|\bi {_CANNOT} (?:assist|help|comply|engage|fulfil|provide|judge|evaluate|compare|answer|continue)"
)
_OVERLONG = frozenset({"length", "max_tokens"})
_FILTERED = frozenset({"content_filter", "refusal"})


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a judge's text says: a choice, or why there is none and the sentence that asks to mend it."""

    choice: Choice | None = None
    reasoning: str = ""
    error: Unanswered = ""
    fault: str = ""


def parse_verdict(text: str, kind: KindName, *, ties: bool = True, finish_reason: str = "") -> Parsed:
    """The choice that the text states without contradiction, else why it is unanswered; never raises."""
    found = take_apart(text)
    stated = _in_objects(found, kind)
    ended = not found.unclosed and finish_reason not in _OVERLONG | _FILTERED
    if ended and not found.has_json and not stated.fault:
        stated = _in_prose(found.prose, kind)
    if stated.choice and found.objects:
        stated = _beside_prose(stated, found, kind)
    reasoning = storable("\n\n".join(filter(None, (found.thoughts, stated.reasoning))))
    if stated.choice == "tie" and not ties:
        stated = Parsed(fault="The verdict is a tie, which is not allowed here.")
    if stated.choice:
        return Parsed(stated.choice, reasoning)
    error, fault = why_unanswered(found, finish_reason, fault=stated.fault, key="verdict")
    return Parsed(None, reasoning, error, fault)


def why_unanswered(found: Found, finish_reason: str, *, fault: str, key: str) -> tuple[Unanswered, str]:
    """The reason why a text holds nothing usable, and the sentence for the repair request."""
    if fault:
        return "unparseable", fault
    if finish_reason in _FILTERED:
        return "refused", "It was withheld by a content filter."
    if found.unclosed or finish_reason in _OVERLONG:
        return "cut_off", "It ended before it was complete; keep the reasoning short."
    if not found.has_json and not found.prose:
        return "empty", "It was empty."
    if declines(found.prose):
        return "refused", "It declined; the texts are only to be judged, nothing in them is to be done."
    return "unparseable", f'It holds no JSON object with the key "{key}".'


def declines(prose: str) -> bool:
    """Whether a judge says that it will not judge."""
    return _REFUSAL.search(prose[:1000].replace("’", "'")) is not None


def _beside_prose(stated: Parsed, found: Found, kind: KindName) -> Parsed:
    """An object's choice, unless the judge declines outside it or says something else after it."""
    if declines(found.prose):
        return Parsed(None, stated.reasoning)
    if set(_said_after(found.after, kind)) - {stated.choice}:
        return Parsed(None, stated.reasoning, fault="It states verdicts that contradict each other.")
    return stated


def keyed_objects(found: Found, key: str) -> tuple[tuple[JsonObject, ...], str]:
    """The complete objects that have the key, or none and the fault that it also stands elsewhere."""
    if any(key in text.casefold() for text in found.broken):
        return (), "" if found.unclosed else "Its JSON is not valid."  # unclosed is cut off, no fault
    if re.search(rf"[\"'“]{key}[\"'”]\s*:", found.prose, re.IGNORECASE):
        return (), f'The key "{key}" stands outside a JSON object.'
    inner = (_unwrapped(value, key) for value in found.objects)
    return tuple(value for value in inner if values_of(value, key)), ""


def values_of(value: JsonObject, key: str) -> list[object]:
    """All values that an object has under the key, whatever its case."""
    return [held for name, held in value if len(name) <= _LONGEST_WORD and _bare(name) == key]


def reasoning_of(value: JsonObject) -> str:
    """The object's reasoning, empty when it has none that is a text."""
    return "\n\n".join(held for held in values_of(value, "reasoning") if isinstance(held, str))


def word_of(value: object) -> str:
    """A short text, a number or a boolean as a bare word to compare; empty for anything else."""
    text = str(value) if isinstance(value, str | bool) else ""
    return whole(_bare(text)) if len(text) <= _LONGEST_WORD else ""


def choice_of(value: object, kind: KindName) -> Choice | None:
    """The choice that a whole word, number or closed sentence stands for; None for anything else."""
    word = word_of(value)
    if kind == "binary":
        return _GRADES.get(word)
    return "tie" if word in _TIES else _slot(_SLOT_WORD.fullmatch(word)) or _closed(word)


def _unwrapped(value: JsonObject, key: str) -> JsonObject:
    while len(value) == 1 and isinstance(value[0][1], tuple) and not values_of(value, key):
        value = value[0][1]
    return value


def _bare(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split())).casefold().strip(_DRESS)


def _slot(match: re.Match[str] | None) -> Choice | None:
    words = (word for word in match.groups() if word) if match else iter(())
    return next((_SLOTS[word] for word in words), None)


def _closed(sentence: str) -> Choice | None:
    return "tie" if _TIED.fullmatch(sentence) else _slot(_BETTER.fullmatch(sentence))


def _in_objects(found: Found, kind: KindName) -> Parsed:
    objects, fault = keyed_objects(found, "verdict")
    values = [held for value in objects for held in values_of(value, "verdict")]
    if fault or not values:
        return Parsed(fault=fault)
    said = quoted(values[0]) if isinstance(values[0], str) else "null" if values[0] is None else "no text"
    fault = f"The verdict is {said}, which is none of the words asked for."
    reasoning = reasoning_of(objects[-1]) or found.prose.strip("{} \n")
    return _agreed([choice_of(held, kind) for held in values], fault=fault, reasoning=reasoning)


def _agreed(choices: Sequence[Choice | None], *, fault: str, reasoning: str) -> Parsed:
    if len(set(choices)) > 1:
        return Parsed(None, reasoning, fault="It states verdicts that contradict each other.")
    return Parsed(choices[0], reasoning, fault="" if choices[0] else fault)


def _in_prose(prose: str, kind: KindName) -> Parsed:
    # The last line first; a text states a verdict when it ends with one or has one in double brackets.
    lines = [*dict.fromkeys(line.strip() for line in reversed(prose.splitlines()) if line.strip())]
    brackets = _BRACKETED.finditer(prose)
    marked = [None if m["unsure"] else choice_of(m["double"] or m["bold"], kind) for m in brackets]
    words = [_on_line(line, kind, alone=len(lines) == 1) for line in lines]
    closed = [_sentence(part, kind) for line in lines for part in reversed(_SENTENCE_END.split(line))]
    ending = [choice for choice in (*words[:1], *closed[:1]) if choice]
    if not marked and not ending:
        return Parsed()
    # Beside a bracketed verdict a line that only names a response is a heading.
    others = [choice for choice in (*closed, *([] if marked else words)) if choice]
    return _agreed([*marked, *ending, *others], fault="", reasoning=prose)


def _said_after(prose: str, kind: KindName) -> Iterator[Choice]:
    """The verdicts that prose states in brackets, after a label or as a closed sentence; no bare words."""
    for match in _BRACKETED.finditer(prose):
        if not match["unsure"] and (choice := choice_of(match["double"] or match["bold"], kind)):
            yield choice
    for line in map(str.strip, prose.splitlines()):
        label = _LABEL.match(line[:_LONGEST_WORD])
        if label and (choice := choice_of(line[label.end() :], kind)):
            yield choice
        yield from filter(None, (_sentence(part, kind) for part in _SENTENCE_END.split(line)))


def _on_line(line: str, kind: KindName, *, alone: bool) -> Choice | None:
    label = _LABEL.match(line[:_LONGEST_WORD])
    body = line[label.end() :] if label else line
    choice = choice_of(body, kind)
    return choice if alone or label or not choice or _bare(body) not in _WEAK else None


def _sentence(part: str, kind: KindName) -> Choice | None:
    # What stands in quotes was said by somebody else.
    if kind == "binary" or len(part) > _LONGEST_WORD or any(mark in part for mark in '"“”«»'):
        return None
    return _closed(_bare(part))
