"""Coverage audit: on how many items does the judge give nothing usable, why, and which are they?

The estimate is the share of items with an order that has no verdict at all, with the exact interval.
*Concern*: the whole interval lies above 5 %. *Watch*: the point does, or the unanswered items cluster by
5 points (Fisher over slices, systems and length, adjusted by Holm). *Fine*: the interval ends below 10 %.
*Unknown*: wider. The worst case counts each unanswered item as a disagreement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from calibration.audits.basis import ALPHA, Scale, compared, lacking, more_items, share, verdicts_of, weigh
from calibration.audits.exact import shares_differ_p
from calibration.compare import FEW_ITEMS, rate_items
from calibration.material import Material
from calibration.stats.estimate import Estimate, Reason
from calibration.stats.intervals import proportion
from calibration.stats.multiplicity import holm
from calibration.types import Finding, Unanswered, Verdict
from labels.text import counted
from labels.types import Item

MIN_ITEMS = 36  # as many answered items put the upper limit below 10 %
SCALE = Scale(neutral=0.05, matters=1e-9, harmful=0.05, direction="above")
CLUSTER_MATTERS = 0.05
MOST_VALUES = 20  # metadata with more values than this is an id, not a slice
REASONS: Mapping[Unanswered, str] = {
    "empty": "empty answers",
    "unparseable": "answers that could not be read",
    "refused": "refusals",
    "cut_off": "answers cut off",
    "too_long": "items too long for the model",
    "error": "errors of the service",
    "not_given": "no verdict in the file",
}


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of items with more unanswered ones than the rest."""

    name: str
    unanswered: int
    items: int


def audit(material: Material, judge: str) -> Finding:
    """Which items does the judge leave unanswered?"""
    verdicts = verdicts_of(material, judge)
    rated = rate_items(verdicts)
    missing = tuple(sorted(item_id for item_id, item in rated.items() if item.unanswered))
    if len(rated) < FEW_ITEMS:
        need = MIN_ITEMS - len(rated)
        sentence = f"The judge was asked about only {counted(len(rated), 'item')}: needs {need} more."
        reason: Reason = "too_few_items" if rated else "no_items"
        return lacking("coverage", judge, sentence, need=need, reason=reason, n=len(rated))
    clusters = _clusters([item for item in material.items if item.id in rated], frozenset(missing))
    unanswered = proportion(len(missing), len(rated), method="Clopper-Pearson")
    weight = weigh(unanswered, SCALE)
    if clusters and weight in ("fine", "unknown"):
        weight = "watch"
    need = more_items(unanswered, SCALE) if weight == "unknown" else 0
    tail = f"; needs about {need} more items to call that rare" if need else ""
    sentence = f"{_in_words(unanswered, len(missing))}{_why(verdicts, clusters)}{tail}."
    parts = _reasons(verdicts, rated_items=len(rated)) | _worst_case(material, judge)
    parts |= {f"unanswered in {c.name}": proportion(c.unanswered, c.items) for c in clusters}
    return Finding("coverage", judge, weight, unanswered, sentence, missing, need, parts)


def _in_words(unanswered: Estimate, count: int) -> str:
    of = counted(unanswered.n, "item")
    if not count:
        return f"The judge answered all of {of} (at most {100 * (unanswered.high or 0):.0f} % unanswered)"
    return f"The judge gave nothing usable on {share(unanswered)} of {of}"


def _why(verdicts: Sequence[Verdict], clusters: Sequence[Cluster]) -> str:
    """The most frequent reason and the clearest cluster, in words."""
    causes = Counter(verdict.error for verdict in verdicts if verdict.value is None)
    if not causes:
        return ""
    (cause, times), *_ = sorted(causes.items(), key=lambda pair: (-pair[1], pair[0]))
    text = f", mostly {REASONS.get(cause, 'unknown reasons')} ({times:,} of {causes.total():,} answers)"
    if clusters:
        worst = clusters[0]
        text += (
            f". They cluster in {worst.name}: {worst.unanswered:,} of {counted(worst.items, 'item')} there"
        )
    return text


def _reasons(verdicts: Sequence[Verdict], *, rated_items: int) -> dict[str, Estimate]:
    """The share of items that each reason touches."""
    touched = {(verdict.error, verdict.item_id) for verdict in verdicts if verdict.value is None}
    counts = Counter(error for error, _ in touched)
    return {
        REASONS.get(error, "unknown reasons"): proportion(counts[error], rated_items)
        for error in sorted(counts)
    }


def _worst_case(material: Material, judge: str) -> dict[str, Estimate]:
    comparison = compared(material, judge)
    right = sum(pair.reference == pair.judge for pair in comparison.pairs)
    everything = comparison.n + len(comparison.left_out.get("unanswered", ()))
    return {
        "agreement on answered items": proportion(right, comparison.n),
        "agreement if all unanswered were wrong": proportion(right, everything),
    }


def _clusters(items: Sequence[Item], missing: frozenset[str]) -> list[Cluster]:
    """The groups where unanswered items are more frequent, beyond chance, the clearest first."""
    if not 0 < len(missing) < len(items):
        return []
    found = [
        (Cluster(name, len(ids & missing), len(ids)), _excess_p(ids, missing, items=len(items)))
        for name, ids in _groups(items).items()
        if FEW_ITEMS <= len(ids) <= len(items) - FEW_ITEMS
    ]
    adjusted = holm([p for _, p in found])
    sure = [
        (p, cluster)
        for (cluster, _), p in zip(found, adjusted, strict=True)
        if p is not None and p <= ALPHA and _stands_out(cluster, missing=len(missing), items=len(items))
    ]
    return [cluster for _, cluster in sorted(sure, key=lambda entry: (entry[0], entry[1].name))]


def _stands_out(cluster: Cluster, *, missing: int, items: int) -> bool:
    """Whether the share of unanswered items is higher in the cluster by 5 points than elsewhere."""
    inside = cluster.unanswered / cluster.items
    outside = (missing - cluster.unanswered) / (items - cluster.items)
    return inside - outside >= CLUSTER_MATTERS


def _excess_p(ids: frozenset[str], missing: frozenset[str], *, items: int) -> float:
    inside = len(ids & missing)
    outside = len(missing) - inside
    return shares_differ_p((inside, len(ids)), (outside, items - len(ids)))


def _groups(items: Sequence[Item]) -> dict[str, frozenset[str]]:
    """Items by slice, by system, and by whether their texts are longer than the median."""
    groups: dict[str, set[str]] = {}
    values: dict[str, set[str]] = {}
    for item in items:
        for name, value in item.meta.items():
            values.setdefault(name, set()).add(value)
    sizes = {item.id: sum(len(response.text) for response in item.responses) for item in items}
    middle = median(sizes.values())
    for item in items:
        names = [f"{n} = {v}" for n, v in item.meta.items() if 2 <= len(values[n]) <= MOST_VALUES]
        names += [f"system {response.system}" for response in item.responses]
        names += ["long items"] if sizes[item.id] > middle else ["short items"]
        for name in names:
            groups.setdefault(name, set()).add(item.id)
    return {name: frozenset(ids) for name, ids in groups.items()}
