"""Signs that an annotator needs help: own repeats, gold items, speed, first slot, fatigue, straight-lining.

Each gives a number with its n and interval or p. A flag is a reason to look, never a reason to drop labels;
adjust p-values by Holm over annotators and checks.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import log, sqrt
from statistics import NormalDist, median

import numpy as np

from .agreement import cohen_kappa, crosstab
from .chance import Floats
from .estimate import Estimate, Reason, undefined
from .intervals import DRAWS, SEED, proportion, sign_test_p

MIN_REPEATS = 10
MIN_GOLD = 8
MIN_FATIGUE = 40
IDLE_SECONDS = 300.0
WORDS_PER_SECOND = 10.0
FAST_Z = -3.5

Seconds = Sequence[Sequence[float | None]]  # one sequence per annotator, all of the same items


@dataclass(frozen=True, slots=True)
class Trend:
    """A trend over time: Kendall's tau, or None for a chi-square test; its p; and n."""

    tau: float | None
    chi2: float | None
    p: float | None
    n: int
    why_undefined: Reason | None = None


@dataclass(frozen=True, slots=True)
class SlotChoice:
    """How often an annotator chose the slot shown first, and the exact p of an even split."""

    share: Estimate
    p: float | None


@dataclass(frozen=True, slots=True)
class LongestRun:
    """The longest run of one label, and how often a random order of the same labels has one as long."""

    length: int
    p: float | None


def repeat_agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> Estimate:
    """How often an annotator repeats their own label (Wilson); fewer than 10 repeats warn `few_repeats`."""
    same = [one == other for one, other in zip(first, second, strict=True)]
    estimate = proportion(sum(same), len(same))
    if estimate.value is None or len(same) >= MIN_REPEATS:
        return estimate
    return replace(estimate, warnings=("few_repeats",))


def repeat_kappa(first: Sequence[str], second: Sequence[str], *, categories: Sequence[str]) -> Estimate:
    """Kappa of an annotator with themselves."""
    return cohen_kappa(crosstab(first, second, categories))


def gold_accuracy(right: int, n: int) -> Estimate:
    """The share of gold items labelled right, with the exact interval."""
    return proportion(right, n, method="Clopper-Pearson")


def below_required(accuracy: Estimate, required: float = 0.8) -> bool | None:
    """Whether even the upper limit misses `required`; None below 8 gold items."""
    if accuracy.high is None or accuracy.n < MIN_GOLD:
        return None
    return accuracy.high < required


def speed_z(seconds: Seconds) -> list[list[float | None]]:
    """Robust z of log time less item medians: .6745 (x - median) / MAD (Iglewicz and Hoaglin 1993).

    More than 5 minutes is idle time and counts as missing. An annotator whose MAD is 0 has None throughout.
    """
    logs = [[_log_time(value) for value in person] for person in seconds]
    medians = [median(known) if (known := _known(item)) else None for item in zip(*logs, strict=True)]
    centred = [
        [
            None if x is None or middle is None else x - middle
            for x, middle in zip(person, medians, strict=True)
        ]
        for person in logs
    ]
    return [_robust_z(person) for person in centred]


def fast_share(z: Sequence[float | None], *, threshold: float = FAST_Z) -> Estimate:
    """The share of an annotator's items that were answered implausibly fast for that item and person."""
    known = _known(z)
    if not known:
        return undefined("not_applicable", n_missing=len(z))
    fast = proportion(sum(value < threshold for value in known), len(known))
    return replace(fast, n_missing=len(z) - len(known))


def below_reading_floor(seconds: Sequence[float | None], words: Sequence[int]) -> Estimate:
    """The share of items answered in less time than ten words a second take to read."""
    timed = [
        (time, count)
        for time, count in zip(seconds, words, strict=True)
        if time is not None and time <= IDLE_SECONDS
    ]
    share = proportion(sum(time < count / WORDS_PER_SECOND for time, count in timed), len(timed))
    return replace(share, n_missing=len(seconds) - len(timed))


def slot_choice(first: int, choices: int, *, randomised: bool = True) -> SlotChoice:
    """Choices of the slot shown first among those that were no tie; `not_applicable` if order was fixed."""
    if not randomised:
        return SlotChoice(undefined("not_applicable", n=choices), None)
    if not choices:
        return SlotChoice(undefined("all_ties"), None)
    return SlotChoice(
        proportion(first, choices, method="Clopper-Pearson"), sign_test_p(first, choices - first)
    )


def fatigue_trend(agree: Sequence[int], n: Sequence[int]) -> Trend:
    """The trend of agreement over parts of the session (Cochran 1954, Armitage 1955), scores 1, 2 ..."""
    hits, sizes = np.asarray(agree, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if len(hits) != len(sizes) or (hits > sizes).any() or (hits < 0).any():
        raise ValueError("each part needs its number of items and at most that many agreements")
    total = float(sizes.sum())
    share = float(hits.sum()) / total if total else 0.0
    scores = np.arange(1, len(sizes) + 1)
    centred = scores - (scores * sizes).sum() / total if total else scores
    variance = share * (1 - share) * float((sizes * centred**2).sum())
    if variance <= 0:
        return Trend(None, None, None, round(total), "zero_denominator" if total else "no_items")
    from scipy.special import chdtrc

    chi2 = float((hits * centred).sum()) ** 2 / variance
    return Trend(None, chi2, float(chdtrc(1, chi2)), round(total))


def fatigue_quarters(agree: Sequence[bool]) -> Trend:
    """The trend over quarters of a session in the order of work; fewer than 40 items are `too_few_items`."""
    if len(agree) < MIN_FATIGUE:
        return Trend(None, None, None, len(agree), "too_few_items")
    quarters = np.array_split(np.asarray(agree, dtype=np.int64), 4)
    return fatigue_trend([int(part.sum()) for part in quarters], [len(part) for part in quarters])


def kendall_tau(order: Sequence[float], values: Sequence[float], *, exact: bool = False) -> Trend:
    """Kendall's tau-b with the large-sample p that allows for ties and has no continuity correction.

    `exact` takes the exact p instead where nothing is tied.
    """
    x, y = np.asarray(order, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if len(x) != len(y):
        raise ValueError("order and values need one entry per item")
    n = len(x)
    pairs = np.triu_indices(n, 1)
    signs_x, signs_y = (np.sign(np.subtract.outer(v, v)[pairs]) for v in (x, y))
    distinct = float(np.abs(signs_x).sum()) * float(np.abs(signs_y).sum())
    if not distinct:
        return Trend(None, None, None, n, "zero_denominator" if n else "no_items")
    score = float((signs_x * signs_y).sum())
    if exact and signs_x.all() and signs_y.all():
        from scipy.stats import kendalltau

        return Trend(score / sqrt(distinct), None, float(kendalltau(x, y, method="exact").pvalue), n)
    z = score / sqrt(_score_variance(x, y))
    return Trend(score / sqrt(distinct), None, 2 * NormalDist().cdf(-abs(z)), n)


def category_use_p(
    own: Sequence[int], others: Sequence[int], *, draws: int = DRAWS, seed: int = SEED
) -> float | None:
    """The p that an annotator uses the categories as the others do: Pearson's chi-square, p by permutation.

    Counts per category. None when either side has no labels or only one category is used.
    """
    mine, theirs = np.asarray(own, dtype=np.int64), np.asarray(others, dtype=np.int64)
    pooled = mine + theirs
    used = pooled > 0
    if used.sum() < 2 or not mine.sum() or not theirs.sum():
        return None
    rng = np.random.default_rng(seed)
    drawn = rng.multivariate_hypergeometric(pooled[used], int(mine.sum()), size=draws)
    expected = pooled[used] * (mine.sum() / pooled.sum())
    distance = (((drawn - expected) ** 2) / expected).sum(axis=1)
    observed = float((((mine[used] - expected) ** 2) / expected).sum())
    return float((1 + (distance >= observed * (1 - 1e-9)).sum()) / (1 + draws))


def longest_run(labels: Sequence[Hashable], *, draws: int = 2000, seed: int = SEED) -> LongestRun:
    """Straight-lining: the longest run of one label against random orders of the same labels."""
    length = _run_length(labels)
    if len(set(labels)) < 2:
        return LongestRun(length, None)
    rng = np.random.default_rng(seed)
    _, coded = np.unique([str(label) for label in labels], return_inverse=True)
    as_long = sum(_run_length(rng.permutation(coded).tolist()) >= length for _ in range(draws))
    return LongestRun(length, (1 + as_long) / (1 + draws))


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _log_time(seconds: float | None) -> float | None:
    return None if seconds is None or not 0 < seconds <= IDLE_SECONDS else log(seconds)


def _robust_z(values: Sequence[float | None]) -> list[float | None]:
    known = _known(values)
    middle = median(known) if known else 0.0
    deviation = median(abs(value - middle) for value in known) if known else 0.0
    if not deviation:
        return [None] * len(values)
    return [None if value is None else 0.6745 * (value - middle) / deviation for value in values]


def _run_length(labels: Sequence[Hashable]) -> int:
    return max((len(list(run)) for _, run in groupby(labels)), default=0)


def _score_variance(x: Floats, y: Floats) -> float:
    """The variance of Kendall's score under independence, with ties (Kendall 1970)."""
    n = len(x)
    t, u = (np.unique(values, return_counts=True)[1].astype(np.float64) for values in (x, y))
    main = n * (n - 1) * (2 * n + 5) - sum(float((k * (k - 1) * (2 * k + 5)).sum()) for k in (t, u))
    twos = float((t * (t - 1)).sum()) * float((u * (u - 1)).sum()) / (2 * n * (n - 1))
    threes = float((t * (t - 1) * (t - 2)).sum()) * float((u * (u - 1) * (u - 2)).sum())
    return main / 18 + twos + (threes / (9 * n * (n - 1) * (n - 2)) if n > 2 else 0.0)
