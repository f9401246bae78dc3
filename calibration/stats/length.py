"""Does length move the judge beyond what people's preference explains? (METHODS.md section 5)

`log_ratio` is ln((length of A + 1) / (length of B + 1)) per item; people and judge say "A", "B" or "tie".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log

import numpy as np

from .chance import Floats
from .estimate import Estimate, undefined
from .intervals import proportion
from .logistic import firth, firth_interval, firth_p
from .stratified import StratifiedTest, stratified_test

PREFERENCE = {"A": 1.0, "tie": 0.0, "B": -1.0}
MIN_RARER = 8
MIN_UNEQUAL = 10
TWO_SIDED_80 = 2.8  # 1.96 + .84 standard errors: detected with probability .8 at .05


@dataclass(frozen=True, slots=True)
class LengthEffect:
    """The judge's odds of A for each doubling of A's length, at equal human preference.

    `smallest_detectable` is the odds ratio above 1 that this sample would find four times in five.
    """

    odds_ratio: Estimate
    p: float | None
    smallest_detectable: float | None


@dataclass(frozen=True, slots=True)
class LongerShares:
    """How often the judge, and how often people, prefer the longer response; only ever shown together."""

    judge: Estimate
    human: Estimate


def length_effect(
    human: Sequence[str], judge: Sequence[str], *, log_ratio: Sequence[float], level: float = 0.95
) -> LengthEffect:
    """Firth's logistic regression of the judge's choice on human preference and log length ratio.

    A judge's tie counts as half a vote for each side. Fewer than 8 votes in the rarer choice, or fewer than
    10 items of unequal length, are `too_few_items`.
    """
    design, y, weights = _rows(human, judge, log_ratio=log_ratio)
    for_a = float(weights[y == 1].sum())
    unequal = sum(ratio != 0 for ratio in log_ratio)
    if min(for_a, len(judge) - for_a) < MIN_RARER or unequal < MIN_UNEQUAL:
        return LengthEffect(undefined("too_few_items", n=len(judge)), None, None)
    fit = firth_interval(design, y, column=2, weights=weights, level=level)
    if fit.value is None:
        return LengthEffect(fit, None, None)
    error = float(firth(design, y, weights=weights).errors[2])
    ratio = replace(fit, value=_doubled(fit.value), low=_limit(fit.low), high=_limit(fit.high))
    return LengthEffect(ratio, firth_p(design, y, column=2, weights=weights), _doubled(TWO_SIDED_80 * error))


def length_strata(
    human: Sequence[str], judge: Sequence[str], *, log_ratio: Sequence[float]
) -> StratifiedTest:
    """The companion without a model: longer against chosen, by human label, the judge's ties left out."""
    tables = {label: [[0, 0], [0, 0]] for label in PREFERENCE}
    for label, verdict, ratio in zip(human, judge, log_ratio, strict=True):
        if verdict != "tie" and ratio != 0:
            tables[label][int(ratio < 0)][int(verdict == "B")] += 1
    return stratified_test(list(tables.values()))


def longer_shares(
    human: Sequence[str], judge: Sequence[str], *, log_ratio: Sequence[float], level: float = 0.95
) -> LongerShares:
    """The share of choices for the longer response, of judge and people; not a measure of bias by itself."""
    return LongerShares(_longer(judge, log_ratio, level=level), _longer(human, log_ratio, level=level))


def _rows(
    human: Sequence[str], judge: Sequence[str], *, log_ratio: Sequence[float]
) -> tuple[Floats, Floats, Floats]:
    """Intercept, preference and log ratio; one row per vote, two half rows for a judge's tie."""
    rows = []
    for label, verdict, ratio in zip(human, judge, log_ratio, strict=True):
        votes = [(1.0, 0.5), (0.0, 0.5)] if verdict == "tie" else [(float(verdict == "A"), 1.0)]
        rows += [(1.0, PREFERENCE[label], ratio, vote, weight) for vote, weight in votes]
    table = np.array(rows, dtype=np.float64).reshape(-1, 5)
    return table[:, :3], table[:, 3], table[:, 4]


def _longer(choices: Sequence[str], log_ratio: Sequence[float], *, level: float) -> Estimate:
    longer = [
        (choice == "A") == (ratio > 0)
        for choice, ratio in zip(choices, log_ratio, strict=True)
        if choice != "tie" and ratio != 0
    ]
    return replace(proportion(sum(longer), len(longer), level=level), n_missing=len(choices) - len(longer))


def _doubled(coefficient: float) -> float:
    return exp(min(700.0, coefficient * log(2)))


def _limit(coefficient: float | None) -> float | None:
    return None if coefficient is None else _doubled(coefficient)
