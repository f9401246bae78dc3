"""From a project file to its report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from calibration.report import Material, criterion_report
from calibration.store import RunStore
from calibration.types import AgreementReport
from labels.store import LabelStore
from labels.types import Criterion, Saw

SEEN: tuple[Saw, ...] = ("verdict", "label")


def load_report(path: Path | str) -> AgreementReport:
    """The report of a project as it stands now; UserError when the file is missing or is no project."""
    with LabelStore.open(path) as store:
        criteria = store.criteria()
        title = store.setting("title") or Path(path).stem
        synthetic = store.setting("synthetic") == "yes"
    reports = tuple(criterion_report(load_material(path, criterion)) for criterion in criteria)
    return AgreementReport(title, synthetic, reports)


def load_material(path: Path | str, criterion: Criterion) -> Material:
    """The items, labels and verdicts of one criterion."""
    with LabelStore.open(path) as store, RunStore.open(path) as runs:
        return Material(
            criterion=criterion,
            items=store.items(criterion.kind),
            labels=store.labels(criterion.id),
            annotators=store.annotators(),
            verdicts=runs.verdicts(criterion.id),
        )


def state_of(path: Path | str) -> str:
    """A text that changes whenever a label or a verdict arrives, to know when a report is stale."""
    with LabelStore.open(path) as store, RunStore.open(path) as runs:
        return f"{store.state()} {runs.state()}"


def note_reveal(path: Path | str, criterion_id: str, *, annotator_id: str, item_ids: Sequence[str]) -> None:
    """Note that a person who also labels has now seen the verdicts and the labels on these items."""
    with LabelStore.open(path) as store:
        for saw in SEEN:
            store.reveal(annotator_id, criterion_id, item_ids=item_ids, saw=saw)
