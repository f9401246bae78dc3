"""From a project file to its report and its findings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from calibration.audits import audited
from calibration.render.findings import FindingsReport
from calibration.report import Extras, Material, criterion_report
from calibration.side_by_side import costs_of
from calibration.store import RunStore
from calibration.types import AgreementReport
from labels.errors import UserError
from labels.split import SETTING, part_of, share_from
from labels.store import LabelStore
from labels.types import Criterion, Saw

SEEN: tuple[Saw, ...] = ("verdict", "label")


def load_report(path: Path | str) -> AgreementReport:
    """The report of a project as it stands now; UserError when the file is missing or is no project."""
    with LabelStore.open(path) as store:
        criteria = store.criteria()
        title = store.setting("title") or Path(path).stem
        synthetic = store.setting("synthetic") == "yes"
        sampling = store.setting("calibration_sampling")
    with RunStore.open(path) as runs:
        asked = {criterion.id: runs.runs(criterion.id) for criterion in criteria}
    reports = []
    for criterion in criteria:
        summaries = asked[criterion.id]
        tuned = frozenset(run.judge for run in summaries if run.tuned)
        extras = Extras(sampling, costs_of(summaries), tuned)
        reports.append(criterion_report(load_material(path, criterion), extras))
    return AgreementReport(title, synthetic, tuple(reports))


def load_findings(path: Path | str, judge: str = "") -> FindingsReport:
    """What the audits say of every judge, or of one; UserError when the project has none of this name."""
    with LabelStore.open(path) as store:
        criteria = store.criteria()
        title = store.setting("title") or Path(path).stem
        synthetic = store.setting("synthetic") == "yes"
    materials = [load_material(path, criterion, for_audits=True) for criterion in criteria]
    judges = [list(dict.fromkeys(v.judge for v in material.verdicts)) for material in materials]
    known = {name for names in judges for name in names}
    if judge and judge not in known:
        listed = "; ".join(sorted(known)) or "none yet"
        raise UserError(f'No judge called "{judge}" has rated items of {path}. Judges: {listed}.')
    found = [
        audited(material, name)
        for material, names in zip(materials, judges, strict=True)
        for name in names or [""]
        if judge in ("", name)
    ]
    return FindingsReport(title, synthetic, tuple(found))


def load_material(path: Path | str, criterion: Criterion, *, for_audits: bool = False) -> Material:
    """The items, labels and verdicts of one criterion; what only audits read is loaded for them alone.

    Items of the holdout, with all that was said about them, are counted and left aside.
    """
    with LabelStore.open(path) as store, RunStore.open(path) as runs:
        material = Material(
            criterion=criterion,
            items=store.items(criterion.kind),
            labels=store.labels(criterion.id),
            annotators=store.annotators(),
            verdicts=runs.verdicts(criterion.id),
            repeat_labels=store.repeat_labels(criterion.id),
            attempts=runs.attempts(criterion.id) if for_audits else (),
            families=families_set(store) if for_audits else {},
        )
        share, salt = share_from(store.setting(SETTING)), store.setting("salt")
    return _without_holdout(material, salt, share=share) if share else material


def _without_holdout(material: Material, salt: str, *, share: float) -> Material:
    items = [item for item in material.items if part_of(item, salt, share=share) == "develop"]
    kept = {item.id for item in items}
    return replace(
        material,
        items=items,
        labels=[label for label in material.labels if label.item_id in kept],
        verdicts=[verdict for verdict in material.verdicts if verdict.item_id in kept],
        repeat_labels=[label for label in material.repeat_labels if label.item_id in kept],
        attempts=[attempt for attempt in material.attempts if attempt.item_id in kept],
        withheld=len(material.items) - len(items),
    )


def families_set(store: LabelStore) -> Mapping[str, str]:
    """The families that the project's own words give to systems and judges."""
    return {str(name): str(family) for name, family in json.loads(store.setting("families", "{}")).items()}


def set_families(path: Path | str, families: Mapping[str, str]) -> None:
    """Store to which family systems or judges belong; an empty family leaves it to the name again."""
    with LabelStore.open(path) as store, RunStore.open(path) as runs:
        systems = {name for criterion in store.criteria() for name in store.systems(criterion.kind)}
        known = systems | {name for criterion in store.criteria() for name in runs.judges(criterion.id)}
        for name in families:
            if name not in known:
                listed = "; ".join(sorted(known)) or "none yet"
                raise UserError(f'There is no system or judge called "{name}". There are: {listed}.')
        kept = {name: family for name, family in {**families_set(store), **families}.items() if family}
        store.set_setting("families", json.dumps(kept, ensure_ascii=False))


def state_of(path: Path | str) -> str:
    """A text that changes whenever a label or a verdict arrives, to know when a report is stale."""
    with LabelStore.open(path) as store, RunStore.open(path) as runs:
        return f"{store.state()} {runs.state()}"


def note_reveal(path: Path | str, criterion_id: str, *, annotator_id: str, item_ids: Sequence[str]) -> None:
    """Note that a person who also labels has now seen the verdicts and the labels on these items."""
    with LabelStore.open(path) as store:
        for saw in SEEN:
            store.reveal(annotator_id, criterion_id, item_ids=item_ids, saw=saw)
