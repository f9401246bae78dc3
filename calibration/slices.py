"""Agreement by metadata: where a judge does better or worse. Exploratory, never a gate (METHODS.md 7, 12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from calibration.audits.basis import ALPHA
from calibration.audits.exact import shares_differ_p
from calibration.beside import Slice
from calibration.compare import FEW_ITEMS
from calibration.humans import Named
from calibration.types import Comparison
from labels.types import Item

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_VALUES = 12  # a field with more values than this is a text or a number, not a slice


@dataclass(frozen=True, slots=True)
class _Coded:
    """Reference and judge of each compared item as places in the list of categories."""

    item_ids: tuple[str, ...]
    pairs: NDArray[np.int64]  # (items, 2)
    size: int


def slices_of(comparison: Comparison, items: Sequence[Item], *, named: Named) -> tuple[Slice, ...]:
    """Each value of each metadata field with few values, adjusted by Benjamini and Hochberg over all."""
    from calibration.stats.multiplicity import benjamini_hochberg

    coded = _coded(comparison, named)
    found = [
        entry for field, values in _fields(items).items() for entry in _by_field(field, values, coded=coded)
    ]
    adjusted = benjamini_hochberg([p for _, _, p in found])
    return tuple(
        replace(part, adjusted_p=p, words=_words(part, p, elsewhere=elsewhere))
        for (part, elsewhere, _), p in zip(found, adjusted, strict=True)
    )


def fields_left_out(items: Sequence[Item]) -> tuple[str, ...]:
    """The metadata fields with too many values to slice by, but for those that name each item."""
    fields = _fields(items, MOST_VALUES + 1, len(items) - 1)
    return tuple(f"{name} ({len(set(values.values())):,} values)" for name, values in fields.items())


def _fields(items: Sequence[Item], fewest: int = 2, most: int = MOST_VALUES) -> dict[str, dict[str, str]]:
    """For each field with so many values each item's value, "" where it is not given."""
    names = dict.fromkeys(name for item in items for name in item.meta)
    fields: dict[str, dict[str, str]] = {}
    for name in names:
        values = {item.id: item.meta.get(name, "") for item in items}
        if fewest <= len(set(values.values())) <= most:
            fields[name] = values
    return fields


def _coded(comparison: Comparison, named: Named) -> _Coded:
    import numpy as np

    said = [(named(p.item_id, p.reference), named(p.item_id, p.judge)) for p in comparison.pairs]
    categories = sorted({value for pair in said for value in pair})
    place = {value: k for k, value in enumerate(categories)}
    pairs = np.array([[place[r], place[j]] for r, j in said], dtype=np.int64).reshape(-1, 2)
    return _Coded(tuple(p.item_id for p in comparison.pairs), pairs, max(2, len(categories)))


def _by_field(
    field: str, values: Mapping[str, str], *, coded: _Coded
) -> list[tuple[Slice, float, float | None]]:
    """Each slice with the agreement elsewhere and the p of a difference."""
    import numpy as np

    names = sorted(set(values.values()))
    place = {value: k for k, value in enumerate(names)}
    slots = np.array([place[values[item_id]] for item_id in coded.item_ids], dtype=np.int64)
    cells = coded.size**2
    flat = slots * cells + coded.pairs[:, 0] * coded.size + coded.pairs[:, 1]
    tables = np.bincount(flat, minlength=len(names) * cells).reshape(-1, coded.size, coded.size)
    right, n = np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2))
    counted = Counter(values.values())
    return [
        _slice(
            field,
            value,
            counts=(counted[value], int(right[k]), int(n[k])),
            totals=(int(right.sum()), int(n.sum())),
            table=tables[k],
        )
        for k, value in enumerate(names)
    ]


def _slice(
    field: str,
    value: str,
    *,
    counts: tuple[int, int, int],
    totals: tuple[int, int],
    table: NDArray[np.int64],
) -> tuple[Slice, float, float | None]:
    from calibration.stats.agreement import cohen_kappa, raw_agreement

    items, right, n = counts
    others = totals[0] - right, totals[1] - n
    need = max(0, FEW_ITEMS - n)
    p = None if need or not others[1] else shares_differ_p((right, n), others)
    part = Slice(field, value, items, n, raw_agreement(table), cohen_kappa(table), None, need, "")
    return part, others[0] / others[1] if others[1] else 0.0, p


def _words(part: Slice, p: float | None, *, elsewhere: float) -> str:
    if part.need:
        return f"{part.need} more items needed"
    if p is None or part.agreement.value is None:
        return "nothing to compare with"
    if p > ALPHA:
        return "not shown to differ"
    return "lower than elsewhere" if part.agreement.value < elsewhere else "higher than elsewhere"
