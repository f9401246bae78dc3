"""Which statistic suits which kind of criterion, and what each says of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from calibration.stats.estimate import Estimate
from calibration.types import Comparison, Confusion, PolicyRow
from labels.kinds import KINDS
from labels.types import Criterion, Item, KindName, Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Statistic:
    """A number about a table of reference by judge: its title for people and the kinds it suits."""

    title: str
    kinds: tuple[KindName, ...]
    estimate: Callable[[NDArray[np.int64]], Estimate]


def _raw_agreement(table: NDArray[np.int64]) -> Estimate:
    from calibration.stats.agreement import raw_agreement

    return raw_agreement(table)


def _kappa(table: NDArray[np.int64]) -> Estimate:
    from calibration.stats.agreement import cohen_kappa

    return cohen_kappa(table)


def _kappa_wilson(table: NDArray[np.int64]) -> Estimate:
    from calibration.stats.agreement import cohen_kappa

    return cohen_kappa(table, method="wilson-plugin")


def _weighted_kappa(table: NDArray[np.int64]) -> Estimate:
    from calibration.stats.agreement import weighted_kappa

    return weighted_kappa(table, weights="linear")


STATISTICS: Mapping[str, Statistic] = {
    "agreement": Statistic("Raw agreement", ("pairwise", "binary"), _raw_agreement),
    "kappa": Statistic("Kappa (agreement beyond chance)", ("pairwise", "binary"), _kappa),
    "kappa_wilson": Statistic("Kappa, cross-check interval", ("pairwise", "binary"), _kappa_wilson),
    "weighted_kappa": Statistic("Weighted kappa (a tie is half-way)", ("pairwise",), _weighted_kappa),
}


def table_of(comparison: Comparison) -> NDArray[np.int64]:
    """Counts of reference (rows) by judge (columns) in the kind's order of values."""
    from calibration.stats.agreement import crosstab

    reference = [pair.reference for pair in comparison.pairs]
    judge = [pair.judge for pair in comparison.pairs]
    return crosstab(reference, judge, KINDS[comparison.criterion.kind].values)


def estimates_of(comparison: Comparison) -> dict[str, Estimate]:
    """Every statistic that suits the criterion's kind."""
    table, kind = table_of(comparison), comparison.criterion.kind
    estimates = {name: stat.estimate(table) for name, stat in STATISTICS.items() if kind in stat.kinds}
    return estimates | (_beside_kappa(table) if kappa_warning_codes(comparison) else {})


def _beside_kappa(table: NDArray[np.int64]) -> dict[str, Estimate]:
    """What must stand beside a kappa that rare or lopsided answers distort (METHODS 1); never a gate."""
    from calibration.stats.agreement import (
        ac1,
        bennett_s,
        bias_index,
        kappa_max,
        kappa_of_max,
        prevalence_index,
    )

    n = int(table.sum())
    beside = {"kappa_max": kappa_max(table), "kappa_of_max": kappa_of_max(table)}
    beside |= {"pabak": bennett_s(table), "ac1": ac1(table)}
    indices = {"prevalence_index": prevalence_index(table), "bias_index": bias_index(table)}
    return beside | {
        name: Estimate(value, n=n, why_no_interval="not_applicable")
        for name, value in indices.items()
        if value is not None
    }


def confusion_of(comparison: Comparison) -> Confusion:
    """The confusion table with the items behind each cell."""
    values = KINDS[comparison.criterion.kind].values
    items: dict[tuple[Value, Value], list[str]] = {(r, j): [] for r in values for j in values}
    for pair in comparison.pairs:
        items[pair.reference, pair.judge].append(pair.item_id)
    counts = tuple(tuple(len(items[r, j]) for j in values) for r in values)
    return Confusion(values, counts, {cell: tuple(ids) for cell, ids in items.items()})


def policy_row(comparison: Comparison) -> PolicyRow:
    """Agreement and kappa under the comparison's tie policy."""
    table = table_of(comparison)
    return PolicyRow(_raw_agreement(table), _kappa(table), comparison.n)


def kappa_over_systems(comparison: Comparison, items: Mapping[str, Item]) -> Estimate:
    """Kappa of the winning systems plus tie, which does not depend on how sides were given out."""
    from calibration.stats.agreement import crosstab

    named = [
        (winner(items[p.item_id], p.reference), winner(items[p.item_id], p.judge)) for p in comparison.pairs
    ]
    categories = sorted({name for pair in named for name in pair})
    return _kappa(crosstab([r for r, _ in named], [j for _, j in named], categories))


def kappa_by_inclusion(comparison: Comparison, items: Mapping[str, Item]) -> Estimate | None:
    """Kappa of items drawn with unequal chances, each weighing one over its own; None unless all have one.

    The chance is the metadata field `inclusion_probability`, above 0 and at most 1.
    """
    from calibration.stats.agreement import cohen_kappa
    from calibration.stats.planning import weighted_table

    known: list[float] = []
    for pair in comparison.pairs:
        chance = _chance(items[pair.item_id])
        if chance is None:  # nearly always at the first
            return None
        known.append(chance)
    if not known:
        return None
    values = KINDS[comparison.criterion.kind].values
    reference, judge = ([p.reference for p in comparison.pairs], [p.judge for p in comparison.pairs])
    weighted = weighted_table(reference, judge, categories=values, inclusion=known)
    return replace(cohen_kappa(weighted.table), n=comparison.n, warnings=weighted.warnings)


def _chance(item: Item) -> float | None:
    try:
        chance = float(item.meta["inclusion_probability"])
    except (KeyError, ValueError):
        return None
    return chance if 0 < chance <= 1 else None


def pooled_shares(counts: Sequence[Sequence[int]]) -> tuple[float, ...]:
    """The share of each answer, over reference and judge together."""
    total = 2 * sum(map(sum, counts))
    columns = (sum(column) for column in zip(*counts, strict=True))
    return tuple((sum(row) + column) / total for row, column in zip(counts, columns, strict=True))


def system_pairs(comparison: Comparison, items: Mapping[str, Item]) -> dict[str, PolicyRow]:
    """Agreement and kappa for each pair of systems, with A the system whose name sorts first."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for pair in comparison.pairs:
        item = items[pair.item_id]
        systems = sorted(response.system for response in item.responses)
        said = (winner(item, pair.reference), winner(item, pair.judge))
        groups.setdefault((systems[0], systems[-1]), []).append(said)
    return {" / ".join(pair): _pair_row(pair, said) for pair, said in sorted(groups.items())}


def kappa_warning_codes(comparison: Comparison) -> Sequence[str]:
    """Codes of the warnings that the shape of the table calls for."""
    from calibration.stats.agreement import kappa_warnings

    return kappa_warnings(table_of(comparison))


def system_count(criterion: Criterion, items: Sequence[Item]) -> int:
    """How many different systems wrote the responses of a criterion's items."""
    return len({r.system for item in items if item.kind == criterion.kind for r in item.responses})


def winner(item: Item, value: Value) -> str:
    """The winning system's name, marked so that no system can be called like a tie."""
    return f"system {item.response(value).system}" if value in ("A", "B") else value


def _pair_row(pair: tuple[str, str], said: Sequence[tuple[str, str]]) -> PolicyRow:
    from calibration.stats.agreement import crosstab

    categories = tuple(dict.fromkeys((f"system {pair[0]}", "tie", f"system {pair[1]}")))
    table = crosstab([r for r, _ in said], [j for _, j in said], categories)
    return PolicyRow(_raw_agreement(table), _kappa(table), len(said))
