"""Win rates, abilities of several systems, planning of sample sizes and looks."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from calibration.stats.agreement import cohen_kappa
from calibration.stats.asymptotic import kappa_null_variance, kappa_unit_sd, kappa_unit_variance, shares_at
from calibration.stats.planning import (
    extra_items,
    fail_probability,
    half_width,
    items_for_half_width,
    items_for_power,
    items_for_test,
    kish_size,
    look_level,
    obrien_fleming_z,
    pass_probability,
    selection_optimism,
    weighted_table,
)
from calibration.stats.ranking import (
    bradley_terry,
    davidson,
    davidson_two,
    probability_better,
    rank_intervals,
    win_p,
    win_rate,
)

law = settings(deadline=None, max_examples=40)
few = st.integers(0, 30)
EVEN = (0.5, 0.5)


@law
@given(few, few, few)
def test_a_win_rate_lies_in_its_interval_and_turns_round_with_the_sides(wins, ties, losses):
    assume(wins + ties + losses)
    there, back = win_rate(wins, losses, ties=ties), win_rate(losses, wins, ties=ties)
    assert 0 <= there.low <= there.value <= there.high <= 1
    assert back.value == pytest.approx(1 - there.value)
    assert back.low == pytest.approx(1 - there.high, abs=0.02)


def test_only_ties_have_a_win_rate_of_one_half_but_no_sign_test():
    assert win_rate(0, 0, ties=10).value == 0.5
    assert win_p(0, 0) is None
    assert win_p(3, 0) == 0.25
    assert win_rate(0, 0, ties=0).why_undefined == "no_items"


def test_the_probability_of_being_better_follows_the_wins():
    assert probability_better(20, 5, ties=5) > 0.99
    assert probability_better(5, 5, ties=5) == pytest.approx(0.5, abs=0.02)
    assert probability_better(0, 0, ties=0) is None


def test_with_two_systems_the_model_gives_back_the_shares():
    found = davidson_two(18, 8, ties=9)
    assert found.outcomes(0, 1) == pytest.approx((18 / 35, 9 / 35, 8 / 35))
    assert found.relative_to(1)[0][0] == pytest.approx(log(18 / 8))
    fitted = davidson([[0, 18], [8, 0]], [[0, 9], [9, 0]])
    assert fitted.values == pytest.approx(found.values)
    assert fitted.nu == pytest.approx(9 / 12)


def test_a_system_that_never_loses_cannot_be_placed():
    assert davidson_two(20, 0, ties=3).why_undefined == "separation"
    assert davidson_two(0, 0, ties=0).why_undefined == "no_items"
    assert davidson_two(20, 0, ties=3).outcomes(0, 1) is None
    assert davidson_two(20, 0, ties=3).relative_to(0) is None
    assert bradley_terry([[0, 5], [0, 0]]).why_undefined == "disconnected"
    assert bradley_terry([[0, 0], [0, 0]]).why_undefined == "no_items"


def test_pseudo_wins_place_it_and_are_flagged():
    found = bradley_terry([[0, 5], [0, 0]], pseudo_wins=0.5)
    # 5.5 against .5
    assert found.relative_to(1)[0][0] == pytest.approx(log(11))
    assert found.warnings == ("pseudo_wins",)


def test_two_groups_that_never_met_are_disconnected():
    wins = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    assert bradley_terry(wins).why_undefined == "disconnected"


def test_the_likelihood_is_at_its_top_where_expected_wins_are_observed_wins():
    wins = np.array([[0, 14, 18], [6, 0, 12], [4, 9, 0]])
    found = bradley_terry(wins)
    for system in range(3):
        others = [other for other in range(3) if other != system]
        games = [wins[system, other] + wins[other, system] for other in others]
        chances = [found.outcomes(system, other)[0] for other in others]
        assert sum(g * p for g, p in zip(games, chances, strict=True)) == pytest.approx(wins[system].sum())


def test_abilities_do_not_know_the_order_of_systems():
    wins, ties = np.array([[0, 9, 8], [4, 0, 7], [2, 3, 0]]), np.array([[0, 2, 1], [2, 0, 3], [1, 3, 0]])
    turned = [2, 0, 1]
    there, back = davidson(wins, ties), davidson(wins[np.ix_(turned, turned)], ties[np.ix_(turned, turned)])
    assert back.values == pytest.approx(there.values[turned])
    assert back.nu == pytest.approx(there.nu)
    assert there.values.sum() == pytest.approx(0)


def test_without_ties_davidson_is_bradley_terry():
    wins = [[0, 9, 8], [4, 0, 7], [2, 3, 0]]
    found = davidson(wins, np.zeros((3, 3)))
    assert found.values == pytest.approx(bradley_terry(wins).values)
    assert found.nu == 0


def test_tables_of_games_are_checked():
    with pytest.raises(ValueError, match="square"):
        bradley_terry([[0, 1]])
    with pytest.raises(ValueError, match="symmetric"):
        davidson([[0, 1], [1, 0]], [[0, 1], [0, 0]])


def test_ranks_come_with_the_limits_of_resampled_items():
    strong, close = [(0, 1, 1.0), (0, 2, 1.0)], [(1, 2, 1.0), (1, 2, 0.0), (1, 2, 0.5)]
    items = [[*strong, close[k % 3]] for k in range(30)]
    first, second, third = rank_intervals(items, 3, draws=100)
    assert (first.rank, first.low, first.high) == (1, 1, 1)
    assert second.low <= 2
    assert second.high == 3
    assert third.high == 3
    assert rank_intervals([], 3, draws=10) is None


def test_the_large_sample_variance_of_two_even_categories_is_one_less_kappa_squared():
    # with even margins and two categories the variance of kappa is 1 - kappa ** 2
    assert kappa_unit_sd(0.6, EVEN) == pytest.approx(0.8)
    assert kappa_unit_sd(0.8, EVEN) == pytest.approx(0.6)
    assert kappa_null_variance([[1, 1], [1, 1]]) == pytest.approx(1)


def test_a_table_of_shares_has_the_kappa_it_was_made_for():
    shares = shares_at(0.7, (0.45, 0.45, 0.1))
    assert shares.sum() == pytest.approx(1)
    assert cohen_kappa(1000 * shares, draws=1).value == pytest.approx(0.7)


def test_impossible_tables_are_refused():
    with pytest.raises(ValueError, match="add up to 1"):
        shares_at(0.5, (0.5, 0.6))
    with pytest.raises(ValueError, match="no table"):
        shares_at(-0.9, (0.9, 0.1))
    with pytest.raises(ValueError, match="two categories"):
        kappa_unit_sd(0.5, (1.0,))
    assert kappa_unit_variance([[3, 0], [0, 0]]) is None
    assert kappa_unit_variance([[0, 0], [0, 0]]) is None
    assert kappa_null_variance([[3, 0], [0, 0]]) is None
    assert kappa_null_variance([[0, 0], [0, 0]]) is None


def test_items_and_half_width_belong_together():
    # 1.96 * .6 / .15 = 7.84; squared 61.5
    assert items_for_half_width(0.8, EVEN, width=0.15) == 62
    assert half_width(0.8, EVEN, items=62) <= 0.15 < half_width(0.8, EVEN, items=61)


def test_more_power_and_two_sides_need_more_items():
    one = items_for_test(0.85, 0.7, margins=EVEN)
    # (1.645 * .7141 + .8416 * .5268) / .15 = 10.79; squared 116.4
    assert one == 117
    assert items_for_test(0.85, 0.7, margins=EVEN, power=0.9) > one
    assert items_for_test(0.85, 0.7, margins=EVEN, two_sided=True) > one


def test_the_power_of_the_default_interval_is_that_of_the_simulation():
    # METHODS.md section 9, n = 50, even margins: P(pass .6) .40 at kappa .8; P(fail) .46 at .4
    assert pass_probability(0.8, 0.6, margins=EVEN, items=50) == pytest.approx(0.40, abs=0.06)
    assert fail_probability(0.4, 0.6, margins=EVEN, items=50) == pytest.approx(0.46, abs=0.06)


def test_items_for_power_follow_the_table_of_the_simulation():
    # METHODS.md section 9: 70 items for kappa .85 against a floor of .6
    assert items_for_power(0.85, 0.6, margins=EVEN, samples=200) == pytest.approx(70, abs=20)
    assert items_for_power(0.6, 0.6, margins=EVEN) is None
    assert items_for_power(0.61, 0.6, margins=EVEN, samples=20) is None


def test_extra_items_count_from_those_there_are():
    needed = items_for_power(0.9, 0.4, margins=EVEN)
    assert extra_items(0.9, 0.4, margins=EVEN, items=10) == max(0, needed - 10)
    assert extra_items(0.9, 0.4, margins=EVEN, items=500) == 0
    assert extra_items(0.6, 0.6, margins=EVEN, items=10) is None


def test_bounds_of_looks_are_those_of_o_brien_and_fleming():
    # Jennison and Turnbull 2000, table 2.3, alpha .05: C = 1.977 for 2 looks, 2.040 for 5
    assert obrien_fleming_z([50, 100])[-1] == pytest.approx(1.977, abs=1e-3)
    five = obrien_fleming_z([20, 40, 60, 80, 100])
    assert five[-1] == pytest.approx(2.040, abs=1e-3)
    assert five[0] == pytest.approx(five[-1] * 5**0.5)
    assert obrien_fleming_z([40]) == pytest.approx([1.96], abs=1e-3)


def test_looks_must_grow_and_a_bound_has_a_level():
    for sizes in ([], [50, 40], [50, 50], [0, 10]):
        with pytest.raises(ValueError, match="growing"):
            obrien_fleming_z(sizes)
    assert look_level(1.959964) == pytest.approx(0.95)


def test_the_best_of_several_equal_rubrics_looks_better_than_it_is():
    # the largest of two standard normal errors is 1 / sqrt(pi) on average
    error = 0.8 / 50**0.5
    assert selection_optimism(1, items=50, kappa=0.6, margins=EVEN) == pytest.approx(0, abs=1e-6)
    assert selection_optimism(2, items=50, kappa=0.6, margins=EVEN) == pytest.approx(
        error / np.pi**0.5, rel=1e-4
    )


def test_equal_weights_keep_every_item_and_unequal_ones_do_not():
    assert kish_size([2, 2, 2]) == 3
    assert kish_size([1, 1, 2]) == 16 / 6
    assert kish_size([]) == 0


def test_items_drawn_with_certainty_make_the_plain_table():
    found = weighted_table(list("AAB"), list("ABB"), categories="AB", inclusion=[0.5] * 3)
    assert found.table == pytest.approx(np.array([[1, 1], [0, 1]]))
    assert (found.n, found.warnings) == (3, ())


def test_rarely_drawn_items_weigh_more_but_are_not_for_gates():
    found = weighted_table(list("AB"), list("AB"), categories="AB", inclusion=[1, 0.04])
    # weights 1 and 25: (26 ** 2) / 626 items in all
    assert found.table[1, 1] == pytest.approx(25 * found.table[0, 0])
    assert found.table.sum() == pytest.approx(676 / 626)
    assert found.warnings == ("small_inclusion",)
    with pytest.raises(ValueError, match="inclusion"):
        weighted_table(["A"], ["A"], categories="AB", inclusion=[0])
    assert weighted_table([], [], categories="AB", inclusion=[]).n == 0


def test_the_tie_parameter_raises_the_chance_of_ties():
    wins = [[0, 5, 5], [5, 0, 5], [5, 5, 0]]
    ties = 10 * (1 - np.eye(3))
    found = davidson(wins, ties)
    # 5 wins, 10 ties, 5 losses between equals: nu / (2 + nu) = 1/2
    assert found.nu == pytest.approx(2)
    assert found.outcomes(0, 1) == pytest.approx((0.25, 0.5, 0.25))
    assert exp(found.log_likelihood) > 0
