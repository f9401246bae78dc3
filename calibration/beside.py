"""The nouns of what stands beside a judge's headline: people, pass rates, slices, costs, other judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from calibration.stats.estimate import Estimate, Reason

if TYPE_CHECKING:
    from calibration.stats.ceiling import AltTest
    from calibration.stats.corrected import Sampling

Standing = Literal["better", "within", "below", "open", "unknown"]
Priced = Literal["known", "at least", "unknown", "none"]
CeilingKind = Literal["kappa", "krippendorff_alpha"]


@dataclass(frozen=True, slots=True)
class PeoplePair:
    """Two annotators: agreement and kappa on the items that both labelled blind."""

    first: str
    second: str
    agreement: Estimate
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the model of Dawid and Skene believes of the annotators; a diagnostic, never a reference.

    `differs` holds the items where it believes another value than the majority, `right` how often it
    believes each person to be right.
    """

    items: int = 0
    differs: tuple[str, ...] = ()
    right: Mapping[str, float] | None = None
    why_undefined: Reason | None = None


@dataclass(frozen=True, slots=True)
class Humans:
    """How well annotators agree with one another, from blind labels.

    `ceiling` is the agreement beyond chance that a judge is seen beside; `ceiling_by` says which
    coefficient that is. `pairs` are those of the people with the most labels, `pairs_left_out` the rest.
    """

    names: tuple[str, ...]
    items: int
    agreement: Estimate
    alpha: Estimate
    ceiling: Estimate
    ceiling_by: CeilingKind
    pairs: tuple[PeoplePair, ...]
    pairs_left_out: int
    no_consensus: int
    repeats: Mapping[str, Estimate]
    diagnosis: Diagnosis
    sentence: str


@dataclass(frozen=True, slots=True)
class AgainstPeople:
    """A judge held to how well people agree with one another.

    `delta` is positive where the judge matches people better than they match one another; within
    `margin` below 0 counts as well. `need` is about how many more items would settle it, None if unknown.
    """

    delta: Estimate
    margin: float
    standing: Standing
    need: int | None
    expected: Estimate
    alt_test: AltTest
    sentence: str
    alt_sentence: str


@dataclass(frozen=True, slots=True)
class PassRate:
    """The share of items that people would pass, three ways; `sentence` says of which items.

    `judge` is the judge's own share, `human` that of the labels, `corrected` what both give together.
    `worth` is how many further labels the judge is worth; `stated` is False where `sampling` is inferred.
    """

    sampling: Sampling
    stated: bool
    judge: Estimate
    human: Estimate
    corrected: Estimate
    worth: float | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Slice:
    """The items with one value of a metadata field; exploratory.

    `items` counts all of them, `n` those compared; `adjusted_p` is that of agreement here against
    elsewhere, None where it was not tested; `need` is how many more compared items it lacks.
    """

    field: str
    value: str
    items: int
    n: int
    agreement: Estimate
    kappa: Estimate
    adjusted_p: float | None
    need: int
    words: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What a judge's verdicts cost: dollars for 1,000, and how much of that is known."""

    per_1000: float | None
    priced: Priced


@dataclass(frozen=True, slots=True)
class Versus:
    """Another judge beside the best one, on the items that both were compared on.

    Estimates are the best judge's less the other's; `gained` counts items that only the best got right.
    """

    best: str
    other: str
    gained: int
    lost: int
    agreement: Estimate
    kappa: Estimate
    p: float | None
    adjusted_p: float | None
    proven: bool
    sentence: str
