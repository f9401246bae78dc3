"""Drift audit: does the same judge answer the same request otherwise on another day or served model?

Each item's earliest period (day and served model) is set beside its latest. With repeats in both periods the
estimate is the agreement within periods less that between them, 0 without drift: *concern* when its interval
lies above 0 and it is at least 5 points, *watch* at 5 points not proven, *fine* when it ends below 10. With
one answer per period drift and noise look alike, so the estimate is the share of items that changed:
*concern* only when the changes go in one direction (exact McNemar) by 5 points, *watch* when surely more
than 10 % changed, *fine* when surely less. *Unknown*: wider, below 20 items, or one period only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calibration.audits.basis import ALPHA, Scale, lacking, more_items, share, weigh
from calibration.audits.exact import leans
from calibration.material import Attempt, Material
from calibration.stats.estimate import Estimate, Reason
from calibration.stats.intervals import proportion
from calibration.stats.paired import PairedCounts, agreement_difference
from calibration.stats.position import position_effect
from calibration.types import Finding, Weight
from labels.text import counted
from labels.types import Choice, Side

MIN_ITEMS = 20
BEYOND_NOISE = Scale(neutral=0.0, matters=0.05, harmful=0.10, direction="above")
DIRECTION = Scale(neutral=0.0, matters=0.05, harmful=0.10)
CHANGED = Scale(neutral=0.10, matters=0.0, harmful=0.0, direction="above")

Period = tuple[str, str]  # day, served model
Run = tuple[Choice, ...]  # one choice for each order of the item
Both = tuple[list[Run], list[Run]]  # an item's runs in its earliest and its latest period


def audit(material: Material, judge: str) -> Finding:
    """Has the judge behind the name changed?"""
    attempts = [attempt for attempt in material.attempts if attempt.judge == judge]
    items = _items(attempts)
    if len(items) < MIN_ITEMS:
        return _too_few(judge, len(items))
    runs = [items[item_id] for item_id in sorted(items)]
    changed = proportion(sum(early[0] != late[0] for early, late in runs), len(runs))
    effect = position_effect(runs)
    counts = _direction(runs)
    weight = _weight(changed, effect, counts=counts)
    estimate, scale = (effect, BEYOND_NOISE) if effect.low is not None else (changed, CHANGED)
    need = more_items(estimate, scale) if weight == "unknown" else 0
    parts = {
        "answers that changed": changed,
        "change beyond the judge's own noise": effect,
        "more often first, or passed, than before": agreement_difference(counts),
    }
    sentence = f"{_in_words(changed, effect, need=need)}{_models(attempts)}."
    behind = tuple(sorted(item_id for item_id, (early, late) in items.items() if early[0] != late[0]))
    return Finding("drift", judge, weight, estimate, sentence, behind, need, parts)


def _too_few(judge: str, items: int) -> Finding:
    need = MIN_ITEMS - items
    sentence = (
        f"The same request was answered on two days, or by two served models, for {counted(items, 'item')}: "
        f"needs {need} more, asked again without reusing stored answers."
    )
    reason: Reason = "too_few_items" if items else "single_run"
    return lacking("drift", judge, sentence, need=need, reason=reason, n=items)


def _items(attempts: Sequence[Attempt]) -> dict[str, Both]:
    """For each item answered in two periods: its runs in the earliest and in the latest."""
    found: dict[str, dict[Period, dict[Side | None, list[Choice]]]] = {}
    for attempt in attempts:
        periods = found.setdefault(attempt.item_id, {})
        orders = periods.setdefault((attempt.day, attempt.served_model), {})
        orders.setdefault(attempt.first, []).append(attempt.choice)
    both = {item_id: _earliest_and_latest(periods) for item_id, periods in found.items()}
    return {item_id: runs for item_id, runs in both.items() if runs is not None}


def _earliest_and_latest(periods: Mapping[Period, Mapping[Side | None, list[Choice]]]) -> Both | None:
    early, late = min(periods), max(periods)
    shared = [order for order in periods[early] if order in periods[late]]
    if early == late or not shared:
        return None
    return _runs(periods[early], shared), _runs(periods[late], shared)


def _runs(orders: Mapping[Side | None, list[Choice]], shared: Sequence[Side | None]) -> list[Run]:
    """One run per repeat: the choices in all orders that both periods have."""
    return list(zip(*(orders[order] for order in shared), strict=False))


def _direction(runs: Sequence[Both]) -> PairedCounts:
    """Items that chose the first slot, or passed, more often than before (gained), and less often (lost)."""
    moves = [_high(late[0]) - _high(early[0]) for early, late in runs]
    gained, lost = sum(move > 0 for move in moves), sum(move < 0 for move in moves)
    return PairedCounts(both=0, gained=gained, lost=lost, neither=len(moves) - gained - lost)


def _high(run: Run) -> int:
    return sum(choice in ("first", "pass") for choice in run)


def _weight(changed: Estimate, effect: Estimate, *, counts: PairedCounts) -> Weight:
    if effect.low is not None:
        return weigh(effect, BEYOND_NOISE)
    proven = leans(counts.gained, counts.lost, alpha=ALPHA)
    if effect.value is None and weigh(agreement_difference(counts), DIRECTION, proven=proven) == "concern":
        return "concern"
    weight = weigh(changed, CHANGED)
    return "watch" if weight == "concern" else weight


def _in_words(changed: Estimate, effect: Estimate, *, need: int) -> str:
    text = (
        f"Asked the same again later, the judge answered otherwise on {share(changed)} of "
        f"{counted(changed.n, 'item')}"
    )
    if effect.value is not None:
        text += f"; beyond its own noise that is {100 * effect.value:.0f} points"
    if effect.low is not None:
        text += f" ({100 * effect.low:.0f} to {100 * (effect.high or 0):.0f})"
    return f"{text}; needs about {need} more items to be sure" if need else text


def _models(attempts: Sequence[Attempt]) -> str:
    """The first and the last served model, where they differ."""
    served = [a.served_model for a in sorted(attempts, key=lambda a: a.day) if a.served_model]
    if not served or served[0] == served[-1]:
        return ""
    return f". The served model went from {served[0]} to {served[-1]}"
