"""Signs of trouble in an annotator's work."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.stats.annotators import (
    below_reading_floor,
    below_required,
    category_use_p,
    fast_share,
    fatigue_quarters,
    fatigue_trend,
    gold_accuracy,
    kendall_tau,
    longest_run,
    repeat_agreement,
    repeat_kappa,
    slot_choice,
    speed_z,
)

law = settings(deadline=None, max_examples=40)


def test_own_repeats_are_compared_and_few_of_them_warned_of():
    estimate = repeat_agreement(list("AABB"), list("AABA"))
    assert (estimate.value, estimate.warnings) == (0.75, ("few_repeats",))
    assert repeat_agreement(["A"] * 10, ["A"] * 10).warnings == ()
    assert repeat_agreement([], []).why_undefined == "no_items"
    assert repeat_kappa(list("AABB"), list("AABA"), categories="AB").value == 0.5


def test_gold_accuracy_is_flagged_only_on_enough_items_and_only_when_clearly_low():
    assert below_required(gold_accuracy(3, 10)) is True
    assert below_required(gold_accuracy(7, 10)) is False
    assert below_required(gold_accuracy(0, 7)) is None
    assert below_required(gold_accuracy(0, 0)) is None


def test_speed_is_measured_against_the_item_and_the_person():
    slow, quick = [20.0, 40.0, 80.0, 30.0, 60.0, 50.0, 25.0], [21.0, 38.0, 85.0, 31.0, 57.0, 52.0, 1.0]
    other = [19.0, 41.0, 79.0, 28.0, 63.0, 49.0, 26.0]
    z = speed_z([slow, quick, other])
    assert z[1][6] < -3.5
    assert all(value > -3.5 for value in z[1][:6])
    assert fast_share(z[1]).value == 1 / 7


def test_idle_time_is_missing_and_a_person_without_spread_has_no_z():
    z = speed_z([[10.0, 900.0, 20.0], [10.0, 10.0, 20.0]])
    assert z[0][1] is None
    assert z[1] == [None, None, None]
    assert fast_share([None, None]).why_undefined == "not_applicable"
    assert speed_z([[None], [None]]) == [[None], [None]]


def test_nobody_reads_more_than_ten_words_a_second():
    share = below_reading_floor([4.0, 6.0, None, 400.0], [50, 50, 50, 50])
    assert (share.value, share.n, share.n_missing) == (0.5, 2, 2)


def test_the_first_slot_is_tested_exactly():
    # 31 of 50: binomial p .1189
    choice = slot_choice(31, 50)
    assert choice.p == pytest.approx(0.1189, abs=5e-5)
    assert choice.share.low < 0.5 < choice.share.high
    assert slot_choice(0, 0).share.why_undefined == "all_ties"
    assert slot_choice(31, 50, randomised=False).share.why_undefined == "not_applicable"


def test_a_trend_of_two_halves_is_pearsons_chi_square():
    # 9 of 10 then 5 of 10: chi-square 20 (9*5 - 1*5)**2 / (10 * 10 * 14 * 6) = 3.8095
    assert fatigue_trend([9, 5], [10, 10]).chi2 == pytest.approx(3.8095, abs=5e-5)


def test_a_trend_without_variation_is_undefined():
    assert fatigue_trend([10, 10], [10, 10]).why_undefined == "zero_denominator"
    assert fatigue_trend([], []).why_undefined == "no_items"
    with pytest.raises(ValueError, match="at most that many"):
        fatigue_trend([3], [2])


def test_fatigue_over_quarters_needs_forty_items():
    assert fatigue_quarters([True] * 39).why_undefined == "too_few_items"
    tired = fatigue_quarters([True] * 20 + [True, False] * 10)
    # quarters with 10, 10, 5 and 5 of 10
    assert tired.chi2 == pytest.approx(fatigue_trend([10, 10, 5, 5], [10] * 4).chi2)
    assert tired.p < 0.01


@law
@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=3, max_size=20))
def test_kendalls_tau_is_that_of_scipy(pairs):
    from scipy.stats import kendalltau

    order, values = [place for place, _ in pairs], [int(value) for _, value in pairs]
    ours = kendall_tau(order, values)
    if ours.tau is None:
        assert len(set(order)) == 1 or len(set(values)) == 1
    else:
        theirs = kendalltau(order, values, method="asymptotic")
        assert (ours.tau, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue), abs=1e-9)


def test_tau_needs_items_that_differ():
    assert kendall_tau([], []).why_undefined == "no_items"
    assert kendall_tau([1, 2], [1, 1]).why_undefined == "zero_denominator"
    with pytest.raises(ValueError, match="one entry per item"):
        kendall_tau([1], [1, 2])


def test_an_annotator_who_never_says_tie_stands_out():
    assert category_use_p([25, 25, 0], [30, 30, 40], draws=2000) < 0.01
    assert category_use_p([10, 10, 10], [30, 30, 30], draws=2000) > 0.5
    assert category_use_p([0, 0], [1, 1]) is None
    assert category_use_p([5, 0], [7, 0]) is None


def test_a_long_run_of_one_label_stands_out_from_random_orders():
    lined = longest_run(["A"] * 15 + ["B"] * 15, draws=500)
    assert lined.length == 15
    assert lined.p < 0.01
    assert longest_run(["A", "B"] * 15, draws=500).p == 1
    assert longest_run(["A"] * 9).p is None
    assert longest_run([]).length == 0
