"""Does the judge's choice follow the slot? Both orders of each pair, counted by item.

A pair is two verdicts about one item, shown in both orders. Primacy favours the slot shown first,
recency the one shown second. Pairs with an unanswered half leave every denominator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from statistics import fmean
from typing import Literal

from .estimate import Estimate, undefined
from .intervals import DRAWS, SEED, bonett_price, mean_estimate, proportion, sign_test_p

Slot = Literal["first", "second", "tie"]
Pattern = Literal["consistent", "hard_first", "hard_second", "soft_first", "soft_second", "unanswered"]
Runs = Sequence[Hashable | None]  # one item's verdicts in one order, as sides; None is unanswered


@dataclass(frozen=True, slots=True)
class PositionCounts:
    """Pairs by pattern: a hard flip chose one slot twice, a soft flip chose a slot once and a tie once."""

    consistent: int = 0
    hard_flips_first: int = 0
    hard_flips_second: int = 0
    soft_flips_first: int = 0
    soft_flips_second: int = 0
    unanswered: int = 0

    @property
    def pairs(self) -> int:
        """Pairs with two verdicts."""
        return self.consistent + self.primacy + self.recency

    @property
    def primacy(self) -> int:
        """Flips towards the slot shown first."""
        return self.hard_flips_first + self.soft_flips_first

    @property
    def recency(self) -> int:
        """Flips towards the slot shown second."""
        return self.hard_flips_second + self.soft_flips_second


@dataclass(frozen=True, slots=True)
class ShiAudit:
    """The numbers of Shi et al. 2024 as their code gives them: fairness divides by all pairs."""

    position_consistency: float | None
    raw_preference: int
    preference_fairness: float | None
    parse_rate: float | None


def pattern(forward: Slot | None, reverse: Slot | None) -> Pattern:
    """What two verdicts, given as the slot that each chose, say about position."""
    if forward is None or reverse is None:
        return "unanswered"
    chosen = {forward, reverse}
    if chosen in ({"first", "second"}, {"tie"}):
        return "consistent"
    if "tie" in chosen:
        return "soft_first" if "first" in chosen else "soft_second"
    return "hard_first" if "first" in chosen else "hard_second"


def count_pairs(pairs: Sequence[tuple[Slot | None, Slot | None]]) -> PositionCounts:
    """Count pairs of (slot chosen in the one order, slot chosen in the other) by pattern."""
    counts = Counter(pattern(forward, reverse) for forward, reverse in pairs)
    return PositionCounts(
        consistent=counts["consistent"],
        hard_flips_first=counts["hard_first"],
        hard_flips_second=counts["hard_second"],
        soft_flips_first=counts["soft_first"],
        soft_flips_second=counts["soft_second"],
        unanswered=counts["unanswered"],
    )


def consistency(counts: PositionCounts, *, level: float = 0.95) -> Estimate:
    """The share of pairs whose verdict survives the swap, with its Wilson interval."""
    return _share(counts, counts.consistent, level=level)


def conflict_rate(counts: PositionCounts, *, level: float = 0.95) -> Estimate:
    """The share of pairs whose verdict changes with the order (Wang et al. 2023)."""
    return _share(counts, counts.primacy + counts.recency, level=level)


def hard_flip_rate(counts: PositionCounts, *, level: float = 0.95) -> Estimate:
    """The share of pairs that chose the same slot in both orders."""
    return _share(counts, counts.hard_flips_first + counts.hard_flips_second, level=level)


def worst_case_consistency(counts: PositionCounts, *, level: float = 0.95) -> Estimate:
    """Consistency if every unanswered pair had been inconsistent."""
    return proportion(counts.consistent, counts.pairs + counts.unanswered, level=level)


def primacy_share(counts: PositionCounts, *, level: float = 0.95) -> Estimate:
    """The share of flips that favour the slot shown first, with its Clopper-Pearson interval."""
    flips = counts.primacy + counts.recency
    if not flips:
        return undefined("no_discordant_pairs", n=counts.pairs, n_missing=counts.unanswered)
    share = proportion(counts.primacy, flips, method="Clopper-Pearson", level=level)
    return replace(share, n_missing=counts.unanswered)


def preference_fairness(counts: PositionCounts, *, level: float = 0.95) -> Estimate:
    """(recency - primacy) / pairs, from -1 (always the first slot) to 1; 0 is fair.

    Equals the preference fairness of Shi et al. 2024 on answered pairs; the interval is that of a paired
    difference (Bonett and Price 2012).
    """
    if not counts.pairs:
        return undefined("no_items", n_missing=counts.unanswered)
    value = (counts.recency - counts.primacy) / counts.pairs
    low, high = bonett_price(counts.recency, counts.primacy, n=counts.pairs, level=level)
    return Estimate(
        value,
        min(low, value),
        max(high, value),
        counts.pairs,
        method="Bonett-Price",
        level=level,
        n_missing=counts.unanswered,
    )


def direction_p(counts: PositionCounts, *, midp: bool = True) -> float | None:
    """The two-sided p that flips favour neither slot: mid-p to show, exact for gates; None without flips."""
    if not counts.primacy + counts.recency:
        return None
    return sign_test_p(counts.primacy, counts.recency, midp=midp)


def item_directions(items: Sequence[PositionCounts]) -> tuple[int, int]:
    """Items that lean to primacy and items that lean to recency, one count per item over its repeats.

    The unit is the item: repeats never add to n, and items that lean neither way are dropped.
    """
    leans = [item.primacy - item.recency for item in items]
    return sum(lean > 0 for lean in leans), sum(lean < 0 for lean in leans)


def shi_audit(counts: PositionCounts) -> ShiAudit:
    """Compatibility with the published code of Shi et al. 2024; reports use the functions above."""
    everything, raw = counts.pairs + counts.unanswered, counts.recency - counts.primacy
    return ShiAudit(
        position_consistency=counts.consistent / counts.pairs if counts.pairs else None,
        raw_preference=raw,
        preference_fairness=raw / everything if everything else None,
        parse_rate=counts.pairs / everything if everything else None,
    )


def repetition_stability(items: Sequence[Runs], *, level: float = 0.95) -> Estimate:
    """How often two repeats of the same item in the same order agree, averaged over items.

    Unbiased in the number of repeats. Items with fewer than two answers count as missing; with no item
    left the reason is `single_run`. The interval is Wilson's with n items, which errs on the wide side.
    """
    agreed = [share for share in map(_pair_agreement, items) if share is not None]
    missing = len(items) - len(agreed)
    if not agreed:
        return undefined("single_run" if items else "no_items", n_missing=missing)
    return replace(proportion(sum(agreed), len(agreed), level=level), n_missing=missing)


def modal_share(items: Sequence[Runs]) -> float | None:
    """Repetition stability as Shi et al. 2024 define it, to compare; it grows as repeats get fewer."""
    shares = [max(Counter(runs).values()) / len(runs) for runs in map(_answered, items) if runs]
    return fmean(shares) if shares else None


def position_effect(
    items: Sequence[tuple[Runs, Runs]], *, draws: int = DRAWS, seed: int = SEED, level: float = 0.95
) -> Estimate:
    """How much less verdicts agree across orders than within one: position beyond noise.

    Each item has its verdicts, as sides, in the one order and in the other. Items with fewer than two
    answers in either order count as missing; with no item left the reason is `single_run`.
    """
    effects = [effect for effect in map(_item_effect, items) if effect is not None]
    missing = len(items) - len(effects)
    if not effects:
        return undefined("single_run" if items else "no_items", n_missing=missing)
    return replace(mean_estimate(effects, draws=draws, seed=seed, level=level), n_missing=missing)


def _share(counts: PositionCounts, part: int, *, level: float) -> Estimate:
    return replace(proportion(part, counts.pairs, level=level), n_missing=counts.unanswered)


def _answered(runs: Runs) -> list[Hashable]:
    return [verdict for verdict in runs if verdict is not None]


def _pair_agreement(runs: Runs) -> float | None:
    pairs = list(combinations(_answered(runs), 2))
    return fmean(one == other for one, other in pairs) if pairs else None


def _item_effect(item: tuple[Runs, Runs]) -> float | None:
    within = [_pair_agreement(runs) for runs in item]
    if within[0] is None or within[1] is None:
        return None
    across = fmean(one == other for one, other in product(*map(_answered, item)))
    return (within[0] + within[1]) / 2 - across
