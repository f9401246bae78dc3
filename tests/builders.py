"""Small real projects for the tests: real SQLite files, no mocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from calibration.store import RunStore
from calibration.types import Verdict
from labels.kinds import KINDS
from labels.store import LabelStore
from labels.types import Choice, Criterion, ImportedLabel, Item, Response, Side, Value

PAIRS = Criterion("pairwise-1", "pairwise", "Which response is better?")
SINGLES = Criterion("binary-1", "binary", "Is this response good enough?")


class Shown:
    """An order as a judge's request or a person's presentation has it."""

    def __init__(self, first: Side) -> None:
        self.first: Side = first


def pair(number: int, systems: tuple[str, str] = ("alpha", "beta")) -> Item:
    """A pair of two short responses by two systems."""
    texts = (f"short answer {number}", f"another answer {number}")
    responses = (Response("A", systems[0], texts[0], 0), Response("B", systems[1], texts[1], 1))
    return Item(f"i{number:04}", f"pair-{number}", "pairwise", f"question {number}", responses)


def single(number: int) -> Item:
    """A single response."""
    response = Response("A", "alpha", f"answer {number}", 0)
    return Item(f"s{number:04}", f"single-{number}", "binary", f"question {number}", (response,))


def label(item: Item, annotator: str, value: Value) -> ImportedLabel:
    """A label as an import has it."""
    criterion = PAIRS if item.kind == "pairwise" else SINGLES
    return ImportedLabel(criterion.id, item.id, annotator, value)


def verdict(
    item: Item, choice: Choice | None, *, first: Side | None = "A", judge: str = "judge", repeat: int = 0
) -> Verdict:
    """A verdict from what was chosen as seen; None is unanswered."""
    criterion = PAIRS if item.kind == "pairwise" else SINGLES
    value = None if choice is None else KINDS[item.kind].value(Shown(first or "A"), choice)
    error = "not_given" if value is None else ""
    return Verdict(judge, criterion.id, item.id, first, value, choice, repeat, error)


def make_project(
    path: Path,
    items: Sequence[Item],
    labels: Sequence[ImportedLabel] = (),
    *,
    verdicts: Sequence[Verdict] = (),
    criteria: Sequence[Criterion] = (PAIRS,),
    settings: Mapping[str, str] | None = None,
) -> Path:
    """A project file that holds all this."""
    LabelStore.create(path, criteria)
    with LabelStore.open(path) as store:
        store.add_items(items)
        store.add_labels(labels)
        for key, value in (settings or {}).items():
            store.set_setting(key, value)
    with RunStore.open(path) as runs:
        runs.add_verdicts(verdicts, "test")
    return path
