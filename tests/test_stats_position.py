"""Position: patterns of both orders, their shares and tests, repeats."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.stats.position import (
    PositionCounts,
    conflict_rate,
    consistency,
    count_pairs,
    direction_p,
    hard_flip_rate,
    item_directions,
    modal_share,
    pattern,
    position_effect,
    preference_fairness,
    primacy_share,
    repetition_stability,
    shi_audit,
    worst_case_consistency,
)

law = settings(deadline=None, max_examples=40)  # the first case pays for an import
some = st.integers(0, 40)
position_counts = st.builds(PositionCounts, some, some, some, some, some, some)
TYPICAL = PositionCounts(26, 8, 3, 2, 1, 4)  # 40 pairs, primacy 10, recency 4, 4 unanswered


def mirrored(counts):
    return PositionCounts(
        counts.consistent,
        counts.hard_flips_second,
        counts.hard_flips_first,
        counts.soft_flips_second,
        counts.soft_flips_first,
        counts.unanswered,
    )


@pytest.mark.parametrize(
    ("forward", "reverse", "expected"),
    [
        ("first", "second", "consistent"),
        ("second", "first", "consistent"),
        ("tie", "tie", "consistent"),
        ("first", "first", "hard_first"),
        ("second", "second", "hard_second"),
        ("tie", "first", "soft_first"),
        ("second", "tie", "soft_second"),
        (None, "first", "unanswered"),
        ("tie", None, "unanswered"),
    ],
)
def test_each_pair_of_slots_has_its_pattern(forward, reverse, expected):
    assert pattern(forward, reverse) == expected


@law
@given(st.lists(st.tuples(*[st.sampled_from(["first", "second", "tie", None])] * 2), max_size=30))
def test_every_pair_is_counted_once_and_the_two_orders_may_be_exchanged(pairs):
    counts = count_pairs(pairs)
    assert counts.pairs + counts.unanswered == len(pairs)
    assert count_pairs([(reverse, forward) for forward, reverse in pairs]) == counts


def test_a_typical_judge_by_hand():
    # 26 of 40 consistent; 10 of 14 flips to the first slot; (4 - 10) / 40
    assert (TYPICAL.pairs, TYPICAL.primacy, TYPICAL.recency) == (40, 10, 4)
    assert consistency(TYPICAL).value == 0.65
    assert conflict_rate(TYPICAL).value == 0.35
    assert hard_flip_rate(TYPICAL).value == 11 / 40
    assert primacy_share(TYPICAL).value == 10 / 14
    assert preference_fairness(TYPICAL).value == -0.15
    assert worst_case_consistency(TYPICAL).value == 26 / 44


def test_unanswered_pairs_leave_the_denominators_but_stay_counted():
    for estimate in (consistency(TYPICAL), primacy_share(TYPICAL), preference_fairness(TYPICAL)):
        assert estimate.n_missing == 4


@law
@given(position_counts)
def test_mirroring_the_slots_keeps_consistency_and_turns_fairness_round(counts):
    assert consistency(mirrored(counts)) == consistency(counts)
    assert direction_p(mirrored(counts)) == direction_p(counts)
    if counts.pairs:
        fair, turned = preference_fairness(counts), preference_fairness(mirrored(counts))
        assert (turned.value, turned.low, turned.high) == pytest.approx((-fair.value, -fair.high, -fair.low))
        assert -1 <= fair.low <= fair.value <= fair.high <= 1


@law
@given(position_counts)
def test_consistency_and_conflict_add_up_to_one(counts):
    if counts.pairs:
        assert consistency(counts).value + conflict_rate(counts).value == pytest.approx(1)


def test_without_pairs_everything_is_undefined():
    nothing = PositionCounts(unanswered=3)
    assert consistency(nothing).why_undefined == "no_items"
    assert preference_fairness(nothing).why_undefined == "no_items"
    assert consistency(nothing).n_missing == 3


def test_without_flips_there_is_no_direction():
    steady = PositionCounts(consistent=9)
    assert primacy_share(steady).why_undefined == "no_discordant_pairs"
    assert direction_p(steady) is None
    assert preference_fairness(steady).value == 0


def test_three_flips_one_way_have_a_chance_of_a_quarter():
    counts = PositionCounts(consistent=5, hard_flips_first=2, soft_flips_first=1)
    assert direction_p(counts, midp=False) == 0.25
    assert direction_p(counts) == 0.125


def test_random_flips_without_direction_are_inconsistent_but_fair():
    counts = PositionCounts(hard_flips_first=5, hard_flips_second=5)
    assert consistency(counts).value == 0
    assert preference_fairness(counts).value == 0
    assert direction_p(counts, midp=False) == 1


def test_repeats_of_one_item_count_as_one_item():
    leaning = PositionCounts(consistent=1, hard_flips_first=4)
    torn = PositionCounts(hard_flips_first=2, hard_flips_second=2)
    back = PositionCounts(soft_flips_second=1)
    assert item_directions([leaning, leaning, torn, back]) == (2, 1)


def test_the_audit_of_shi_divides_fairness_by_all_pairs_and_consistency_by_answered_ones():
    audit = shi_audit(TYPICAL)
    assert audit.position_consistency == 0.65
    assert audit.raw_preference == -6
    assert audit.preference_fairness == -6 / 44
    assert audit.parse_rate == 40 / 44
    assert shi_audit(PositionCounts()).preference_fairness is None


def test_repetition_stability_by_hand():
    # AAA agrees in 3 of 3 pairs, AAB in 1 of 3, AB in 0 of 1: (1 + 1/3 + 0) / 3 = 4/9; one run says nothing
    estimate = repetition_stability([["A", "A", "A"], ["A", "A", "B"], ["A", "B"], ["A", None]])
    assert estimate.value == pytest.approx(4 / 9)
    assert (estimate.n, estimate.n_missing) == (3, 1)


def test_one_run_per_item_says_nothing_about_stability():
    estimate = repetition_stability([["A"], ["B", None]])
    assert (estimate.why_undefined, estimate.n_missing) == ("single_run", 2)
    assert repetition_stability([]).why_undefined == "no_items"


def test_a_judge_that_never_wavers_still_has_a_lower_limit_below_one():
    estimate = repetition_stability([["A", "A"]] * 10)
    assert estimate.value == 1
    assert estimate.low < 0.8


def test_the_modal_share_of_shi_looks_better_with_fewer_runs():
    assert modal_share([["A", "B"]]) == 0.5
    assert modal_share([["A"], ["B"]]) == 1
    assert modal_share([[None]]) is None


def test_a_position_effect_by_hand():
    # AA then BB: agree within both orders, never across: 1. AB then AB: within 0, across 2 of 4: -1/2
    items = [(["A", "A"], ["B", "B"]), (["A", "B"], ["A", "B"]), (["A"], ["B", "B"])]
    estimate = position_effect(items)
    assert estimate.value == pytest.approx(0.25)
    assert (estimate.n, estimate.n_missing) == (2, 1)
    assert estimate.low <= estimate.value <= estimate.high


def test_one_run_per_order_cannot_tell_position_from_noise():
    assert position_effect([(["A"], ["B"])]).why_undefined == "single_run"
    assert position_effect([]).why_undefined == "no_items"
