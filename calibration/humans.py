"""People as the yardstick: how well they agree with one another, and whether a judge reaches that.

Only blind labels count, as for the reference labels (METHODS.md section 3). With one annotator there is no
ceiling and none is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from calibration.beside import CeilingKind, Diagnosis, Humans, PeoplePair
from calibration.material import Material
from calibration.stats.estimate import Estimate, undefined
from calibration.wording import humans_in_words
from labels.types import Item, Label, Value

MOST_PEOPLE = 10  # pairs of more people than this fill no table that anybody reads
Named = Callable[[str, Value], str]  # what a value on an item means, alike over all items


@dataclass(frozen=True, slots=True)
class Panel:
    """Who said what, blind: one row for each annotator with one place for each item, None where missing."""

    names: tuple[str, ...]
    item_ids: tuple[str, ...]
    rows: tuple[tuple[Value | None, ...], ...]

    @property
    def shared(self) -> int:
        """How many items two people or more have labelled."""
        return sum(sum(value is not None for value in item) >= 2 for item in zip(*self.rows, strict=True))


def panel_of(material: Material) -> Panel:
    """The blind labels of a criterion, people with the most labels first."""
    said: dict[str, dict[str, Value]] = {}
    for label in material.labels:
        if label.saw == "nothing" and label.value is not None:
            said.setdefault(label.annotator_id, {})[label.item_id] = label.value
    names = {annotator.id: annotator.name for annotator in material.annotators}
    people = sorted(said, key=lambda person: (-len(said[person]), names[person]))
    rated = {item_id for labels in said.values() for item_id in labels}
    item_ids = tuple(item.id for item in material.items if item.id in rated)
    rows = tuple(tuple(map(said[person].get, item_ids)) for person in people)
    return Panel(tuple(names[person] for person in people), item_ids, rows)


def humans_of(panel: Panel, named: Named, *, repeats: Mapping[str, Estimate]) -> Humans:
    """How well the people of a panel agree with one another."""
    from calibration.stats.ceiling import consensus
    from calibration.stats.multirater import krippendorff_alpha, mean_pairwise_agreement

    majority = consensus(panel.rows)
    alone = len(panel.names) < 2
    lacking = undefined("not_applicable" if panel.names else "no_items", n_missing=len(panel.item_ids))
    rows = _named_rows(panel, named)
    agreement = lacking if alone else mean_pairwise_agreement(rows)
    alpha = lacking if alone else krippendorff_alpha(rows)
    pairs = _pairs(panel, rows)
    ceiling, by = _ceiling(panel, alpha, pairs)
    return Humans(
        names=panel.names,
        items=panel.shared,
        agreement=agreement,
        alpha=alpha,
        ceiling=ceiling,
        ceiling_by=by,
        pairs=tuple(pair for pair in pairs if pair.agreement.n),
        pairs_left_out=len(list(combinations(panel.names, 2))) - len(pairs),
        no_consensus=majority.count(None),
        repeats=repeats,
        diagnosis=_diagnosis(panel, majority),
        sentence=humans_in_words(panel.names, agreement, ceiling),
    )


def repeat_agreements(material: Material) -> dict[str, Estimate]:
    """How often each annotator gave the same label when an item came again, hidden among the others."""
    from calibration.stats.annotators import repeat_agreement

    first = {(label.annotator_id, label.item_id): label.value for label in material.labels if _counts(label)}
    again: dict[str, list[tuple[Value, Value]]] = {}
    for label in material.repeat_labels:
        before = first.get((label.annotator_id, label.item_id))
        if before is not None and label.value is not None and _counts(label):
            again.setdefault(label.annotator_id, []).append((before, label.value))
    names = {annotator.id: annotator.name for annotator in material.annotators}
    return {
        names[person]: repeat_agreement([one for one, _ in pairs], [other for _, other in pairs])
        for person, pairs in again.items()
    }


def names_of_values(items: Mapping[str, Item], *, over_systems: bool) -> Named:
    """Values as they are, or, where sides are arbitrary, the systems that they stand for."""
    from calibration.agreement import winner

    return (
        (lambda item_id, value: winner(items[item_id], value)) if over_systems else (lambda _, value: value)
    )


def _counts(label: Label) -> bool:
    return label.saw == "nothing" and label.value is not None


def _named_rows(panel: Panel, named: Named) -> list[list[str | None]]:
    return [
        [
            None if value is None else named(item_id, value)
            for item_id, value in zip(panel.item_ids, row, strict=True)
        ]
        for row in panel.rows
    ]


def _pairs(panel: Panel, rows: Sequence[Sequence[str | None]]) -> tuple[PeoplePair, ...]:
    from calibration.stats.multirater import pairwise_matrix

    return tuple(
        PeoplePair(panel.names[pair.first], panel.names[pair.second], pair.agreement, pair.kappa)
        for pair in pairwise_matrix(rows[:MOST_PEOPLE])
    )


def _ceiling(panel: Panel, alpha: Estimate, pairs: Sequence[PeoplePair]) -> tuple[Estimate, CeilingKind]:
    """Kappa for two people who labelled all the same items, else alpha (METHODS.md section 1)."""
    if len(panel.names) == 2 and all(value is not None for row in panel.rows for value in row):
        return pairs[0].kappa, "kappa"
    return alpha, "krippendorff_alpha"


def _diagnosis(panel: Panel, majority: Sequence[Hashable | None]) -> Diagnosis:
    """Dawid and Skene, under its conditions only: 100 items and 3 raters."""
    from calibration.stats.dawid_skene import dawid_skene

    if not panel.names:
        return Diagnosis(why_undefined="no_items")
    model = dawid_skene(panel.rows)
    if model.why_undefined or model.confusion is None or model.priors is None:
        return Diagnosis(why_undefined=model.why_undefined or "too_few_items")
    beliefs = zip(panel.item_ids, model.labels, majority, strict=True)
    differs = tuple(item for item, believed, value in beliefs if value is not None and believed != value)
    right = [float(model.priors @ model.confusion[place].diagonal()) for place in range(len(model.confusion))]
    return Diagnosis(len(panel.item_ids), differs, dict(zip(panel.names, right, strict=True)))
