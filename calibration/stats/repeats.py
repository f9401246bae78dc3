"""Repeated judge runs: what a majority of them gains, what single runs scatter, scores from repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from statistics import fmean, stdev

import numpy as np
from numpy.typing import NDArray

from .agreement import cohen_kappa
from .estimate import Estimate, undefined
from .intervals import DRAWS, SEED, mean_estimate

MIN_VALID_MASS = 0.9
Run = str | None | tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class RepeatsPoint:
    """Kappa of the majority of `runs` runs: its mean and standard deviation over sub-samples."""

    runs: int
    kappa: float | None
    spread: float | None


@dataclass(frozen=True, slots=True)
class GEvalScore:
    """A score weighted by token probabilities; `score` is None when no valid token had any mass."""

    score: float | None
    variance: float | None
    valid_mass: float
    warnings: tuple[str, ...] = ()


def majority_accuracy(probabilities: Sequence[float], runs: int) -> float | None:
    """The expected share right of the majority of an odd number of runs.

    `probabilities` holds each item's chance that one run is right. Items above one half gain, items below
    lose. None without items; ValueError for an even number of runs.
    """
    if runs < 1 or runs % 2 == 0:
        raise ValueError("a majority needs an odd number of runs")
    if not probabilities:
        return None
    enough = range(runs // 2 + 1, runs + 1)
    return fmean(sum(comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in enough) for p in probabilities)


def majority_curve(
    probabilities: Sequence[float], runs: Sequence[int] = (1, 3, 5, 11)
) -> list[tuple[int, float | None]]:
    """Majority accuracy for each number of runs."""
    return [(k, majority_accuracy(probabilities, k)) for k in runs]


def majority(votes: Sequence[str | None], *, undecided: str | None = None) -> str | None:
    """The value of more than half of the answered votes, else `undecided`; None counts as no vote."""
    answered = [vote for vote in votes if vote is not None]
    if not answered:
        return undecided
    value, times = Counter(answered).most_common(1)[0]
    return value if 2 * times > len(answered) else undecided


def kappa_by_repeats(
    reference: Sequence[str],
    runs: Sequence[Sequence[Run]],
    *,
    categories: Sequence[str],
    sizes: Sequence[int] = (1, 3, 5),
    undecided: str | None = None,
    samples: int = 200,
    seed: int = SEED,
) -> list[RepeatsPoint]:
    """Measured kappa of majorities of k stored runs, by drawing k of each item's runs many times.

    `runs` holds one sequence of runs per item, each a verdict or the verdicts of its orders, which vote
    together. Sizes that some item has too few runs for are left out.
    """
    rng = np.random.default_rng(seed)
    stored = min((len(item) for item in runs), default=0)
    votes = _counted_votes(runs, categories)
    ids = np.array([categories.index(label) for label in reference], dtype=np.int64)
    nobody = -1 if undecided is None else categories.index(undecided)
    points = []
    for size in (k for k in sizes if k <= stored):
        times = samples if any(len(item) > size for item in runs) else 1
        found = [
            _kappa(ids, _majorities(votes, size, rng=rng, undecided=nobody), size=len(categories))
            for _ in range(times)
        ]
        known = [kappa for kappa in found if kappa is not None]
        points.append(RepeatsPoint(size, fmean(known) if known else None, run_spread(known)))
    return points


def run_spread(values: Sequence[float | None]) -> float | None:
    """The standard deviation of a metric over single runs; None with fewer than two defined values."""
    known = [value for value in values if value is not None]
    return stdev(known) if len(known) >= 2 else None


def geval_score(scores: Sequence[float], probabilities: Sequence[float]) -> GEvalScore:
    """The probability-weighted score of G-Eval (Liu et al. 2023), renormalised over valid tokens.

    Warns `low_valid_mass` below .9. Never compare it across models with different tokenisation.
    """
    if len(scores) != len(probabilities) or any(p < 0 for p in probabilities):
        raise ValueError("each score needs one probability of at least 0")
    mass = sum(probabilities)
    if not mass:
        return GEvalScore(None, None, 0.0, ("low_valid_mass",))
    shares = [p / mass for p in probabilities]
    mean = sum(score * share for score, share in zip(scores, shares, strict=True))
    variance = sum((score - mean) ** 2 * share for score, share in zip(scores, shares, strict=True))
    return GEvalScore(mean, variance, mass, () if mass >= MIN_VALID_MASS else ("low_valid_mass",))


def qag_score(supported: int, total: int) -> float | None:
    """The share of an item's claims that are supported; None when it makes no claim."""
    if not 0 <= supported <= total:
        raise ValueError(f"{supported} supported claims of {total}")
    return supported / total if total else None


def qag_macro(
    items: Sequence[tuple[int, int]], *, draws: int = DRAWS, seed: int = SEED, level: float = 0.95
) -> Estimate:
    """The mean over items of (supported, total) claims, with an item bootstrap; items without claims miss."""
    scores = [score for score in (qag_score(*item) for item in items) if score is not None]
    missing = len(items) - len(scores)
    if not scores:
        return undefined("no_items", n_missing=missing)
    return replace(mean_estimate(scores, draws=draws, seed=seed, level=level), n_missing=missing)


def qag_micro(items: Sequence[tuple[int, int]]) -> float | None:
    """The pooled share of supported claims over all items; secondary to the macro mean."""
    return qag_score(sum(supported for supported, _ in items), sum(total for _, total in items))


def _counted_votes(runs: Sequence[Sequence[Run]], categories: Sequence[str]) -> NDArray[np.int64]:
    """How often each run of each item names each category: (items, runs, categories), -1 for no run."""
    most = max((len(item) for item in runs), default=0)
    votes = np.full((len(runs), most, len(categories)), -1, dtype=np.int64)
    place = {category: k for k, category in enumerate(categories)}
    for row, item in enumerate(runs):
        votes[row, : len(item)] = 0
        for column, run in enumerate(item):
            for vote in run if isinstance(run, tuple) else (run,):
                if vote is not None:
                    votes[row, column, place[vote]] += 1
    return votes


def _majorities(
    votes: NDArray[np.int64], size: int, *, rng: np.random.Generator, undecided: int
) -> NDArray[np.int64]:
    """The category that more than half of the votes of `size` drawn runs name, for each item."""
    keys = rng.random(votes.shape[:2])
    keys[votes[:, :, 0] < 0] = np.inf
    drawn = np.argsort(keys, axis=1)[:, :size]
    counts = np.take_along_axis(votes, drawn[:, :, None], axis=1).sum(axis=1)
    most = counts.argmax(axis=1)
    won = 2 * counts[np.arange(len(counts)), most] > counts.sum(axis=1)
    return np.where(won, most, undecided)


def _kappa(reference: NDArray[np.int64], values: NDArray[np.int64], *, size: int) -> float | None:
    known = values >= 0
    table = np.bincount(reference[known] * size + values[known], minlength=size * size)
    return cohen_kappa(table.reshape(size, size), draws=1).value
