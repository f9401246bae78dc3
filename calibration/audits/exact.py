"""Exact tests in a form that stays quick for many items."""

from __future__ import annotations

from calibration.stats.annotators import fatigue_trend
from calibration.stats.intervals import clopper_pearson
from calibration.stats.stratified import fisher_p

MAX_EXACT = 1500  # sums over all tables take too long beyond; the chi-square test is exact enough there


def leans(one: int, other: int, *, alpha: float) -> bool:
    """Whether an even split of so many is rejected by the exact binomial test at `alpha`.

    That is McNemar's exact test for discordant items. The Clopper-Pearson interval is its inversion: it
    leaves out one half exactly when the two-sided p is at most `alpha`.
    """
    if not one + other:
        return False
    low, high = clopper_pearson(one, one + other, level=1 - alpha)
    return low > 0.5 or high < 0.5


def shares_differ_p(one: tuple[int, int], other: tuple[int, int]) -> float:
    """The two-sided p of equal shares, each (count, n): Fisher's exact test, chi-square for many items."""
    n = one[1] + other[1]
    if n <= MAX_EXACT:
        return fisher_p([(one[0], one[1] - one[0]), (other[0], other[1] - other[0])])
    p = fatigue_trend([one[0], other[0]], [one[1], other[1]]).p
    return 1.0 if p is None else p
