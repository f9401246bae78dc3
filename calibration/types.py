"""The nouns of the calibration house, all frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from calibration.beside import AgainstPeople, Cost, Humans, PassRate, Slice, Versus
from calibration.stats.estimate import Estimate
from labels.types import Choice, Criterion, Side, Value

Unanswered = Literal["", "empty", "unparseable", "refused", "cut_off", "too_long", "error", "not_given"]
LeftOut = Literal[
    "unlabelled",
    "skipped",
    "labelled after a reveal",
    "no consensus",
    "not judged",
    "unanswered",
    "unsettled",
    "inconsistent",
    "other order only",
]
Weight = Literal["concern", "watch", "fine", "unknown"]
TiePolicy = Literal["inconsistent as tie", "dropped", "forward only", "reverse only"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said about an item in one order; `value` is None when it gave nothing usable.

    `first` is the side that stood in the first slot, None for a single response and where the order
    is not known. `choice` is what was chosen as seen; `error` says why there is no value.
    """

    judge: str
    criterion_id: str
    item_id: str
    first: Side | None
    value: Value | None
    choice: Choice | None = None
    repeat: int = 0
    error: Unanswered = ""
    reasoning: str = ""
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """The reference label of an item beside the judge's; `flagged` when a tie stands for a conflict."""

    item_id: str
    reference: Value
    judge: Value
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """Reference labels beside one judge's verdicts under one tie policy.

    Every item of the criterion is either in `pairs` or, once, in `left_out`.
    """

    judge: str
    criterion: Criterion
    policy: TiePolicy
    pairs: tuple[Pair, ...]
    left_out: Mapping[LeftOut, tuple[str, ...]]

    @property
    def n(self) -> int:
        """How many items were compared."""
        return len(self.pairs)


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning of a report: a code for programs and a sentence for people."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Position:
    """What swapping the order did: counts over items, and the items behind each flip.

    `unsettled` counts the pairs without a majority over repeats in some order; they are in no other count.
    """

    pairs: int
    consistent: int
    consistency: Estimate
    hard_flips_first: int
    hard_flips_second: int
    soft_flips_first: int
    soft_flips_second: int
    unanswered: int
    one_order: int
    preference: Estimate
    direction_p: float | None
    direction_p_exact: float | None
    flipped: tuple[str, ...] = ()
    unsettled: int = 0

    @property
    def flip_share(self) -> float:
        """The share of pairs whose verdict changes with the order; 0 where there is no pair."""
        return (self.pairs - self.consistent) / self.pairs if self.pairs else 0.0


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """Agreement and kappa when order conflicts are treated in one way."""

    agreement: Estimate
    kappa: Estimate
    n: int


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of reference (rows) by judge (columns), and the items behind each cell."""

    categories: tuple[Value, ...]
    counts: tuple[tuple[int, ...], ...]
    items: Mapping[tuple[Value, Value], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one audit answers: an estimate, a sentence in plain words, and the items behind it.

    `weight` orders findings, the worst first. `need` is how many more items (or repeats, see the
    sentence) the audit wants before it can answer; 0 when it has enough. `parts` are further numbers
    for the card and its plot, by the words that stand beside them.
    """

    audit: str
    subject: str
    weight: Weight
    estimate: Estimate
    sentence: str
    items: tuple[str, ...] = ()
    need: int = 0
    parts: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """How far one judge agrees with the reference labels of one criterion.

    `sides` names the systems that A and B stand for, and is empty where sides are arbitrary. `flagged`
    counts the compared items whose tie stands for orders or repeats that disagree. `judged` counts the
    items that it was asked about, labelled or not, `unanswered` those with an order left without verdict.
    `fields_left_out` names the metadata with too many values to slice by.
    """

    judge: str
    criterion: Criterion
    items: int
    n: int
    left_out: Mapping[LeftOut, int]
    estimates: Mapping[str, Estimate]
    confusion: Confusion
    position: Position
    tie_policies: Mapping[TiePolicy, PolicyRow]
    system_pairs: Mapping[str, PolicyRow]
    sides: Mapping[Value, str]
    arbitrary_sides: bool
    flagged: int
    warnings: tuple[Warned, ...]
    sentence: str
    judged: int
    unanswered: int
    people: AgainstPeople
    pass_rate: PassRate | None
    slices: tuple[Slice, ...]
    fields_left_out: tuple[str, ...]
    cost: Cost

    @property
    def headline_kappa(self) -> Estimate:
        """Kappa, over winning systems where sides are arbitrary."""
        return self.estimates.get("kappa_systems", self.estimates["kappa"])


@dataclass(frozen=True, slots=True)
class CriterionReport:
    """What people said about one criterion, and each judge against it.

    `annotators` counts each person's labels, `skipped` the items that they declined. `comparisons` hold
    each other judge beside the best one, `optimism` says how far the best kappa of so many judges would lie
    above the truth if all were equally good; None without a second judge or below ten items.
    """

    criterion: Criterion
    items: int
    labelled: int
    annotators: Mapping[str, int]
    skipped: Mapping[str, int]
    judges: tuple[JudgeReport, ...]
    humans: Humans
    comparisons: tuple[Versus, ...]
    optimism: float | None = None


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """The one object that the pages, the terminal, Markdown and JSON draw."""

    title: str
    synthetic: bool
    criteria: tuple[CriterionReport, ...]

    @property
    def judges(self) -> tuple[JudgeReport, ...]:
        """All judges of all criteria."""
        return tuple(judge for criterion in self.criteria for judge in criterion.judges)
