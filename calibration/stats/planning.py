"""How many items: half-widths, power of a gate, looks at the data, and unequal chances of selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np

from .agreement import cohen_kappa, crosstab
from .asymptotic import kappa_unit_sd, shares_at
from .chance import Floats
from .intervals import SEED, z_quantile

MIN_INCLUSION = 0.05
STEP = 10
MAX_ITEMS = 1000


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
    samples: int = 400,
    draws: int = 1000,
    seed: int = SEED,
) -> float:
    """The chance that the lower limit of the default 95 % interval reaches `threshold`, by simulation.

    Samples in which kappa is undefined do not pass. The error is at most half over the root of `samples`.
    """
    return _side_probability(kappa, threshold, margins=margins, items=items, how=(samples, draws, seed))


def fail_probability(
    kappa: float,
    threshold: float,
    *,
    margins: Sequence[float],
    items: int,
    samples: int = 400,
    draws: int = 1000,
    seed: int = SEED,
) -> float:
    """The chance that the upper limit of the default 95 % interval stays below `threshold`."""
    how = (samples, draws, seed)
    return _side_probability(kappa, threshold, margins=margins, items=items, how=how, below=True)


def items_for_power(
    kappa: float,
    threshold: float,
    *,
    margins: Sequence[float],
    power: float = 0.8,
    samples: int = 200,
    seed: int = SEED,
) -> int | None:
    """The items, to the next ten, that give `power` that the default interval clears `threshold`.

    A kappa above the threshold must pass, one below must fail. None when 1000 items do not do.
    """
    if kappa == threshold:
        return None
    resolves = pass_probability if kappa > threshold else fail_probability
    least, most = STEP, MAX_ITEMS + STEP
    while least < most:
        middle = (least + most) // (2 * STEP) * STEP
        found = resolves(kappa, threshold, margins=margins, items=middle, samples=samples, seed=seed)
        least, most = (least, middle) if found >= power else (middle + STEP, most)
    return least if least <= MAX_ITEMS else None


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


def _side_probability(
    kappa: float,
    threshold: float,
    *,
    margins: Sequence[float],
    items: int,
    how: tuple[int, int, int],
    below: bool = False,
) -> float:
    samples, draws, seed = how
    shares = shares_at(kappa, margins)
    tables = np.random.default_rng(seed).multinomial(items, shares.ravel(), size=samples)
    passed = 0
    for place, counts in enumerate(tables):
        found = cohen_kappa(counts.reshape(shares.shape), draws=draws, seed=seed + place)
        limit = found.high if below else found.low
        passed += limit is not None and (limit < threshold if below else limit >= threshold)
    return passed / samples


@cache
def _obrien_fleming_constant(shares: tuple[float, ...], level: float) -> float:
    """Bisect for the constant at which Brownian motion stays within its bound with probability `level`."""
    low, high = 1.0, 5.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if _stays_within(middle, shares) < level else (low, middle)
    return (low + high) / 2


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
