"""Dawid and Skene 1979: labels, and each annotator's confusion, from ratings alone. Only a diagnostic."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from .chance import Floats
from .estimate import Reason
from .multirater import Ratings, categories_of


@dataclass(frozen=True, slots=True)
class Step:
    """One round of the fit: what is believed of each item, from these parameters."""

    belief: Floats
    priors: Floats
    confusion: Floats
    log_likelihood: float


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """What the model says, or why it was not asked.

    `probabilities` has shape (items, categories), `priors` (categories,), `confusion` (annotators, true
    category, given category); `labels` holds each item's most probable category, None without ratings.
    """

    categories: tuple[Hashable, ...] = ()
    labels: tuple[Hashable | None, ...] = ()
    probabilities: Floats | None = None
    priors: Floats | None = None
    confusion: Floats | None = None
    why_undefined: Reason | None = None


def dawid_skene(
    ratings: Ratings,
    *,
    smoothing: float = 1.0,
    iterations: int = 200,
    tolerance: float = 1e-7,
    min_items: int = 100,
    min_raters: int = 3,
) -> DawidSkene:
    """Fit by expectation-maximisation from a majority start, with pseudo-counts in each confusion cell.

    Stops when the log likelihood gains less than `tolerance`. With fewer than `min_items` rated items or
    `min_raters` raters, where majority does better, the result is `too_few_items`.
    """
    categories = categories_of(ratings)
    given = one_hot(ratings, categories)
    if (given.sum(axis=(0, 2)) > 0).sum() < max(1, min_items) or len(ratings) < min_raters:
        return DawidSkene(why_undefined="too_few_items")
    likelihood = -np.inf
    for step in islice(em_steps(given, smoothing), iterations):
        gain, likelihood = step.log_likelihood - likelihood, step.log_likelihood
        if gain < tolerance:
            break
    return fitted(step, given, categories=categories)


def fitted(step: Step, given: Floats, *, categories: list[Hashable]) -> DawidSkene:
    """The result at one step of the fit."""
    rated = given.sum(axis=(0, 2)) > 0
    best = step.belief.argmax(axis=1)
    labels = tuple(categories[k] if known else None for k, known in zip(best, rated, strict=True))
    return DawidSkene(tuple(categories), labels, step.belief, step.priors, step.confusion)


def em_steps(given: Floats, smoothing: float) -> Iterator[Step]:
    """Expectation-maximisation without end; `given` has shape (raters, items, categories), 1 where chosen."""
    belief = _normalised(given.sum(axis=0))
    while True:
        priors, confusion = maximise(given, belief, smoothing=smoothing)
        belief, reached = _expect(given, priors, confusion=confusion)
        yield Step(belief, priors, confusion, reached)


def one_hot(ratings: Ratings, categories: list[Hashable]) -> Floats:
    """Ratings as an array of shape (raters, items, categories), 1 where chosen, all 0 where missing."""
    place = {category: k for k, category in enumerate(categories)}
    given = np.zeros((len(ratings), len(ratings[0]) if ratings else 0, max(1, len(categories))))
    for rater, values in enumerate(ratings):
        for item, value in enumerate(values):
            if value is not None:
                given[rater, item, place[value]] = 1
    return given


def _normalised(rows: Floats) -> Floats:
    """Rows as shares of their sum; a row without anything becomes even."""
    totals = rows.sum(axis=-1, keepdims=True)
    even = np.full_like(rows, 1 / rows.shape[-1])
    shares: Floats = np.divide(rows, totals, out=even, where=totals > 0)
    return shares


def maximise(given: Floats, belief: Floats, *, smoothing: float) -> tuple[Floats, Floats]:
    """Priors and confusion (annotator, true, given) that suit what is believed of each item."""
    rated = given.sum(axis=(0, 2)) > 0
    counts = np.einsum("ik,rij->rkj", belief, given) + smoothing
    priors: Floats = belief[rated].mean(axis=0)
    return priors, _normalised(counts)


def _expect(given: Floats, priors: Floats, *, confusion: Floats) -> tuple[Floats, float]:
    """Each item's probabilities and the log likelihood of all ratings."""
    logs = log_shares(priors) + np.einsum("rij,rkj->ik", given, log_shares(confusion))
    top = logs.max(axis=1, keepdims=True)
    sums: NDArray[np.float64] = np.exp(logs - top).sum(axis=1, keepdims=True)
    belief: Floats = np.exp(logs - top) / sums
    return belief, float((top + np.log(sums)).sum())


def log_shares(shares: Floats) -> Floats:
    """Logarithms in which 0 becomes very unlikely instead of impossible."""
    logs: Floats = np.log(np.maximum(shares, 1e-300))
    return logs
