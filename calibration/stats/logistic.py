"""Logistic regression for small samples: maximum likelihood, and Firth 1993, which exists under separation.

`design` has one row per observation and one column per coefficient (give the intercept as a column of
ones); `y` is 0 or 1; `weights` count observations and default to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .chance import Floats
from .estimate import Estimate, Reason, undefined

STEPS = 200
LARGEST_STEP = 5.0


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """Coefficients and standard errors, each of shape (columns,), or why there are none."""

    coefficients: Floats
    errors: Floats
    log_likelihood: float
    why_undefined: Reason | None = None


@dataclass(frozen=True, slots=True)
class _Data:
    design: Floats
    y: Floats
    weights: Floats


def firth(design: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None) -> LogisticFit:
    """Firth's penalised likelihood (Firth 1993; Heinze and Schemper 2002), defined under separation.

    Standard errors come from the unpenalised information at the penalised estimates.
    """
    data = _checked(design, y, weights=weights)
    return _fit(data, np.zeros(data.design.shape[1]), free=_all(data))


def firth_interval(
    design: ArrayLike,
    y: ArrayLike,
    *,
    column: int,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """One coefficient (log odds) of Firth's fit with its profile penalised-likelihood interval.

    The limits are where the penalised likelihood ratio reaches the chi-square quantile. `n` counts weights.
    """
    data = _checked(design, y, weights=weights)
    best = _fit(data, np.zeros(data.design.shape[1]), free=_all(data))
    n = round(float(data.weights.sum()))
    if best.why_undefined:
        return undefined(best.why_undefined, n=n)
    value, error = float(best.coefficients[column]), float(best.errors[column])
    drop = _drop_of(data, best, column=column, level=level)
    limits = [_crossing(drop, value, step=side * error) for side in (-1, 1)]
    if limits[0] is None or limits[1] is None:
        return Estimate(value, n=n, why_no_interval="separation", method="Firth", level=level)
    return Estimate(value, limits[0], limits[1], n, method="Firth profile likelihood", level=level)


def firth_p(
    design: ArrayLike, y: ArrayLike, *, column: int, weights: ArrayLike | None = None
) -> float | None:
    """The p of one coefficient by the penalised likelihood ratio (Heinze and Schemper 2002)."""
    data = _checked(design, y, weights=weights)
    best = _fit(data, np.zeros(data.design.shape[1]), free=_all(data))
    if best.why_undefined:
        return None
    without = _fit(
        data, np.zeros(data.design.shape[1]), free=_all(data) & (np.arange(len(best.errors)) != column)
    )
    from scipy.special import chdtrc

    return float(chdtrc(1, max(0.0, 2 * (best.log_likelihood - without.log_likelihood))))


def logistic_mle(design: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None) -> LogisticFit:
    """Maximum likelihood by Newton's method; `separation` when the likelihood has no maximum."""
    data = _checked(design, y, weights=weights)
    beta = np.zeros(data.design.shape[1])
    for _ in range(STEPS):
        probabilities, information = _information(data, beta)
        if np.linalg.matrix_rank(information, hermitian=True) < len(beta):
            break
        step = np.linalg.solve(information, data.design.T @ (data.weights * (data.y - probabilities)))
        if np.abs(data.design @ (beta + step)).max() > 30:
            break
        beta = beta + step
        if np.abs(step).max() < 1e-10:
            errors = np.sqrt(np.diag(np.linalg.inv(_information(data, beta)[1])))
            return LogisticFit(beta, errors, _log_likelihood(data, beta))
    nothing = np.full(len(beta), np.nan)
    return LogisticFit(nothing, nothing, -np.inf, "separation")


def _checked(design: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None) -> _Data:
    rows, outcomes = np.asarray(design, dtype=np.float64), np.asarray(y, dtype=np.float64)
    counted = np.ones(len(outcomes)) if weights is None else np.asarray(weights, dtype=np.float64)
    if rows.ndim != 2 or not len(rows) == len(outcomes) == len(counted):
        raise ValueError("design, y and weights need one row for each observation")
    if not np.isin(outcomes, (0, 1)).all():
        raise ValueError("y is 0 or 1")
    return _Data(rows, outcomes, counted)


def _all(data: _Data) -> NDArray[np.bool_]:
    return np.ones(data.design.shape[1], dtype=np.bool_)


def _information(data: _Data, beta: Floats) -> tuple[Floats, Floats]:
    """Fitted probabilities and the information matrix."""
    linear = np.clip(data.design @ beta, -700, 700)
    probabilities: Floats = 1 / (1 + np.exp(-linear))
    spread = data.weights * probabilities * (1 - probabilities)
    return probabilities, (data.design.T * spread) @ data.design


def _log_likelihood(data: _Data, beta: Floats) -> float:
    linear = data.design @ beta
    return float((data.weights * (data.y * linear - np.logaddexp(0, linear))).sum())


def _penalised(data: _Data, beta: Floats) -> float:
    sign, size = np.linalg.slogdet(_information(data, beta)[1])
    return _log_likelihood(data, beta) + float(size) / 2 if sign > 0 else -np.inf


def _fit(data: _Data, start: Floats, *, free: NDArray[np.bool_]) -> LogisticFit:
    """Maximise the penalised likelihood over the free coefficients; the others keep their start."""
    beta = start.copy()
    reached = _penalised(data, beta)
    if not np.isfinite(reached):
        nothing = np.full(len(beta), np.nan)
        return LogisticFit(nothing, nothing, -np.inf, "zero_denominator")
    for _ in range(STEPS):
        step = _firth_step(data, beta, free=free)
        beta, reached, moved = _uphill(data, beta, reached=reached, step=step)
        if moved < 1e-9:
            break
    errors = np.sqrt(np.diag(np.linalg.inv(_information(data, beta)[1])))
    return LogisticFit(beta, errors, reached)


def _firth_step(data: _Data, beta: Floats, *, free: NDArray[np.bool_]) -> Floats:
    """Newton's step of the modified score, whose hat values pull probabilities towards one half."""
    probabilities, information = _information(data, beta)
    spread = data.weights * probabilities * (1 - probabilities)
    hat = spread * np.einsum("ij,ji->i", data.design, np.linalg.solve(information, data.design.T))
    score = data.design.T @ (data.weights * (data.y - probabilities) + hat * (0.5 - probabilities))
    step = np.zeros_like(beta)
    if free.any():
        step[free] = np.linalg.solve(information[np.ix_(free, free)], score[free])
    largest = np.abs(step).max(initial=0.0)
    return step * min(1.0, LARGEST_STEP / largest) if largest else step


def _uphill(data: _Data, beta: Floats, *, reached: float, step: Floats) -> tuple[Floats, float, float]:
    """Take the step, halved until the penalised likelihood does not fall."""
    for _ in range(30):
        height = _penalised(data, beta + step)
        if height >= reached - 1e-12:
            return beta + step, height, float(np.abs(step).max(initial=0.0))
        step = step / 2
    return beta, reached, 0.0


def _drop_of(data: _Data, best: LogisticFit, *, column: int, level: float) -> Callable[[float], float]:
    """How far the profile likelihood ratio at a value of the coefficient exceeds its critical value."""
    from scipy.special import chdtri

    critical = float(chdtri(1, 1 - level))
    free = np.arange(len(best.coefficients)) != column

    def drop(value: float) -> float:
        start = best.coefficients.copy()
        start[column] = value
        return 2 * (best.log_likelihood - _fit(data, start, free=free).log_likelihood) - critical

    return drop


def _crossing(drop: Callable[[float], float], start: float, *, step: float) -> float | None:
    """Where the drop becomes positive, going from `start` in growing steps; None if it never does."""
    from scipy.optimize import brentq

    for k in range(1, 12):
        end = start + step * 2.0**k
        if drop(end) > 0:
            return float(brentq(drop, *sorted((start, end)), xtol=1e-8))
    return None
