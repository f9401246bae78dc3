"""The human ceiling, the alt-test, consensus, Dawid and Skene."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.stats.ceiling import (
    alt_test,
    alt_test_statistic,
    ceiling_delta,
    consensus,
    expected_agreement,
    vote_shares,
)
from calibration.stats.dawid_skene import dawid_skene

law = settings(deadline=None, max_examples=40)
vote = st.sampled_from(["A", "B", "tie", None])
people_and_judge = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(vote, min_size=n, max_size=n), min_size=2, max_size=4),
        st.lists(vote, min_size=n, max_size=n),
    )
)


def test_more_than_half_is_a_consensus_and_a_plurality_is_not():
    ratings = [["A", "A", "A", None], ["A", "B", "B", None], ["B", None, "tie", None]]
    assert consensus(ratings) == ["A", None, None, None]
    assert consensus([]) == []
    assert vote_shares(ratings)[1] == {"A": 0.5, "B": 0.5}
    assert vote_shares(ratings)[3] == {}


def test_expected_agreement_is_the_share_of_people_the_judge_sides_with():
    ratings = [["A", "A"], ["A", "B"], ["B", "B"]]
    # 2/3 on the first item, 1/3 on the second
    assert expected_agreement(ratings, ["A", "A"]) == pytest.approx(0.5)
    assert expected_agreement(ratings, [None, None]) is None


def test_the_ceiling_delta_by_hand():
    # AAB and the judge says A: matches 2/3 of the others on average; people match 0, 1/2, 1/2: 1/3
    # AAA and the judge says B: 0 less 1
    ratings = [["A", "A"], ["A", "A"], ["B", "A"]]
    estimate = ceiling_delta(ratings, ["A", "B"])
    assert estimate.value == pytest.approx((1 / 3 - 1) / 2)
    # with the extremes -1 and 1/3 the values are 1/3, -1, -1, 1/3: mean -1/3, sd .7698, t(3) 3.1824
    assert estimate.low == pytest.approx(-1 / 3 - 3.1824 * 0.7698 / 2, abs=1e-3)
    assert estimate.high == pytest.approx(-1 / 3 + 3.1824 * 0.7698 / 2, abs=1e-3)


def test_a_judge_that_copies_agreeing_people_reaches_the_ceiling():
    labels = list("AABBAB") * 5
    estimate = ceiling_delta([labels] * 3, labels)
    assert estimate.value == 0
    assert -0.2 < estimate.low < 0 < estimate.high


@law
@given(people_and_judge)
def test_the_delta_lies_in_its_interval_and_every_item_is_counted(data):
    ratings, judge = data
    estimate = ceiling_delta(ratings, judge)
    assert estimate.n + estimate.n_missing == len(judge)
    if estimate.value is not None:
        assert -1 <= estimate.value <= 0.5
        assert estimate.low <= estimate.value <= estimate.high


def test_one_person_has_no_ceiling():
    assert ceiling_delta([["A", "B"]], ["A", "B"]).why_undefined == "not_applicable"
    assert ceiling_delta([["A", None], [None, "B"]], ["A", "B"]).why_undefined == "no_pairable_items"


def test_people_with_different_numbers_of_items_are_refused():
    with pytest.raises(ValueError, match="one entry per item"):
        consensus([["A"], ["A", "B"]])


def test_a_judge_that_always_wins_may_stand_in_for_everyone():
    people = [list("AB" * 15), list("AB" * 15), list("AB" * 15)]
    result = alt_test(people, list("AB" * 15))
    # every comparison is a draw, which counts for both: difference 0 below epsilon throughout
    assert (result.omega, result.rho, result.replaceable) == (1, 1, True)
    assert result.p_values == (0, 0, 0)
    assert result.tested == (0, 1, 2)


def test_a_judge_that_always_loses_may_stand_in_for_nobody():
    people = [list("AB" * 15)] * 3
    result = alt_test(people, list("BA" * 15))
    assert (result.omega, result.rho, result.replaceable) == (0, 0, False)


def test_a_difference_exactly_at_epsilon_is_not_rejected():
    people = [list("AB" * 15)] * 3
    assert alt_test(people, list("AB" * 15), epsilon=0).p_values == (1, 1, 1)


def test_too_few_items_test_nobody_but_two_people_are_warned_of():
    result = alt_test([list("AB"), list("AB")], list("AB"))
    assert (result.omega, result.why_undefined, result.warnings) == (
        None,
        "too_few_items",
        ("two_annotators",),
    )
    assert alt_test([], []).why_undefined == "too_few_items"


def test_people_with_few_items_stay_in_the_reference():
    full, part = list("AB" * 20), list("AB" * 10) + [None] * 20
    assert alt_test([full, full, part], full).tested == (0, 1)


def test_the_t_statistic_by_hand():
    # mean -1/4, variance 11/12 of four, so the error is .4787; t = (-.25 - .1) / .4787
    statistic, p = alt_test_statistic([-1, -1, 0, 1], 0.1)
    assert statistic == pytest.approx(-0.35 / (11 / 12 / 4) ** 0.5)
    assert 0.2 < p < 0.3


def test_equal_differences_have_no_t():
    assert alt_test_statistic([0, 0], 0.1) == (None, 0)
    assert alt_test_statistic([1, 1], 0.1) == (None, 1)
    assert alt_test_statistic([0, 0], 0.0) == (None, None)
    assert alt_test_statistic([], 0.1) == (None, None)


def simulated(seed, accuracies, n):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    return truth, [np.where(rng.random(n) < accuracy, truth, 1 - truth).tolist() for accuracy in accuracies]


def test_dawid_and_skene_weigh_a_good_annotator_above_two_poor_ones():
    truth, ratings = simulated(0, [0.95, 0.6, 0.6], 400)
    fit = dawid_skene(ratings)
    by_model = np.mean(np.array(fit.labels) == truth)
    by_majority = np.mean(np.array(consensus(ratings)) == truth)
    assert by_model > by_majority + 0.03
    assert fit.confusion[0, 0, 0] > fit.confusion[1, 0, 0]


def test_dawid_and_skene_give_shares_that_add_up_to_one_and_no_label_without_ratings():
    _, ratings = simulated(1, [0.8, 0.8, 0.8], 120)
    fit = dawid_skene([[None, *person] for person in ratings])
    assert fit.labels[0] is None
    assert fit.probabilities.sum(axis=1) == pytest.approx(1)
    assert fit.priors.sum() == pytest.approx(1)
    assert fit.confusion.sum(axis=2) == pytest.approx(1)


def test_dawid_and_skene_are_not_asked_about_few_items_or_two_people():
    _, ratings = simulated(2, [0.8, 0.8, 0.8], 99)
    assert dawid_skene(ratings).why_undefined == "too_few_items"
    _, pair = simulated(2, [0.8, 0.8], 120)
    assert dawid_skene(pair).why_undefined == "too_few_items"
    assert dawid_skene([]).why_undefined == "too_few_items"


def test_dawid_and_skene_keep_full_agreement():
    labels = ["A", "B"] * 60
    assert list(dawid_skene([labels] * 3).labels) == labels
