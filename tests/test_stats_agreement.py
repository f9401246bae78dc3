"""Agreement beyond chance of two raters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from calibration.stats.agreement import (
    ac1,
    band,
    bennett_s,
    bias_index,
    chance_agreement,
    cohen_kappa,
    crosstab,
    kappa_draws,
    kappa_max,
    kappa_of_max,
    kappa_warnings,
    margins_p,
    prevalence_index,
    probability_above,
    raw_agreement,
    scott_pi,
    weighted_kappa,
)

law = settings(deadline=None, max_examples=40)  # the first case pays for an import
VOTES = ("A", "tie", "B")
COEFFICIENTS = [cohen_kappa, weighted_kappa, scott_pi, ac1, bennett_s]
FEW = {"draws": 200}

votes = st.lists(st.tuples(st.sampled_from(VOTES), st.sampled_from(VOTES)), min_size=1, max_size=60)


def table_of(pairs):
    return crosstab([one for one, _ in pairs], [other for _, other in pairs], VOTES)


def test_rows_are_the_reference_and_columns_the_judge():
    table = crosstab(["A", "A", "B"], ["A", "B", "B"], VOTES)
    assert table.tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 1]]


def test_lists_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="2 reference values but 1"):
        crosstab(["A", "B"], ["A"], VOTES)


def test_a_value_outside_the_categories_is_refused_and_named():
    with pytest.raises(ValueError, match="None"):
        crosstab(["A", None], ["A", "A"], VOTES)


def test_a_category_given_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        crosstab(["A"], ["A"], ["A", "A"])


@pytest.mark.parametrize("bad", [[[1, 2]], [[1, -1], [0, 1]], [[1, float("nan")], [0, 1]], [1, 2], []])
def test_what_is_no_table_of_counts_is_refused(bad):
    with pytest.raises(ValueError, match="table of agreement"):
        raw_agreement(bad)


def test_four_votes_by_hand():
    # reference AABB, judge ABBB: 3 of 4 agree; chance 1/2 * 1/4 + 1/2 * 3/4 = 1/2; (3/4 - 1/2) / (1/2) = 1/2
    table = crosstab(list("AABB"), list("ABBB"), VOTES)
    assert raw_agreement(table).value == 0.75
    assert chance_agreement(table) == 0.5
    assert cohen_kappa(table).value == 0.5


def test_a_judge_that_always_says_the_opposite_has_kappa_minus_one():
    assert cohen_kappa(crosstab(["A", "B"], ["B", "A"], VOTES)).value == -1.0


def test_the_example_of_cohen_1960():
    # Cohen 1960, table 1 (in counts of 200): kappa .492
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    assert cohen_kappa(table).value == pytest.approx(0.492, abs=5e-4)


def test_linear_weights_by_hand_count_a_tie_as_half_a_disagreement():
    # A/A 4, A/tie 2, B/B 4: disagreement 2 * 1/2 = 1 of 10; margins A .6, B .4 against A .4, tie .2, B .4
    # expected .6*.2/2 + .6*.4 + .4*.4 + .4*.2/2 = .06 + .24 + .16 + .04 = .5; kappa = 1 - .1/.5
    assert weighted_kappa([[4, 2, 0], [0, 0, 0], [0, 0, 4]]).value == pytest.approx(0.8)


def test_an_unused_category_keeps_its_place_in_the_order():
    # four ordered categories, the third unused: the distance from the second to the fourth stays two steps
    table = np.zeros((4, 4))
    table[0, 0], table[1, 1], table[3, 3], table[1, 3] = 3, 3, 3, 1
    # disagreement 2/3 of 1 in 10; rows .3 .4 .3, columns .3 .3 .4 on steps 0, 1, 3
    # expected (.3*.3*1 + .3*.4*3 + .4*.3*1 + .4*.4*2 + .3*.3*3 + .3*.3*2) / 3 = 1.34 / 3
    assert weighted_kappa(table).value == pytest.approx(1 - 0.2 / 1.34)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("method", ["dirichlet", "wilson-plugin", "clopper-pearson-plugin"])
@law
@given(pairs=votes)
def test_each_coefficient_is_at_most_one_lies_in_its_interval_and_is_never_nan(coefficient, method, pairs):
    estimate = coefficient(table_of(pairs), method=method, **FEW)
    assert estimate.n == len(pairs)
    if estimate.value is not None:
        assert estimate.low - 1e-9 <= estimate.value <= estimate.high + 1e-9
        assert -1 <= estimate.value <= 1


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@law
@given(chosen=st.lists(st.sampled_from(VOTES), min_size=2, max_size=40))
def test_perfect_agreement_on_two_categories_is_exactly_one_with_a_lower_limit_below_it(coefficient, chosen):
    assume(len(set(chosen)) > 1)
    estimate = coefficient(crosstab(chosen, chosen, VOTES), **FEW)
    assert estimate.value == 1
    assert estimate.low < 1
    assert estimate.high == 1


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@law
@given(pairs=votes, order=st.randoms())
def test_the_order_of_items_does_not_matter(coefficient, pairs, order):
    shuffled = pairs.copy()
    order.shuffle(shuffled)
    assert coefficient(table_of(pairs), **FEW) == coefficient(table_of(shuffled), **FEW)


@pytest.mark.parametrize("coefficient", [cohen_kappa, scott_pi, ac1, bennett_s])
@law
@given(pairs=votes, names=st.permutations(VOTES))
def test_renaming_the_categories_does_not_change_the_value(coefficient, pairs, names):
    rename = dict(zip(VOTES, names, strict=True))
    renamed = [(rename[one], rename[other]) for one, other in pairs]
    assert coefficient(table_of(renamed), **FEW).value == pytest.approx(
        coefficient(table_of(pairs), **FEW).value
    )


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@law
@given(pairs=votes)
def test_swapping_the_raters_does_not_change_the_value(coefficient, pairs):
    table = table_of(pairs)
    assert coefficient(table.T, **FEW).value == pytest.approx(coefficient(table, **FEW).value)


@law
@given(pairs=votes)
def test_two_categories_need_no_weights(pairs):
    table = table_of([(one, other) for one, other in pairs if "tie" not in (one, other)])
    assert weighted_kappa(table, **FEW) == cohen_kappa(table, **FEW)


@pytest.mark.parametrize("coefficient", [cohen_kappa, weighted_kappa, scott_pi])
@pytest.mark.parametrize("method", ["dirichlet", "wilson-plugin"])
@pytest.mark.parametrize("table", [[[7, 0, 0], [0, 0, 0], [0, 0, 0]], [[7]]])
def test_one_category_alone_gives_no_kappa_and_says_why(coefficient, method, table):
    estimate = coefficient(table, method=method)
    assert (estimate.value, estimate.why_undefined, estimate.n) == (None, "expected_agreement_is_1", 7)


@pytest.mark.parametrize("coefficient", [*COEFFICIENTS, kappa_max, kappa_of_max, raw_agreement])
def test_a_table_without_items_is_undefined(coefficient):
    assert coefficient([[0, 0], [0, 0]]).why_undefined == "no_items"
    assert chance_agreement([[0, 0], [0, 0]]) is None


@pytest.mark.parametrize("judged", ["A", "B"])
def test_a_constant_judge_has_kappa_exactly_zero(judged):
    assert cohen_kappa(crosstab(["A"] * 7, [judged] * 6 + ["tie"], VOTES)).value == 0
    assert cohen_kappa(crosstab(["A"] * 7 + ["B"], [judged] * 8, VOTES)).value == 0


def test_a_schema_category_that_nobody_used_changes_nothing():
    assert cohen_kappa([[9, 0, 2], [0, 0, 0], [1, 0, 8]]) == cohen_kappa([[9, 2], [1, 8]])


def test_weights_of_items_may_make_fractional_counts():
    assert cohen_kappa([[4.5, 1.5], [1.5, 4.5]]).value == cohen_kappa([[3, 1], [1, 3]]).value


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="unknown method"):
        cohen_kappa([[1, 0], [0, 1]], method="wald")


def test_draws_shrink_with_more_items_and_a_higher_threshold_is_less_probable():
    small, large = [[9, 1], [1, 9]], [[90, 10], [10, 90]]
    assert kappa_draws(large).std() < kappa_draws(small).std()
    assert probability_above(large, 0.6) > probability_above(large, 0.8)
    assert probability_above([[5, 0], [0, 0]], 0.1) is None


def test_margins_that_differ_cap_kappa():
    # rows 8, 2; columns 5, 5: agreement at most .5 + .2 = .7, chance .5, so kappa at most .4
    table = [[5, 3], [0, 2]]
    assert kappa_max(table).value == pytest.approx(0.4)
    assert kappa_of_max(table).value == pytest.approx(1.0)


def test_the_share_of_the_largest_kappa_needs_one_that_is_not_zero():
    assert kappa_of_max([[0, 5], [0, 0]]).why_undefined == "zero_denominator"


def test_indices_by_hand():
    # 40 pass/pass, 4 fail/fail, 5 pass/fail, 1 fail/pass of 50
    table = [[40, 5], [1, 4]]
    assert prevalence_index(table) == 36 / 50
    assert bias_index(table) == 4 / 50
    assert prevalence_index(np.eye(3)) is None
    assert bias_index([[0, 0], [0, 0]]) is None


def test_bowkers_test_by_hand():
    # off-diagonal pairs (6, 1), (4, 4), (0, 0): 25/7 + 0 on 2 degrees of freedom; exp(-25/14) = .1677
    assert margins_p([[5, 6, 4], [1, 5, 0], [4, 0, 5]]) == pytest.approx(0.1677, abs=5e-5)
    assert margins_p(np.eye(3)) == 1


def test_the_trap_of_the_judge_that_always_passes_is_called_out():
    # 45 pass, 5 fail, the judge passes all: AC1 .8895 and PABAK .80 look fine, kappa is 0
    table = [[45, 0], [5, 0]]
    assert cohen_kappa(table).value == 0
    assert bennett_s(table).value == pytest.approx(0.8)
    assert ac1(table).value == pytest.approx(0.8895, abs=5e-5)
    assert "prevalence_paradox" in kappa_warnings(table)


def test_even_margins_and_enough_items_raise_no_warning():
    assert kappa_warnings([[20, 5], [5, 20]]) == ()


def test_a_lenient_judge_is_called_out():
    assert kappa_warnings([[25, 0], [10, 15]]) == ("systematic_leniency",)


def test_no_items_raise_no_warning():
    assert kappa_warnings([[0, 0], [0, 0]]) == ()


@pytest.mark.parametrize(
    ("kappa", "word"),
    [
        (-0.01, "poor"),
        (0, "slight"),
        (0.2, "slight"),
        (0.205, "fair"),
        (0.6, "moderate"),
        (1, "almost perfect"),
    ],
)
def test_bands_are_closed_on_the_right(kappa, word):
    assert band(kappa) == word


@pytest.mark.parametrize("kappa", [-1.1, 1.01, float("nan")])
def test_there_is_no_band_for_what_is_no_kappa(kappa):
    with pytest.raises(ValueError, match="between -1 and 1"):
        band(kappa)
