"""What each annotator said, in the order of work, beside what all said: the ground of their checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

from calibration.audits.basis import by_id
from calibration.material import Material
from calibration.stats.annotators import fast_share, speed_z
from calibration.stats.estimate import Estimate
from labels.types import Item, Label, Value


@dataclass(frozen=True, slots=True)
class Said:
    """All blind labels: by annotator in the order of work, counted by item, and all together."""

    by_annotator: Mapping[str, Sequence[Label]]
    by_item: Mapping[str, Counter[Value]]
    total: Counter[Value]

    @property
    def agreeing_pairs(self) -> tuple[int, int]:
        """Of all pairs of labels by two people on one item: how many are equal, and all."""
        equal = sum(comb(count, 2) for said in self.by_item.values() for count in said.values())
        return equal, sum(comb(said.total(), 2) for said in self.by_item.values())


@dataclass(frozen=True, slots=True)
class Session:
    """One annotator's labels in the order of work, with all that the checks set beside them."""

    name: str
    labels: Sequence[Label]
    said: Said
    repeats: Mapping[str, tuple[Value, Value]]
    far_faster: Estimate
    words: Sequence[int]


def sessions_of(material: Material) -> list[Session]:
    """The sessions of all annotators with blind labels, in the order of `material.annotators`."""
    said = _said(material.labels)
    items = by_id(material)
    far_faster = _far_faster(said, [item.id for item in material.items])
    repeats = _repeats(said, material.repeat_labels)
    return [
        Session(
            name=annotator.name,
            labels=(labels := said.by_annotator[annotator.id]),
            said=said,
            repeats=repeats.get(annotator.id, {}),
            far_faster=far_faster[annotator.id],
            words=[_words(items[label.item_id]) for label in labels],
        )
        for annotator in material.annotators
        if annotator.id in said.by_annotator
    ]


def _said(labels: Sequence[Label]) -> Said:
    by_annotator: dict[str, list[Label]] = {}
    by_item: dict[str, Counter[Value]] = {}
    total: Counter[Value] = Counter()
    for label in sorted(labels, key=lambda label: (label.at, label.id)):
        if label.value is not None and label.saw == "nothing":
            by_annotator.setdefault(label.annotator_id, []).append(label)
            by_item.setdefault(label.item_id, Counter())[label.value] += 1
            total[label.value] += 1
    return Said(by_annotator, by_item, total)


def _far_faster(said: Said, item_ids: Sequence[str]) -> dict[str, Estimate]:
    """The share of each annotator's timed labels that are far faster than their own pace."""
    times = {
        annotator_id: {label.item_id: label.seconds for label in labels}
        for annotator_id, labels in said.by_annotator.items()
    }
    z = speed_z([[seconds.get(item_id) for item_id in item_ids] for seconds in times.values()])
    return dict(zip(times, map(fast_share, z), strict=True))


def _repeats(said: Said, repeated: Sequence[Label]) -> dict[str, dict[str, tuple[Value, Value]]]:
    """Each annotator's first and second label of each item that came twice."""
    first = {
        (label.annotator_id, label.item_id): label.value
        for labels in said.by_annotator.values()
        for label in labels
    }
    pairs: dict[str, dict[str, tuple[Value, Value]]] = {}
    for label in repeated:
        before = first.get((label.annotator_id, label.item_id))
        if before is not None and label.value is not None:
            pairs.setdefault(label.annotator_id, {})[label.item_id] = (before, label.value)
    return pairs


def _words(item: Item) -> int:
    texts = (item.prompt, item.context, item.reference, *(response.text for response in item.responses))
    return sum(len(text.split()) for text in texts)
