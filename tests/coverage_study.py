"""How often do the 95 % intervals hold the truth? Simulated over the grids of the methods' specification.

`python tests/coverage_study.py` runs everything (minutes) and writes docs/coverage.md. Each cell has its own
seed, made from its name. A cell's coverage is the share of samples whose interval holds the true value; its
false-pass is the share whose lower limit lies above it. Samples without a value are counted apart.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, sqrt
from pathlib import Path
from statistics import fmean
from zlib import crc32

import numpy as np

from calibration.stats.agreement import cohen_kappa
from calibration.stats.asymptotic import shares_at
from calibration.stats.classification import BinaryCounts
from calibration.stats.corrected import Judged, poststratified, rogan_gladen
from calibration.stats.estimate import Estimate
from calibration.stats.intervals import PROPORTION_INTERVALS
from calibration.stats.multirater import krippendorff_alpha

KEPT = Path(__file__).parent.parent / "docs" / "coverage.md"
REPLICATES = 4_000
DRAWS = 4_000
SIZES = (30, 50, 100)
MARGINS = {
    "50/50": (0.5, 0.5),
    "90/10": (0.9, 0.1),
    "thirds": (1 / 3, 1 / 3, 1 / 3),
    "45/45/10": (0.45, 0.45, 0.1),
    "90/5/5": (0.9, 0.05, 0.05),
}
ALPHA_MARGINS = {"50/50": (0.5, 0.5), "85/15": (0.85, 0.15), "45/45/10": (0.45, 0.45, 0.1)}
TRUTHS = (0.4, 0.6, 0.8)
JUDGES = ((0.95, 0.90), (0.90, 0.75), (0.80, 0.60))
SHARES = tuple(thousandth / 1000 for thousandth in range(500, 991))
STANDARD_ERRORS = 3.0
LAST_COLUMNS = ("worst false-pass", "allowed", "mean width")
INTRODUCTION = """# Coverage of the intervals

Written by `make coverage-study`: {replicates:,} samples in each simulated setting and {draws:,} draws in each
interval that draws, all from fixed seeds. Rates are exact sums over all outcomes, at shares from .500 to
.990 in steps of .001. What the intervals are stands in [methods.md](methods.md).

* **Coverage** is the share of 95 % intervals that hold the truth. **False-pass** is the share whose lower
  limit lies above the truth: 2.5 % at best, and the number that a gate depends on. Samples without a value
  are left out and counted as undefined.
* **Required and allowed** are the figures of the methods' specification. The worst setting must reach the
  required coverage c less 3 root(c (1 - c) / samples), and may exceed the allowed false-pass f by
  3 root(f (1 - f) / samples). Exact sums get no such allowance. Both may miss by the rounding of a printed
  figure, .05 %.
* **Settings**: kappa has two raters with equal margins; alpha three raters, each keeping the item's true
  category with chance root(alpha) and else drawing one at random; a pass rate has n labelled items drawn at
  random beside verdicts without a label.
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting of one interval; `replicates` is 0 where the sum over all outcomes is exact."""

    interval: str
    n: int
    setting: str
    replicates: int
    coverage: float
    false_pass: float
    width: float
    undefined: float = 0.0


@dataclass(frozen=True, slots=True)
class Required:
    """What the specification measured for an interval: its least coverage and largest false-pass."""

    coverage: float
    false_pass: float | None = None


REQUIRED: dict[tuple[str, int], Required] = {
    **{("kappa", n): Required(0.932, 0.032) for n in SIZES},
    **{("kappa, Wilson plug-in", n): Required(0.940, 0.025) for n in SIZES},
    ("rate, Wilson", 5): Required(0.833, 0.058),
    ("rate, Wilson", 15): Required(0.847, 0.041),
    ("rate, Wilson", 25): Required(0.896, 0.037),
    ("rate, Wilson", 50): Required(0.895, 0.034),
    ("rate, Clopper-Pearson", 5): Required(0.975, 0.0),
    **{
        ("rate, Clopper-Pearson", n): Required(least, 0.025)
        for n, least in ((15, 0.952), (25, 0.951), (50, 0.953))
    },
    **{("pass rate, post-stratified", n): Required(0.936) for n in SIZES},
    **{("pass rate, Lang-Reiczigel", n): Required(0.947) for n in SIZES},
    ("alpha", 30): Required(0.859, 0.012),
    ("alpha", 50): Required(0.915, 0.012),
    ("alpha", 100): Required(0.942, 0.018),
}


def least_coverage(required: Required, replicates: int) -> float:
    """The coverage c that must be reached, less 3 root(c (1 - c) / replicates); c was printed to .001."""
    return required.coverage - _allowance(required.coverage, replicates)


def largest_false_pass(required: Required, replicates: int) -> float:
    """The false-pass f that is allowed, plus 3 root(f (1 - f) / replicates); 1 where none was printed."""
    if required.false_pass is None:
        return 1.0
    return required.false_pass + _allowance(required.false_pass, replicates)


def _allowance(share: float, replicates: int) -> float:
    error = sqrt(share * (1 - share) / replicates) if replicates else 0.0
    return 0.0005 + STANDARD_ERRORS * error


def kappa_cells() -> Iterator[Cell]:
    """Kappa of two raters with equal margins, by both of its intervals (specification, section 1.1)."""
    for (name, margins), n, truth in product(MARGINS.items(), SIZES, TRUTHS):
        shares = shares_at(truth, margins)
        setting = f"{name}, kappa {truth}"
        sampled = _rng(f"kappa {setting} {n}").multinomial(n, shares.ravel(), size=REPLICATES)
        kinds, times = np.unique(sampled, axis=0, return_counts=True)
        tables = [kind.reshape(shares.shape) for kind in kinds]
        drawn = [cohen_kappa(table, draws=DRAWS, seed=place) for place, table in enumerate(tables)]
        yield _cell("kappa", n, setting, found=drawn, truth=truth, times=times)
        plugged = [cohen_kappa(table, method="wilson-plugin") for table in tables]
        yield _cell("kappa, Wilson plug-in", n, setting, found=plugged, truth=truth, times=times)


def rate_cells() -> Iterator[Cell]:
    """A share, by the exact sum over all outcomes (specification, section 2)."""
    for name, n in product(("Wilson", "Clopper-Pearson"), (5, 15, 25, 50)):
        limits = [PROPORTION_INTERVALS[name](k, n) for k in range(n + 1)]
        for share in SHARES:
            chances = [comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)]
            ends = list(zip(chances, limits, strict=True))
            yield Cell(
                f"rate, {name}",
                n,
                f"share {share:.3f}",
                replicates=0,
                coverage=sum(chance for chance, (low, high) in ends if low <= share <= high),
                false_pass=sum(chance for chance, (low, _) in ends if low > share),
                width=sum(chance * (high - low) for chance, (low, high) in ends),
            )


def pass_rate_cells() -> Iterator[Cell]:
    """The pass rate from a random labelled sample and many verdicts (specification, section 2.1)."""
    for n, judged, truth, (tpr, tnr) in product(SIZES, (200, 1000), (0.5, 0.8, 0.9), JUDGES):
        setting = f"{judged} verdicts, pass rate {truth}, TPR {tpr:.2f}, TNR {tnr:.2f}"
        samples = _labelled_and_judged(n, judged, truth=truth, judge=(tpr, tnr), name=setting)
        estimates = [
            (poststratified(counts, rest, draws=DRAWS, seed=place), rogan_gladen(counts, rest))
            for place, (counts, rest) in enumerate(samples)
        ]
        mixed, turned = zip(*estimates, strict=True)
        yield _cell("pass rate, post-stratified", n, setting, found=mixed, truth=truth)
        yield _cell("pass rate, Lang-Reiczigel", n, setting, found=turned, truth=truth)


def alpha_cells() -> Iterator[Cell]:
    """Alpha of three exchangeable raters, without and with missing ratings (specification, section 1.2)."""
    for (name, margins), missing, n, truth in product(ALPHA_MARGINS.items(), (0.0, 0.3), SIZES, TRUTHS):
        setting = f"{name}, {missing:.0%} missing, alpha {truth}"
        rng = _rng(f"alpha {setting} {n}")
        found = [
            krippendorff_alpha(_ratings(n, margins, truth=truth, missing=missing, rng=rng))
            for _ in range(REPLICATES)
        ]
        yield _cell("alpha", n, setting, found=found, truth=truth)


def all_cells() -> list[Cell]:
    """Every cell of every interval."""
    return [*kappa_cells(), *rate_cells(), *pass_rate_cells(), *alpha_cells()]


def grouped(cells: Iterable[Cell]) -> dict[tuple[str, int], list[Cell]]:
    """The cells of each interval and number of items."""
    groups: dict[tuple[str, int], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.interval, cell.n), []).append(cell)
    return groups


def _rng(name: str) -> np.random.Generator:
    return np.random.default_rng(crc32(name.encode()))


def _labelled_and_judged(
    n: int, judged: int, *, truth: float, judge: tuple[float, float], name: str
) -> list[tuple[BinaryCounts, Judged]]:
    """Samples of labelled items, as tp, fp, fn, tn, with the passes among the verdicts without label."""
    rng, (tpr, tnr) = _rng(f"pass rate {name} {n}"), judge
    chances = [truth * tpr, (1 - truth) * (1 - tnr), truth * (1 - tpr), (1 - truth) * tnr]
    labelled = rng.multinomial(n, chances, size=REPLICATES).tolist()
    passed = rng.binomial(judged, chances[0] + chances[1], size=REPLICATES).tolist()
    return [(BinaryCounts(*c), Judged(p, judged)) for c, p in zip(labelled, passed, strict=True)]


def _ratings(
    n: int, margins: Sequence[float], *, truth: float, missing: float, rng: np.random.Generator
) -> list[list[int | None]]:
    """Three raters who each keep the item's true category with chance root(alpha), else draw at random."""
    true = rng.choice(len(margins), size=n, p=margins)
    own = rng.choice(len(margins), size=(3, n), p=margins)
    given = np.where(rng.random((3, n)) < sqrt(truth), true, own).astype(object)
    given[rng.random((3, n)) < missing] = None
    ratings: list[list[int | None]] = given.tolist()
    return ratings


def _cell(
    interval: str,
    n: int,
    setting: str,
    *,
    found: Sequence[Estimate],
    truth: float,
    times: Sequence[int] | None = None,
) -> Cell:
    """Coverage over the samples that have an interval; `times` says how often each was drawn."""
    counts = np.ones(len(found)) if times is None else np.asarray(times, dtype=np.float64)
    known = np.array([estimate.low is not None for estimate in found])
    ends = np.array([(e.low, e.high) for e in found if e.low is not None], dtype=np.float64)
    low, high = ends.T
    weights = counts[known] / counts[known].sum()
    return Cell(
        interval,
        n,
        setting,
        replicates=round(counts[known].sum()),
        coverage=float(weights @ ((low <= truth) & (truth <= high))),
        false_pass=float(weights @ (low > truth)),
        width=float(weights @ (high - low)),
        undefined=float(1 - counts[known].sum() / counts.sum()),
    )


def rendered(cells: Sequence[Cell]) -> str:
    """The results as the text of docs/coverage.md."""
    lines = [
        INTRODUCTION.format(replicates=REPLICATES, draws=DRAWS),
        "## Worst and mean over settings",
        "",
        _row("interval", "n", "settings", "mean coverage", "worst coverage", "required", *LAST_COLUMNS),
        _row(*["---"] * 9),
        *(_summary_row(key, group) for key, group in grouped(cells).items()),
        "",
        "## Each simulated setting",
        "",
        _row("interval", "n", "setting", "coverage", "false-pass", "mean width", "undefined"),
        _row(*["---"] * 7),
        *(_cell_row(cell) for cell in cells if cell.replicates),
    ]
    return "\n".join(lines) + "\n"


def _summary_row(key: tuple[str, int], group: Sequence[Cell]) -> str:
    required = REQUIRED[key]
    allowed = "–" if required.false_pass is None else f"{required.false_pass:.1%}"
    return _row(
        key[0],
        str(key[1]),
        str(len(group)),
        f"{fmean(cell.coverage for cell in group):.1%}",
        f"{min(cell.coverage for cell in group):.1%}",
        f"{required.coverage:.1%}",
        f"{max(cell.false_pass for cell in group):.1%}",
        allowed,
        f"{fmean(cell.width for cell in group):.3f}",
    )


def _cell_row(cell: Cell) -> str:
    shares = f"{cell.coverage:.1%}", f"{cell.false_pass:.1%}", f"{cell.width:.3f}", f"{cell.undefined:.1%}"
    return _row(cell.interval, str(cell.n), cell.setting, *shares)


def _row(*parts: str) -> str:
    return f"| {' | '.join(parts)} |".replace("%", " %")


if __name__ == "__main__":
    KEPT.write_text(rendered(all_cells()), encoding="utf-8")
    sys.exit(0)
