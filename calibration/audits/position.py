"""Position audit: what swapping the two responses does to a judge's verdicts."""

from __future__ import annotations

from collections.abc import Mapping

from calibration.compare import Rated, is_inconsistent
from calibration.stats.estimate import undefined
from calibration.stats.position import (
    Slot,
    consistency,
    count_pairs,
    direction_p,
    preference_fairness,
)
from calibration.types import Position
from labels.kinds import KINDS
from labels.present import Order
from labels.types import Side, Value


def position_of(rated: Mapping[str, Rated]) -> Position:
    """Consistency and flips over all items that the judge rated, labelled or not."""
    one_order = [item for item in rated.values() if _is_one_order(item)]
    swapped = [item for item in rated.values() if _is_swapped(item)]
    ordered = any(item.forward or item.reverse for item in rated.values())
    counts = count_pairs([_slots(item) for item in swapped])
    not_ordered = undefined("not_applicable")
    return Position(
        pairs=counts.pairs,
        consistent=counts.consistent,
        consistency=consistency(counts) if ordered else not_ordered,
        hard_flips_first=counts.hard_flips_first,
        hard_flips_second=counts.hard_flips_second,
        soft_flips_first=counts.soft_flips_first,
        soft_flips_second=counts.soft_flips_second,
        unanswered=counts.unanswered,
        one_order=len(one_order),
        preference=preference_fairness(counts) if ordered else not_ordered,
        direction_p=direction_p(counts),
        direction_p_exact=direction_p(counts, midp=False),
        flipped=tuple(item_id for item_id, item in rated.items() if is_inconsistent(item)),
    )


def _is_swapped(rated: Rated) -> bool:
    """Whether both orders were asked and settled, or some answer of the item is missing."""
    return rated.unanswered > 0 or (rated.forward is not None and rated.reverse is not None)


def _is_one_order(rated: Rated) -> bool:
    """Whether a pair's usable verdict has no partner because the other order was never asked."""
    return not _is_swapped(rated) and any(value in ("A", "B", "tie") for value in rated.given)


def _slots(rated: Rated) -> tuple[Slot | None, Slot | None]:
    return _slot("A", rated.forward), _slot("B", rated.reverse)


def _slot(first: Side, value: Value | None) -> Slot | None:
    if value is None:
        return None
    choice = KINDS["pairwise"].slot(Order(first), value)
    return "tie" if choice == "tie" else "first" if choice == "first" else "second"
