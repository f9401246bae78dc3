"""One kappa with its interval at n = 50, beside a bootstrap loop over scikit-learn's kappa."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

CATEGORIES = ("A", "tie", "B")
RESAMPLES = 10_000
SHOWN_RESAMPLES = 1_000  # the loop is measured on these and multiplied, to keep the run short


def kappa(n: int = 50) -> None:
    """Print seconds for one kappa with interval and for the loop, from the same ratings in one run."""
    from calibration.stats.agreement import cohen_kappa, crosstab

    rng = np.random.default_rng(1)
    reference = rng.choice(CATEGORIES, n)
    judge = np.where(rng.random(n) < 0.7, reference, rng.choice(CATEGORIES, n))
    table = crosstab(list(reference), list(judge), CATEGORIES)
    ours = _seconds(lambda: cohen_kappa(table), runs=15)
    loop = _seconds(lambda: _bootstrap(reference, judge), runs=1) * RESAMPLES / SHOWN_RESAMPLES
    print(f"kappa with interval, n = {n}: {ours:.4f} s")
    print(f"loop of cohen_kappa_score over {RESAMPLES:,} resamples, n = {n}: {loop:.1f} s")
    print(f"ratio: {loop / ours:,.0f}")


def _bootstrap(reference: np.ndarray, judge: np.ndarray) -> None:
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(2)
    for _ in range(SHOWN_RESAMPLES):
        chosen = rng.integers(0, len(reference), len(reference))
        cohen_kappa_score(reference[chosen], judge[chosen], labels=CATEGORIES)


def _seconds(act: Callable[[], object], *, runs: int) -> float:
    act()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        act()
        times.append(time.perf_counter() - start)
    return median(times)
