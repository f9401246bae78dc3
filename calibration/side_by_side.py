"""All judges of a question side by side: what they cost, and each beside the best on the same items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from calibration.agreement import pooled_shares
from calibration.audits.basis import ALPHA, points
from calibration.beside import Cost, Versus
from calibration.compare import FEW_ITEMS
from calibration.humans import Named
from calibration.judging import RunSummary
from calibration.stats.estimate import Estimate, undefined
from calibration.types import Comparison, JudgeReport
from labels.text import counted

NO_COST = Cost(None, "none")
REUSED = Cost(0.0, "none")  # stored answers alone: nothing was asked, so there is nothing to price


@dataclass(frozen=True, slots=True)
class _Common:
    """Reference, best judge and other judge on the items that both were compared on."""

    reference: tuple[str, ...]
    best: tuple[str, ...]
    other: tuple[str, ...]


def costs_of(runs: Sequence[RunSummary]) -> dict[str, Cost]:
    """What 1,000 verdicts of each judge cost that were asked for, not imported or used again."""
    by_judge: dict[str, list[RunSummary]] = {}
    for run in runs:
        by_judge.setdefault(run.judge, []).append(run)
    return {judge: _cost(mine) for judge, mine in by_judge.items()}


def comparisons_with_best(
    headlines: Sequence[Comparison], agreements: Mapping[str, Estimate], *, named: Named
) -> tuple[Versus, ...]:
    """Each other judge beside the one whose agreement has the highest lower limit; p-values by Holm."""
    from calibration.stats.multiplicity import holm

    rated = [comparison for comparison in headlines if comparison.n]
    if len(rated) < 2:
        return ()
    best = max(rated, key=lambda comparison: agreements[comparison.judge].low or 0.0)
    found = [_versus(best, other, named=named) for other in headlines if other is not best]
    adjusted = holm([versus.p for versus in found])
    return tuple(_judged(versus, p) for versus, p in zip(found, adjusted, strict=True))


def optimism_of(judges: Sequence[JudgeReport]) -> float | None:
    """How much too good the best kappa of these judges looks, were they all equally good (METHODS 7).

    Computed for the judge with the highest kappa, with the mix of answers of its own table.
    """
    from calibration.stats.planning import selection_optimism

    rated = [judge for judge in judges if judge.estimates["kappa"].value is not None]
    if len(rated) < 2:
        return None
    best = max(rated, key=lambda judge: judge.estimates["kappa"].value or 0.0)
    if best.n < FEW_ITEMS:
        return None
    kappa, margins = best.estimates["kappa"].value or 0.0, pooled_shares(best.confusion.counts)
    shares = [share for share in margins if share]
    return selection_optimism(len(rated), items=best.n, kappa=max(0.0, kappa), margins=shares)


def _cost(runs: Sequence[RunSummary]) -> Cost:
    asked = [run for run in runs if run.state != "imported"]
    verdicts = sum(min(run.verdicts, run.calls) for run in asked)  # reused answers took no call
    unpriced = sum(run.unpriced for run in asked)
    prices = [run.cost for run in asked if run.cost is not None]
    if not verdicts:
        return REUSED if any(run.verdicts for run in asked) else NO_COST
    if not prices and not unpriced:
        return NO_COST
    if not prices:
        return Cost(None, "unknown")
    return Cost(1000 * sum(prices) / verdicts, "at least" if unpriced else "known")


def _versus(best: Comparison, other: Comparison, *, named: Named) -> Versus:
    from calibration.stats.paired import agreement_difference, kappa_difference, mcnemar_p, paired_counts

    common = _common(best, other, named=named)
    counts = paired_counts(common.reference, common.best, old=common.other)
    categories = sorted({*common.reference, *common.best, *common.other})
    kappa = undefined("no_items")
    if counts.n:
        kappa = kappa_difference(common.reference, common.best, old=common.other, categories=categories)
    p = mcnemar_p(counts.gained, counts.lost) if counts.n >= FEW_ITEMS else None
    return Versus(
        best=best.judge,
        other=other.judge,
        gained=counts.gained,
        lost=counts.lost,
        agreement=agreement_difference(counts),
        kappa=kappa,
        p=p,
        adjusted_p=None,
        proven=False,
        sentence="",
    )


def _common(best: Comparison, other: Comparison, *, named: Named) -> _Common:
    theirs = {pair.item_id: pair.judge for pair in other.pairs}
    rows = [
        (named(p.item_id, p.reference), named(p.item_id, p.judge), named(p.item_id, theirs[p.item_id]))
        for p in best.pairs
        if p.item_id in theirs
    ]
    return _Common(*(tuple(row[k] for row in rows) for k in range(3)))


def _judged(versus: Versus, p: float | None) -> Versus:
    proven = p is not None and p <= ALPHA and not _holds_zero(versus.agreement)
    return replace(versus, adjusted_p=p, proven=proven, sentence=_sentence(versus, proven=proven))


def _holds_zero(difference: Estimate) -> bool:
    low, high = difference.low, difference.high
    return low is None or high is None or low <= 0 <= high


def _sentence(versus: Versus, *, proven: bool) -> str:
    n, value = versus.agreement.n, versus.agreement.value
    if value is None or n < FEW_ITEMS:
        few = counted(n, "item") if n else "no item"
        need = f"{FEW_ITEMS - n} more are needed to compare them"
        return f"{versus.best} and {versus.other} have {few} in common: {need}."
    on = f"on {counted(n, 'common item')}"
    if not proven:
        return (
            f"{versus.best} is not shown to be better than {versus.other}: {points(versus.agreement)}, {on}."
        )
    if value < 0:
        return (
            f"{versus.other} is better than {versus.best} where both were compared: "
            f"{versus.best} has {points(versus.agreement)}, {on}."
        )
    return f"{versus.best} is better than {versus.other}: {points(versus.agreement)}, {on}."
