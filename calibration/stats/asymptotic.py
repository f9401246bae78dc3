"""Large-sample variances of kappa, for planning and for comparison; intervals in reports do not use them."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from .chance import Floats, as_table


def kappa_unit_variance(table: ArrayLike, weights: ArrayLike | None = None) -> float | None:
    """n times the variance of (weighted) kappa after Fleiss, Cohen and Everitt 1969; None where p_e = 1.

    `weights` (K, K) are agreement weights, 1 on the diagonal; without them kappa is unweighted.
    """
    counts = as_table(table)
    if not counts.sum():
        return None
    shares = counts / counts.sum()
    agreement = np.eye(len(shares)) if weights is None else np.asarray(weights, dtype=np.float64)
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = float((agreement * shares).sum()), float(rows @ agreement @ columns)
    if expected >= 1 - 1e-12:
        return None
    means = np.add.outer(agreement @ columns, rows @ agreement)
    spread = (shares * (agreement * (1 - expected) - means * (1 - observed)) ** 2).sum()
    variance = spread - (observed * expected - 2 * expected + observed) ** 2
    return max(0.0, float(variance)) / (1 - expected) ** 4


def kappa_null_variance(table: ArrayLike) -> float | None:
    """n times the variance of kappa if agreement were chance alone (Fleiss, Cohen and Everitt 1969)."""
    counts = as_table(table)
    if not counts.sum():
        return None
    shares = counts / counts.sum()
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    expected = float(rows @ columns)
    if expected >= 1 - 1e-12:
        return None
    spread = expected + expected**2 - float((rows * columns * (rows + columns)).sum())
    return spread / (1 - expected) ** 2


def shares_at(kappa: float, margins: Sequence[float]) -> Floats:
    """The table of shares of two raters with the same margins and this kappa; shape (K, K).

    (1 - kappa) p_i p_j off the diagonal, and kappa p_i more on it. ValueError if a share were negative.
    """
    p = np.asarray(margins, dtype=np.float64)
    if (p < 0).any() or not np.isclose(p.sum(), 1):
        raise ValueError("margins are shares that add up to 1")
    shares: Floats = (1 - kappa) * np.outer(p, p) + kappa * np.diag(p)
    if (shares < 0).any():
        raise ValueError(f"no table has kappa {kappa} with these margins")
    return shares


def kappa_unit_sd(kappa: float, margins: Sequence[float]) -> float:
    """The standard deviation of kappa for one item, so that of n items is this over the root of n."""
    variance = kappa_unit_variance(shares_at(kappa, margins))
    if variance is None:
        raise ValueError("margins need two categories")
    return sqrt(variance)
