"""Agreement of two raters beyond chance, from their table of counts (rows reference, columns judge).

Each coefficient is (agreement - chance) / (1 - chance); they differ in the weights of agreement and in
what chance would give. Their intervals come from the balanced Dirichlet posterior of the table, or, as
`method="wilson-plugin"`, from the Wilson interval of the agreement with chance held fixed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .chance import (
    Floats,
    How,
    Method,
    Weights,
    agreement_weights,
    as_table,
    coefficient,
    cohen_chance,
    corrected,
    estimate,
    gwet_chance,
    posterior,
    ratio,
    scott_chance,
    uniform_chance,
    used_categories,
    used_part,
)
from .estimate import Estimate, undefined
from .intervals import DRAWS, SEED, proportion, sign_test_p

BANDS = (
    (0.20, "slight"),
    (0.40, "fair"),
    (0.60, "moderate"),
    (0.80, "substantial"),
    (1.00, "almost perfect"),
)


def crosstab(reference: Sequence[str], judge: Sequence[str], categories: Sequence[str]) -> NDArray[np.int64]:
    """Count each pair of values: rows are the reference's categories, columns the judge's.

    Raises ValueError on unequal lengths, a value outside `categories`, or a category given twice.
    """
    place = {category: k for k, category in enumerate(categories)}
    if len(place) != len(categories):
        raise ValueError("a category is given twice")
    if len(reference) != len(judge):
        raise ValueError(f"{len(reference)} reference values but {len(judge)} of the judge")
    unknown = ({*reference} | {*judge}) - place.keys()
    if unknown:
        raise ValueError(f"values outside the categories: {sorted(map(str, unknown))}")
    table = np.zeros((len(place), len(place)), dtype=np.int64)
    for row, column in zip(reference, judge, strict=True):
        table[place[row], place[column]] += 1
    return table


def raw_agreement(table: ArrayLike, *, level: float = 0.95) -> Estimate:
    """The share of items on which both raters agree, with its Wilson interval."""
    counts = as_table(table)
    return proportion(float(np.trace(counts)), float(counts.sum()), level=level)


def chance_agreement(table: ArrayLike) -> float | None:
    """The agreement that the two raters' margins give by chance (Cohen 1960); None without items."""
    counts = as_table(table)
    total = float(counts.sum())
    return float(cohen_chance(counts, np.eye(len(counts)))) / total**2 if total else None


def cohen_kappa(
    table: ArrayLike,
    *,
    method: Method = "dirichlet",
    draws: int = DRAWS,
    seed: int = SEED,
    level: float = 0.95,
) -> Estimate:
    """Kappa (Cohen 1960) with the interval of METHODS.md section 1.1.

    Undefined as `expected_agreement_is_1` when both raters used one and the same category only.
    """
    counts = used_part(table)
    how = How(method, draws, seed, level)
    return coefficient(counts, np.eye(len(counts)), chance=cohen_chance, how=how)


def weighted_kappa(
    table: ArrayLike,
    *,
    weights: Weights = "linear",
    method: Method = "dirichlet",
    draws: int = DRAWS,
    seed: int = SEED,
    level: float = 0.95,
) -> Estimate:
    """Weighted kappa (Cohen 1968) of categories in their order; distances keep unused categories."""
    counts, keep = as_table(table), used_categories(table)
    if len(counts) == 1:
        return cohen_kappa(counts, method=method, draws=draws, seed=seed, level=level)
    agreement = agreement_weights(len(counts), weights)[np.ix_(keep, keep)]
    how = How(method, draws, seed, level)
    return coefficient(counts[np.ix_(keep, keep)], agreement, chance=cohen_chance, how=how)


def scott_pi(
    table: ArrayLike,
    *,
    method: Method = "dirichlet",
    draws: int = DRAWS,
    seed: int = SEED,
    level: float = 0.95,
) -> Estimate:
    """Pi (Scott 1955): chance comes from the pooled margins of both raters."""
    counts = used_part(table)
    how = How(method, draws, seed, level)
    return coefficient(counts, np.eye(len(counts)), chance=scott_chance, how=how)


def ac1(
    table: ArrayLike,
    *,
    method: Method = "dirichlet",
    draws: int = DRAWS,
    seed: int = SEED,
    level: float = 0.95,
) -> Estimate:
    """AC1 (Gwet 2008), to print beside kappa when margins are skewed; never a gate."""
    counts = used_part(table)
    how = How(method, draws, seed, level)
    return coefficient(counts, np.eye(len(counts)), chance=gwet_chance, how=how)


def bennett_s(
    table: ArrayLike,
    *,
    method: Method = "wilson-plugin",
    draws: int = DRAWS,
    seed: int = SEED,
    level: float = 0.95,
) -> Estimate:
    """S (Bennett, Alpert and Goldstein 1954) with chance 1/K; for K = 2 it is PABAK (Byrt et al. 1993)."""
    counts = used_part(table)
    how = How(method, draws, seed, level)
    return coefficient(counts, np.eye(len(counts)), chance=uniform_chance, how=how)


pabak = bennett_s


def kappa_max(table: ArrayLike, *, draws: int = DRAWS, seed: int = SEED, level: float = 0.95) -> Estimate:
    """The largest kappa that these margins allow (Cohen 1960)."""
    return estimate(used_part(table), _kappa_max, how=How(draws=draws, seed=seed, level=level))


def kappa_of_max(table: ArrayLike, *, draws: int = DRAWS, seed: int = SEED, level: float = 0.95) -> Estimate:
    """Kappa as a share of the largest that these margins allow; `zero_denominator` if that is 0."""
    largest = kappa_max(table, draws=1)
    if largest.value == 0:
        return undefined("zero_denominator", n=largest.n)
    return estimate(used_part(table), _kappa_of_max, how=How(draws=draws, seed=seed, level=level))


def kappa_draws(table: ArrayLike, *, draws: int = DRAWS, seed: int = SEED) -> Floats:
    """Draws of kappa from the balanced Dirichlet posterior of the table; shape (draws,)."""
    return _kappa(posterior(used_part(table), How(draws=draws, seed=seed)))


def kappa_quantiles(
    table: ArrayLike, probabilities: Sequence[float], *, draws: int = DRAWS, seed: int = SEED
) -> list[float] | None:
    """Quantiles of the posterior of kappa, as they are drawn; None where kappa is undefined."""
    if cohen_kappa(table, draws=1).value is None:
        return None
    quantiles: list[float] = np.quantile(kappa_draws(table, draws=draws, seed=seed), probabilities).tolist()
    return quantiles


def probability_above(
    table: ArrayLike, threshold: float, *, draws: int = DRAWS, seed: int = SEED
) -> float | None:
    """The posterior probability that kappa exceeds `threshold`; None where kappa is undefined."""
    if cohen_kappa(table, draws=1).value is None:
        return None
    return float(np.mean(kappa_draws(table, draws=draws, seed=seed) > threshold))


def prevalence_index(table: ArrayLike) -> float | None:
    """How far the agreements lean to one of two categories (Byrt et al. 1993); None unless K = 2."""
    counts = as_table(table)
    if len(counts) != 2 or not counts.sum():
        return None
    return float((counts[0, 0] - counts[1, 1]) / counts.sum())


def bias_index(table: ArrayLike) -> float | None:
    """The reference's share of the first of two categories less the judge's; None unless K = 2."""
    counts = as_table(table)
    if len(counts) != 2 or not counts.sum():
        return None
    return float((counts[0, 1] - counts[1, 0]) / counts.sum())


def margins_p(table: ArrayLike) -> float:
    """The p of equal margins: mid-p McNemar for two categories, Bowker's test of symmetry for more."""
    counts = used_part(table)
    above, below = counts[np.triu_indices_from(counts, 1)], counts.T[np.triu_indices_from(counts, 1)]
    if len(above) == 1:
        return sign_test_p(round(above[0]), round(below[0]), midp=True)
    moved = above + below > 0
    if not moved.any():
        return 1.0
    from scipy.special import gammaincc

    chi2 = ((above - below)[moved] ** 2 / (above + below)[moved]).sum()
    return float(gammaincc(moved.sum() / 2, chi2 / 2))


def kappa_warnings(table: ArrayLike) -> tuple[str, ...]:
    """The codes that ask for more than kappa beside kappa (METHODS.md section 1); none without items.

    `prevalence_paradox` after Feinstein and Cicchetti 1990, `systematic_leniency` for unequal margins.
    """
    counts = used_part(table)
    if not counts.sum():
        return ()
    lenient = margins_p(counts) < 0.05 or abs(bias_index(counts) or 0) >= 0.15
    codes = {"prevalence_paradox": _is_paradoxical(counts), "systematic_leniency": lenient}
    return tuple(code for code, raised in codes.items() if raised)


def band(kappa: float) -> str:
    """The word of Landis and Koch 1977 for a kappa: a convention without statistical basis, never a gate."""
    if not -1 <= kappa <= 1:
        raise ValueError(f"kappa lies between -1 and 1, not at {kappa}")
    if kappa < 0:
        return "poor"
    return next(word for limit, word in BANDS if kappa <= limit)


def _is_paradoxical(counts: Floats) -> bool:
    total = counts.sum()
    kappa = cohen_kappa(counts, draws=1).value
    labelled = counts.sum(axis=1)  # a category that only the other rater used is no rare label
    pooled = (counts.sum(axis=0) + counts.sum(axis=1)) / (2 * total)
    return bool(
        (np.trace(counts) / total >= 0.80 and kappa is not None and kappa < 0.60)
        or abs(prevalence_index(counts) or 0) >= 0.6
        or pooled.max() >= 0.80
        or labelled[labelled > 0].min() < 10
    )


def _kappa(cells: Floats) -> Floats:
    return corrected(cells, np.eye(len(cells)), chance=cohen_chance)


def _kappa_max(cells: Floats) -> Floats:
    total, rows, columns = cells.sum(axis=(0, 1)), cells.sum(axis=1), cells.sum(axis=0)
    expected = cohen_chance(cells, np.eye(len(cells)))
    return ratio(total * np.minimum(rows, columns).sum(axis=0) - expected, total**2 - expected)


def _kappa_of_max(cells: Floats) -> Floats:
    return ratio(_kappa(cells), _kappa_max(cells))
