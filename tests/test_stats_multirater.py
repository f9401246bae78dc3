"""Several raters with missing ratings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from calibration.stats.agreement import scott_pi
from calibration.stats.coefficients import gwet_suite
from calibration.stats.multirater import (
    fleiss_kappa,
    free_marginal_kappa,
    krippendorff_alpha,
    mean_pairwise_agreement,
    pairwise_matrix,
    rating_counts,
)

law = settings(deadline=None, max_examples=40)

rating = st.sampled_from(["A", "B", "tie", None])
ratings = st.integers(1, 15).flatmap(
    lambda n: st.lists(st.lists(rating, min_size=n, max_size=n), min_size=2, max_size=4)
)
complete = st.integers(2, 15).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from(["A", "B"]), min_size=n, max_size=n), min_size=2, max_size=4)
)


def test_alpha_by_hand():
    # items AA, AB, BB, B-: pairs within items agree 4 times of 6; A is 3 and B 3 of 6 ratings
    # D_o = 1/3, D_e = 1 - (3*2 + 3*2) / (6*5) = 3/5, alpha = 1 - (1/3) / (3/5) = 4/9
    estimate = krippendorff_alpha([["A", "A", "B", "B"], ["A", "B", "B", None]])
    assert estimate.value == pytest.approx(4 / 9)
    assert (estimate.n, estimate.n_missing) == (3, 1)


def test_the_example_of_krippendorff_2011_with_missing_ratings():
    # Krippendorff 2011, "Computing Krippendorff's alpha-reliability", data C: nominal alpha .743
    data = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    assert krippendorff_alpha(data).value == pytest.approx(0.743, abs=5e-4)


@law
@example([["A", "A", "B"], ["B", "tie", "tie"]])  # the limit was one rounding step above the value
@given(ratings)
def test_alpha_lies_in_its_interval_and_within_minus_one_and_one_or_says_why_not(data):
    estimate = krippendorff_alpha(data)
    assert estimate.n + estimate.n_missing == len(data[0])
    if estimate.value is None:
        assert estimate.why_undefined in ("no_pairable_items", "no_expected_disagreement")
    else:
        assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1


@law
@given(ratings, st.randoms())
def test_neither_the_order_of_items_nor_that_of_raters_nor_names_matter_to_alpha(data, order):
    value = krippendorff_alpha(data).value
    items = list(zip(*data, strict=True))
    order.shuffle(items)
    renamed = {"A": "tie", "tie": "B", "B": "A", None: None}
    changed = [[renamed[value] for value in rater] for rater in zip(*items, strict=True)][::-1]
    assert krippendorff_alpha(changed).value == (None if value is None else pytest.approx(value))


@law
@given(st.lists(st.sampled_from(["A", "B"]), min_size=3, max_size=30))
def test_full_agreement_is_one_with_a_lower_limit_below_it(labels):
    assume(len(set(labels)) > 1)
    for estimate in (krippendorff_alpha([labels] * 3), fleiss_kappa(rating_counts([labels] * 3))):
        assert estimate.value == 1
        assert estimate.low < 1
        assert estimate.high == 1
        assert estimate.method == "Wilson plug-in"


def test_one_rating_per_item_cannot_be_paired():
    assert krippendorff_alpha([["A", None], [None, "B"]]).why_undefined == "no_pairable_items"
    assert mean_pairwise_agreement([["A", None], [None, "B"]]).why_undefined == "no_pairable_items"
    assert krippendorff_alpha([]).why_undefined == "no_pairable_items"


def test_one_category_alone_gives_no_expected_disagreement():
    assert krippendorff_alpha([["A", "A"], ["A", "A"]]).why_undefined == "no_expected_disagreement"


def test_raters_with_different_numbers_of_items_are_refused():
    with pytest.raises(ValueError, match="one entry per item"):
        krippendorff_alpha([["A"], ["A", "B"]])


@law
@given(complete)
def test_fleiss_kappa_of_two_raters_is_scotts_pi(data):
    one, other = data[:2]
    table = np.zeros((2, 2))
    for a, b in zip(one, other, strict=True):
        table["AB".index(a), "AB".index(b)] += 1
    fleiss, pi = fleiss_kappa(rating_counts([one, other])).value, scott_pi(table, draws=10).value
    assert fleiss == (None if pi is None else pytest.approx(pi))


@law
@given(complete)
def test_fleiss_kappa_lies_in_its_interval(data):
    estimate = fleiss_kappa(rating_counts(data))
    if estimate.value is not None:
        assert -1 - 1e-9 <= estimate.low <= estimate.value <= estimate.high + 1e-9 <= 1 + 2e-9


def test_fleiss_kappa_by_hand():
    # three raters: AAA, AAB, BBB agree 1, 1/3, 1; mean 7/9; A 5/9, B 4/9: chance 41/81; (63 - 41) / 40
    counts = rating_counts([["A", "A", "B"], ["A", "A", "B"], ["A", "B", "B"]])
    assert fleiss_kappa(counts).value == pytest.approx(22 / 40)
    # with chance 1/2: (7/9 - 1/2) / (1/2)
    assert free_marginal_kappa(counts) == pytest.approx(5 / 9)


def test_fleiss_kappa_needs_equal_numbers_of_ratings():
    unequal = [[2, 1], [1, 1]]
    assert fleiss_kappa(unequal).why_undefined == "not_applicable"
    assert free_marginal_kappa(unequal) is None
    assert fleiss_kappa([[1, 0], [0, 1]]).why_undefined == "not_applicable"
    assert fleiss_kappa([[3, 0], [3, 0]]).why_undefined == "expected_agreement_is_1"
    assert fleiss_kappa(np.zeros((0, 2))).why_undefined == "no_items"


def test_pairwise_agreement_by_hand():
    # AAB agrees in 1 of 3 pairs, AA in 1 of 1, a single rating says nothing
    estimate = mean_pairwise_agreement([["A", "A", "A"], ["A", "A", None], ["B", None, None]])
    assert estimate.value == pytest.approx(2 / 3)
    assert estimate.n == 2


def test_each_pair_of_raters_is_compared_on_the_items_both_rated():
    pairs = pairwise_matrix([["A", "B", "A"], ["A", "B", None], [None, "A", "A"]])
    assert [(pair.first, pair.second, pair.agreement.n) for pair in pairs] == [
        (0, 1, 2),
        (0, 2, 2),
        (1, 2, 1),
    ]
    assert pairs[0].kappa.value == 1
    assert pairs[2].agreement.value == 0


def test_the_comparison_suite_agrees_with_our_own_coefficients_on_complete_ratings():
    data = [list("AABABBAB"), list("AABBBBAA"), list("ABBABBAB")]
    suite = gwet_suite(data)
    assert suite["krippendorff"].value == pytest.approx(krippendorff_alpha(data).value)
    assert suite["fleiss"].value == pytest.approx(fleiss_kappa(rating_counts(data)).value)
    assert suite["brennan_prediger"].value == pytest.approx(free_marginal_kappa(rating_counts(data)))


def test_the_comparison_suite_has_nothing_to_say_about_one_category():
    assert set(gwet_suite([["A", "A"], ["A", "A"]]).values()) == {None}
