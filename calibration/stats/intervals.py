"""Intervals and exact tests for proportions, their differences, and draws from a Dirichlet posterior.

An interval is a pair (low, high). `level` is the two-sided coverage, so .95 leaves 2.5 % on each side.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb, hypot, sqrt
from statistics import NormalDist
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .estimate import Estimate, undefined

Interval = tuple[float, float]


class ProportionInterval(Protocol):
    """An interval of a share; `n` may be an effective, fractional size."""

    def __call__(self, successes: float, n: float, *, level: float = 0.95) -> Interval:
        """The limits for `successes` of `n`."""


class Drawn(Protocol):
    """An estimate whose interval comes from draws, all else being settled."""

    def __call__(self, *, draws: int) -> Estimate:
        """The estimate from that many draws."""


DRAWS = 20_000  # the error of a 2.5 % limit is about .002 (METHODS.md section 0)
MORE_DRAWS, NEAR = 200_000, 0.005  # for a limit that lies so near to a threshold that drawing could decide
SEED = 0


def z_quantile(level: float) -> float:
    """The standard normal quantile that leaves half of 1 - `level` above it."""
    if not 0 < level < 1:
        raise ValueError(f"the level must lie between 0 and 1, not {level}")
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(successes: float, n: float, *, level: float = 0.95) -> Interval:
    """The score interval of a proportion (Wilson 1927)."""
    _check_counts(successes, n)
    z2 = z_quantile(level) ** 2
    share = successes / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    return low, 1.0 if successes == n else min(1.0, centre + half)


def clopper_pearson(successes: float, n: float, *, level: float = 0.95) -> Interval:
    """The exact interval of a proportion (Clopper and Pearson 1934), for every bound that a gate uses."""
    _check_counts(successes, n)
    tail, failures = (1 - level) / 2, n - successes
    low = _beta_quantile(tail, a=successes, b=failures + 1) if successes else 0.0
    return low, _beta_quantile(1 - tail, a=successes + 1, b=failures) if failures else 1.0


def jeffreys(successes: float, n: float, *, level: float = 0.95) -> Interval:
    """The equal-tailed Beta(1/2, 1/2) interval, set to 0 or 1 at the ends (Brown, Cai and DasGupta 2001)."""
    _check_counts(successes, n)
    tail, failures = (1 - level) / 2, n - successes
    low = _beta_quantile(tail, a=successes + 0.5, b=failures + 0.5) if successes else 0.0
    return low, _beta_quantile(1 - tail, a=successes + 0.5, b=failures + 0.5) if failures else 1.0


PROPORTION_INTERVALS: dict[str, ProportionInterval] = {
    "Wilson": wilson,
    "Clopper-Pearson": clopper_pearson,
    "Jeffreys": jeffreys,
}


def proportion(successes: float, n: float, *, method: str = "Wilson", level: float = 0.95) -> Estimate:
    """A share with its interval (a key of PROPORTION_INTERVALS); undefined as `no_items` when n = 0."""
    if n == 0:
        return undefined("no_items")
    low, high = PROPORTION_INTERVALS[method](successes, n, level=level)
    return Estimate(successes / n, low, high, round(n), method=method, level=level)


def sign_test_p(first: int, second: int, *, midp: bool = False) -> float:
    """The two-sided p of an even split of `first` + `second` (exact binomial, or its mid-p).

    With discordant pairs this is the exact McNemar test and the mid-p test of Fagerland, Lydersen and
    Laake 2013. No pairs at all give p = 1.
    """
    total, smaller = first + second, min(first, second)
    if smaller < 0:
        raise ValueError("counts cannot be negative")
    ways, term = 0, 1  # term is the binomial coefficient of k, each from the one before it
    for k in range(smaller + 1):
        ways += term
        term = term * (total - k) // (k + 1)
    exact = min(1.0, 2 * (ways / int(2**total)))
    if not midp or total == 0:
        return exact
    here = comb(total, smaller) / int(2**total)
    return 1 - here / 2 if first == second else exact - here


def newcombe(first: tuple[int, int], second: tuple[int, int], *, level: float = 0.95) -> Interval:
    """The hybrid score interval of a difference of independent shares (Newcombe 1998, method 10).

    Each group is (successes, n); the difference is first minus second.
    """
    (x1, n1), (x2, n2) = first, second
    (low1, high1), (low2, high2) = wilson(x1, n1, level=level), wilson(x2, n2, level=level)
    p1, p2 = x1 / n1, x2 / n2
    return p1 - p2 - hypot(p1 - low1, high2 - p2), p1 - p2 + hypot(high1 - p1, p2 - low2)


def bonett_price(gained: int, lost: int, *, n: int, level: float = 0.95) -> Interval:
    """The Laplace-adjusted interval of a difference of paired shares (Bonett and Price 2012).

    `gained` counts items that only the first condition got right, `lost` those that only the second did.
    """
    if n < 1 or min(gained, lost) < 0 or gained + lost > n:
        raise ValueError("discordant counts must be at least 0 and add up to at most n")
    up, down = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    half = z_quantile(level) * sqrt((up + down - (up - down) ** 2) / (n + 2))
    return max(-1.0, up - down - half), min(1.0, up - down + half)


def dirichlet(shapes: ArrayLike, *, draws: int = DRAWS, seed: int = SEED) -> NDArray[np.float64]:
    """Draws of the shares of Dirichlet(`shapes`): an array of shape `shapes.shape` + (draws,).

    Each Gamma is drawn in single precision: that takes less time, and its rounding is far below the
    Monte-Carlo error.
    """
    cells = np.asarray(shapes, dtype=np.float64)
    generator = np.random.default_rng(seed)
    gammas = np.empty((cells.size, draws))
    for row, shape in zip(gammas, cells.ravel(), strict=True):
        row[:] = generator.standard_gamma(shape, size=draws, dtype=np.float32)
    gammas /= gammas.sum(axis=0)
    return gammas.reshape(*cells.shape, draws)


def equal_tailed(sample: NDArray[np.float64], value: float, *, level: float = 0.95) -> Interval:
    """The central interval of a sample, extended to `value` where that lies outside it."""
    ordered = np.sort(sample)
    ranks = np.array([(1 - level) / 2, (1 + level) / 2]) * (ordered.size - 1)
    low, high = np.interp(ranks, np.arange(ordered.size), ordered).tolist()
    return min(low, value), max(high, value)


def decided(estimate: Drawn, *thresholds: float) -> Estimate:
    """The estimate to decide by: with ten times the draws where a limit lies near a threshold.

    Drawing leaves an error of about .002 in a limit, so within .005 of a threshold it could choose the
    verdict (METHODS.md section 0). The method then says how many draws there were. Pass for instance
    `partial(cohen_kappa, table)`.
    """
    found = estimate(draws=DRAWS)
    limits = [limit for limit in (found.low, found.high) if limit is not None]
    if not any(abs(limit - threshold) < NEAR for limit in limits for threshold in thresholds):
        return found
    finer = estimate(draws=MORE_DRAWS)
    return replace(finer, method=f"{finer.method}, {MORE_DRAWS:,} draws")


def bootstrap_means(values: ArrayLike, *, draws: int = DRAWS, seed: int = SEED) -> NDArray[np.float64]:
    """Means of resampled items: one number per item in, `draws` means out.

    Items of equal value are interchangeable, so how often each value is drawn is multinomial.
    """
    numbers, times = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    n = int(times.sum())
    resampled = np.random.default_rng(seed).multinomial(n, times / n, size=draws)
    means: NDArray[np.float64] = resampled @ numbers / n
    return means


def mean_estimate(
    values: ArrayLike, *, draws: int = DRAWS, seed: int = SEED, level: float = 0.95
) -> Estimate:
    """The mean over items with the percentile interval of an item bootstrap.

    Items that are all alike have no bootstrap interval: they carry the warning `no_variation`.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not numbers.size:
        return undefined("no_items")
    value, n = float(numbers.mean()), numbers.size
    if np.ptp(numbers) == 0:
        return Estimate(value, n=n, why_no_interval="too_few_items", warnings=("no_variation",), level=level)
    low, high = equal_tailed(bootstrap_means(numbers, draws=draws, seed=seed), value, level=level)
    return Estimate(value, low, high, n, method="item bootstrap", level=level)


def beta_draws(successes: int, n: int, *, draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draws of a share from its Beta(1/2, 1/2) posterior."""
    return rng.beta(successes + 0.5, n - successes + 0.5, size=draws)


def _beta_quantile(q: float, *, a: float, b: float) -> float:
    from scipy.special import betaincinv

    return float(betaincinv(a, b, q))


def _check_counts(successes: float, n: float) -> None:
    if n <= 0 or not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} are not a proportion")


def t_quantile(level: float, freedom: float) -> float:
    """The quantile of Student's t that leaves half of 1 - `level` above it."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))
