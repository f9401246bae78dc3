"""The judge as a classifier of the reference labels: rates, F1, MCC, each undefined where it is 0/0.

Counts are of one class, the positive one: `tp` both say positive, `fp` only the judge, `fn` only the
reference, `tn` neither. Report both classes: `counts.other_class()` turns them round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .estimate import Estimate, undefined
from .intervals import DRAWS, SEED, dirichlet, equal_tailed, proportion

Cells = NDArray[np.float64]  # (4, draws): tp, fp, fn, tn


@dataclass(frozen=True, slots=True)
class BinaryCounts:
    """Items by reference and judge for one positive class."""

    tp: int
    fp: int
    fn: int
    tn: int

    def __post_init__(self) -> None:
        if min(self.tp, self.fp, self.fn, self.tn) < 0:
            raise ValueError("counts cannot be negative")

    @property
    def n(self) -> int:
        """All items."""
        return self.tp + self.fp + self.fn + self.tn

    def other_class(self) -> BinaryCounts:
        """The same items with the other class as the positive one."""
        return BinaryCounts(tp=self.tn, fp=self.fn, fn=self.fp, tn=self.tp)


@dataclass(frozen=True, slots=True)
class ClassScore:
    """One of several classes: how many of it in the reference, and its scores, None where 0/0."""

    category: str
    support: int
    precision: float | None
    recall: float | None
    f1: float | None


def binary_counts(reference: Sequence[object], judge: Sequence[object], *, positive: object) -> BinaryCounts:
    """Count aligned labels of two classes; ValueError on unequal lengths."""
    pairs = [(one == positive, other == positive) for one, other in zip(reference, judge, strict=True)]
    return BinaryCounts(
        tp=pairs.count((True, True)),
        fp=pairs.count((False, True)),
        fn=pairs.count((True, False)),
        tn=pairs.count((False, False)),
    )


def tpr(counts: BinaryCounts, *, method: str = "Wilson", level: float = 0.95) -> Estimate:
    """Sensitivity, tp / (tp + fn): of the reference's positives, how many the judge finds."""
    return _rate(counts.tp, counts.fn, method=method, level=level)


def tnr(counts: BinaryCounts, *, method: str = "Wilson", level: float = 0.95) -> Estimate:
    """Specificity, tn / (tn + fp): of the reference's negatives, how many the judge finds."""
    return _rate(counts.tn, counts.fp, method=method, level=level)


def ppv(counts: BinaryCounts, *, method: str = "Wilson", level: float = 0.95) -> Estimate:
    """Precision, tp / (tp + fp): of the judge's positives, how many are right."""
    return _rate(counts.tp, counts.fp, method=method, level=level)


def npv(counts: BinaryCounts, *, method: str = "Wilson", level: float = 0.95) -> Estimate:
    """Negative predictive value, tn / (tn + fn): of the judge's negatives, how many are right."""
    return _rate(counts.tn, counts.fn, method=method, level=level)


def accuracy(counts: BinaryCounts, *, method: str = "Wilson", level: float = 0.95) -> Estimate:
    """The share of items that the judge gets right."""
    return proportion(counts.tp + counts.tn, counts.n, method=method, level=level)


def f1(counts: BinaryCounts, *, draws: int = DRAWS, seed: int = SEED, level: float = 0.95) -> Estimate:
    """2 tp / (2 tp + fp + fn), undefined without any positive."""
    if not counts.tp + counts.fp + counts.fn:
        return undefined("zero_denominator", n=counts.n)
    return _drawn(counts, _f1, draws=draws, seed=seed, level=level)


def balanced_accuracy(
    counts: BinaryCounts, *, draws: int = DRAWS, seed: int = SEED, level: float = 0.95
) -> Estimate:
    """The mean of TPR and TNR, undefined when the reference holds one class only."""
    if not (counts.tp + counts.fn) * (counts.tn + counts.fp):
        return undefined("zero_denominator", n=counts.n)
    return _drawn(counts, lambda cells: (_youden(cells) + 1) / 2, draws=draws, seed=seed, level=level)


def youden(counts: BinaryCounts, *, draws: int = DRAWS, seed: int = SEED, level: float = 0.95) -> Estimate:
    """J = TPR + TNR - 1 (Youden 1950): 0 for a judge that does not look."""
    if not (counts.tp + counts.fn) * (counts.tn + counts.fp):
        return undefined("zero_denominator", n=counts.n)
    return _drawn(counts, _youden, draws=draws, seed=seed, level=level)


def mcc(counts: BinaryCounts, *, draws: int = DRAWS, seed: int = SEED, level: float = 0.95) -> Estimate:
    """The correlation of judge and reference (Matthews 1975), undefined when any margin is empty."""
    rows = (counts.tp + counts.fn) * (counts.tn + counts.fp)
    if not rows * (counts.tp + counts.fp) * (counts.tn + counts.fn):
        return undefined("zero_denominator", n=counts.n)
    return _drawn(counts, _mcc, draws=draws, seed=seed, level=level)


RATES: dict[str, Callable[..., Estimate]] = {
    "tpr": tpr,
    "tnr": tnr,
    "ppv": ppv,
    "npv": npv,
    "accuracy": accuracy,
}
SUMMARIES: dict[str, Callable[..., Estimate]] = {
    "f1": f1,
    "balanced_accuracy": balanced_accuracy,
    "youden": youden,
    "mcc": mcc,
}


def class_scores(
    reference: Sequence[str], judge: Sequence[str], *, categories: Sequence[str]
) -> list[ClassScore]:
    """Precision, recall and F1 of each of several classes (scikit-learn), None where they are 0/0."""
    if not len(reference):
        return [ClassScore(category, 0, None, None, None) for category in categories]
    from sklearn.metrics import precision_recall_fscore_support

    parts = precision_recall_fscore_support(
        list(reference), list(judge), labels=list(categories), zero_division=np.nan
    )
    return [
        ClassScore(category, int(support), _number(precision), _number(recall), _number(score))
        for category, precision, recall, score, support in zip(categories, *parts, strict=True)
    ]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _rate(right: int, wrong: int, *, method: str, level: float) -> Estimate:
    if not right + wrong:
        return undefined("zero_denominator")
    return proportion(right, right + wrong, method=method, level=level)


def _drawn(
    counts: BinaryCounts, statistic: Callable[[Cells], Cells], *, draws: int, seed: int, level: float
) -> Estimate:
    cells = np.array([counts.tp, counts.fp, counts.fn, counts.tn], dtype=np.float64)
    value = float(statistic(cells))
    sample = statistic(dirichlet(cells + 0.5, draws=draws, seed=seed))
    low, high = equal_tailed(sample, value, level=level)
    return Estimate(value, low, high, counts.n, method="Dirichlet(1/2)", level=level)


def _f1(cells: Cells) -> Cells:
    tp, fp, fn, _ = cells
    score: Cells = 2 * tp / (2 * tp + fp + fn)
    return score


def _youden(cells: Cells) -> Cells:
    tp, fp, fn, tn = cells
    index: Cells = tp / (tp + fn) + tn / (tn + fp) - 1
    return index


def _mcc(cells: Cells) -> Cells:
    tp, fp, fn, tn = cells
    correlation: Cells = (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return correlation
