"""Comparisons with other methods and other tools; reports and gates never use anything in this file.

Most of these intervals are too narrow at 30 to 100 items (METHODS.md sections 1.1 and 2.1), or define a
number otherwise than we do. They are here so that our numbers can be checked against published ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from math import copysign, log, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .agreement import cohen_kappa
from .asymptotic import kappa_null_variance, kappa_unit_variance
from .chance import Floats, agreement_weights, as_table, cohen_chance, corrected, used_part
from .chance import Weights as WeightName
from .classification import BinaryCounts
from .corrected import Judged, rogan_gladen_raw
from .dawid_skene import DawidSkene, em_steps, fitted, log_shares, maximise, one_hot
from .intervals import DRAWS, SEED, Interval, wilson, z_quantile
from .multirater import Ratings, categories_of
from .stratified import Table, log_tilt

Votes = Mapping[str, Mapping[str, Sequence[str]]]  # by question: "human" and judge, each a list of votes


def kappa_se(table: ArrayLike, *, weights: WeightName | None = None) -> float | None:
    """The standard error of (weighted) kappa after Fleiss, Cohen and Everitt 1969; None where p_e = 1."""
    counts = as_table(table)
    agreement = None if weights is None else agreement_weights(len(counts), weights)
    variance = kappa_unit_variance(counts, agreement)
    return None if variance is None else sqrt(variance / float(counts.sum()))


def kappa_null_se(table: ArrayLike) -> float | None:
    """The standard error of kappa under chance agreement alone; for a test of 0, not for intervals."""
    variance = kappa_null_variance(table)
    return None if variance is None else sqrt(variance / float(as_table(table).sum()))


def kappa_wald(table: ArrayLike, *, level: float = 0.95) -> Interval | None:
    """Kappa plus and minus z standard errors, at most 1; collapses at perfect agreement."""
    kappa, error = cohen_kappa(table, draws=1).value, kappa_se(table)
    if kappa is None or error is None:
        return None
    half = z_quantile(level) * error
    return max(-1.0, kappa - half), min(1.0, kappa + half)


def kappa_fisher_z(table: ArrayLike, *, level: float = 0.95) -> Interval | None:
    """The delta-method interval on Fisher's z; None at kappa = 1 or -1, where it does not exist."""
    kappa, error = cohen_kappa(table, draws=1).value, kappa_se(table)
    if kappa is None or error is None or abs(kappa) >= 1:
        return None
    half = z_quantile(level) * error / (1 - kappa**2)
    low, high = np.tanh(np.arctanh(kappa) + np.array([-half, half])).tolist()
    return low, high


def kappa_bootstrap(
    table: ArrayLike, *, draws: int = DRAWS, seed: int = SEED, level: float = 0.95
) -> dict[str, Interval] | None:
    """Percentile and BCa intervals (Efron 1987) of kappa from resampled items."""
    counts = used_part(table)
    kappa = cohen_kappa(counts, draws=1).value
    if kappa is None:
        return None
    n = int(counts.sum())
    drawn = np.random.default_rng(seed).multinomial(n, counts.ravel() / n, size=draws).T
    sample = _kappas(drawn.reshape(*counts.shape, draws).astype(np.float64))
    sample = sample[~np.isnan(sample)]
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    return {
        "percentile": _quantiles(sample, tails),
        "bca": _quantiles(sample, _bca_tails(counts, sample, kappa=kappa, tails=tails)),
    }


def mcnemar_chi2(first: float, second: float, *, corrected: bool = False) -> tuple[float, float] | None:
    """The large-sample chi-square of McNemar 1947, with continuity correction if asked, and its p."""
    if first + second == 0:
        return None
    from scipy.special import chdtrc

    gap = max(0.0, abs(first - second) - (1 if corrected else 0))
    chi2 = gap**2 / (first + second)
    return chi2, float(chdtrc(1, chi2))


def rogan_gladen_known(
    passed: int, n: int, *, sensitivity: float, specificity: float, level: float = 0.95
) -> tuple[float, float, float]:
    """Rogan and Gladen 1978 with error rates taken as known: value and rescaled Wilson limits, unclipped."""
    shares = (passed / n, *wilson(passed, n, level=level))
    value, low, high = ((share + specificity - 1) / (sensitivity + specificity - 1) for share in shares)
    return value, low, high


def rogan_gladen_bootstrap(
    labelled: BinaryCounts, judged: Judged, *, draws: int = DRAWS, seed: int = SEED, level: float = 0.95
) -> Interval | None:
    """The interval of judgy 0.1.0: resamples the labelled items only, drops draws with J <= 0, clips."""
    if rogan_gladen_raw(labelled, judged) is None:
        return None
    cells = np.array([labelled.tp, labelled.fn, labelled.tn, labelled.fp])
    drawn = np.random.default_rng(seed).multinomial(labelled.n, cells / labelled.n, size=draws)
    tp, fn, tn, fp = drawn[(drawn[:, :2].sum(axis=1) > 0) & (drawn[:, 2:].sum(axis=1) > 0)].T
    specificity, youden = tn / (tn + fp), tp / (tp + fn) + tn / (tn + fp) - 1
    kept = youden > 1e-9
    rates = (judged.passed / judged.n + specificity[kept] - 1) / youden[kept]
    return _quantiles(np.clip(rates, 0, 1), np.array([(1 - level) / 2, (1 + level) / 2]))


def ppi_mean(
    human: Sequence[float],
    judge: Sequence[float],
    *,
    judged: Judged,
    weight: float | None = 1.0,
    level: float = 0.95,
) -> tuple[float, float, float]:
    """Prediction-powered mean (Angelopoulos et al. 2023) and its normal limits; value, low, high.

    `judge` are the verdicts on the labelled items. `weight` None estimates it, which is PPI++.
    """
    labels, verdicts = np.asarray(human, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    n, many, rate = len(labels), judged.n, judged.passed / judged.n
    if weight is None:
        pooled = (verdicts.sum() + judged.passed) / (n + many)
        spread = pooled * (1 - pooled) * (n + many) / (n + many - 1)
        covariance = float(((labels - labels.mean()) * (verdicts - verdicts.mean())).mean())
        weight = covariance / ((1 + n / many) * spread) if spread else 0.0
    rectified = labels - weight * verdicts
    value = float(weight * rate + rectified.mean())
    half = z_quantile(level) * sqrt(weight**2 * rate * (1 - rate) / many + float(rectified.var()) / n)
    return value, value - half, value + half


def conditional_odds_ratio_r(strata: Sequence[Table]) -> float | None:
    """The common odds ratio to the accuracy of R's mantelhaen.test, whose root is found to 1e-4 only.

    R solves for the odds ratio itself when it is below 1 and for its inverse when above; so does this.
    """
    tilt = log_tilt(strata)
    if tilt is None:
        return None
    tolerance, tiny = np.finfo(float).eps ** 0.25, float(np.finfo(float).eps)
    if tilt(0.0) == 0:
        return 1.0
    if tilt(0.0) > 0:
        return _brent(lambda ratio: tilt(log(max(ratio, 1e-300))), (0.0, 1.0), tolerance=tolerance)
    return 1 / _brent(lambda inverse: tilt(-log(inverse)), (tiny, 1.0), tolerance=tolerance)


def dawid_skene_crowd_kit(
    ratings: Ratings, *, smoothing: float = 0.0, iterations: int = 200, tolerance: float = 1e-8
) -> DawidSkene:
    """Dawid and Skene 1979 with the stopping rule of crowd-kit 1.4: its bound counts the prior per rating.

    That bound may fall while the likelihood still grows, so the fit stops early.
    """
    categories = categories_of(ratings)
    given = one_hot(ratings, categories)
    bound = -np.inf
    for step, _ in zip(em_steps(given, smoothing), range(iterations), strict=False):
        priors, confusion = maximise(given, step.belief, smoothing=smoothing)
        reached = _crowd_kit_bound(given, step.belief, parameters=(priors, confusion))
        if reached - bound < tolerance:
            break
        bound = reached
    result = fitted(step, given, categories=categories)
    return DawidSkene(result.categories, result.labels, result.probabilities, priors, confusion)


def judgebench_accuracy(
    decisions: Sequence[tuple[str | None, str | None]], labels: Sequence[str]
) -> float | None:
    """The per cent right as JudgeBench counts (Tan et al. 2024): right less wrong over both orders above 0.

    Decisions name the slots, so the second order is turned round; ties and missing decisions add nothing.
    """
    if not decisions:
        return None
    turned = {"A>B": "B>A", "B>A": "A>B"}
    right = 0
    for (forward, reverse), label in zip(decisions, labels, strict=True):
        sides = [side for side in (forward, turned.get(reverse or "")) if side in turned]
        right += sum(1 if side == label else -1 for side in sides) > 0
    return 100 * right / len(decisions)


def mtbench_agreement(
    votes: Votes, *, judge: str, setup: Literal["S1", "S2"] = "S1"
) -> dict[str, tuple[int, int]]:
    """Agreeing and all pairs of votes, judge against human and human against human (Zheng et al. 2023).

    S1 counts a tie, and a verdict that changes with the order, as one class; S2 leaves such pairs out.
    """
    across, within = [], []
    for by_rater in votes.values():
        humans = [_tie(vote) for vote in by_rater.get("human", ())]
        across += list(product([_tie(vote) for vote in by_rater.get(judge, ())], humans))
        within += list(combinations(humans, 2))
    return {"judge_human": _agreeing(across, setup), "human_human": _agreeing(within, setup)}


def _brent(function: Callable[[float], float], bracket: tuple[float, float], *, tolerance: float) -> float:
    """Brent's root finder (Brent 1973, chapter 4), which stops within `tolerance` as R's uniroot does.

    `best` is the estimate, `last` the one before it, `other` the end on the far side of the root.
    """
    last, best = bracket
    at = {point: function(point) for point in bracket}
    other = last
    for _ in range(1000):
        before = best - last
        if abs(at[other]) < abs(at[best]):
            last, best, other = best, other, best
        smallest = 2 * float(np.finfo(float).eps) * abs(best) + tolerance / 2
        half = (other - best) / 2
        if abs(half) <= smallest or at[best] == 0:
            break
        step = half
        if abs(before) >= smallest and abs(at[last]) > abs(at[best]):
            guess = _interpolated(at, last=last, best=best, other=other)
            inside = guess * half > 0 and abs(guess) < 1.5 * abs(half) - smallest / 2
            step = guess if inside and abs(guess) < abs(before / 2) else half
        last, best = best, best + copysign(max(abs(step), smallest), step)
        at[best] = function(best)
        if at[best] * at[other] > 0:
            other = last
    return best


def _interpolated(at: dict[float, float], *, last: float, best: float, other: float) -> float:
    """The step from `best` to the root of a line, or of an inverse parabola through three points."""
    ratio = at[best] / at[last]
    if last == other:
        return (other - best) * ratio / (ratio - 1)
    first, second = at[last] / at[other], at[best] / at[other]
    top = ratio * ((other - best) * first * (first - second) - (best - last) * (second - 1))
    return -top / ((first - 1) * (second - 1) * (ratio - 1))


def _kappas(tables: Floats) -> Floats:
    return corrected(tables, np.eye(len(tables)), chance=cohen_chance)


def _quantiles(sample: Floats, tails: Floats) -> Interval:
    low, high = np.quantile(sample, tails).tolist()
    return low, high


def _bca_tails(counts: Floats, sample: Floats, *, kappa: float, tails: Floats) -> Floats:
    """Bias-corrected and accelerated tails, with acceleration from leaving each item out."""
    normal = NormalDist()
    cells = [(row, column) for row, column in np.argwhere(counts > 0)]
    without = np.repeat(counts[:, :, None], len(cells), axis=2)
    for place, (row, column) in enumerate(cells):
        without[row, column, place] -= 1
    times = np.array([counts[cell] for cell in cells])
    values = _kappas(without)
    apart = np.average(values, weights=times) - values
    spread = float((times * apart**2).sum())
    acceleration = float((times * apart**3).sum()) / (6 * spread**1.5) if spread else 0.0
    below = float(np.mean(sample < kappa))
    bias = normal.inv_cdf(min(1 - 1e-9, max(1e-9, below)))
    shifted = [bias + normal.inv_cdf(float(tail)) for tail in tails]
    return np.array([normal.cdf(bias + z / (1 - acceleration * z)) for z in shifted])


def _crowd_kit_bound(given: Floats, belief: Floats, *, parameters: tuple[Floats, Floats]) -> float:
    priors, confusion = parameters
    per_rating = np.einsum("rij,rkj->rik", given, log_shares(confusion))
    per_rating += given.sum(axis=2)[:, :, None] * log_shares(priors)
    return float((belief * per_rating.sum(axis=0)).sum() - (belief * log_shares(belief)).sum())


def _tie(vote: str) -> str:
    return "tie" if vote.startswith("tie") else vote


def _agreeing(pairs: Sequence[tuple[str, str]], setup: str) -> tuple[int, int]:
    kept = [pair for pair in pairs if setup == "S1" or "tie" not in pair]
    return sum(one == other for one, other in kept), len(kept)
