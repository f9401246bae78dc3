"""Where a judge stands before a gate now: decided, or what it lacks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from calibration.agreement import pooled_shares
from calibration.compare import FEW_ITEMS, UNANSWERED_LIMIT
from calibration.planning import GAP, LABELS, MOST_COMMON, NONE, POWER, Wish
from calibration.stats.estimate import Estimate
from calibration.types import AgreementReport, JudgeReport

Obstacle = Literal["", "few_items", "below_minimum", "unanswered", "many_systems"]
MINIMUM, MINIMUM_OF_EACH = 30, 10  # METHODS 12: items of a gate, and of each of two answers
NoNumber = Literal["", "undefined", "no_verdict", "below_chance", "over_1000"]


@dataclass(frozen=True, slots=True)
class Start:
    """Where a judge of the project stands now, and the wish that begins there.

    `over_systems` is its kappa over winning systems where sides are arbitrary: `counts` are of sides, which
    are another table than that kappa's. `unanswered` counts the labelled items without a usable verdict.
    """

    judge: str
    question: str
    wish: Wish
    counts: tuple[tuple[int, ...], ...]
    unanswered: int = 0
    over_systems: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a gate with this floor says of a judge now; `check` is kappa with its cross-check interval.

    `above` is the chance, given these labels, that kappa lies above the floor; None where it is undefined.
    `more` counts the labels that would decide it, None where `why_no_number` says so or nothing is lacking.
    """

    start: Start
    floor: float
    kappa: Estimate
    check: Estimate = NONE
    more: int | None = None
    why_no_number: NoNumber = ""
    above: float | None = None

    @property
    def obstacle(self) -> Obstacle:
        """Why no verdict is given whatever kappa is (METHODS 0, 1 and 4)."""
        if self.start.over_systems is not None:
            return "many_systems"
        if self.kappa.n < FEW_ITEMS:
            return "few_items"
        if self.lacking:
            return "below_minimum"
        asked = self.kappa.n + self.start.unanswered
        return "unanswered" if self.start.unanswered > UNANSWERED_LIMIT * asked else ""

    @property
    def lacking(self) -> int:
        """The labels that the least of a gate lacks: 30 in all, and 10 of each of two answers."""
        counts = self.start.counts
        rarest = min(map(sum, counts), default=0) if len(counts) == 2 else MINIMUM_OF_EACH
        return max(0, MINIMUM - self.kappa.n, MINIMUM_OF_EACH - rarest)

    @property
    def verdict(self) -> str:
        """PASS or FAIL where the interval lies on one side of the floor, else an empty text."""
        return "" if self.obstacle else self.side

    @property
    def side(self) -> str:
        """On which side of the floor the interval lies, whether or not a verdict may be given."""
        return self._side(self.kappa)

    @property
    def disagree(self) -> bool:
        """Whether only one of the two intervals has the floor below it (METHODS 1.1)."""
        return not self.obstacle and (self._side(self.kappa) == "PASS") != (self._side(self.check) == "PASS")

    def _side(self, kappa: Estimate) -> str:
        if kappa.low is not None and kappa.low >= self.floor:
            return "PASS"
        return "FAIL" if kappa.high is not None and kappa.high < self.floor else ""


def starts_of(report: AgreementReport) -> tuple[Start, ...]:
    """Each judge that has been compared with labels, the one with most items first."""
    judges = sorted((judge for judge in report.judges if judge.n), key=lambda judge: -judge.n)
    return tuple(_start(judge) for judge in judges)


def outlook_of(start: Start, floor: float) -> Outlook:
    """Whether a gate with this floor is decided, by the draws of a gate, and what it lacks."""
    from calibration.stats.agreement import cohen_kappa, probability_above
    from calibration.stats.intervals import decided

    if start.over_systems is not None:
        return Outlook(start, floor, start.over_systems, why_no_number="no_verdict")
    found = decided(partial(cohen_kappa, start.counts), floor)
    check = cohen_kappa(start.counts, method="wilson-plugin")
    outlook = Outlook(start, floor, found, check)
    more, why = (None, "") if outlook.verdict else _more(outlook)
    return replace(outlook, more=more, why_no_number=why, above=probability_above(start.counts, floor))


def _more(outlook: Outlook) -> tuple[int | None, NoNumber]:
    """The labels that an open gate lacks, or why there is no number; a kappa below 0 is taken as 0."""
    from calibration.stats.planning import extra_items

    found, floor = outlook.kappa, outlook.floor
    if found.value is None:
        return None, "undefined"
    if outlook.obstacle not in ("", "below_minimum"):
        return None, "no_verdict"
    kappa = max(0.0, found.value)
    if abs(kappa - floor) < GAP:
        return None, "below_chance" if found.value < min(0.0, floor) else "over_1000"
    margins = pooled_shares(outlook.start.counts)
    more = extra_items(kappa, floor, margins=margins, items=found.n, power=POWER)
    return (None, "over_1000") if more is None else (max(more, outlook.lacking), "")


def _start(judge: JudgeReport) -> Start:
    """The wish that looks like this judge, with the experts' mix of answers, as far as sliders can say it."""
    counts = judge.confusion.counts
    used = max(2, sum(share > 0 for share in pooled_shares(counts)))
    share = Wish().share if judge.arbitrary_sides else max(map(sum, counts)) / judge.n
    wish = Wish(
        labels=min(max(judge.n, LABELS[0]), LABELS[1]),
        agreement=round(judge.estimates["agreement"].value or 0.0, 2),
        share=round(min(max(share, 1 / used), MOST_COMMON), 2),
        answers=used,
    )
    start = Start(judge.judge, judge.criterion.question, wish, counts, judge.left_out.get("unanswered", 0))
    return replace(start, over_systems=judge.headline_kappa) if judge.arbitrary_sides else start
