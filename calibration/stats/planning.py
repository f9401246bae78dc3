"""How many items: half-widths, power of a gate, looks at the data, and unequal chances of selection."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .agreement import crosstab
from .asymptotic import kappa_unit_sd, shares_at
from .chance import Floats, balanced_prior
from .intervals import SEED, z_quantile

MIN_INCLUSION = 0.05
STEP = 10
MAX_ITEMS = 1000
SAMPLES = 1000  # the error of a chance of one half is then about .016
TAIL = 0.025  # what the default 95 % interval leaves on each side
PRECISION = 1_000_000  # steps in each unit of the constant of O'Brien and Fleming


@dataclass(frozen=True, slots=True)
class WeightedTable:
    """A table of items drawn with unequal chances, scaled to the effective number of items `n`."""

    table: Floats
    n: float
    warnings: tuple[str, ...] = ()


def half_width(kappa: float, margins: Sequence[float], *, items: int, level: float = 0.95) -> float:
    """Half the width that an interval of kappa will have, by the large-sample formula."""
    return z_quantile(level) * kappa_unit_sd(kappa, margins) / sqrt(items)


def items_for_half_width(kappa: float, margins: Sequence[float], *, width: float, level: float = 0.95) -> int:
    """The items that bring half the width of kappa's interval down to `width`."""
    return ceil((z_quantile(level) * kappa_unit_sd(kappa, margins) / width) ** 2)


def items_for_test(
    true: float,
    null: float,
    *,
    margins: Sequence[float],
    power: float = 0.8,
    alpha: float = 0.05,
    two_sided: bool = False,
) -> int:
    """The items for a large-sample test of kappa = `null` when it is `true` (Cantor 1996).

    A gate on the default interval needs more: see `items_for_power`.
    """
    normal = NormalDist()
    at_null = normal.inv_cdf(1 - alpha / (2 if two_sided else 1)) * kappa_unit_sd(null, margins)
    at_true = normal.inv_cdf(power) * kappa_unit_sd(true, margins)
    return ceil(((at_null + at_true) / (true - null)) ** 2)


def pass_probability(
    kappa: float,
    threshold: float,
    *,
    margins: Sequence[float],
    items: int,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> float:
    """The chance that the lower limit of the default 95 % interval reaches `threshold`, by simulation.

    Samples in which kappa is undefined do not pass.
    """
    how = (samples, seed)
    return _side_probability(kappa, threshold, margins=tuple(margins), items=items, how=how)


def fail_probability(
    kappa: float,
    threshold: float,
    *,
    margins: Sequence[float],
    items: int,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> float:
    """The chance that the upper limit of the default 95 % interval stays below `threshold`."""
    how = (samples, seed)
    return _side_probability(kappa, threshold, margins=tuple(margins), items=items, how=how, below=True)


def items_for_power(
    kappa: float,
    threshold: float,
    *,
    margins: Sequence[float],
    power: float = 0.8,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> int | None:
    """The items, to the next ten, that give `power` that the default interval clears `threshold`.

    A kappa above the threshold must pass, one below must fail. None when 1000 items do not do.
    """
    if kappa == threshold:
        return None
    resolves = pass_probability if kappa > threshold else fail_probability
    sizes = range(STEP, MAX_ITEMS + 1, STEP)

    def enough(items: int) -> bool:
        return resolves(kappa, threshold, margins=margins, items=items, samples=samples, seed=seed) >= power

    place = bisect_left(sizes, True, key=enough)
    return sizes[place] if place < len(sizes) else None


def passing_kappa(
    threshold: float, *, margins: Sequence[float], items: int, power: float = 0.8
) -> float | None:
    """The smallest true kappa, in hundredths, that `items` let clear `threshold` with `power`.

    None when not even full agreement does.
    """
    hundredths = range(ceil(100 * max(0.0, threshold)), 101)

    def enough(hundredth: int) -> bool:
        return pass_probability(hundredth / 100, threshold, margins=margins, items=items) >= power

    place = bisect_left(hundredths, True, key=enough)
    return hundredths[place] / 100 if place < len(hundredths) else None


def extra_items(
    kappa: float, threshold: float, *, margins: Sequence[float], items: int, power: float = 0.8
) -> int | None:
    """How many more items give `power` to resolve the gate, if kappa truly is what it seems."""
    needed = items_for_power(kappa, threshold, margins=margins, power=power)
    return None if needed is None else max(0, needed - items)


def obrien_fleming_z(sizes: Sequence[int], *, level: float = 0.95) -> list[float]:
    """The bound on |z| at each pre-registered look after that many items (O'Brien and Fleming 1979).

    c sqrt(n_max / n_k), with c such that the chance of crossing any bound is 1 - `level`.
    """
    if not sizes or sizes[0] < 1 or list(sizes) != sorted(set(sizes)):
        raise ValueError("looks need growing numbers of items")
    shares = tuple(size / sizes[-1] for size in sizes)
    constant = _obrien_fleming_constant(shares, level)
    return [constant / sqrt(share) for share in shares]


def look_level(z: float) -> float:
    """The level of the two-sided interval whose limits lie `z` standard errors away."""
    return 2 * NormalDist().cdf(z) - 1


def selection_optimism(tries: int, *, items: int, kappa: float, margins: Sequence[float]) -> float:
    """How far the best kappa of `tries` equally good rubrics lies above the truth, on the same items.

    The expected largest of independent normal errors; correlated errors give less.
    """
    grid = np.linspace(-8, 8, 4001)
    normal = NormalDist()
    below = np.array([normal.cdf(x) for x in grid]) ** tries
    largest = float((np.heaviside(grid, 0.5) - below).sum() * (grid[1] - grid[0]))
    return largest * kappa_unit_sd(kappa, margins) / sqrt(items)


def kish_size(weights: Sequence[float]) -> float:
    """The effective number of items with these weights (Kish 1965): (sum w)^2 / sum w^2."""
    values = np.asarray(weights, dtype=np.float64)
    if not values.size:
        return 0.0
    return float(values.sum() ** 2 / (values**2).sum())


def weighted_table(
    reference: Sequence[str],
    judge: Sequence[str],
    *,
    categories: Sequence[str],
    inclusion: Sequence[float],
) -> WeightedTable:
    """The table of items weighted by 1 / inclusion probability (Hajek 1971), scaled to Kish's size.

    A probability below .05 gets the warning `small_inclusion`: such a table is not for gates.
    """
    if any(not 0 < pi <= 1 for pi in inclusion):
        raise ValueError("an inclusion probability lies above 0 and is at most 1")
    weights = [1 / pi for pi in inclusion]
    n = kish_size(weights)
    table = np.zeros((len(categories), len(categories)))
    for one, other, weight in zip(reference, judge, weights, strict=True):
        table += weight * crosstab([one], [other], categories)
    scaled = table * (n / sum(weights)) if weights else table
    warnings = ("small_inclusion",) if any(pi < MIN_INCLUSION for pi in inclusion) else ()
    return WeightedTable(scaled, n, warnings)


@lru_cache(maxsize=512)
def _side_probability(
    kappa: float,
    threshold: float,
    *,
    margins: tuple[float, ...],
    items: int,
    how: tuple[int, int],
    below: bool = False,
) -> float:
    samples, seed = how
    shares = shares_at(kappa, margins)
    drawn = np.random.default_rng(seed).multinomial(items, shares.ravel(), size=samples)
    tables = drawn.reshape(-1, *shares.shape)
    used = tables.sum(axis=1) + tables.sum(axis=2) > 0
    resolved = 0
    for pattern in np.unique(used, axis=0):
        if pattern.sum() > 1:  # one category alone: kappa is undefined and resolves nothing
            part = tables[(used == pattern).all(axis=1)][:, pattern][:, :, pattern]
            under = _probability_below(part, threshold)
            resolved += int((1 - under <= TAIL if below else under <= TAIL).sum())
    return resolved / samples


def _probability_below(tables: NDArray[np.int64], threshold: float) -> Floats:
    """The posterior probability that kappa lies below the threshold, for each table (tables, K, K).

    The default interval draws from this posterior; here a Beta on -1 to 1 with its mean and (by the delta
    method) its variance stands for it, which is as good for planning and some hundred times faster.
    """
    from scipy.special import betainc

    cells = tables + balanced_prior(tables.shape[1])
    total = cells.sum(axis=(1, 2), keepdims=True)
    shares = cells / total
    rows, columns = shares.sum(axis=2, keepdims=True), shares.sum(axis=1)[:, :, None]
    left = 1 - (rows * columns).sum(axis=1, keepdims=True)  # what chance leaves open
    missed = 1 - np.trace(shares, axis1=1, axis2=2)[:, None, None]
    slope = (np.eye(tables.shape[1]) * left - missed * (columns + rows.swapaxes(1, 2))) / left**2
    variance = (shares * slope**2).sum(axis=(1, 2)) - (shares * slope).sum(axis=(1, 2)) ** 2
    mean = (1 - missed / left / 2)[:, 0, 0]  # of (1 + kappa) / 2, which lies between 0 and 1
    variance /= 4 * (total[:, 0, 0] + 1)
    size = np.maximum(mean * (1 - mean) / variance - 1, np.finfo(float).tiny)
    below: Floats = betainc(mean * size, (1 - mean) * size, (1 + threshold) / 2)
    return below


@cache
def _obrien_fleming_constant(shares: tuple[float, ...], level: float) -> float:
    """The least constant at which Brownian motion stays within its bound with probability `level`."""

    def enough(step: int) -> bool:
        return _stays_within(step / PRECISION, shares) >= level

    steps = range(PRECISION, 5 * PRECISION)
    return steps[bisect_left(steps, True, key=enough)] / PRECISION


def _stays_within(bound: float, shares: tuple[float, ...]) -> float:
    """The probability that Brownian motion is within plus and minus `bound` at each share of the way.

    On the scale of Brownian motion the bound of O'Brien and Fleming is constant. The density between looks
    is carried on a grid (Armitage, McPherson and Rowe 1969).
    """
    grid = np.linspace(-bound, bound, 401)
    weights = np.full(grid.size, grid[1] - grid[0])
    weights[[0, -1]] /= 2
    density, before = None, 0.0
    for share in shares:
        sd = sqrt(share - before)
        kernel = np.exp(-(((grid[:, None] - (0 if density is None else grid)) / sd) ** 2) / 2)
        kernel /= sd * sqrt(2 * np.pi)
        density = kernel[:, 0] if density is None else kernel @ (weights * density)
        before = share
    return 0.0 if density is None else float(weights @ density)
