"""A judge's text taken apart: complete JSON objects, what was meant to be one, thoughts, and prose.

Every step takes time in proportion to the text, however deep or broken that is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

# Pairs, not a dict: a key may occur twice, and a tuple is never confused with a JSON array.
JsonObject: TypeAlias = tuple[tuple[str, object], ...]
Role = Literal["prose", "object", "broken", "unclosed", "thought", "open thought", "thought until here"]

_DECODER = json.JSONDecoder(  # numbers stay text: 5,000 digits are no error, and 1.0 is what was written
    object_pairs_hook=tuple, parse_int=str, parse_float=str, parse_constant=str, strict=False
)
# A brace opens JSON only before a key, the closing brace or the text's end: sets and {{ are prose.
_MARK = re.compile(r"<(/?)think(?:ing)?>|\{(?=\s*(?:[\"'“}]|\w{1,40}\s*:|\Z))", re.IGNORECASE)
_CODE_FENCE = re.compile(r"```\w*")
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_BRACE = re.compile(r"[{}]")
_VALUE_START = re.compile(r"(?:[a-z]{1,4}|-|\\?u?[0-9a-f]{0,4})", re.IGNORECASE)
_MOST_PIECES = 1_000  # a broken one costs time in proportion to its place; no real answer comes near


@dataclass(frozen=True, slots=True)
class Found:
    """A text taken apart: complete JSON objects, JSON that is not valid, thoughts, the prose around them.

    `after` is the prose that follows the last object.
    """

    objects: tuple[JsonObject, ...]
    broken: tuple[str, ...]
    unclosed: bool
    thoughts: str
    prose: str
    after: str = ""

    @property
    def has_json(self) -> bool:
        """Whether anything in the text is JSON or was meant to be."""
        return bool(self.objects or self.broken)


@dataclass(frozen=True, slots=True)
class _Piece:
    role: Role
    text: str
    end: int
    value: JsonObject = ()


def take_apart(text: str) -> Found:
    """The complete JSON objects of a text in their order, and all the rest; thoughts hold no answer."""
    pieces = list(_pieces(text))
    last = max((i for i, piece in enumerate(pieces) if piece.role == "thought until here"), default=-1)
    until = text[: pieces[last].end] if last >= 0 else ""
    kept = pieces[last + 1 :]

    last_object = max((i for i, piece in enumerate(kept) if piece.role == "object"), default=-1)

    def texts(*roles: Role) -> list[str]:
        return [piece.text for piece in kept if piece.role in roles and piece.text]

    return Found(
        objects=tuple(piece.value for piece in kept if piece.role == "object"),
        broken=tuple(texts("broken", "unclosed")),
        unclosed=any(piece.role in ("unclosed", "open thought") for piece in kept),
        thoughts="\n\n".join([_THOUGHT_END.sub("", until), *texts("thought", "open thought")]).strip(),
        prose=_unfenced(texts("prose")),
        after=_unfenced([piece.text for piece in kept[last_object + 1 :] if piece.role == "prose"]),
    )


def _unfenced(prose: Sequence[str]) -> str:
    return _CODE_FENCE.sub("", "\n".join(prose)).strip(" \t\r\n\ufeff")


def _pieces(text: str) -> Iterator[_Piece]:
    at = marks = 0
    while (mark := _MARK.search(text, at)) and marks < _MOST_PIECES:
        yield _Piece("prose", text[at : mark.start()], mark.start())
        piece = _json(text, mark.start()) if mark[0] == "{" else _thought(text, mark)
        yield piece
        at = piece.end
        marks += 1
    yield _Piece("broken" if mark else "prose", text[at:], len(text))


def _json(text: str, start: int) -> _Piece:
    try:
        value, end = _DECODER.raw_decode(text, start)
        return _Piece("object", "", end, value)
    except json.JSONDecodeError as error:
        failed = error.pos
        cut = error.msg.startswith("Unterminated") or _VALUE_START.fullmatch(text[failed:].strip())
    except RecursionError:
        failed, cut = start, None
    balanced = _balanced_end(text, start)
    if cut or balanced is None:
        return _Piece("unclosed", text[start:], len(text))
    # All that lies within is skipped: what is nested in JSON that is not valid is no answer by itself.
    end = max(failed, balanced)
    return _Piece("broken", text[start:end], end)


def _balanced_end(text: str, start: int) -> int | None:
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return None


def _thought(text: str, mark: re.Match[str]) -> _Piece:
    if mark[1]:  # without its opening tag, which then stood in the prompt: all before it was thought
        return _Piece("thought until here", "", mark.end())
    close = _THOUGHT_END.search(text, mark.end())
    if close:
        return _Piece("thought", text[mark.end() : close.start()].strip(), close.end())
    return _Piece("open thought", text[mark.end() :], len(text))
