"""Logistic regression, stratified tables, length and self-preference."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.stats.length import length_effect, length_strata, longer_shares
from calibration.stats.logistic import firth, firth_interval, firth_p, logistic_mle
from calibration.stats.stratified import (
    fisher_p,
    own_share_at_ties,
    self_preference,
    self_preference_p,
    stratified_test,
)

law = settings(deadline=None, max_examples=40)
cell = st.integers(0, 12)
tables = st.lists(st.tuples(st.tuples(cell, cell), st.tuples(cell, cell)), min_size=1, max_size=3)
SEPARATED = ([(1, x) for x in (-2, -1, 1, 2)], [0, 0, 1, 1])


def grouped(a, b, c, d):
    """y = 1 in a of a + b with x = 1, in c of c + d with x = 0."""
    design = [(1, 1)] * (a + b) + [(1, 0)] * (c + d)
    return design, [1] * a + [0] * b + [1] * c + [0] * d


def test_with_one_binary_column_the_coefficient_is_the_log_odds_ratio():
    fit = logistic_mle(*grouped(6, 2, 3, 9))
    assert fit.coefficients == pytest.approx([log(3 / 9), log(6 * 9 / (2 * 3))])
    # Woolf's standard error
    assert fit.errors[1] == pytest.approx((1 / 6 + 1 / 2 + 1 / 3 + 1 / 9) ** 0.5)


def test_with_one_binary_column_firth_adds_half_an_observation_to_each_cell():
    # Firth 1993: in a saturated two-by-two table the penalty equals 1/2 in every cell
    fit = firth(*grouped(6, 2, 3, 9))
    assert fit.coefficients[1] == pytest.approx(log(6.5 * 9.5 / (2.5 * 3.5)), abs=1e-6)


def test_under_separation_the_likelihood_has_no_maximum_but_firths_has():
    assert logistic_mle(*SEPARATED).why_undefined == "separation"
    fit = firth(*SEPARATED)
    assert np.isfinite(fit.coefficients).all()
    assert fit.coefficients[1] > 0


def test_two_half_rows_weigh_as_much_as_one():
    design, y = grouped(6, 2, 3, 9)
    doubled = firth(design * 2, y * 2, weights=[0.5] * (2 * len(y)))
    assert doubled.coefficients == pytest.approx(firth(design, y).coefficients, abs=1e-6)
    assert logistic_mle(design * 2, y * 2, weights=[0.5] * 40).errors == pytest.approx(
        logistic_mle(design, y).errors
    )


def test_turning_the_outcome_round_turns_the_interval_round():
    design, y = grouped(6, 2, 3, 9)
    there = firth_interval(design, y, column=1)
    back = firth_interval(design, [1 - value for value in y], column=1)
    assert (back.value, back.low, back.high) == pytest.approx(
        (-there.value, -there.high, -there.low), abs=1e-4
    )


def test_the_profile_interval_holds_zero_exactly_when_its_p_is_above_one_in_twenty():
    for cells in ((6, 2, 3, 9), (9, 1, 1, 9), (5, 5, 4, 6)):
        interval = firth_interval(*grouped(*cells), column=1)
        p = firth_p(*grouped(*cells), column=1)
        assert (interval.low <= 0 <= interval.high) == (p >= 0.05)


def test_a_column_that_repeats_another_has_no_estimate():
    design, y = [(1, x, x) for x in (-1, 0, 1, 2)], [0, 1, 0, 1]
    assert firth(design, y).why_undefined == "zero_denominator"
    assert firth_interval(design, y, column=1).value is None
    assert firth_p(design, y, column=1) is None
    assert logistic_mle(design, y).why_undefined == "separation"


def test_rows_and_outcomes_are_checked():
    with pytest.raises(ValueError, match="one row for each"):
        firth([(1, 2)], [0, 1])
    with pytest.raises(ValueError, match="0 or 1"):
        firth([(1, 2)], [2])


def test_fishers_tea_tasting():
    # Fisher 1935: 3 of 4 cups right; two-sided (16 + 16 + 1 + 1) / 70
    assert fisher_p([(3, 1), (1, 3)]) == pytest.approx(34 / 70)
    assert fisher_p([(4, 0), (0, 4)]) == pytest.approx(2 / 70)
    assert fisher_p([(4, 0), (4, 0)]) == 1


@law
@given(tables)
def test_swapping_rows_in_every_stratum_keeps_p_and_inverts_the_odds_ratio(strata):
    there, back = stratified_test(strata), stratified_test([table[::-1] for table in strata])
    if there.exact_p is None:
        assert there.why_undefined == back.why_undefined == "zero_denominator"
    else:
        assert 0 <= there.midp <= there.exact_p <= 1
        assert back.exact_p == pytest.approx(there.exact_p)
        assert back.chi2 == pytest.approx(there.chi2, abs=1e-9)
        if there.conditional_odds_ratio and back.conditional_odds_ratio:
            assert back.conditional_odds_ratio == pytest.approx(1 / there.conditional_odds_ratio, rel=1e-6)


def test_strata_that_cannot_vary_add_nothing():
    table = ((5, 2), (3, 6))
    assert stratified_test([table, ((4, 0), (3, 0))]).exact_p == stratified_test([table]).exact_p


def test_negative_cells_are_refused():
    with pytest.raises(ValueError, match="negative"):
        stratified_test([((1, -1), (0, 2))])


def test_self_preference_compares_shares_of_agreement_not_wins():
    estimate = self_preference((17, 19), (13, 20))
    assert estimate.value == pytest.approx(17 / 19 - 13 / 20)
    assert estimate.low < 0 < estimate.high
    assert self_preference_p((17, 19), (13, 20)) > 0.05


def test_self_preference_needs_ten_items_in_each_group():
    assert self_preference((9, 9), (13, 20)).why_undefined == "too_few_items"


def test_at_human_ties_the_share_of_own_picks_has_an_exact_interval():
    estimate = own_share_at_ties(3, 3)
    assert estimate.low == pytest.approx(0.2924, abs=5e-5)
    assert own_share_at_ties(0, 0).why_undefined == "no_items"


def paired_items(seed, n, pull):
    """People prefer longer responses; the judge follows people, and length by `pull` beyond that."""
    rng = np.random.default_rng(seed)
    ratio = rng.normal(size=n)
    human = np.where(rng.random(n) < 1 / (1 + np.exp(-ratio)), 1.0, -1.0)
    judge = rng.random(n) < 1 / (1 + np.exp(-(1.5 * human + pull * ratio)))
    names = ["A" if value > 0 else "B" for value in human]
    return names, ["A" if chosen else "B" for chosen in judge], ratio.tolist()


def test_a_judge_that_only_follows_people_shows_no_effect_of_length():
    human, judge, ratio = paired_items(0, 400, 0.0)
    effect = length_effect(human, judge, log_ratio=ratio)
    assert effect.odds_ratio.low < 1 < effect.odds_ratio.high
    assert effect.p > 0.05


def test_a_judge_pulled_by_length_is_found_out():
    human, judge, ratio = paired_items(1, 400, 1.5)
    effect = length_effect(human, judge, log_ratio=ratio)
    # 1.5 per unit of log ratio is 2 ** 1.5 = 2.83 for each doubling
    assert effect.odds_ratio.low < 2.83 < effect.odds_ratio.high
    assert effect.odds_ratio.low > 1
    assert effect.p < 0.001
    assert effect.smallest_detectable > 1
    assert length_strata(human, judge, log_ratio=ratio).midp < 0.001


def test_exchanging_the_sides_keeps_the_effect_of_length():
    human, judge, ratio = paired_items(2, 80, 0.7)
    judge[:6] = ["tie"] * 6
    turn = {"A": "B", "B": "A", "tie": "tie"}
    there = length_effect(human, judge, log_ratio=ratio)
    back = length_effect([turn[v] for v in human], [turn[v] for v in judge], log_ratio=[-r for r in ratio])
    assert back.odds_ratio.value == pytest.approx(there.odds_ratio.value, rel=1e-4)
    assert back.odds_ratio.n == there.odds_ratio.n == 80


def test_few_votes_or_equal_lengths_allow_no_answer():
    human, judge = ["A", "B"] * 20, ["A"] * 35 + ["B"] * 5
    assert length_effect(human, judge, log_ratio=[1.0] * 40).odds_ratio.why_undefined == "too_few_items"
    assert length_effect(human, human, log_ratio=[0.0] * 40).odds_ratio.why_undefined == "too_few_items"
    assert length_effect([], [], log_ratio=[]).odds_ratio.why_undefined == "too_few_items"


def test_shares_of_the_longer_leave_out_ties_and_equal_lengths():
    shares = longer_shares(["A", "B", "A", "tie"], ["A", "A", "B", "A"], log_ratio=[1, 1, 0, -1])
    # judge: longer, longer, (equal), shorter; people: longer, shorter, (equal), (tie)
    assert (shares.judge.value, shares.judge.n, shares.judge.n_missing) == (2 / 3, 3, 1)
    assert (shares.human.value, shares.human.n_missing) == (0.5, 2)


def test_the_unit_of_length_is_the_doubling():
    human, judge, ratio = paired_items(3, 200, 0.7)
    natural = length_effect(human, judge, log_ratio=ratio).odds_ratio.value
    in_bits = length_effect(human, judge, log_ratio=[value / log(2) for value in ratio]).odds_ratio.value
    # ratios that are larger by 1 / ln 2 have coefficients that are smaller by ln 2
    assert log(in_bits) == pytest.approx(log(2) * log(natural), rel=1e-4)
