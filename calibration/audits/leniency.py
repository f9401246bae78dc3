"""Leniency audit: does the judge give its answers in other proportions than the experts?

The estimate is the judge's share less the experts' share on the same items: of "pass" for single responses,
for pairs of the answer whose share differs most. *Concern*: its interval lies away from 0, it is at least
10 points, and the test of equal margins agrees (exact McNemar, Bowker for pairs). *Watch*: 10 points not
proven. *Fine*: the interval lies within 15 points. *Unknown*: wider, or below 20 items. Where more than two
systems were compared, sides mean nothing and only ties are compared. Pairs whose orders conflict are left
out: their tie is not what the judge said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calibration.audits.basis import (
    ALPHA,
    Scale,
    compared,
    lacking,
    more_items,
    points,
    value_in_words,
    weigh,
)
from calibration.audits.exact import leans
from calibration.material import Material
from calibration.stats.agreement import crosstab, margins_p
from calibration.stats.classification import binary_counts, tnr, tpr
from calibration.stats.estimate import Estimate
from calibration.stats.intervals import proportion
from calibration.stats.paired import PairedCounts, agreement_difference
from calibration.types import Finding, Pair
from calibration.wording import percent
from labels.kinds import KINDS
from labels.text import counted
from labels.types import Value

MIN_ITEMS = 20
SCALE = Scale(neutral=0.0, matters=0.10, harmful=0.15)


def audit(material: Material, judge: str) -> Finding:
    """Is the judge more lenient, or freer with one answer, than the experts?"""
    pairs = [pair for pair in compared(material, judge).pairs if not pair.flagged]
    if len(pairs) < MIN_ITEMS:
        need = MIN_ITEMS - len(pairs)
        have = counted(len(pairs), "item")
        sentence = f"Only {have} with a label and a verdict that holds in both orders: needs {need} more."
        return lacking("leniency", judge, sentence, need=need, n=len(pairs))
    values = _values(material)
    gaps = {value: _gap(pairs, value) for value in values}
    value = max(values, key=lambda v: (*_size(gaps[v]), v == "tie"))
    return _finding(material, judge, pairs=pairs, value=value, gaps=gaps)


def _size(gap: Estimate) -> tuple[float, float]:
    """To order gaps: the largest, and of two equal ones the answer that the judge says more often."""
    value = round(gap.value or 0.0, 9)
    return abs(value), value


def _values(material: Material) -> Sequence[Value]:
    """The answers whose shares are compared."""
    if material.criterion.kind == "binary":
        return ("pass",)
    named = all(value_in_words(material, side) != f"side {side}" for side in ("A", "B"))
    return KINDS["pairwise"].values if named else ("tie",)


def _gap(pairs: Sequence[Pair], value: Value) -> Estimate:
    """The judge's share of this answer less the experts'."""
    said = [(pair.reference == value, pair.judge == value) for pair in pairs]
    return agreement_difference(
        PairedCounts(
            both=said.count((True, True)),
            gained=said.count((False, True)),
            lost=said.count((True, False)),
            neither=said.count((False, False)),
        )
    )


def _finding(
    material: Material, judge: str, *, pairs: Sequence[Pair], value: Value, gaps: Mapping[Value, Estimate]
) -> Finding:
    gap = gaps[value]
    weight = weigh(gap, SCALE, proven=_unequal(pairs, list(gaps)))
    need = more_items(gap, SCALE) if weight == "unknown" else 0
    sides = {"judge says": [pair.judge for pair in pairs], "experts say": [pair.reference for pair in pairs]}
    shares = {who: proportion(side.count(value), len(side)) for who, side in sides.items()}
    word = value_in_words(material, value)
    parts = {f"{who} {word}": share for who, share in shares.items()}
    parts |= {f"gap: {value_in_words(material, v)}": estimate for v, estimate in gaps.items() if v != value}
    parts |= _rates(pairs) if value == "pass" else {}
    tail = f"; needs about {need} more items to call that small" if need else ""
    said = {who: percent(share.value or 0) for who, share in shares.items()}
    sentence = (
        f"On {counted(gap.n, 'item')} the judge answers {word} on {said['judge says']}, your "
        f"experts on {said['experts say']}: {points(gap)}{tail}."
    )
    behind = tuple(pair.item_id for pair in pairs if _is_behind(pair, value, gap=gap))
    return Finding("leniency", judge, weight, gap, sentence, behind, need, parts)


def _is_behind(pair: Pair, value: Value, *, gap: Estimate) -> bool:
    """Whether this pair is a disagreement that makes the gap."""
    more = pair.judge if (gap.value or 0) > 0 else pair.reference
    return pair.judge != pair.reference and more == value


def _unequal(pairs: Sequence[Pair], values: Sequence[Value]) -> bool:
    """Whether the margins surely differ: Bowker's test over all answers, McNemar's exact one for two."""
    used = [value for value in values if any(value in (pair.reference, pair.judge) for pair in pairs)]
    if len(used) > 2:
        table = crosstab([p.reference for p in pairs], [p.judge for p in pairs], used)
        return margins_p(table) <= ALPHA
    said = [(pair.reference == used[0], pair.judge == used[0]) for pair in pairs] if used else []
    return leans(said.count((False, True)), said.count((True, False)), alpha=ALPHA)


def _rates(pairs: Sequence[Pair]) -> dict[str, Estimate]:
    counts = binary_counts([p.reference for p in pairs], [p.judge for p in pairs], positive="pass")
    return {"passes what the experts pass": tpr(counts), "fails what the experts fail": tnr(counts)}
