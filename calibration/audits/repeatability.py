"""Repeatability audit: does the judge say the same when it is asked the same again?

The estimate is how often two runs of one item in one order agree, averaged over orders; 1 is perfect and
less than .90 harmful. *Concern*: the whole interval lies below .90. *Watch*: the point does. *Fine*: the
whole interval lies above. *Unknown*: between, or no item was asked twice. Where three answers are stored, the
finding also holds the kappa with the labels that majorities of 1, 3 and 5 runs reach: a majority helps where
the judge is mostly right and hurts where it is mostly wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calibration.audits.basis import Scale, lacking, more_items, share, verdicts_of, weigh
from calibration.compare import FEW_ITEMS, reference_labels
from calibration.material import Material
from calibration.stats.estimate import Estimate
from calibration.stats.intervals import proportion
from calibration.stats.position import repetition_stability
from calibration.types import Finding, Verdict
from calibration.wording import number
from labels.kinds import KINDS
from labels.text import counted
from labels.types import Side, Value

MIN_ITEMS = 35  # as many perfectly stable items put the lower limit above .90
MOST_DRAWN = 100_000  # items over all draws: with many items few draws tell as much
FEWEST_RUNS = 3  # of each order: the first majority that can differ from one run
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
    stable = proportion(agreed * len(repeated), len(repeated))
    return _finding(judge, stable, by_order=by_order, runs=runs, kappas=_majority_kappas(material, runs))


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
    judge: str,
    stable: Estimate,
    *,
    by_order: Mapping[Side | None, Estimate],
    runs: Runs,
    kappas: Mapping[int, Estimate],
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
        f"{counted(stable.n, 'item')}{tail}.{_gain(kappas)}"
    )
    names = {"A": "side A first", "B": "side B first", None: "as shown"}
    parts = {names[order]: estimate for order, estimate in by_order.items()}
    parts |= {f"kappa with the labels, {_runs_in_words(k)}": kappa for k, kappa in kappas.items()}
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


def _majority_kappas(material: Material, runs: Runs) -> dict[int, Estimate]:
    """Kappa with the labels by the number of runs that vote, over items that are answered as often."""
    from calibration.stats.repeats import kappa_by_repeats

    reference = reference_labels(material.labels, sorted(item.id for item in material.items)).values
    said = {item_id: _voting(item_id, runs) for item_id in reference}
    stored = max((len(votes) for votes in said.values()), default=0)
    known = [item_id for item_id, votes in said.items() if len(votes) == stored]
    if stored < FEWEST_RUNS or len(known) < FEW_ITEMS:
        return {}
    kind = material.criterion.kind
    points = kappa_by_repeats(
        [reference[item_id] for item_id in known],
        [said[item_id] for item_id in known],
        categories=KINDS[kind].values,
        undecided="tie" if kind == "pairwise" else None,
        samples=max(20, min(50, MOST_DRAWN // len(known))),
    )
    return {
        point.runs: Estimate(point.kappa, n=len(known), method="mean over draws of stored runs")
        for point in points
        if point.kappa is not None
    }


def _voting(item_id: str, runs: Runs) -> list[tuple[Value, ...]]:
    """The n-th answers of all orders of an item, for as many n as every order has answered."""
    orders = [order[item_id] for order in runs.values() if item_id in order]
    answered = [[value for value in order if value is not None] for order in orders]
    return list(zip(*answered, strict=False))


def _gain(kappas: Mapping[int, Estimate]) -> str:
    """What majorities reach, as a sentence."""
    if len(kappas) < 2:
        return ""
    said = [f"{number(kappa.value)} by {_runs_in_words(k)}" for k, kappa in kappas.items()]
    return f" Kappa (agreement with your experts beyond chance) is {', '.join(said)}."


def _runs_in_words(runs: int) -> str:
    return "one run" if runs == 1 else f"the majority of {runs} runs"
