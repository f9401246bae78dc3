"""Coefficients of several raters with missing ratings after Gwet 2014, for comparison with other tools.

Reports and gates never use them: they show Krippendorff's alpha with the interval of `multirater`. Here
each coefficient comes with the standard error of Gwet's linearisation and a t interval over items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from .chance import Floats
from .dawid_skene import one_hot
from .intervals import t_quantile
from .multirater import Ratings, categories_of


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient with observed and chance agreement, standard error and limits (at most 1)."""

    value: float
    error: float
    low: float
    high: float
    observed: float
    chance: float


@dataclass(frozen=True, slots=True)
class _Parts:
    """Counts (items, categories), chance, and how each item moves chance, of shape (items,)."""

    counts: Floats
    chance: float
    chance_by_item: Floats


def gwet_suite(ratings: Ratings, *, level: float = 0.95) -> dict[str, Coefficient | None]:
    """AC1, Fleiss' generalised kappa, Krippendorff's alpha, Conger's kappa and Brennan-Prediger.

    None where fewer than two items can be compared or chance agreement is 1.
    """
    given = one_hot(ratings, categories_of(ratings))
    given = given[:, given.sum(axis=(0, 2)) > 0]
    pairable = given[:, given.sum(axis=(0, 2)) >= 2]
    if pairable.shape[1] < 2 or given.shape[2] < 2:
        return dict.fromkeys([*CHANCES, "krippendorff"])
    found: dict[str, Coefficient | None] = {
        name: _from_parts(parts(given), level=level) for name, parts in CHANCES.items()
    }
    found["krippendorff"] = _krippendorff(pairable.sum(axis=0), level=level)
    return found


def _shares(counts: Floats) -> Floats:
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _fleiss_parts(given: Floats) -> _Parts:
    counts = given.sum(axis=0)
    pooled = _shares(counts).mean(axis=0)
    return _Parts(counts, float(pooled @ pooled), _shares(counts) @ pooled)


def _gwet_parts(given: Floats) -> _Parts:
    counts = given.sum(axis=0)
    other = (1 - _shares(counts).mean(axis=0)) / (counts.shape[1] - 1)
    by_item = _shares(counts) @ other
    return _Parts(counts, float(by_item.mean()), by_item)


def _uniform_parts(given: Floats) -> _Parts:
    counts = given.sum(axis=0)
    chance = 1 / counts.shape[1]
    return _Parts(counts, chance, np.full(len(counts), chance))


def _conger_parts(given: Floats) -> _Parts:
    """Chance from each rater's own shares, averaged over pairs of different raters (Conger 1980)."""
    raters, items, _ = given.shape
    rated = given.sum(axis=2)
    many = rated.sum(axis=1)
    own = given.sum(axis=1) / many[:, None]
    others = (own.sum(axis=0) - own) / (raters * (raters - 1))
    moved = (items / many)[:, None, None] * (given - rated[:, :, None] * own[:, None, :])
    by_item = np.einsum("rk,rik->i", others, own[:, None, :] + moved)
    return _Parts(given.sum(axis=0), float((others * own).sum()), by_item)


CHANCES: dict[str, Callable[[Floats], _Parts]] = {
    "gwet_ac1": _gwet_parts,
    "fleiss": _fleiss_parts,
    "conger": _conger_parts,
    "brennan_prediger": _uniform_parts,
}


def _from_parts(parts: _Parts, *, level: float) -> Coefficient | None:
    if parts.chance >= 1:
        return None
    raters = parts.counts.sum(axis=1)
    comparable = (raters >= 2) * (len(raters) / (raters >= 2).sum())
    agreed = (parts.counts * (parts.counts - 1)).sum(axis=1) / np.maximum(1, raters * (raters - 1))
    observed, scale = float((comparable * agreed).mean()), 1 - parts.chance
    value = (observed - parts.chance) / scale
    moved = comparable * (agreed - parts.chance) / scale
    moved -= 2 * (1 - value) * (parts.chance_by_item - parts.chance) / scale
    return _coefficient(value, moved - value, agreement=(observed, parts.chance), level=level)


def _krippendorff(counts: Floats, *, level: float) -> Coefficient | None:
    """Alpha with its correction for few ratings; the spread is that of the value without it."""
    raters = counts.sum(axis=1)
    mean = float(raters.mean())
    pooled = counts.mean(axis=0) / mean
    chance = float(pooled @ pooled)
    if chance >= 1:
        return None
    agreed = (counts * (counts - 1)).sum(axis=1) / (mean * (raters - 1))
    plain, correction = float(agreed.mean()), 1 / float(raters.sum())
    observed, scale = (1 - correction) * plain + correction, 1 - chance
    apart = (raters - mean) / mean
    raw = (plain - chance) / scale
    moved = (agreed - observed * apart - chance) / scale
    moved -= 2 * (1 - raw) * (counts @ pooled / mean - chance * apart - chance) / scale
    value = (observed - chance) / scale
    return _coefficient(value, moved - moved.mean(), agreement=(observed, chance), level=level)


def _coefficient(
    value: float, influence: Floats, *, agreement: tuple[float, float], level: float
) -> Coefficient:
    n = len(influence)
    error = sqrt(float((influence**2).sum()) / (n * (n - 1)))
    half = t_quantile(level, n - 1) * error
    return Coefficient(value, error, value - half, min(1.0, value + half), *agreement)
