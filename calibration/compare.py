"""Labels beside verdicts, mapped back to sides: pairs, and everything left out, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from calibration.types import Comparison, LeftOut, Pair, TiePolicy, Verdict
from labels.types import Criterion, Label, Side, Value

POLICIES: tuple[TiePolicy, ...] = ("inconsistent as tie", "dropped", "forward only", "reverse only")


@dataclass(frozen=True, slots=True)
class Reference:
    """What people say of each item together: a value, or why there is none."""

    values: Mapping[str, Value]
    missing: Mapping[str, LeftOut]


@dataclass(frozen=True, slots=True)
class Rated:
    """What a judge said of one item: one settled value for each order that it was asked in.

    `forward` shows side A first, `reverse` side B, `unordered` neither (single responses, and orders
    that the file does not tell). `asked` counts the orders, `unanswered` those without any verdict.
    """

    forward: Value | None = None
    reverse: Value | None = None
    unordered: Value | None = None
    asked: int = 0
    unanswered: int = 0
    unsettled: int = 0

    @property
    def given(self) -> tuple[Value, ...]:
        """The values of the orders that have one."""
        return tuple(v for v in (self.forward, self.reverse, self.unordered) if v is not None)


def majority(values: Iterable[Value]) -> Value | None:
    """The value that more than half of the votes name, or None when none does."""
    given = tuple(values)
    if given.count(given[0]) == len(given):  # nearly always, and much quicker than to count
        return given[0]
    value, count = Counter(given).most_common(1)[0]
    return value if 2 * count > len(given) else None


def reference_labels(labels: Sequence[Label], item_ids: Iterable[str]) -> Reference:
    """The strict majority of the blind labels of each item, and why the other items have none."""
    by_item: dict[str, list[Label]] = {item_id: [] for item_id in item_ids}
    for label in labels:
        by_item.setdefault(label.item_id, []).append(label)
    values: dict[str, Value] = {}
    missing: dict[str, LeftOut] = {}
    for item_id, said in by_item.items():
        value, why = _consensus(said)
        if value is None:
            missing[item_id] = why
        else:
            values[item_id] = value
    return Reference(values, missing)


def rate_items(verdicts: Sequence[Verdict]) -> dict[str, Rated]:
    """One judge's verdicts, repeats settled by majority within each order."""
    grouped: dict[str, dict[Side | None, list[Verdict]]] = {}
    for verdict in verdicts:
        grouped.setdefault(verdict.item_id, {}).setdefault(verdict.first, []).append(verdict)
    return {item_id: _rated(orders) for item_id, orders in grouped.items()}


def compare(
    criterion: Criterion, reference: Reference, *, judge: str, rated: Mapping[str, Rated], policy: TiePolicy
) -> Comparison:
    """Reference and judge side by side under one tie policy; every item is paired or left out once."""
    pairs: list[Pair] = []
    left_out: dict[LeftOut, list[str]] = {}
    for item_id, reason in reference.missing.items():
        left_out.setdefault(reason, []).append(item_id)
    for item_id, value in reference.values.items():
        verdict, why, flagged = _under_policy(rated.get(item_id), policy)
        if verdict is None or why is not None:
            left_out.setdefault(why or "unanswered", []).append(item_id)
        else:
            pairs.append(Pair(item_id, value, verdict, flagged=flagged))
    counted = {reason: tuple(ids) for reason, ids in left_out.items()}
    return Comparison(judge, criterion, policy, tuple(pairs), counted)


def judged_value(rated: Rated) -> Value | None:
    """What the judge says of an item, order conflicts as ties, or None where it says nothing."""
    value, _, _ = _under_policy(rated, "inconsistent as tie")
    return value


def is_inconsistent(rated: Rated) -> bool:
    """Whether orders name different values."""
    return len(set(rated.given)) > 1


def _consensus(said: Sequence[Label]) -> tuple[Value | None, LeftOut]:
    """The value that people agree on, else why there is none (the second part counts only then)."""
    blind = [label for label in said if label.saw == "nothing"]
    values = [label.value for label in blind if label.value is not None]
    if values:
        return majority(values), "no consensus"
    if blind:
        return None, "skipped"
    return None, "labelled after a reveal" if said else "unlabelled"


def _rated(orders: Mapping[Side | None, Sequence[Verdict]]) -> Rated:
    settled: dict[Side | None, Value | None] = {}
    unanswered = unsettled = 0
    for first, verdicts in orders.items():
        values = [verdict.value for verdict in verdicts if verdict.value is not None]
        settled[first] = _settle(values)
        unanswered += not values
        unsettled += bool(values) and majority(values) is None
    return Rated(settled.get("A"), settled.get("B"), settled.get(None), len(orders), unanswered, unsettled)


def _settle(values: Sequence[Value]) -> Value | None:
    """The majority over repeats; without one a pair is a tie and a single response has no value."""
    if not values:
        return None
    settled = majority(values)
    pairwise = settled is None and any(value in ("A", "B", "tie") for value in values)
    return "tie" if pairwise else settled


def _under_policy(rated: Rated | None, policy: TiePolicy) -> tuple[Value | None, LeftOut | None, bool]:
    """The judge's value for an item, or why it has none; and whether a tie stands for a conflict."""
    if rated is None:
        return None, "not judged", False
    if policy in ("forward only", "reverse only"):
        return _one_order(rated, policy)
    if rated.unanswered:
        return None, "unanswered", False
    if rated.unsettled and not rated.given:
        return None, "unsettled", False
    if is_inconsistent(rated) or rated.unsettled:
        return (None, "inconsistent", False) if policy == "dropped" else ("tie", None, True)
    return rated.given[0], None, False


def _one_order(rated: Rated, policy: TiePolicy) -> tuple[Value | None, LeftOut | None, bool]:
    value = rated.forward if policy == "forward only" else rated.reverse
    if value is not None:
        return value, None, rated.unsettled > 0
    return None, "unanswered" if rated.unanswered else "other order only", False
