"""Two-by-two tables, alone or in strata: exact tests and odds ratios. Exact here is a sum over all tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, exp

import numpy as np

from .chance import Floats
from .estimate import Estimate, Reason, undefined
from .intervals import newcombe, proportion

Table = Sequence[Sequence[int]]  # ((a, b), (c, d)): rows are groups, columns outcomes


@dataclass(frozen=True, slots=True)
class StratifiedTest:
    """Cochran-Mantel-Haenszel: exact and mid-p (to show), chi-square, and two common odds ratios.

    Odds ratios are None where they are 0/0 or infinite; everything is None when no stratum can vary.
    """

    exact_p: float | None
    midp: float | None
    chi2: float | None
    chi2_p: float | None
    conditional_odds_ratio: float | None
    mantel_haenszel_odds_ratio: float | None
    n: int
    why_undefined: Reason | None = None


def stratified_test(strata: Sequence[Table]) -> StratifiedTest:
    """Test one common association over strata of two-by-two tables (Cochran 1954; Mantel and Haenszel 1959).

    The exact p sums the tables that are no more probable than the observed one, given all margins; mid-p
    counts half of the observed one.
    """
    n = sum(sum(map(sum, table)) for table in strata)
    informative = [table for table in strata if _varies(table)]
    if not informative:
        return StratifiedTest(None, None, None, None, None, None, n, "zero_denominator")
    low, shares = _null_distribution(informative)
    observed = sum(table[0][0] for table in informative)
    here = float(shares[observed - low])
    exact = min(1.0, float(shares[shares <= here * (1 + 1e-7)].sum()))
    chi2, p = _chi_square(informative)
    return StratifiedTest(
        exact_p=exact,
        midp=exact - here / 2,
        chi2=chi2,
        chi2_p=p,
        conditional_odds_ratio=_conditional_odds_ratio(informative),
        mantel_haenszel_odds_ratio=_mantel_haenszel(informative),
        n=n,
    )


def log_tilt(strata: Sequence[Table]) -> Callable[[float], float] | None:
    """How far the expected sum of first cells exceeds the observed one, as a function of the log odds ratio.

    Its root is the conditional estimate; None when the observed sum is the smallest or largest possible.
    """
    low, shares = _null_distribution([table for table in strata if _varies(table)])
    observed = sum(table[0][0] for table in strata if _varies(table))
    if observed in (low, low + len(shares) - 1):
        return None
    sums = np.arange(low, low + len(shares))
    logs = np.log(np.maximum(shares, np.finfo(float).tiny))  # far tails may underflow to 0

    def gap(log_ratio: float) -> float:
        tilted = logs + log_ratio * sums
        tilted = np.exp(tilted - tilted.max())
        return float((tilted * sums).sum() / tilted.sum() - observed)

    return gap


def fisher_p(table: Table) -> float:
    """The two-sided p of Fisher's exact test; 1 when a margin is empty."""
    p = stratified_test([table]).exact_p
    return 1.0 if p is None else p


def self_preference(own: tuple[int, int], other: tuple[int, int], *, level: float = 0.95) -> Estimate:
    """P(judge picks what people prefer | it is of its family) less the same for other families.

    The equal-opportunity bias of Wataoka et al. 2024. Each group is (judge agrees, items), human ties left
    out; interval of Newcombe 1998. Fewer than 10 items in a group are `too_few_items`.
    """
    n = own[1] + other[1]
    if min(own[1], other[1]) < 10:
        return undefined("too_few_items", n=n)
    low, high = newcombe(own, other, level=level)
    value = own[0] / own[1] - other[0] / other[1]
    return Estimate(value, low, high, n, method="Newcombe", level=level)


def self_preference_p(own: tuple[int, int], other: tuple[int, int]) -> float:
    """Fisher's exact p of no self-preference; groups are (judge agrees, items)."""
    return fisher_p([(own[0], own[1] - own[0]), (other[0], other[1] - other[0])])


def own_share_at_ties(own: int, picked: int, *, level: float = 0.95) -> Estimate:
    """Where people saw a tie and the judge picked: the share that went to its own family (exact interval)."""
    return proportion(own, picked, method="Clopper-Pearson", level=level)


def _varies(table: Table) -> bool:
    (a, b), (c, d) = table
    if min(a, b, c, d) < 0:
        raise ValueError("counts cannot be negative")
    return min(a + b, c + d, a + c, b + d) > 0


def _null_distribution(strata: Sequence[Table]) -> tuple[int, Floats]:
    """The smallest sum of the first cells, and the share of each sum from there on, at odds ratio 1."""
    low, shares = 0, np.ones(1)
    for (a, b), (c, d) in strata:
        first, second, column = a + b, c + d, a + c
        least, most = max(0, column - second), min(first, column)
        total = comb(first + second, column)
        cells = [comb(first, k) * comb(second, column - k) / total for k in range(least, most + 1)]
        low, shares = low + least, np.convolve(shares, cells)
    return low, shares


def _chi_square(strata: Sequence[Table]) -> tuple[float | None, float | None]:
    """The statistic of Mantel and Haenszel without continuity correction, and its p."""
    excess = variance = 0.0
    for (a, b), (c, d) in strata:
        n, row, column = a + b + c + d, a + b, a + c
        excess += a - row * column / n
        variance += row * (n - row) * column * (n - column) / (n * n * (n - 1))
    from scipy.special import chdtrc

    chi2 = excess**2 / variance
    return chi2, float(chdtrc(1, chi2))


def _mantel_haenszel(strata: Sequence[Table]) -> float | None:
    top = sum(a * d / (a + b + c + d) for (a, b), (c, d) in strata)
    bottom = sum(b * c / (a + b + c + d) for (a, b), (c, d) in strata)
    return top / bottom if bottom else None


def _conditional_odds_ratio(strata: Sequence[Table]) -> float | None:
    """The common odds ratio of highest conditional likelihood, given all margins."""
    tilt = log_tilt(strata)
    if tilt is None:
        return None
    from scipy.optimize import brentq

    return exp(float(brentq(tilt, -50, 50, xtol=1e-12)))
