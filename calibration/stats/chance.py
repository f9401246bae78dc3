"""What the coefficients of agreement share: a checked table, agreement by chance, value and interval.

Cells may be counts or shares, of shape (K, K), or draws of them, of shape (K, K, draws). Agreement and
chance are both left multiplied by the squared total, so that whole counts give exact values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .estimate import Estimate, undefined
from .intervals import DRAWS, SEED, Interval, clopper_pearson, dirichlet, equal_tailed, wilson

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
Chance = Callable[[Floats, Floats], Floats]
Method = Literal["dirichlet", "wilson-plugin", "clopper-pearson-plugin"]
Weights = Literal["linear", "quadratic"]

METHOD_NAMES: dict[Method, str] = {
    "dirichlet": "balanced Dirichlet",
    "wilson-plugin": "Wilson plug-in",
    "clopper-pearson-plugin": "Clopper-Pearson plug-in",
}
POWERS: dict[Weights, int] = {"linear": 1, "quadratic": 2}


@dataclass(frozen=True, slots=True)
class How:
    """How an interval is made: method, number of draws, seed, two-sided level."""

    method: Method = "dirichlet"
    draws: int = DRAWS
    seed: int = SEED
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.method not in METHOD_NAMES:
            raise ValueError(f"unknown method {self.method!r}; there are {sorted(METHOD_NAMES)}")


def as_table(table: ArrayLike) -> Floats:
    """The table as square counts; ValueError if it is not square or holds something else than counts."""
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not counts.size:
        raise ValueError(f"a table of agreement is square, not of shape {counts.shape}")
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise ValueError("a table of agreement holds counts")
    return counts


def used_categories(table: ArrayLike) -> NDArray[np.intp]:
    """The places of the categories that either rater used, and of at least two if there are two."""
    counts = as_table(table)
    totals = counts.sum(axis=0) + counts.sum(axis=1)
    keep = np.flatnonzero(totals)
    return keep if len(keep) >= 2 else np.sort(np.argsort(-totals, kind="stable")[:2])


def used_part(table: ArrayLike) -> Floats:
    """The rows and columns of the categories that either rater used, and at least two of them."""
    keep = used_categories(table)
    part = as_table(table)[np.ix_(keep, keep)]
    return part if len(part) >= 2 else np.pad(part, (0, 1))


def balanced_prior(size: int) -> Floats:
    """Half an item on each diagonal cell and half an item spread over the rest of each row."""
    prior = np.full((size, size), 0.5 / (size - 1))
    np.fill_diagonal(prior, 0.5)
    return prior


def agreement_weights(size: int, weights: Weights) -> Floats:
    """Agreement of ordered categories: 1 on the diagonal, 0 between first and last; (size, size)."""
    places = np.arange(size)
    steps = np.abs(np.subtract.outer(places, places)) / max(1, size - 1)
    agreement: Floats = 1 - steps ** POWERS[weights]
    return agreement


def posterior(counts: Floats, how: How) -> Floats:
    """Draws of the table's shares under the balanced prior; shape (K, K, draws)."""
    return dirichlet(counts + balanced_prior(len(counts)), draws=how.draws, seed=how.seed)


def estimate(counts: Floats, statistic: Statistic, *, how: How) -> Estimate:
    """The statistic of the counts with the central interval of its draws."""
    n = round(counts.sum())
    if not n:
        return undefined("no_items")
    value = float(statistic(counts))
    if np.isnan(value):
        return undefined("expected_agreement_is_1", n=n)
    low, high = equal_tailed(statistic(posterior(counts, how)), value, level=how.level)
    return Estimate(value, low, high, n, method=METHOD_NAMES["dirichlet"], level=how.level)


def coefficient(counts: Floats, weights: Floats, *, chance: Chance, how: How) -> Estimate:
    """A chance-corrected coefficient with the interval that `how` asks for."""
    if how.method == "dirichlet":
        return estimate(counts, lambda cells: corrected(cells, weights, chance=chance), how=how)
    point = estimate(counts, lambda cells: corrected(cells, weights, chance=chance), how=How(draws=1))
    if point.value is None:
        return point
    low, high = _plug_in(counts, weights, chance=chance, how=how)
    return Estimate(point.value, low, high, point.n, method=METHOD_NAMES[how.method], level=how.level)


def _plug_in(counts: Floats, weights: Floats, *, chance: Chance, how: How) -> Interval:
    """Rescale the interval of the observed agreement, with agreement by chance held fixed."""
    total = float(counts.sum())
    expected = float(chance(counts, weights)) / total**2
    interval = wilson if how.method == "wilson-plugin" else clopper_pearson
    limits = interval(float((weights * counts).sum()), total, level=how.level)
    low, high = ((limit - expected) / (1 - expected) for limit in limits)
    return max(-1.0, low), high


def corrected(cells: Floats, weights: Floats, *, chance: Chance) -> Floats:
    """(agreement - chance) / (1 - chance); NaN where chance is 1."""
    total = cells.sum(axis=(0, 1))
    expected = chance(cells, weights)
    observed = total * np.tensordot(weights, cells, axes=2)
    return ratio(observed - expected, total**2 - expected)


def ratio(top: Floats, bottom: Floats) -> Floats:
    """top / bottom, NaN where bottom is 0."""
    quotient: Floats = np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=bottom != 0)
    return quotient


def cohen_chance(cells: Floats, weights: Floats) -> Floats:
    """Chance from each rater's own margin (Cohen 1960, 1968)."""
    rows, columns = cells.sum(axis=1), cells.sum(axis=0)
    expected: Floats = np.sum(rows * np.tensordot(weights, columns, axes=1), axis=0)
    return expected


def scott_chance(cells: Floats, _: Floats) -> Floats:
    """Chance from the pooled margin (Scott 1955)."""
    pooled: Floats = np.sum(((cells.sum(axis=1) + cells.sum(axis=0)) / 2) ** 2, axis=0)
    return pooled


def gwet_chance(cells: Floats, weights: Floats) -> Floats:
    """Chance of AC1 (Gwet 2008): the pooled margin's variance, spread over K - 1."""
    total = cells.sum(axis=(0, 1))
    spread: Floats = (total**2 - scott_chance(cells, weights)) / (len(cells) - 1)
    return spread


def uniform_chance(cells: Floats, _: Floats) -> Floats:
    """Chance of 1/K (Bennett, Alpert and Goldstein 1954)."""
    even: Floats = cells.sum(axis=(0, 1)) ** 2 / len(cells)
    return even
