"""Texts as they are compared: what counts as missing, as the same word, and as text to the letter."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping

from labels.turns import conversation

MISSING = frozenset({"", "nan", "none", "null", "n/a", "<na>"})
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[^\W\d_])(?=\d)")
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_WIDTH = 60
_FORMULA = ("=", "+", "-", "@")
_DEEPEST = 50
_UNSTORABLE = re.compile(r"[\0\ud800-\udfff]")  # neither UTF-8 nor SQLite takes these as they are


def is_missing(value: object) -> bool:
    """Whether this is None, a float NaN, or pandas' NA or NaT (known by name: pandas is slow to import)."""
    if isinstance(value, float):
        return value != value  # noqa: PLR0124 - only NaN differs from itself
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def trimmed(text: str) -> str:
    """Unicode NFC without blanks, byte order marks and zero-width blanks at its ends."""
    whole = unicodedata.normalize("NFC", text)
    kept = (place for place, mark in enumerate(whole) if not _is_edge(mark))
    first = next(kept, None)
    if first is None:
        return ""
    last = next(place for place in range(len(whole) - 1, -1, -1) if not _is_edge(whole[place]))
    return whole[first : last + 1]


def _is_edge(mark: str) -> bool:
    return mark.isspace() or mark in "\ufeff\u200b"


def clean(value: object) -> str | None:
    """An id, label, vote or name as it is compared: NFC, trimmed, 1 and 1.0 as "1"; None when missing."""
    if is_missing(value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = trimmed(str(value))
    return None if text.casefold() in MISSING else text


def person(value: object) -> str | None:
    """A rater's name: as `clean`, with single blanks inside."""
    name = clean(value)
    return None if name is None else " ".join(name.split())


def as_text(value: object) -> str | None:
    """A prompt or a response to the letter, None when missing; ValueError for anything else.

    A conversation of several turns is a text too (see labels.turns).
    """
    if is_missing(value):
        return None
    if isinstance(value, str):
        return value
    if (turns := conversation(value)) is not None:
        return turns
    raise ValueError(f"is {_described(value)} where a text is expected")


def any_text(value: object) -> str:
    """A note or other extra as text: texts to the letter, numbers as `clean`, nested values as JSON."""
    if is_missing(value):
        return ""
    if isinstance(value, str):
        return value
    if (turns := conversation(value)) is not None:
        return turns
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return clean(value) or ""


def key(text: str) -> str:
    """A word or a column's name folded for look-up: "Answer (A)", "answerA" and "answer_a" are one."""
    bare = re.sub(r"[\[\](){}'\"*]", "", trimmed(text))
    folded = re.sub(r"(?<=\w)[\s_\-]+|[\s_]+", "_", _WORD_STARTS.sub("_", bare).casefold()).strip("_.!,;:")
    return whole(folded)


def whole(text: str) -> str:
    """A number that only a spreadsheet's float made of it, "1.0", as "1"; other texts as they are."""
    match = _WHOLE.fullmatch(text)
    return match[1] if match else text


def quoted(text: str) -> str:
    """A text for a message: in quotes, on one line, and cut when it is long."""
    return repr(text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…")


def one_line(text: str) -> str:
    """A text for a table on screen: on one line, cut when long, without what a terminal would obey."""
    line = "".join(c if c.isprintable() else " " for c in text[: _WIDTH + 1])
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 item", "1,200 items"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def storable(text: str) -> str:
    """The text with a replacement character for each one that no file takes: NUL and lone surrogates."""
    return _UNSTORABLE.sub("\ufffd", text)


def printable(text: str) -> str:
    """A text on one line, whole, with marks that steer a terminal or turn text round written out."""
    return "".join(c if c.isprintable() else " " if c.isspace() else f"⟨U+{ord(c):04X}⟩" for c in text)


def parse_json(text: str) -> object:
    """The value of a JSON text; ValueError with the reason, also for keys that occur twice."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise ValueError(f"is not valid JSON ({error.msg} at {at})") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        field = trimmed(name)
        if field in found:
            raise ValueError(f"has the key {field!r} twice")
        found[field] = value
    return found


def flaw_of(fields: Mapping[str, object]) -> str:
    """What makes a row unusable wherever it stands in it, or nothing."""
    level: list[object] = [fields]
    for _ in range(_DEEPEST):
        below: list[object] = []
        for value in level:
            if isinstance(value, str) and (flaw := _bad_text(value)):
                return flaw
            if isinstance(value, Mapping):
                below += [*value.keys(), *value.values()]
            elif isinstance(value, list):
                below += value
        if not below:
            return ""
        level = below
    return f"is nested more than {_DEEPEST} deep"


def _bad_text(text: str) -> str:
    if "\0" in text:
        return "holds a NUL character; take it out"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "holds bytes or characters that are not valid UTF-8; save the file as UTF-8"
    return ""


def unescaped(cell: str) -> str:
    """A cell without the apostrophe that guards it against being taken for a formula."""
    return cell[1:] if cell[:1] == "'" and cell.lstrip("'")[:1] in _FORMULA else cell


def _described(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value}"
    return "an object" if isinstance(value, Mapping) else "a list" if isinstance(value, list) else "no text"
