from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from builders import PAIRS, SINGLES, pair, single, verdict
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.agreement import STATISTICS, estimates_of
from calibration.audits.position import position_of
from calibration.compare import POLICIES, Rated, compare, majority, rate_items, reference_labels
from calibration.stats.estimate import Estimate, undefined
from calibration.types import Comparison, TiePolicy, Verdict
from calibration.wording import sentence_of
from labels.types import Choice, Item, Label, Side, Value

FLIPS: tuple[Choice, ...] = ("first", "second")
CHOICES: tuple[Choice | None, ...] = ("first", "second", "tie", None)
SWAPPED: dict[str, Value] = {"A": "B", "B": "A", "tie": "tie"}


def said(item: Item, value: Value | None, *, who: str = "a1", saw: str = "nothing") -> Label:
    criterion = PAIRS if item.kind == "pairwise" else SINGLES
    return Label(1, criterion.id, item.id, who, value, saw=saw)  # type: ignore[arg-type]


def comparison(
    labels: Sequence[Label], verdicts: Sequence[Verdict], policy: TiePolicy = "inconsistent as tie"
) -> Comparison:
    ids = dict.fromkeys([*(label.item_id for label in labels), *(v.item_id for v in verdicts)])
    reference = reference_labels(labels, ids)
    criterion = PAIRS if not labels or labels[0].criterion_id == PAIRS.id else SINGLES
    return compare(criterion, reference, judge="judge", rated=rate_items(verdicts), policy=policy)


def both_orders(item: Item, forward: Choice | None, reverse: Choice | None) -> list[Verdict]:
    return [verdict(item, forward, first="A"), verdict(item, reverse, first="B")]


def test_agreeing_orders_give_their_side_and_conflicting_orders_a_flagged_tie() -> None:
    labels = [said(pair(1), "A"), said(pair(2), "A")]
    verdicts = both_orders(pair(1), "first", "second") + both_orders(pair(2), "first", "first")
    pairs = comparison(labels, verdicts).pairs
    assert [(p.judge, p.flagged) for p in pairs] == [("A", False), ("tie", True)]


def test_each_tie_policy_treats_a_conflict_in_its_way() -> None:
    labels = [said(pair(1), "A")]
    verdicts = both_orders(pair(1), "first", "first")
    judged = {policy: comparison(labels, verdicts, policy) for policy in POLICIES}
    assert judged["inconsistent as tie"].pairs[0].judge == "tie"
    assert judged["dropped"].left_out == {"inconsistent": ("i0001",)}
    assert judged["forward only"].pairs[0].judge == "A"
    assert judged["reverse only"].pairs[0].judge == "B"


def test_a_pair_with_a_missing_half_is_unanswered_and_never_a_tie() -> None:
    result = comparison([said(pair(1), "A")], both_orders(pair(1), "first", None))
    assert result.pairs == ()
    assert result.left_out == {"unanswered": ("i0001",)}


def test_the_half_that_was_answered_still_counts_in_its_own_order() -> None:
    verdicts = both_orders(pair(1), "first", None)
    assert comparison([said(pair(1), "A")], verdicts, "forward only").n == 1
    assert comparison([said(pair(1), "A")], verdicts, "reverse only").left_out == {"unanswered": ("i0001",)}


def test_one_order_alone_is_taken_as_it_is() -> None:
    result = comparison([said(pair(1), "B")], [verdict(pair(1), "first", first="B")])
    assert result.pairs[0].judge == "B"


def test_every_reason_for_being_left_out_is_told_apart() -> None:
    items = [pair(n) for n in range(6)]
    labels = [
        said(items[0], None),
        said(items[1], "A", saw="verdict"),
        said(items[2], "A"),
        said(items[2], "B", who="a2"),
        said(items[3], "A"),
        said(items[4], "A"),
    ]
    verdicts = [verdict(item, "first") for item in (*items[:3], items[5])] + [verdict(items[4], None)]
    assert comparison(labels, verdicts).left_out == {
        "skipped": ("i0000",),
        "labelled after a reveal": ("i0001",),
        "no consensus": ("i0002",),
        "unlabelled": ("i0005",),
        "not judged": ("i0003",),
        "unanswered": ("i0004",),
    }


def test_the_majority_of_odd_repeats_counts_and_a_draw_of_a_pair_is_a_flagged_tie() -> None:
    item = pair(1)
    three = [verdict(item, choice, repeat=n) for n, choice in enumerate(["first", "second", "first"])]
    assert rate_items(three)[item.id].forward == "A"
    (drawn,) = comparison([said(item, "A")], three[:2]).pairs
    assert (drawn.judge, drawn.flagged) == ("tie", True)
    other_way = [verdict(item, c, first="B", repeat=n) for n, c in enumerate(["first", "second"])]
    position = position_of(rate_items(three[:2] + other_way))
    assert (position.pairs, position.consistent) == (0, 0)


VOTES: list[tuple[str, str, Value | None]] = [
    ("AAA", "ABB", "A"),  # four of six
    ("AAA", "BBB", None),
    ("AAB", "ABB", None),
    ("Att", "tAB", None),  # three ways: 2, 3 and 1 of 6
    ("ttA", "ttB", "tie"),
    ("A", "ABB", "A"),  # 1 + 1/3 of 2: each order weighs the same
    ("AB", "AA", "A"),
]


@pytest.mark.parametrize(("forward", "reverse", "value"), VOTES)
def test_the_votes_of_both_orders_are_counted_together(
    forward: str, reverse: str, value: Value | None
) -> None:
    item = pair(1)
    slots: dict[str, dict[str, Choice]] = {
        "A": {"A": "first", "B": "second", "t": "tie"},
        "B": {"B": "first", "A": "second", "t": "tie"},
    }
    verdicts = [
        verdict(item, slots[first][said], first=first, repeat=n)  # type: ignore[arg-type]
        for first, votes in (("A", forward), ("B", reverse))
        for n, said in enumerate(votes)
    ]
    (result,) = comparison([said(item, "A")], verdicts).pairs
    assert (result.judge, result.flagged) == (value or "tie", value is None)


def test_a_pair_whose_orders_disagree_is_dropped_even_where_a_vote_would_settle_it() -> None:
    item = pair(1)
    verdicts = [verdict(item, "first", repeat=n) for n in range(3)]
    verdicts += [verdict(item, c, first="B", repeat=n) for n, c in enumerate(["first", "first", "second"])]
    assert comparison([said(item, "A")], verdicts).pairs[0].judge == "A"
    assert comparison([said(item, "A")], verdicts, "dropped").left_out == {"inconsistent": (item.id,)}


def test_pairs_without_a_majority_over_repeats_are_counted_apart_and_said() -> None:
    item, other = pair(1), pair(2)
    split = [verdict(item, c, first=f, repeat=n) for f in ("A", "B") for n, c in enumerate(FLIPS)]
    position = position_of(rate_items(split + both_orders(other, "first", "second")))
    assert (position.pairs, position.consistent, position.unsettled) == (1, 1, 1)
    estimates = {"agreement": undefined("no_items"), "kappa": undefined("no_items")}
    estimates["agreement"] = Estimate(1.0, n=1)
    assert "1 more have no majority over the repeats" in sentence_of("j", estimates, position=position)


def test_each_pair_leans_to_the_slot_that_most_of_its_swaps_favour() -> None:
    """METHODS 4: one sign for each item over its runs, although the majorities of both orders agree."""
    verdicts = []
    for number in range(10):
        item = pair(number)
        verdicts += [verdict(item, "first", first="A", repeat=n) for n in range(3)]
        verdicts += [
            verdict(item, c, first="B", repeat=n) for n, c in enumerate(["second", "second", "first"])
        ]
    position = position_of(rate_items(verdicts))
    assert (position.pairs, position.consistent) == (10, 10)
    assert position.preference.value == -1
    assert position.direction_p_exact == pytest.approx(2 / 2**10)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (1, 0, "in no clear direction: 1 towards the response shown first and 0 towards the second"),
        (2, 1, "in no clear direction: 2 towards the response shown first and 1 towards the second"),
        (13, 7, "in no clear direction: 13 towards the response shown first and 7 towards the second"),
        (6, 0, "always towards the response shown first"),
        (1, 12, "mostly towards the response shown second"),
    ],
)
def test_flips_have_a_direction_only_where_chance_would_hardly_give_it(
    first: int, second: int, words: str
) -> None:
    """Exact two-sided p of an even split: 1 of 1 1.0, 2 of 3 1.0, 13 of 20 .26, 6 of 6 .03, 12 of 13 .003."""
    verdicts = [v for n in range(first) for v in both_orders(pair(n), "first", "first")]
    verdicts += [v for n in range(first, first + second) for v in both_orders(pair(n), "second", "second")]
    verdicts += [v for n in range(20, 40) for v in both_orders(pair(n), "first", "second")]
    estimates = {"agreement": Estimate(1.0, n=20), "kappa": undefined("no_items")}
    assert words in sentence_of("j", estimates, position=position_of(rate_items(verdicts)))


def test_a_judge_that_answered_nothing_has_no_order_for_that_reason() -> None:
    position = position_of(rate_items(both_orders(pair(1), None, None)))
    assert position.consistency.why_undefined == position.preference.why_undefined == "no_valid_verdict"
    assert position.consistency.n_missing == 1


def test_a_verdict_of_unknown_order_that_contradicts_another_is_a_conflict() -> None:
    verdicts = [verdict(pair(1), "first"), verdict(pair(1), "second", first=None)]
    (result,) = comparison([said(pair(1), "A")], verdicts).pairs
    assert (result.judge, result.flagged) == ("tie", True)


def test_repeats_of_a_single_response_without_a_majority_are_unsettled_not_a_verdict() -> None:
    item = single(1)
    two = [verdict(item, choice, first=None, repeat=n) for n, choice in enumerate(["pass", "fail"])]
    assert comparison([said(item, "pass")], two).left_out == {"unsettled": (item.id,)}


def test_a_majority_is_more_than_half() -> None:
    assert majority(["A", "A", "B"]) == "A"
    assert majority(["A", "B"]) is None
    assert majority(["A", "B", "tie", "A"]) is None


@pytest.mark.parametrize(
    ("forward", "reverse", "what"),
    [
        ("first", "second", "consistent"),
        ("second", "first", "consistent"),
        ("tie", "tie", "consistent"),
        ("first", "first", "hard_flips_first"),
        ("second", "second", "hard_flips_second"),
        ("tie", "first", "soft_flips_first"),
        ("first", "tie", "soft_flips_first"),
        ("tie", "second", "soft_flips_second"),
        ("second", "tie", "soft_flips_second"),
        ("first", None, "unanswered"),
        (None, None, "unanswered"),
    ],
)
def test_each_pattern_of_two_orders_has_its_class(
    forward: Choice | None, reverse: Choice | None, what: str
) -> None:
    position = position_of(rate_items(both_orders(pair(1), forward, reverse)))
    names = (
        "consistent",
        "unanswered",
        *(f"{s}_flips_{o}" for s in ("hard", "soft") for o in ("first", "second")),
    )
    assert {name: getattr(position, name) for name in names if getattr(position, name)} == {what: 1}
    assert position.pairs == (what != "unanswered")


def test_an_undefined_consistency_says_why() -> None:
    position = position_of({"i1": Rated(unordered="pass", asked=1)})
    assert (position.consistency.value, position.consistency.why_undefined) == (None, "not_applicable")


DATA = st.lists(
    st.tuples(st.sampled_from(["A", "B", "tie"]), st.sampled_from(CHOICES), st.sampled_from(CHOICES)),
    min_size=1,
    max_size=25,
)


def made(rows: Sequence[tuple[Value, Choice | None, Choice | None]]) -> tuple[list[Label], list[Verdict]]:
    labels = [said(pair(n), value) for n, (value, _, _) in enumerate(rows)]
    verdicts = [v for n, (_, one, two) in enumerate(rows) for v in both_orders(pair(n), one, two)]
    return labels, verdicts


def renamed(labels: Sequence[Label], verdicts: Sequence[Verdict]) -> tuple[list[Label], list[Verdict]]:
    """The same ratings when A and B swap their names in all items."""
    sides: dict[Side, Side] = {"A": "B", "B": "A"}
    new_labels = [dataclasses.replace(label, value=SWAPPED[str(label.value)]) for label in labels]
    new_verdicts = [
        dataclasses.replace(v, first=sides[v.first or "A"], value=v.value and SWAPPED[v.value])
        for v in verdicts
    ]
    return new_labels, new_verdicts


@settings(deadline=None)
@given(DATA)
def test_every_item_is_compared_or_left_out_exactly_once(rows: list[tuple[Value, Choice, Choice]]) -> None:
    for policy in POLICIES:
        result = comparison(*made(rows), policy)
        ids = [p.item_id for p in result.pairs] + [i for ids in result.left_out.values() for i in ids]
        assert sorted(ids) == [f"i{n:04}" for n in range(len(rows))]


@settings(deadline=None, max_examples=40)
@given(DATA, st.randoms(use_true_random=False))
def test_agreement_does_not_depend_on_item_order(
    rows: list[tuple[Value, Choice, Choice]], random: object
) -> None:
    labels, verdicts = made(rows)
    other = comparison(
        sorted(labels, key=lambda _: random.random()),  # type: ignore[attr-defined]
        sorted(verdicts, key=lambda _: random.random()),  # type: ignore[attr-defined]
    )
    assert estimates_of(other) == estimates_of(comparison(labels, verdicts))


@settings(deadline=None)
@given(DATA)
def test_agreement_does_not_depend_on_which_system_is_called_a(
    rows: list[tuple[Value, Choice, Choice]],
) -> None:
    labels, verdicts = made(rows)
    plain, other = (
        estimates_of(comparison(labels, verdicts)),
        estimates_of(comparison(*renamed(labels, verdicts))),
    )
    for name in STATISTICS:
        assert other[name].value == pytest.approx(plain[name].value)
        assert other[name].n == plain[name].n


@settings(deadline=None)
@given(DATA)
def test_position_counts_do_not_depend_on_which_system_is_called_a(
    rows: list[tuple[Value, Choice, Choice]],
) -> None:
    labels, verdicts = made(rows)
    plain = position_of(rate_items(verdicts))
    other = position_of(rate_items(renamed(labels, verdicts)[1]))
    assert other == plain


@pytest.mark.parametrize("name", STATISTICS)
def test_full_agreement_is_one_and_no_items_are_none_with_a_reason(name: str) -> None:
    rows: list[tuple[Value, Choice | None, Choice | None]] = [
        ("A", "first", "second"),
        ("B", "second", "first"),
        ("tie", "tie", "tie"),
    ]
    assert estimates_of(comparison(*made(rows * 4)))[name].value == pytest.approx(1.0)
    nothing = estimates_of(comparison([], []))[name]
    assert (nothing.value, nothing.why_undefined) == (None, "no_items")
