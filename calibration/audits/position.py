"""Position audit: what swapping the two responses does to a judge's verdicts."""

from __future__ import annotations

from collections.abc import Mapping

from calibration.compare import Rated, is_inconsistent
from calibration.stats.estimate import undefined
from calibration.stats.position import PositionCounts, consistency, direction_p, preference_fairness
from calibration.types import Position


def position_of(rated: Mapping[str, Rated]) -> Position:
    """Consistency and flips over all items that the judge rated, labelled or not."""
    patterns = {item_id: _pattern(item) for item_id, item in rated.items()}
    counts = PositionCounts(
        consistent=_count(patterns, "consistent"),
        hard_flips_first=_count(patterns, "hard first"),
        hard_flips_second=_count(patterns, "hard second"),
        soft_flips_first=_count(patterns, "soft first"),
        soft_flips_second=_count(patterns, "soft second"),
        unanswered=_count(patterns, "unanswered"),
    )
    ordered = any(item.forward or item.reverse for item in rated.values())
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
        one_order=_count(patterns, "one order"),
        preference=preference_fairness(counts) if ordered else not_ordered,
        direction_p=direction_p(counts),
        direction_p_exact=direction_p(counts, midp=False),
        flipped=tuple(item_id for item_id, item in rated.items() if is_inconsistent(item)),
    )


def _count(patterns: Mapping[str, str], name: str) -> int:
    return sum(pattern == name for pattern in patterns.values())


def _pattern(rated: Rated) -> str:
    """The class of an item's two verdicts (METHODS: any missing one leaves the pair out)."""
    if rated.unanswered or rated.unsettled:
        return "unanswered"
    if rated.forward is None or rated.reverse is None:
        return "one order"
    if rated.forward == rated.reverse:
        return "consistent"
    chose_first = rated.forward == "A" or rated.reverse == "B"
    strength = "soft" if "tie" in (rated.forward, rated.reverse) else "hard"
    return f"{strength} {'first' if chose_first else 'second'}"
