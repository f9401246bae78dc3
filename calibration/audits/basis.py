"""What the audits share: the pairs they compare, how a weight is decided, and numbers in plain words.

Decision rule of every audit, with its own `Scale`: *concern* when the interval lies on the harmful side of
the neutral value, the size matters, and the exact test agrees where METHODS.md names one; *watch* when the
size is notable but not proven; *fine* when the interval excludes harmful sizes; *unknown* when it does
not, or when it holds harmful sizes in both directions, with the number of further items that would narrow
it enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Literal

from calibration.compare import FEW_ITEMS, compare, rate_items, reference_labels
from calibration.material import Material
from calibration.stats.estimate import Estimate, Reason, undefined
from calibration.types import Comparison, Finding, Verdict, Weight
from calibration.wording import percent
from labels.text import counted
from labels.types import Item, Value

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Scale:
    """Which estimates of an audit are harmless: distances from `neutral`, on both sides or one.

    A point at least `matters` away is notable; an interval within `harmful` is fine.
    """

    neutral: float
    matters: float
    harmful: float
    direction: Literal["both", "above", "below"] = "both"


def weigh(estimate: Estimate, scale: Scale, *, proven: bool = True) -> Weight:
    """The weight of an estimate; `proven` is False where an exact test does not support a concern."""
    distances = _distances(estimate, scale)
    if distances is None:
        return "unknown"
    value, nearest, farthest = distances
    if value < scale.matters:
        return "fine" if farthest < scale.harmful else "unknown"
    if nearest > 0 and proven:
        return "concern"
    return "unknown" if 0 < scale.harmful < -nearest else "watch"


def more_items(estimate: Estimate, scale: Scale) -> int:
    """About how many more items would narrow the interval enough: its width falls with the root of n.

    Enough is to exclude harmful sizes, or, where the point is notable already, the neutral value.
    """
    distances = _distances(estimate, scale)
    if distances is None:
        return FEW_ITEMS
    value, nearest, farthest = distances
    notable = value >= scale.matters
    reach, room = (value - nearest, value) if notable else (farthest - value, scale.harmful - value)
    return max(1, ceil(estimate.n * ((reach / room) ** 2 - 1)))


def lacking(
    audit: str, subject: str, sentence: str, *, need: int, reason: Reason = "too_few_items", n: int = 0
) -> Finding:
    """A finding that has no answer yet, and what it needs."""
    return Finding(audit, subject, "unknown", undefined(reason, n=n), sentence, need=need)


def verdicts_of(material: Material, judge: str) -> list[Verdict]:
    """The verdicts of one judge."""
    return [verdict for verdict in material.verdicts if verdict.judge == judge]


@lru_cache(maxsize=1)
def compared(material: Material, judge: str) -> Comparison:
    """The judge beside the reference labels, order conflicts as ties, in the order of the item ids.

    Kept until it is asked for another material or judge, because several audits ask in turn.
    """
    reference = reference_labels(material.labels, sorted(item.id for item in material.items))
    rated = rate_items(verdicts_of(material, judge))
    return compare(material.criterion, reference, judge=judge, rated=rated, policy="inconsistent as tie")


def by_id(material: Material) -> dict[str, Item]:
    """The items by their ids."""
    return {item.id: item for item in material.items}


def value_in_words(material: Material, value: Value) -> str:
    """What choosing a value means: the system where the sides stand for the same two throughout."""
    if value not in ("A", "B"):
        return {"tie": "a tie", "pass": "pass", "fail": "fail"}[value]
    systems = {item.response(value).system for item in material.items}
    return systems.pop() if len(systems) == 1 else f"side {value}"


def span(estimate: Estimate) -> str:
    """The interval of a share, "31 to 49 %", or nothing where it has none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{100 * estimate.low:.0f} to {100 * estimate.high:.0f} %"


def share(estimate: Estimate) -> str:
    """A share in words, "40 % (31 to 49 %)", or that it is not known."""
    if estimate.value is None:
        return "an unknown share"
    limits = span(estimate)
    return f"{percent(estimate.value)} ({limits})" if limits else percent(estimate.value)


def points(estimate: Estimate) -> str:
    """The interval of a difference of shares: "4 to 12 points more", "4 points less to 12 more"."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    low, high = round(100 * estimate.low), round(100 * estimate.high)
    if low >= 0:
        return f"{low} to {counted(high, 'point')} more"
    if high <= 0:
        return f"{-high} to {counted(-low, 'point')} less"
    return f"{counted(-low, 'point')} less to {high} more"


def _distances(estimate: Estimate, scale: Scale) -> tuple[float, float, float] | None:
    """Point, nearer and farther limit as distances from neutral, harm positive; None without interval.

    On a two-sided scale the farther limit is the farther one of both sides.
    """
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    value, low, high = (x - scale.neutral for x in (estimate.value, estimate.low, estimate.high))
    if scale.direction == "below" or (scale.direction == "both" and value < 0):
        value, low, high = -value, -high, -low
    return value, low, max(high, -low) if scale.direction == "both" else high
