"""Repeatability audit: does the judge say the same when it is asked the same again?

The estimate is how often two runs of one item in one order agree, averaged over orders; 1 is perfect and
less than .90 harmful. *Concern*: the whole interval lies below .90. *Watch*: the point does. *Fine*: the
whole interval lies above. *Unknown*: between, or no item was asked twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calibration.audits.basis import FEW_ITEMS, Scale, counted, lacking, more_items, share, verdicts_of, weigh
from calibration.material import Material
from calibration.stats.estimate import Estimate
from calibration.stats.intervals import proportion
from calibration.stats.position import repetition_stability
from calibration.types import Finding, Verdict
from labels.types import Side, Value

MIN_ITEMS = 35  # as many perfectly stable items put the lower limit above .90
SCALE = Scale(neutral=0.90, matters=0.0, harmful=0.0, direction="below")

Runs = dict[Side | None, dict[str, list[Value | None]]]


def audit(material: Material, judge: str) -> Finding:
    """Does the judge repeat itself?"""
    runs = _runs(verdicts_of(material, judge))
    repeated = sorted({item_id for order in runs.values() for item_id, said in order.items() if _twice(said)})
    if not repeated:
        return _single_run(judge, len({verdict.item_id for verdict in verdicts_of(material, judge)}))
    by_order = {
        order: stability
        for order, items in runs.items()
        if (stability := repetition_stability(list(items.values()))).value is not None
    }
    cells = sum(stability.n for stability in by_order.values())
    agreed = sum((stability.value or 0) * stability.n for stability in by_order.values()) / cells
    return _finding(judge, proportion(agreed * len(repeated), len(repeated)), by_order=by_order, runs=runs)


def _runs(verdicts: Sequence[Verdict]) -> Runs:
    """The values of all runs, by order and item."""
    runs: Runs = {}
    for verdict in verdicts:
        runs.setdefault(verdict.first, {}).setdefault(verdict.item_id, []).append(verdict.value)
    return runs


def _twice(said: Sequence[Value | None]) -> bool:
    return sum(value is not None for value in said) >= 2


def _single_run(judge: str, items: int) -> Finding:
    sentence = (
        f"The judge answered each of {counted(items, 'item')} at most once per order: whether it repeats "
        f"itself needs a second run on {MIN_ITEMS} items."
    )
    return lacking("repeatability", judge, sentence, need=MIN_ITEMS, reason="single_run", n=items)


def _finding(
    judge: str, stable: Estimate, *, by_order: Mapping[Side | None, Estimate], runs: Runs
) -> Finding:
    if stable.n < FEW_ITEMS:
        need = MIN_ITEMS - stable.n
        sentence = f"Asked more than once: only {counted(stable.n, 'item')}; needs {need} more."
        return lacking("repeatability", judge, sentence, need=need, n=stable.n)
    weight = weigh(stable, SCALE)
    need = more_items(stable, SCALE) if weight == "unknown" else 0
    tail = f"; needs about {need} more items to be sure of 90 %" if need else ""
    sentence = (
        f"Asked the same again, the judge gives the same answer {share(stable)} of the time, over "
        f"{counted(stable.n, 'item')}{tail}."
    )
    names = {"A": "side A first", "B": "side B first", None: "as shown"}
    parts = {names[order]: estimate for order, estimate in by_order.items()}
    return Finding("repeatability", judge, weight, stable, sentence, _unstable(runs), need, parts)


def _unstable(runs: Runs) -> tuple[str, ...]:
    """The items with two different answers in one order."""
    return tuple(
        sorted(
            {
                item_id
                for items in runs.values()
                for item_id, said in items.items()
                if len({value for value in said if value is not None}) > 1
            }
        )
    )
