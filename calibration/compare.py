"""Labels beside verdicts, mapped back to sides: pairs, and everything left out, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import lcm

from calibration.types import Comparison, LeftOut, Pair, TiePolicy, Verdict
from labels.types import Criterion, Label, Side, Value

POLICIES: tuple[TiePolicy, ...] = ("inconsistent as tie", "dropped", "forward only", "reverse only")
FEW_ITEMS = 10  # METHODS 0: below this, counts and never a verdict
UNANSWERED_LIMIT = 0.05  # METHODS 4: above this share nothing is decided


@dataclass(frozen=True, slots=True)
class Reference:
    """What people say of each item together: a value, or why there is none."""

    values: Mapping[str, Value]
    missing: Mapping[str, LeftOut]


@dataclass(frozen=True, slots=True)
class Rated:
    """What a judge said of one item: one settled value for each order that it was asked in.

    `forward` shows side A first, `reverse` side B, `unordered` neither (single responses, and orders
    that the file does not tell). `asked` counts the orders, `unanswered` those without any verdict and
    `unsettled` those whose repeats have no majority. `voted` is what all votes of all orders say together.
    `lean` is the slot that most swaps of single runs favoured: 1 the first, -1 the second, 0 neither
    (METHODS 4). `ordered` says whether the order was known.
    """

    forward: Value | None = None
    reverse: Value | None = None
    unordered: Value | None = None
    asked: int = 0
    unanswered: int = 0
    unsettled: int = 0
    voted: Value | None = None
    lean: int = 0
    ordered: bool = False

    @property
    def given(self) -> tuple[Value, ...]:
        """The values of the orders that have one."""
        return tuple(v for v in (self.forward, self.reverse, self.unordered) if v is not None)


_SLOTS = {"A": 1, "B": -1, "tie": 0}


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
    """One judge's verdicts: repeats settled by majority within each order, and by one vote over all."""
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
    votes: list[list[Value]] = []
    unanswered = unsettled = 0
    for first, verdicts in orders.items():
        values = [verdict.value for verdict in verdicts if verdict.value is not None]
        votes.append(values)
        settled[first] = _settle(values)
        unanswered += not values
        unsettled += bool(values) and majority(values) is None
    sides = settled.get("A"), settled.get("B"), settled.get(None)
    voted = _vote([v for v in votes if v])
    swapped = "A" in orders or "B" in orders
    return Rated(*sides, len(orders), unanswered, unsettled, voted=voted, lean=_lean(orders), ordered=swapped)


def _lean(orders: Mapping[Side | None, Sequence[Verdict]]) -> int:
    """The sign of the runs that favoured the first slot in both orders together, less those of the second."""
    if "A" not in orders or "B" not in orders:
        return 0
    forward = {verdict.repeat: verdict.value for verdict in orders["A"]}
    total = 0
    for verdict in orders["B"]:
        one, other = forward.get(verdict.repeat), verdict.value
        if one is not None and other is not None and one != other:
            total += _sign(_SLOTS[one] - _SLOTS[other])
    return _sign(total)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _vote(orders: Sequence[Sequence[Value]]) -> Value | None:
    """The value with more than half of the votes of all orders (METHODS 8), each order weighing the same."""
    if not orders:
        return None
    given = [value for order in orders for value in order]
    if given.count(given[0]) == len(given):  # nearly always
        return given[0]
    shares: Counter[Value] = Counter()
    whole = lcm(*map(len, orders))
    for order in orders:
        for value in order:
            shares[value] += whole // len(order)
    value, share = shares.most_common(1)[0]
    return value if 2 * share > whole * len(orders) else None


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
    if policy == "dropped" and (is_inconsistent(rated) or rated.unsettled):
        return None, "inconsistent", False
    return (rated.voted, None, False) if rated.voted is not None else ("tie", None, True)


def _one_order(rated: Rated, policy: TiePolicy) -> tuple[Value | None, LeftOut | None, bool]:
    value = rated.forward if policy == "forward only" else rated.reverse
    if value is not None:
        return value, None, rated.unsettled > 0
    return None, "unanswered" if rated.unanswered else "other order only", False
