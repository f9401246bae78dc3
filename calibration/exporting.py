"""A whole project as files in the project's own normal form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from calibration.store import RunStore
from calibration.types import Verdict
from labels.errors import UserError
from labels.exporting import WRITERS, Row, item_rows, label_rows, said_of
from labels.files import check_target
from labels.present import Order
from labels.store import LabelStore
from labels.types import Item

_VOTES = {"first": "A", "second": "B"}


def export_project(project: Path, folder: Path, *, form: str) -> list[tuple[Path, int]]:
    """Write items, labels and verdicts of each criterion; the files with their numbers of rows."""
    with LabelStore.open(project) as store, RunStore.open(project) as runs:
        files: dict[str, Sequence[Row]] = {}
        for criterion in store.criteria():
            items = {item.id: item for item in store.items(criterion.kind)}
            files[f"{criterion.kind}.items"] = item_rows(list(items.values()))
            labels = label_rows(store.labels(criterion.id), items, store.annotators())
            files[f"{criterion.kind}.labels"] = labels
            verdicts = runs.verdicts(criterion.id)
            files[f"{criterion.kind}.verdicts"] = [verdict_row(v, items[v.item_id]) for v in verdicts]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"Cannot write to the folder {folder}: {error.strerror}.") from error
    return [_write(folder / f"{name}.{form}", rows, form=form) for name, rows in files.items()]


def verdict_row(verdict: Verdict, item: Item) -> Mapping[str, object]:
    """A verdict with the order it was given in; its vote names the slot, as in the normal form."""
    order: list[str] | None = None
    vote: str | None = said_of(item, verdict.value)
    if verdict.first is not None:
        order = [item.response(side).system for side in Order(verdict.first).sides]
        vote = _VOTES.get(verdict.choice or "", verdict.value)
    row = {"item_id": item.name, "judge": verdict.judge, "order": order, "repeat": verdict.repeat}
    texts = {"reasoning": verdict.reasoning, "raw": verdict.raw}
    return row | {"vote": vote, "error": verdict.error} | texts


def _write(path: Path, rows: Sequence[Row], *, form: str) -> tuple[Path, int]:
    check_target(path)
    try:
        WRITERS[form](rows, path)
    except OSError as error:
        raise UserError(f"Cannot write {path}: {error.strerror}.") from error
    return path, len(rows)
