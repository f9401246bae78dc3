"""Position audit: what swapping the two responses does to a judge's verdicts.

The estimate is the pull to a slot, (recency - primacy) / pairs, 0 when fair. *Concern*: its interval lies
away from 0, it is at least 10 points, and the exact sign test over items agrees. *Watch*: 10 points not
proven; flips beyond the judge's own noise without a direction; or verdicts that surely change on more than
30 % of pairs. *Fine*: the interval lies within 20 points. Below 20 pairs, or wider: *unknown*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calibration.audits.basis import ALPHA, Scale, lacking, more_items, share, verdicts_of, weigh
from calibration.audits.exact import leans
from calibration.compare import Rated, is_inconsistent, rate_items
from calibration.material import Material
from calibration.stats.estimate import Estimate, Reason, undefined
from calibration.stats.position import (
    PositionCounts,
    Slot,
    conflict_rate,
    consistency,
    count_pairs,
    direction_p,
    hard_flip_rate,
    position_effect,
    preference_fairness,
    primacy_share,
)
from calibration.types import Finding, Position, Verdict, Weight
from calibration.wording import percent
from labels.kinds import KINDS
from labels.present import Order
from labels.text import counted
from labels.types import Side, Value

MIN_PAIRS = 20
SCALE = Scale(neutral=0.0, matters=0.10, harmful=0.20)
MAX_CONFLICTS = 0.30  # METHODS 12: consistency of at least .70
BEYOND_NOISE = 0.05


def audit(material: Material, judge: str) -> Finding:
    """Does the judge's choice follow the slot?"""
    if material.criterion.kind != "pairwise":
        sentence = "Single responses have no order: 0 pairs to swap."
        return lacking("position", judge, sentence, need=0, reason="not_applicable")
    verdicts = verdicts_of(material, judge)
    everything = rate_items(verdicts)
    rated = {item_id: item for item_id, item in everything.items() if _is_swapped(item)}
    counts = _counts(rated)
    if counts.pairs < MIN_PAIRS:
        return _too_few(judge, counts)
    runs = _runs(verdicts)
    effect = position_effect(list(runs.values()))
    leaning = _leaning(rated)
    pull = preference_fairness(leaning)
    proven = leans(leaning.primacy, leaning.recency, alpha=ALPHA)
    weight = _weight(pull, proven, parts=(conflict_rate(counts), effect))
    need = more_items(pull, SCALE) if weight == "unknown" else 0
    sentence = f"{_changes(counts, proven=proven)} {_pull_in_words(pull)}{_rest(weight, effect, need=need)}."
    if apart := _unsettled(everything):
        sentence += f" {counted(apart, 'pair')} without a majority over the repeats of an order are left out."
    flipped = tuple(sorted(item_id for item_id, item in rated.items() if is_inconsistent(item)))
    return Finding("position", judge, weight, pull, sentence, flipped, need, _parts(counts, effect))


def position_of(rated: Mapping[str, Rated]) -> Position:
    """Consistency and flips over all items that the judge rated, labelled or not."""
    one_order = [item for item in rated.values() if _is_one_order(item)]
    ordered = any(item.ordered for item in rated.values())
    counts, leaning = _counts(rated), _leaning(rated)
    missing = undefined(_why_missing(counts, ordered=ordered), n_missing=counts.unanswered)
    return Position(
        pairs=counts.pairs,
        consistent=counts.consistent,
        consistency=consistency(counts) if counts.pairs else missing,
        hard_flips_first=counts.hard_flips_first,
        hard_flips_second=counts.hard_flips_second,
        soft_flips_first=counts.soft_flips_first,
        soft_flips_second=counts.soft_flips_second,
        unanswered=counts.unanswered,
        one_order=len(one_order),
        preference=preference_fairness(leaning) if counts.pairs else missing,
        direction_p=direction_p(leaning),
        direction_p_exact=direction_p(leaning, midp=False),
        flipped=tuple(item_id for item_id, item in rated.items() if is_inconsistent(item)),
        unsettled=_unsettled(rated),
    )


def _unsettled(rated: Mapping[str, Rated]) -> int:
    return sum(item.ordered and item.unsettled > 0 for item in rated.values())


def _why_missing(counts: PositionCounts, *, ordered: bool) -> Reason:
    """Why nothing can be said of the order where no pair has two verdicts."""
    if not ordered:
        return "not_applicable"
    return "no_valid_verdict" if counts.unanswered else "no_items"


def _leaning(rated: Mapping[str, Rated]) -> PositionCounts:
    """The pairs by the slot that most swaps of their runs favoured, one vote for each."""
    leans = [item.lean for item in rated.values() if _is_swapped(item) and not item.unanswered]
    first, second = leans.count(1), leans.count(-1)
    unanswered = sum(item.unanswered > 0 for item in rated.values())
    return PositionCounts(len(leans) - first - second, first, second, unanswered=unanswered)


def _is_swapped(rated: Rated) -> bool:
    """Whether both orders were asked and settled, or some answer of the item is missing."""
    if rated.unanswered:
        return True
    return rated.forward is not None and rated.reverse is not None and not rated.unsettled


def _is_one_order(rated: Rated) -> bool:
    """Whether a pair's usable verdict has no partner because the other order was never asked."""
    if rated.unsettled:
        return False
    return not _is_swapped(rated) and any(value in ("A", "B", "tie") for value in rated.given)


def _slots(rated: Rated) -> tuple[Slot | None, Slot | None]:
    return _slot("A", rated.forward), _slot("B", rated.reverse)


def _slot(first: Side, value: Value | None) -> Slot | None:
    if value is None:
        return None
    choice = KINDS["pairwise"].slot(Order(first), value)
    return "tie" if choice == "tie" else "first" if choice == "first" else "second"


def _counts(rated: Mapping[str, Rated]) -> PositionCounts:
    return count_pairs([_slots(item) for item in rated.values() if _is_swapped(item)])


def _runs(verdicts: Sequence[Verdict]) -> dict[str, tuple[list[Value | None], list[Value | None]]]:
    """Per item the values of all runs, with side A first and with side B first, by repeat."""
    runs: dict[str, tuple[list[Value | None], list[Value | None]]] = {}
    for verdict in sorted(verdicts, key=lambda verdict: verdict.repeat):
        if verdict.first is not None:
            runs.setdefault(verdict.item_id, ([], []))[verdict.first == "B"].append(verdict.value)
    return runs


def _weight(pull: Estimate, proven: bool, *, parts: tuple[Estimate, Estimate]) -> Weight:
    weight = weigh(pull, SCALE, proven=proven)
    conflicts, effect = parts
    beyond = effect.low is not None and effect.low > 0 and (effect.value or 0) >= BEYOND_NOISE
    many = conflicts.low is not None and conflicts.low > MAX_CONFLICTS
    return "watch" if weight in ("fine", "unknown") and (beyond or many) else weight


def _too_few(judge: str, counts: PositionCounts) -> Finding:
    need = MIN_PAIRS - counts.pairs
    have = counted(counts.pairs, "pair")
    sentence = f"Only {have} with a verdict in both orders: needs {need} more to say whether order matters."
    reason: Reason = (
        "too_few_items" if counts.pairs else "no_valid_verdict" if counts.unanswered else "no_items"
    )
    return lacking("position", judge, sentence, need=need, reason=reason, n=counts.pairs)


def _changes(counts: PositionCounts, *, proven: bool) -> str:
    conflicts = conflict_rate(counts)
    pairs = counted(counts.pairs, "pair")
    if not conflicts.value:
        most = percent(conflicts.high or 0)
        return f"Swapping the two responses changed no verdict on {pairs} (at most {most})."
    start = "When the two responses are swapped this judge changes its mind on"
    return f"{start} {share(conflicts).replace(' (', f' of {pairs} (')}, {_towards(counts, proven=proven)}."


def _towards(counts: PositionCounts, *, proven: bool) -> str:
    """Where the flips went, as a direction only where chance alone would hardly give it."""
    if not proven:
        split = f"{counts.primacy:,} towards the one shown first and {counts.recency:,} towards the second"
        return f"in no clear direction: {split}"
    first = counts.primacy / (counts.primacy + counts.recency)
    slot, most = ("first", first) if first >= 0.5 else ("second", 1 - first)
    if most < 0.65:
        return "in no clear direction"
    often = "always" if most == 1.0 else "nearly always" if most >= 0.9 else "mostly"
    return f"{often} towards the one shown {slot}"


def _pull_in_words(pull: Estimate) -> str:
    low, high = round(100 * (pull.low or 0)), round(100 * (pull.high or 0))
    if not low and not high:
        return "Its pull to either slot is less than a point"
    if high <= 0:
        return f"Its pull to the one shown first lies between {-high} and {counted(-low, 'point')}"
    if low >= 0:
        return f"Its pull to the one shown second lies between {low} and {counted(high, 'point')}"
    return (
        f"Its pull lies between {counted(-low, 'point')} to the one shown first and {high} to the one shown "
        "second"
    )


def _rest(weight: Weight, effect: Estimate, *, need: int) -> str:
    if weight == "unknown":
        return f": it is not shown to be fair, which needs about {need} more pairs"
    if effect.value is None:
        return "; with one run per order, order and chance cannot be told apart" if weight == "watch" else ""
    changed = f"{100 * effect.value:.0f} points"
    limits = "" if effect.low is None else f" ({100 * effect.low:.0f} to {100 * (effect.high or 0):.0f})"
    return f"; beyond the judge's own noise the swap costs {changed} of agreement{limits}"


def _parts(counts: PositionCounts, effect: Estimate) -> dict[str, Estimate]:
    return {
        "verdicts that change with the order": conflict_rate(counts),
        "both times the same slot": hard_flip_rate(counts),
        "changes towards the one shown first": primacy_share(counts),
        "change beyond the judge's own noise": effect,
    }
