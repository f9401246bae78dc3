"""Items with all that was said about them, for reading one disagreement after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from calibration.report import Material
from calibration.types import JudgeReport, Verdict
from labels.kinds import KINDS
from labels.types import Item, Label, Side, Value

Filter = Literal["disagreements", "flips", "unanswered", "cell", "finding", "all"]
FILTERS: Mapping[Filter, str] = {
    "disagreements": "Judge and experts disagree",
    "flips": "The judge changes its mind with the order",
    "unanswered": "The judge gave no usable verdict",
    "cell": "One cell of the table",
    "finding": "The items behind a finding",
    "all": "All items with a verdict",
}
AT_ONCE = 10  # cases on one page


def pages_of(ids: Sequence[str]) -> list[list[str]]:
    """The ids in portions that one page shows."""
    return [list(ids[start : start + AT_ONCE]) for start in range(0, len(ids), AT_ONCE)]


@dataclass(frozen=True, slots=True)
class Said:
    """One rating in words: who, what, and why."""

    who: str
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Case:
    """An item, its labels with their notes, and the judge's verdicts with their reasoning."""

    item: Item
    labels: tuple[Said, ...]
    verdicts: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Behind:
    """The items behind a finding, with the judge and the criterion that it is about."""

    criterion_id: str
    judge: str
    title: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """What the reader opened on another page, as far as it belongs to the judge in view."""

    cell: tuple[Value, Value] | None = None
    finding: Behind | None = None


def opened(judge: JudgeReport, cell: tuple[Value, Value] | None, *, finding: Behind | None) -> Opened:
    """What was opened elsewhere, without what belongs to another judge or criterion."""
    about = (judge.criterion.id, judge.judge)
    same = finding is not None and (finding.criterion_id, finding.judge) == about
    return Opened(cell if cell in judge.confusion.items else None, finding if same else None)


def offered(from_elsewhere: Opened) -> dict[Filter, str]:
    """The filters that can be chosen, each in words."""
    words = dict(FILTERS)
    cell, finding = from_elsewhere.cell, from_elsewhere.finding
    words["cell"] = f"Experts say {cell[0]}, the judge says {cell[1]}" if cell else ""
    words["finding"] = f'Behind the finding "{finding.title}"' if finding else ""
    return {name: text for name, text in words.items() if text}


def case_ids(judge: JudgeReport, verdicts: Sequence[Verdict], *, by: Filter, elsewhere: Opened) -> list[str]:
    """The ids of the items that a filter lets through, in the order of the project."""
    cell = elsewhere.cell
    if by == "finding" and elsewhere.finding is not None:
        return list(elsewhere.finding.items)
    mine = [verdict for verdict in verdicts if verdict.judge == judge.judge]
    if by == "cell" and cell is not None:
        return list(judge.confusion.items.get(cell, ()))
    if by == "flips":
        return list(judge.position.flipped)
    if by == "unanswered":
        return list(dict.fromkeys(v.item_id for v in mine if v.value is None))
    if by == "all":
        return list(dict.fromkeys(v.item_id for v in mine))
    apart = (ids for (row, column), ids in judge.confusion.items.items() if row != column)
    return [item_id for ids in apart for item_id in ids]


def cases_of(material: Material, item_ids: Sequence[str], *, judge: str) -> list[Case]:
    """The cases of these items, with every label and this judge's verdicts."""
    items = {item.id: item for item in material.items}
    names = {annotator.id: annotator.name for annotator in material.annotators}
    labels: dict[str, list[Said]] = {}
    for label in material.labels:
        said = _said_by_person(label, items[label.item_id], who=names[label.annotator_id])
        labels.setdefault(label.item_id, []).append(said)
    verdicts: dict[str, list[Said]] = {}
    for verdict in material.verdicts:
        if verdict.judge == judge:
            verdicts.setdefault(verdict.item_id, []).append(_said_by_judge(verdict, items[verdict.item_id]))
    return [
        Case(items[item_id], tuple(labels.get(item_id, ())), tuple(verdicts.get(item_id, ())))
        for item_id in item_ids
    ]


def in_words(item: Item, value: Value | None) -> str:
    """A value with the system it stands for."""
    if value is None:
        return "no answer"
    if value in ("A", "B"):
        side: Side = "A" if value == "A" else "B"
        return f"{value} ({item.response(side).system})"
    return value


def _said_by_person(label: Label, item: Item, *, who: str) -> Said:
    what = (
        in_words(item, label.value) if label.value else f"skipped: {label.skip_reason or 'no reason given'}"
    )
    seen = "" if label.saw == "nothing" else f" (after seeing a {label.saw}; left out)"
    return Said(who, what + seen, label.note)


def _said_by_judge(verdict: Verdict, item: Item) -> Said:
    what = (
        in_words(item, verdict.value) if verdict.value else f"unanswered: {verdict.error.replace('_', ' ')}"
    )
    return Said(_order_in_words(verdict, item), what, verdict.reasoning or verdict.raw)


def _order_in_words(verdict: Verdict, item: Item) -> str:
    if KINDS[item.kind].responses == 1:
        words = "Verdict"
    elif verdict.first is None:
        words = "Order not known"
    else:
        words = f"{verdict.first} shown first"
    return f"{words}, repeat {verdict.repeat + 1}" if verdict.repeat else words
