"""The share of passes that people would give, from many judge verdicts and a few labelled items.

Two assumptions, two estimators. If the labelled items are a random sample, or were drawn by verdict, what
carries over is P(label | verdict): post-stratify. If they were drawn by label, P(verdict | label) carries
over: Rogan and Gladen. Taking the wrong one is badly wrong (METHODS.md section 2.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from .chance import Floats
from .classification import BinaryCounts
from .estimate import Estimate, Reason, undefined
from .intervals import DRAWS, SEED, Interval, beta_draws, equal_tailed, proportion, z_quantile

Sampling = Literal["random", "by_judge_verdict", "by_human_label", "other"]


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdicts on items without labels: how many pass, of how many."""

    passed: int
    n: int

    def __post_init__(self) -> None:
        if not 0 <= self.passed <= self.n:
            raise ValueError(f"{self.passed} passes of {self.n} verdicts")


def corrected_pass_rate(
    labelled: BinaryCounts,
    judged: Judged,
    *,
    sampling: Sampling,
    draws: int = DRAWS,
    seed: int = SEED,
    level: float = 0.95,
) -> Estimate:
    """The estimator that suits how the labelled items were drawn; `not_applicable` for `other`."""
    if sampling == "other":
        return undefined("not_applicable", n=labelled.n)
    if sampling == "by_human_label":
        return rogan_gladen(labelled, judged, level=level)
    return poststratified(labelled, judged, draws=draws, seed=seed, level=level)


def poststratified(
    labelled: BinaryCounts, judged: Judged, *, draws: int = DRAWS, seed: int = SEED, level: float = 0.95
) -> Estimate:
    """q PPV + (1 - q)(1 - NPV), with q the pass rate over all verdicts, labelled and not.

    Efficient for a binary judge (Chen et al. 2026). Interval: independent Beta(1/2, 1/2) posteriors.
    """
    reason = _why_not_poststratified(labelled, judged)
    if reason:
        return undefined(reason, n=labelled.n)
    q = (labelled.tp + labelled.fp + judged.passed) / (labelled.n + judged.n)
    right = _share(labelled.tp, labelled.tp + labelled.fp)
    missed = _share(labelled.fn, labelled.fn + labelled.tn)
    value = q * right + (1 - q) * missed
    sample = poststratified_draws(labelled, judged, draws=draws, seed=seed)
    low, high = equal_tailed(sample, value, level=level)
    return Estimate(value, low, high, labelled.n, method="post-stratified Beta", level=level)


def poststratified_draws(
    labelled: BinaryCounts, judged: Judged, *, draws: int = DRAWS, seed: int = SEED
) -> Floats:
    """Draws of the post-stratified pass rate from its three independent posteriors; shape (draws,)."""
    rng = np.random.default_rng(seed)
    positives, negatives = labelled.tp + labelled.fp, labelled.fn + labelled.tn
    q = beta_draws(positives + judged.passed, labelled.n + judged.n, draws=draws, rng=rng)
    right = beta_draws(labelled.tp, positives, draws=draws, rng=rng)
    missed = beta_draws(labelled.fn, negatives, draws=draws, rng=rng)
    rates: Floats = q * right + (1 - q) * missed
    return rates


def poststratified_quantiles(
    labelled: BinaryCounts,
    judged: Judged,
    *,
    probabilities: Sequence[float],
    draws: int = DRAWS,
    seed: int = SEED,
) -> list[float] | None:
    """Quantiles of the posterior of the post-stratified pass rate; None where that is undefined."""
    if _why_not_poststratified(labelled, judged):
        return None
    sample = poststratified_draws(labelled, judged, draws=draws, seed=seed)
    quantiles: list[float] = np.quantile(sample, probabilities).tolist()
    return quantiles


def rogan_gladen_raw(labelled: BinaryCounts, judged: Judged) -> float | None:
    """(q + TNR - 1) / (TPR + TNR - 1) as it comes, perhaps outside 0 and 1; None where undefined."""
    positives, negatives = labelled.tp + labelled.fn, labelled.tn + labelled.fp
    if not (positives and negatives and judged.n):
        return None
    sensitivity, specificity = labelled.tp / positives, labelled.tn / negatives
    if labelled.tp * negatives + labelled.tn * positives <= positives * negatives:
        return None
    return (judged.passed / judged.n + specificity - 1) / (sensitivity + specificity - 1)


def rogan_gladen(labelled: BinaryCounts, judged: Judged, *, level: float = 0.95) -> Estimate:
    """The pass rate of Rogan and Gladen 1978, clipped to 0 and 1, with the Lang-Reiczigel interval.

    Undefined as `zero_denominator` without a class and as `judge_not_informative` when TPR + TNR <= 1; the
    warning `out_of_range` says that the error rates do not carry over.
    """
    raw = rogan_gladen_raw(labelled, judged)
    if raw is None:
        classes = (labelled.tp + labelled.fn) * (labelled.tn + labelled.fp)
        reason: Reason = "judge_not_informative" if classes and judged.n else "zero_denominator"
        return undefined(reason, n=labelled.n)
    value = min(1.0, max(0.0, raw))
    low, high = lang_reiczigel(labelled, judged, level=level)
    warnings = () if value == raw else ("out_of_range",)
    return Estimate(
        value,
        min(low, value),
        max(high, value),
        labelled.n,
        method="Lang-Reiczigel",
        level=level,
        warnings=warnings,
    )


def lang_reiczigel(labelled: BinaryCounts, judged: Judged, *, level: float = 0.95) -> Interval:
    """The interval of Lang and Reiczigel 2014 for a prevalence with estimated error rates, in [0, 1]."""
    z = z_quantile(level)
    n = judged.n + z**2
    q = (judged.passed + z**2 / 2) / n
    positives, negatives = labelled.tp + labelled.fn + 2, labelled.tn + labelled.fp + 2
    sensitivity, specificity = (labelled.tp + 1) / positives, (labelled.tn + 1) / negatives
    gain = sensitivity + specificity - 1
    if gain <= 0:
        return 0.0, 1.0
    theta = (q + specificity - 1) / gain
    of_sensitivity = sensitivity * (1 - sensitivity) / positives
    of_specificity = specificity * (1 - specificity) / negatives
    shift = 2 * z**2 * (theta * of_sensitivity - (1 - theta) * of_specificity)
    variance = q * (1 - q) / n + theta**2 * of_sensitivity + (1 - theta) ** 2 * of_specificity
    half = z * sqrt(variance) / gain
    return _clip(theta + shift - half), _clip(theta + shift + half)


def human_only(labelled: BinaryCounts, *, level: float = 0.95) -> Estimate:
    """The pass rate of the labels alone, with its Wilson interval."""
    return proportion(labelled.tp + labelled.fn, labelled.n, level=level)


def worth_labels(human: Estimate, corrected: Estimate) -> float | None:
    """How many further labels would narrow the human-only interval as the judge does; below 0 it harms."""
    if human.low is None or human.high is None or corrected.low is None or corrected.high is None:
        return None
    width = corrected.high - corrected.low
    if width <= 0:
        return None
    return human.n * (((human.high - human.low) / width) ** 2 - 1)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _why_not_poststratified(labelled: BinaryCounts, judged: Judged) -> Reason | None:
    """A verdict that occurs needs labelled items that bear it."""
    positives, negatives = labelled.tp + labelled.fp, labelled.fn + labelled.tn
    if not labelled.n:
        return "no_items"
    missing = (judged.passed and not positives) or (judged.passed < judged.n and not negatives)
    return "zero_denominator" if missing else None


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))
