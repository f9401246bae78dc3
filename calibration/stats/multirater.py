"""Agreement of several raters, any of whom may have left items out.

Ratings come as one sequence per rater, all of the same items in the same order; None is missing.
Counts come as an array of shape (items, categories): how many raters gave each item each category.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from .agreement import cohen_kappa, raw_agreement
from .chance import Floats
from .estimate import Estimate, undefined
from .intervals import DRAWS, SEED, mean_estimate, t_quantile, wilson

Ratings = Sequence[Sequence[Hashable | None]]


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters, by their place in the ratings, with kappa and raw agreement on the items both rated."""

    first: int
    second: int
    kappa: Estimate
    agreement: Estimate


def categories_of(ratings: Ratings) -> list[Hashable]:
    """The categories that any rater used, in the order of their names."""
    return sorted({value for rater in ratings for value in rater if value is not None}, key=str)


def rating_counts(ratings: Ratings) -> Floats:
    """How many raters gave each item each used category; shape (items, categories), at least two columns.

    Raises ValueError when the raters' sequences differ in length.
    """
    if len({len(rater) for rater in ratings}) > 1:
        raise ValueError("every rater has one entry per item, None where missing")
    place = {category: k for k, category in enumerate(categories_of(ratings))}
    counts = np.zeros((len(ratings[0]) if ratings else 0, max(2, len(place))))
    for rater in ratings:
        for item, value in enumerate(rater):
            if value is not None:
                counts[item, place[value]] += 1
    return counts


def krippendorff_alpha(ratings: Ratings, *, level: float = 0.95) -> Estimate:
    """Nominal alpha (Krippendorff 2011) over items with at least two ratings.

    Interval: jackknife over items on Fisher's z with t quantiles; the Wilson plug-in where the jackknife
    collapses, as at alpha = 1 (METHODS.md section 1.2).
    """
    counts = rating_counts(ratings)
    pairable = counts[counts.sum(axis=1) >= 2]
    n, missing = len(pairable), len(counts) - len(pairable)
    if not n:
        return undefined("no_pairable_items", n_missing=missing)
    value, left_out = _alphas(pairable)
    if np.isnan(value):
        return undefined("no_expected_disagreement", n=n, n_missing=missing)
    observed, expected = (float(1 - part[0]) for part in _alpha_disagreements(*_alpha_sums(pairable)))
    low, high, method = _limits(value, left_out, parts=(observed, expected), level=level)
    return Estimate(value, low, high, n, method=method, level=level, n_missing=missing)


def fleiss_kappa(counts: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Kappa of several raters (Fleiss 1971) from counts of shape (items, categories).

    Undefined as `not_applicable` when items differ in their number of ratings (use alpha), or have one.
    """
    table = np.asarray(counts, dtype=np.float64)
    n = len(table)
    if not n:
        return undefined("no_items")
    if np.ptp(table.sum(axis=1)) or table[0].sum() < 2:
        return undefined("not_applicable", n=n)
    by_item = _fleiss_sums(table)
    observed, expected = _fleiss_parts(np.vstack([by_item.sum(axis=0), by_item.sum(axis=0) - by_item]))
    if expected[0] == 1:
        return undefined("expected_agreement_is_1", n=n)
    kappas = np.divide(observed - expected, 1 - expected, out=np.full(n + 1, np.nan), where=expected < 1)
    parts = (float(observed[0]), float(expected[0]))
    low, high, method = _limits(float(kappas[0]), kappas[1:], parts=parts, level=level)
    return Estimate(float(kappas[0]), low, high, n, method=method, level=level)


def free_marginal_kappa(counts: ArrayLike) -> float | None:
    """Kappa with chance 1/K (Randolph 2005) for K columns; None without equal numbers of ratings."""
    table = np.asarray(counts, dtype=np.float64)
    ratings = table.sum(axis=1)
    if not len(table) or np.ptp(ratings) or ratings[0] < 2:
        return None
    chance = 1 / table.shape[1]
    observed = float(_fleiss_sums(table)[:, 0].mean())
    return float((observed - chance) / (1 - chance))


def mean_pairwise_agreement(
    ratings: Ratings, *, draws: int = DRAWS, seed: int = SEED, level: float = 0.95
) -> Estimate:
    """The share of pairs of raters that agree on an item, averaged over items with two ratings or more."""
    counts = rating_counts(ratings)
    pairable = counts[counts.sum(axis=1) >= 2]
    if not len(pairable):
        return undefined("no_pairable_items", n_missing=len(counts))
    raters = pairable.sum(axis=1)
    shares = (pairable * (pairable - 1)).sum(axis=1) / (raters * (raters - 1))
    estimate = mean_estimate(shares, draws=draws, seed=seed, level=level)
    if estimate.low is None:
        low, high = wilson(float(shares.sum()), len(shares), level=level)
        return Estimate(estimate.value, low, high, len(shares), method="Wilson", level=level)
    return estimate


def pairwise_matrix(ratings: Ratings, *, draws: int = DRAWS, seed: int = SEED) -> list[RaterPair]:
    """Cohen's kappa and raw agreement of each pair of raters on the items that both rated."""
    categories = categories_of(ratings)
    place = {category: k for k, category in enumerate(categories)}
    pairs = []
    for first, second in combinations(range(len(ratings)), 2):
        table = np.zeros((max(2, len(place)),) * 2)
        for one, other in zip(ratings[first], ratings[second], strict=True):
            if one is not None and other is not None:
                table[place[one], place[other]] += 1
        kappa = cohen_kappa(table, draws=draws, seed=seed)
        pairs.append(RaterPair(first, second, kappa, raw_agreement(table)))
    return pairs


def _alpha_sums(pairable: Floats) -> tuple[Floats, Floats]:
    """Agreeing pairs and totals by category, of all items first and then without each item in turn."""
    ratings = pairable.sum(axis=1)
    agreeing = (pairable * (pairable - 1)).sum(axis=1) / (ratings - 1)
    everything = agreeing.sum()
    totals = pairable.sum(axis=0)
    return np.append(everything, everything - agreeing), np.vstack([totals, totals - pairable])


def _alpha_disagreements(agreeing: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """Observed and expected disagreement of each row of sums; NaN without pairs."""
    n = totals.sum(axis=1)
    some = n > 1
    agreed = np.divide(agreeing, n, out=np.full(len(n), np.nan), where=some)
    chance = (totals * (totals - 1)).sum(axis=1)
    return 1 - agreed, 1 - np.divide(chance, n * (n - 1), out=np.full(len(n), np.nan), where=some)


def _alphas(pairable: Floats) -> tuple[float, Floats]:
    """Alpha of all items, and without each item in turn; NaN where no disagreement is expected."""
    observed, expected = _alpha_disagreements(*_alpha_sums(pairable))
    alphas = 1 - np.divide(observed, expected, out=np.full(len(observed), np.nan), where=expected > 0)
    return float(alphas[0]), alphas[1:]


def _fleiss_sums(table: Floats) -> Floats:
    """One row per item: its share of agreeing pairs, its shares of categories, and 1."""
    raters = table[0].sum()
    agreed = (table * (table - 1)).sum(axis=1) / (raters * (raters - 1))
    return np.column_stack([agreed, table / raters, np.ones(len(table))])


def _fleiss_parts(sums: Floats) -> tuple[Floats, Floats]:
    """Observed agreement and agreement by chance of each row of sums; chance 1 where no item is left."""
    n = sums[:, -1:]
    means = np.divide(sums, n, out=np.ones_like(sums), where=n > 0)
    return means[:, 0], (means[:, 1:-1] ** 2).sum(axis=1)


def _limits(
    value: float, left_out: Floats, *, parts: tuple[float, float], level: float
) -> tuple[float, float, str]:
    """Jackknife limits on Fisher's z, or the Wilson plug-in from observed and chance agreement."""
    n = len(left_out)
    spread = float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()))
    if abs(value) < 1 and spread > 1e-12:
        half = t_quantile(level, n - 1) * spread / (1 - value**2)
        low, high = np.tanh(np.arctanh(value) + np.array([-half, half])).tolist()
        return min(low, value), max(high, value), "jackknife on Fisher z"
    observed, expected = parts
    low, high = (
        (limit - expected) / (1 - expected) for limit in wilson(min(1.0, observed) * n, n, level=level)
    )
    return max(-1.0, min(low, value)), max(high, value), "Wilson plug-in"  # rounding may cross the value
