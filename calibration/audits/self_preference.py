"""Self-preference audit: does the judge favour systems of its own family more than the experts do?

The estimate is how often the judge picks what experts prefer when that is of its own family, less how often
it does when it is not (Wataoka et al. 2024), 0 when fair; expert ties stand apart. *Concern*: the interval
lies above 0, it is at least 10 points, and Fisher's exact test agrees. *Watch*: 10 points not proven.
*Fine*: the interval ends below 20 points. *Unknown*: wider, below 10 pairs in a group, or a family that is
not known. The raw share of own wins is never told: a stronger own model is no bias.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from calibration.audits.basis import ALPHA, Scale, by_id, compared, lacking, more_items, points, weigh
from calibration.audits.exact import shares_differ_p
from calibration.audits.families import families_of
from calibration.audits.length import length_ratio
from calibration.audits.modelled import model_odds
from calibration.material import Material
from calibration.stats.estimate import Estimate
from calibration.stats.intervals import proportion
from calibration.stats.stratified import own_share_at_ties, self_preference
from calibration.types import Finding, Pair
from calibration.wording import percent
from labels.text import counted
from labels.types import Item, Side, Value

MIN_GROUP = 10
PAIRS_NEEDED = (
    f"This needs {2 * MIN_GROUP} pairs of that family and another: experts decide {MIN_GROUP} for each"
)
SCALE = Scale(neutral=0.0, matters=0.10, harmful=0.20, direction="above")


def audit(material: Material, judge: str, *, families: Mapping[str, str] | None = None) -> Finding:
    """Does the judge favour its own family? `families` overrides what the names say, by system or judge.

    Without it the project's own words count.
    """
    families = material.families if families is None else families
    if material.criterion.kind != "pairwise":
        return _not_applicable(judge, "Single responses are not chosen over one another: 0 pairs to compare.")
    family = families_of(judge, families)
    if not family:
        text = "The judge's family is not known: name it with calibrate audit --family JUDGE=FAMILY"
        return _not_applicable(judge, f"{text}. {PAIRS_NEEDED}.", need=2 * MIN_GROUP)
    items = by_id(material)
    own = {
        item_id: side
        for item_id, item in items.items()
        if (side := _own_side(item, family, families=families))
    }
    if items and not own:
        text = "In no pair just one response is known to be of the judge's own family"
        return _not_applicable(judge, f"{text}. {PAIRS_NEEDED}.", need=2 * MIN_GROUP)
    pairs = [pair for pair in compared(material, judge).pairs if pair.item_id in own]
    lengths = [length_ratio(items[pair.item_id]) * (1 if own[pair.item_id] == "A" else -1) for pair in pairs]
    return _finding(judge, _turned(pairs, own), ratios=lengths)


def _not_applicable(judge: str, sentence: str, *, need: int = 0) -> Finding:
    return lacking("self_preference", judge, sentence, need=need, reason="not_applicable")


def _own_side(item: Item, family: frozenset[str], *, families: Mapping[str, str] | None) -> Side | None:
    """The side of the judge's family when the other is known to be of another; else None."""
    of_a, of_b = (families_of(item.response(side).system, families) for side in ("A", "B"))
    own_a, own_b = bool(of_a & family), bool(of_b & family)
    if not of_a or not of_b or own_a == own_b:
        return None
    return "A" if own_a else "B"


def _turned(pairs: Sequence[Pair], own: Mapping[str, Side]) -> list[Pair]:
    """The pairs with the own side called A and the other B."""
    other: Mapping[Value, Value] = {"A": "B", "B": "A", "tie": "tie"}
    return [
        pair
        if own[pair.item_id] == "A"
        else replace(pair, reference=other[pair.reference], judge=other[pair.judge])
        for pair in pairs
    ]


def _finding(judge: str, pairs: Sequence[Pair], *, ratios: Sequence[float]) -> Finding:
    """The finding from pairs whose own side is A, with the log ratios of own to other length."""
    own, other = _group(pairs, "A"), _group(pairs, "B")
    effect = self_preference(own, other)
    need = max(0, MIN_GROUP - own[1]) + max(0, MIN_GROUP - other[1])
    if need:
        return _too_few(judge, (own[1], other[1]), need=need)
    weight = weigh(effect, SCALE, proven=shares_differ_p(own, other) <= ALPHA)
    need = more_items(effect, SCALE) if weight == "unknown" else 0
    parts = {
        "agrees where its own family is better": proportion(*own),
        "agrees where the other is better": proportion(*other),
        "picks its own family at an expert tie": _at_ties(pairs),
        "odds of its own family, all else equal": model_odds(pairs, [ratios], column=0),
    }
    behind = tuple(pair.item_id for pair in pairs if (pair.reference, pair.judge) == ("B", "A"))
    sentence = _sentence(effect, own, other=other, need=need)
    return Finding("self_preference", judge, weight, effect, sentence, behind, need, parts)


def _group(pairs: Sequence[Pair], preferred: Side) -> tuple[int, int]:
    """Of the pairs that the experts decide for this side: how many the judge decides alike, and all."""
    chosen = [pair.judge == preferred for pair in pairs if pair.reference == preferred]
    return sum(chosen), len(chosen)


def _at_ties(pairs: Sequence[Pair]) -> Estimate:
    picks = [pair.judge == "A" for pair in pairs if pair.reference == "tie" and pair.judge != "tie"]
    return own_share_at_ties(sum(picks), len(picks))


def _too_few(judge: str, sizes: tuple[int, int], *, need: int) -> Finding:
    sentence = (
        f"Of {counted(sum(sizes), 'pair')} that the experts decided, {sizes[0]:,} favour the judge's own "
        f"family and {sizes[1]:,} the other: needs {need} more, at least {MIN_GROUP} of each."
    )
    return lacking("self_preference", judge, sentence, need=need, n=sum(sizes))


def _sentence(effect: Estimate, own: tuple[int, int], *, other: tuple[int, int], need: int) -> str:
    tail = f"; with so few pairs only gross bias shows: needs about {need} more" if need else ""
    return (
        f"Where the experts prefer the judge's own family it agrees on {percent(own[0] / own[1])}, where "
        f"they prefer the other on {percent(other[0] / other[1])} ({counted(effect.n, 'pair')}). That is "
        f"{points(effect)} for its own family{tail}."
    )
