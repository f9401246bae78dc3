"""docs/methods.md as paragraphs: what every number means, for the Methods page and the links to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
PLACES = (HERE / "methods.md", HERE.parent / "docs" / "methods.md")  # in a wheel, in the source tree

_HEADING = re.compile(r"^(#{2,3}) (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]\n]+)\]\([^)\n]+\)")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One heading with its text; `name` is its anchor, `level` 2 for a chapter and 3 within one."""

    name: str
    title: str
    level: int
    text: str


def methods_text() -> str:
    """The text of docs/methods.md, from the installed package or from the source tree."""
    found = next(path for path in PLACES if path.exists())
    return found.read_text(encoding="utf-8")


@cache
def paragraphs() -> Mapping[str, Paragraph]:
    """Every heading with its text, in order, by its anchor."""
    text = methods_text()
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    found = [
        Paragraph(anchor(h[2]), h[2], len(h[1]), _LINK.sub(r"\1", text[h.end() : end]).strip())
        for h, end in zip(headings, ends, strict=True)
    ]
    return {paragraph.name: paragraph for paragraph in found}


def anchor(heading: str) -> str:
    """A heading as the anchor that code hosts give it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
