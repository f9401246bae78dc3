"""Kappa, alpha, the alt-test and the audits: ours beside other ways to get the same, in one run."""

from __future__ import annotations

import importlib
import importlib.util
import random
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from labels.types import Side, Value

if TYPE_CHECKING:
    from calibration.material import Attempt, Material
    from calibration.types import Verdict
    from labels.types import Item, Label

SIDES: tuple[Side, ...] = ("A", "B")
JUDGE = "openai/gpt-judge"
CATEGORIES: tuple[Value, ...] = ("A", "tie", "B")
RESAMPLES = 10_000
MEASURED = 500  # resamples of the loop that are timed; the rest is multiplied
VERDICTS = 100_000


def statistics() -> None:
    """Print seconds, side by side, for each statistic at the sizes that it must cope with."""
    for n in (50, 500, 5_000):
        kappa(n)
    alpha()
    alt_test()
    audits()


def kappa(n: int) -> None:
    """One kappa with its interval against a bootstrap loop over scikit-learn's kappa."""
    from calibration.stats.agreement import cohen_kappa, crosstab

    rng = np.random.default_rng(1)
    reference = rng.choice(CATEGORIES, n)
    judge = np.where(rng.random(n) < 0.7, reference, rng.choice(CATEGORIES, n))
    labels, verdicts = reference.tolist(), judge.tolist()
    ours = _seconds(lambda: cohen_kappa(crosstab(labels, verdicts, CATEGORIES)), runs=15)
    loop = _seconds(lambda: _bootstrap(reference, judge), runs=1) * RESAMPLES / MEASURED
    print(
        f"kappa with interval, n = {n:,}: ours {ours:.4f} s; loop of cohen_kappa_score over {RESAMPLES:,} "
        f"resamples {loop:.1f} s ({MEASURED:,} measured, multiplied); ratio {loop / ours:,.0f}"
    )


def alpha(raters: int = 5, items: int = 10_000, missing: float = 0.2) -> None:
    """Alpha with its interval, beside the value alone of the krippendorff package where that is installed."""
    from calibration.stats.multirater import krippendorff_alpha

    codes = _ratings(raters, items, missing=missing)
    names = [[None if np.isnan(code) else CATEGORIES[int(code)] for code in rater] for rater in codes]
    ours = _seconds(lambda: krippendorff_alpha(names), runs=5)
    print(
        f"alpha with interval, {raters} raters x {items:,} items, {missing:.0%} missing: ours {ours:.3f} s; "
        f"krippendorff package, value only: {_other_alpha(codes)}"
    )


def alt_test(annotators: int = 10, items: int = 5_000) -> None:
    """The alternative annotator test of a judge against many annotators."""
    from calibration.stats.ceiling import alt_test as test

    codes = _ratings(annotators + 1, items, missing=0)
    *people, judge = [[CATEGORIES[int(code)] for code in rater] for rater in codes]
    seconds = _seconds(lambda: test(people, judge), runs=3)
    print(f"alt-test, {annotators} annotators x {items:,} items: {seconds:.2f} s")


def audits() -> None:
    """All audits over many verdicts, where this version has them."""
    findings = getattr(importlib.import_module("calibration.audits"), "findings", None)
    if findings is None:
        print(f"all audits over {VERDICTS:,} verdicts: this version has no audits")
        return
    material = _material(items=VERDICTS // 4)
    seconds = _seconds(lambda: findings(material, JUDGE), runs=1, warm=False)
    print(f"all audits over {len(material.verdicts):,} verdicts: {seconds:.1f} s")


def _material(items: int) -> Material:
    """Pairs of two systems with two labels each, and a judge in both orders with two repeats."""
    from calibration.material import Material
    from labels.types import Annotator, Criterion

    rng = random.Random(4)
    criterion = Criterion("pairwise-1", "pairwise", "Which response is better?")
    pairs = [_pair(number, rng) for number in range(items)]
    people = (Annotator("ada", "Ada"), Annotator("ben", "Ben"))
    labels = [_label(pair, person.id, rng) for person in people for pair in pairs]
    verdicts = [
        _verdict(pair, first, repeat=repeat, rng=rng)
        for pair in pairs
        for first in SIDES
        for repeat in (0, 1)
    ]
    attempts = [_attempt(verdict) for verdict in verdicts]
    return Material(criterion, pairs, labels, people, verdicts, attempts=attempts)


def _pair(number: int, rng: random.Random) -> Item:
    from labels.types import Item, Response

    words = "* a **word** of a list\n", "as people write it "
    texts = [rng.choice(words) * rng.randint(3, 60) for _ in SIDES]
    systems = "openai/gpt-one", "anthropic/claude-two"
    responses = [Response(*parts) for parts in zip(SIDES, systems, texts, (0, 1), strict=True)]
    return Item(f"i{number}", f"item {number}", "pairwise", "A question?", tuple(responses))


def _label(pair: Item, person: str, rng: random.Random) -> Label:
    from labels.types import Label

    first, seconds = rng.choice(SIDES), rng.uniform(5, 90)
    return Label(0, "pairwise-1", pair.id, person, _said(pair, rng), first=first, seconds=seconds)


def _verdict(pair: Item, first: Side, *, repeat: int, rng: random.Random) -> Verdict:
    from calibration.types import Verdict
    from labels.kinds import KINDS
    from labels.present import Order

    value = _said(pair, rng)
    choice = KINDS["pairwise"].slot(Order(first), value)
    return Verdict(JUDGE, "pairwise-1", pair.id, first, value, choice, repeat)


def _attempt(verdict: Verdict) -> Attempt:
    """The answer behind a verdict, each repeat on a day of its own."""
    from calibration.material import Attempt

    day = f"2026-11-0{1 + verdict.repeat}"
    return Attempt(verdict.judge, verdict.item_id, verdict.first, verdict.choice or "tie", day)


def _said(pair: Item, rng: random.Random) -> Value:
    """Four times in five the item's own value, else any."""
    own = CATEGORIES[int(pair.id[1:]) % len(CATEGORIES)]
    return own if rng.random() < 0.8 else rng.choice(CATEGORIES)


def _ratings(raters: int, items: int, *, missing: float) -> np.ndarray:
    """Codes of shape (raters, items): mostly the item's own category, NaN where missing."""
    rng = np.random.default_rng(3)
    own = rng.integers(0, len(CATEGORIES), items)
    drawn = rng.integers(0, len(CATEGORIES), (raters, items))
    codes = np.where(rng.random((raters, items)) < 0.7, own, drawn).astype(np.float64)
    codes[rng.random(codes.shape) < missing] = np.nan
    return codes


def _other_alpha(codes: np.ndarray) -> str:
    """Seconds of the krippendorff package, which is GPL and so never a dependency of this one."""
    if importlib.util.find_spec("krippendorff") is None:
        return "not installed"
    package = importlib.import_module("krippendorff")
    measured = _seconds(lambda: package.alpha(codes, level_of_measurement="nominal"), runs=5)
    return f"{measured:.3f} s"


def _bootstrap(reference: np.ndarray, judge: np.ndarray) -> None:
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(2)
    for _ in range(MEASURED):
        chosen = rng.integers(0, len(reference), len(reference))
        cohen_kappa_score(reference[chosen], judge[chosen], labels=CATEGORIES)


def _seconds(act: Callable[[], object], *, runs: int, warm: bool = True) -> float:
    """The median of some runs, after one that is not counted if `warm`."""
    if warm:
        act()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        act()
        times.append(time.perf_counter() - start)
    return median(times)
