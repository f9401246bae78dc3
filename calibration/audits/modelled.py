"""The model that several audits share: the judge's choice at equal expert label (METHODS.md section 5).

One row per vote, a judge's tie as two half votes; Firth's penalised likelihood with its profile interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, exp, log

from calibration.audits.basis import Scale
from calibration.stats.estimate import Estimate, undefined
from calibration.stats.length import MIN_RARER, MIN_UNEQUAL, PREFERENCE
from calibration.stats.logistic import firth_interval
from calibration.types import Pair

MIN_PAIRS = 20
MOST = 1000  # odds beyond that are no more than "very many" to anybody
ODDS = Scale(neutral=0.0, matters=log(1.5), harmful=log(2))  # on the log scale of `logged`


def model_odds(pairs: Sequence[Pair], covariates: Sequence[Sequence[float]], *, column: int) -> Estimate:
    """The odds ratio of one column of intercept, expert label and the covariates, each per doubling.

    Columns 0 and 1 are intercept and label, as they are; covariates are log ratios, one sequence each.
    """
    if shortage(pairs, covariates[-1] if covariates else ()):
        return undefined("too_few_items", n=len(pairs))
    design, y, weights = [], [], []
    for pair, *values in zip(pairs, *covariates, strict=True):
        votes = [(1.0, 0.5), (0.0, 0.5)] if pair.judge == "tie" else [(float(pair.judge == "A"), 1.0)]
        for vote, weight in votes:
            design.append((1.0, PREFERENCE[pair.reference], *values))
            y.append(vote)
            weights.append(weight)
    fit = firth_interval(design, y, column=column, weights=weights)
    return odds(fit, per=log(2) if column > 1 else 1.0)


def shortage(pairs: Sequence[Pair], ratios: Sequence[float]) -> int:
    """How many more pairs the model needs at least: 20, 10 unequal, and 8 of the judge's rarer choice."""
    chosen = sum(1.0 if pair.judge == "A" else 0.5 if pair.judge == "tie" else 0.0 for pair in pairs)
    decided = sum(pair.judge != "tie" for pair in pairs)
    rarer = min(chosen, len(pairs) - chosen)
    unequal = sum(ratio != 0 for ratio in ratios)
    return max(
        0, MIN_PAIRS - len(pairs), MIN_UNEQUAL - unequal, MIN_UNEQUAL - decided, ceil(MIN_RARER - rarer)
    )


def odds(coefficient: Estimate, *, per: float = 1.0) -> Estimate:
    """A log odds coefficient as an odds ratio per so many units."""
    limits = (_exp(coefficient.value, per), _exp(coefficient.low, per), _exp(coefficient.high, per))
    return replace(coefficient, value=limits[0], low=limits[1], high=limits[2])


def logged(ratio: Estimate) -> Estimate:
    """An odds ratio on the log scale, where its interval is weighed against `ODDS`."""
    value, low, high = (None if x is None else log(x) for x in (ratio.value, ratio.low, ratio.high))
    return replace(ratio, value=value, low=low, high=high)


def is_blind(ratio: Estimate) -> bool:
    """Whether the covariate hardly varies, so that the interval spans more than a factor of 1,000."""
    return ratio.low is not None and ratio.high is not None and not ratio.high < MOST * ratio.low


def times(ratio: Estimate) -> str:
    """An odds ratio in words: "1.8 times the odds (1.2 to 2.7)"."""
    if ratio.value is None:
        return "unknown odds"
    text = f"{_factor(ratio.value)} times the odds"
    if ratio.low is None or ratio.high is None:
        return text
    return f"{text} ({_factor(ratio.low)} to {_factor(ratio.high)})"


def _factor(ratio: float) -> str:
    if ratio > MOST or ratio < 1 / MOST:
        return f"over {MOST:,}" if ratio > 1 else f"under {1 / MOST}"
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"


def moved(pairs: Sequence[Pair], ratios: Sequence[float], *, effect: Estimate) -> tuple[str, ...]:
    """The items on which the judge chose against the experts and in the direction of the effect."""
    upwards = (effect.value or 1) > 1
    return tuple(
        pair.item_id
        for pair, ratio in zip(pairs, ratios, strict=True)
        if ratio and pair.judge != pair.reference and pair.judge == ("A" if (ratio > 0) == upwards else "B")
    )


def _exp(value: float | None, per: float) -> float | None:
    return None if value is None else exp(max(-700.0, min(700.0, value * per)))
