"""Intervals of proportions and differences, the sign test, Dirichlet draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.stats.intervals import (
    PROPORTION_INTERVALS,
    bonett_price,
    bootstrap_means,
    clopper_pearson,
    dirichlet,
    equal_tailed,
    mean_estimate,
    newcombe,
    proportion,
    sign_test_p,
    wilson,
    z_quantile,
)

law = settings(deadline=None, max_examples=40)  # the first case pays for an import
counts = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize("name", PROPORTION_INTERVALS)
@law
@given(counts)
def test_every_interval_of_a_proportion_holds_the_share_and_stays_within_0_and_1(name, count):
    successes, n = count
    low, high = PROPORTION_INTERVALS[name](successes, n)
    assert 0 <= low <= successes / n <= high <= 1


@pytest.mark.parametrize("name", PROPORTION_INTERVALS)
@law
@given(counts)
def test_the_interval_of_failures_mirrors_the_interval_of_successes(name, count):
    successes, n = count
    low, high = PROPORTION_INTERVALS[name](successes, n)
    assert PROPORTION_INTERVALS[name](n - successes, n) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@law
@given(counts)
def test_the_exact_interval_is_wider_at_a_higher_level(count):
    narrow, wide = clopper_pearson(*count, level=0.8), clopper_pearson(*count, level=0.99)
    assert wide[0] <= narrow[0]
    assert wide[1] >= narrow[1]


def test_wilson_agrees_with_the_example_of_newcombe_1998():
    # Newcombe 1998 (Stat Med 17:857), table I: 81 of 263 gives .2553 to .3662.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_three_of_three_leaves_an_exact_lower_limit_of_the_cube_root_of_a_fortieth():
    # all 3 succeed with probability p**3 = .025 at the limit, so p = .025 ** (1/3) = .2924
    assert clopper_pearson(3, 3) == (pytest.approx(0.2924017738), 1.0)


def test_a_share_of_no_items_is_undefined_and_never_zero():
    assert proportion(0, 0).why_undefined == "no_items"


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3), (0, 0)])
def test_counts_that_are_no_proportion_are_refused(successes, n):
    with pytest.raises(ValueError, match="not a proportion"):
        wilson(successes, n)


def test_a_level_outside_0_and_1_is_refused():
    with pytest.raises(ValueError, match="level"):
        z_quantile(95)


def test_six_against_none_has_two_chances_in_sixty_four():
    assert sign_test_p(6, 0) == 2 / 64
    assert sign_test_p(6, 0, midp=True) == 1 / 64


def test_an_even_split_of_two_leaves_a_midp_of_three_quarters():
    # both outcomes equal: 1 - P(X = 1) / 2 = 1 - (2/4) / 2
    assert sign_test_p(1, 1, midp=True) == 0.75
    assert sign_test_p(1, 1) == 1


def test_no_pairs_are_no_evidence():
    assert sign_test_p(0, 0) == 1
    assert sign_test_p(0, 0, midp=True) == 1


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="negative"):
        sign_test_p(-1, 2)


@law
@given(st.integers(0, 300), st.integers(0, 300))
def test_the_sign_test_does_not_know_which_side_is_which_and_midp_is_the_smaller(first, second):
    exact, midp = sign_test_p(first, second), sign_test_p(first, second, midp=True)
    assert exact == sign_test_p(second, first)
    assert 0 < midp <= exact <= 1


def test_the_hybrid_interval_agrees_with_the_example_of_newcombe_1998():
    # Newcombe 1998 (Stat Med 17:873), table II, method 10: 56/70 less 48/80 gives .0524 to .3339.
    assert newcombe((56, 70), (48, 80)) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@law
@given(counts, counts)
def test_swapping_the_groups_turns_the_interval_round(first, second):
    low, high = newcombe(first, second)
    assert newcombe(second, first) == pytest.approx((-high, -low))


@law
@given(st.integers(0, 30), st.integers(0, 30), st.integers(60, 200))
def test_the_paired_interval_stays_within_minus_1_and_1_and_turns_round(gained, lost, n):
    low, high = bonett_price(gained, lost, n=n)
    assert -1 <= low < high <= 1
    assert bonett_price(lost, gained, n=n) == pytest.approx((-high, -low))


def test_more_discordant_pairs_than_pairs_are_refused():
    with pytest.raises(ValueError, match="at most n"):
        bonett_price(3, 3, n=5)


def test_dirichlet_draws_add_up_to_one_and_have_the_right_means():
    draws = dirichlet([[2, 1], [1, 4]], draws=20_000)
    assert draws.shape == (2, 2, 20_000)
    assert draws.sum(axis=(0, 1)) == pytest.approx(1)
    assert draws.mean(axis=2) == pytest.approx(np.array([[0.25, 0.125], [0.125, 0.5]]), abs=0.005)


def test_the_same_seed_gives_the_same_draws_and_another_seed_others():
    assert np.array_equal(dirichlet([1, 2], draws=50), dirichlet([1, 2], draws=50))
    assert not np.array_equal(dirichlet([1, 2], draws=50), dirichlet([1, 2], draws=50, seed=1))


def test_the_central_interval_reaches_out_to_the_value():
    sample = np.linspace(0, 1, 101)
    assert equal_tailed(sample, 0.5) == pytest.approx((0.025, 0.975))
    assert equal_tailed(sample, 1.0) == pytest.approx((0.025, 1.0))


def test_resampled_means_centre_on_the_mean():
    means = bootstrap_means([0, 0, 1, 2], draws=20_000)
    # mean 3/4; variance of an item 11/16, of the mean 11/64, so its standard deviation is .4146
    assert means.mean() == pytest.approx(0.75, abs=0.01)
    assert means.std() == pytest.approx(0.4146, abs=0.01)


def test_items_that_are_all_alike_get_no_bootstrap_interval():
    estimate = mean_estimate([0.5, 0.5, 0.5])
    assert (estimate.value, estimate.low, estimate.warnings) == (0.5, None, ("no_variation",))
    assert estimate.why_no_interval == "too_few_items"


def test_the_mean_of_no_items_is_undefined():
    assert mean_estimate([]).why_undefined == "no_items"
