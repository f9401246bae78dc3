"""Format audit: do lists, headings and other Markdown move the judge beyond experts and length?

The estimate is the odds ratio of being chosen for each doubling of a response's Markdown marks (plus one) at
equal expert label and length, by the model of the length audit; its rule is the same: *concern* away from 1
and at least 1.5 or at most 1 / 1.5, *watch* that size unproven, *fine* within 1/2 and 2, else *unknown*.
Lists, headings and other marks stand alone only in the parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import log

from calibration.audits.basis import by_id, compared, lacking, more_items, weigh
from calibration.audits.length import length_ratio
from calibration.audits.modelled import ODDS, logged, model_odds, moved, shortage, times
from calibration.material import Material
from calibration.types import Finding, Pair
from labels.text import counted
from labels.types import Item

_LIST = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+\S", re.MULTILINE)
_MARK = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__|`[^`\n]+`|^[ \t]*(?:```|\|.*\|)", re.MULTILINE)


def audit(material: Material, judge: str) -> Finding:
    """Does the judge favour responses for their layout?"""
    if material.criterion.kind != "pairwise":
        sentence = "Single responses are not chosen over one another: 0 pairs to compare by layout."
        return lacking("format", judge, sentence, need=0, reason="not_applicable")
    pairs = compared(material, judge).pairs
    items = by_id(material)
    ratios = _ratios(pairs, items, count=marks)
    need = shortage(pairs, ratios)
    if need:
        sentence = (
            f"{counted(len(pairs), 'labelled pair')} cannot show yet whether layout counts: needs at least "
            f"{need} more that differ in Markdown and have choices for both sides."
        )
        return lacking("format", judge, sentence, need=need, n=len(pairs))
    return _finding(judge, pairs, items=items)


def marks(text: str) -> int:
    """How many Markdown marks a text has: list items, headings, bold, code and table lines."""
    return sum(count(text) for count in FEATURES.values())


def lists(text: str) -> int:
    """Lines that are list items."""
    return len(_LIST.findall(text))


def headings(text: str) -> int:
    """Lines that are headings."""
    return len(_HEADING.findall(text))


def other_marks(text: str) -> int:
    """Bold spans, code spans, code fences and table lines."""
    return len(_MARK.findall(text))


FEATURES: Mapping[str, Callable[[str], int]] = {
    "list items": lists,
    "headings": headings,
    "bold, code and tables": other_marks,
}


def _finding(judge: str, pairs: Sequence[Pair], *, items: Mapping[str, Item]) -> Finding:
    lengths = [length_ratio(items[pair.item_id]) for pair in pairs]
    ratios = _ratios(pairs, items, count=marks)
    effect = model_odds(pairs, [lengths, ratios], column=3)
    weight = weigh(logged(effect), ODDS)
    need = more_items(logged(effect), ODDS) if weight == "unknown" else 0
    tail = f"; needs about {need} more to be sure either way" if need else ""
    sentence = (
        f"At the same expert label and length, a response with twice the lists, headings and bold has "
        f"{times(effect)} of being chosen, over {counted(len(pairs), 'pair')}{tail}."
    )
    parts = {
        f"odds for twice the {name}": effect if own == ratios else model_odds(pairs, [lengths, own], column=3)
        for name, own in ((name, _ratios(pairs, items, count=count)) for name, count in FEATURES.items())
    }
    return Finding(
        "format", judge, weight, effect, sentence, moved(pairs, ratios, effect=effect), need, parts
    )


def _ratios(pairs: Sequence[Pair], items: Mapping[str, Item], *, count: Callable[[str], int]) -> list[float]:
    texts = ((items[p.item_id].response("A").text, items[p.item_id].response("B").text) for p in pairs)
    return [log((count(a) + 1) / (count(b) + 1)) for a, b in texts]
