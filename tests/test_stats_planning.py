"""Chances by the quick posterior against the default interval itself, and draws near a threshold."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from calibration.stats.agreement import cohen_kappa
from calibration.stats.asymptotic import shares_at
from calibration.stats.classification import BinaryCounts
from calibration.stats.corrected import Judged, poststratified
from calibration.stats.intervals import DRAWS, MORE_DRAWS, decided, proportion
from calibration.stats.planning import fail_probability, pass_probability, passing_kappa


@pytest.mark.parametrize(
    ("kappa", "threshold", "margins", "items"),
    [
        (0.8, 0.6, (0.5, 0.5), 50),
        (0.9, 0.6, (0.7, 0.3), 50),
        (0.8, 0.4, (0.9, 0.1), 60),
        (0.8, 0.6, (0.4, 0.4, 0.2), 80),
    ],
)
def test_the_chance_to_pass_is_that_of_the_default_interval(
    kappa: float, threshold: float, margins: tuple[float, ...], items: int
) -> None:
    shares = shares_at(kappa, margins)
    tables = np.random.default_rng(5).multinomial(items, shares.ravel(), size=400)
    limits = [
        cohen_kappa(table.reshape(shares.shape), draws=1000, seed=n).low for n, table in enumerate(tables)
    ]
    share = np.mean([limit is not None and limit >= threshold for limit in limits])
    # both shares are simulated: standard errors of .025 and .016
    assert pass_probability(kappa, threshold, margins=margins, items=items) == pytest.approx(share, abs=0.08)


def test_chances_grow_with_items_and_kappa_and_shrink_with_the_threshold() -> None:
    by_items = [pass_probability(0.8, 0.6, margins=(0.6, 0.4), items=n) for n in (20, 50, 100, 200)]
    by_kappa = [pass_probability(k, 0.6, margins=(0.6, 0.4), items=80) for k in (0.5, 0.7, 0.8, 0.9)]
    by_floor = [pass_probability(0.8, t, margins=(0.6, 0.4), items=80) for t in (0.7, 0.6, 0.5, 0.4)]
    for chances in (by_items, by_kappa, by_floor):
        assert chances == sorted(chances)
    assert fail_probability(0.2, 0.6, margins=(0.6, 0.4), items=80) > 0.9


def test_items_of_one_kind_alone_resolve_nothing() -> None:
    # with 99 % of one answer, 10 items are all alike in 90 % of samples: kappa is then undefined
    assert pass_probability(1.0, 0.0, margins=(0.99, 0.01), items=10) <= 0.1
    assert fail_probability(0.0, 0.9, margins=(1.0, 0.0), items=10) == 0


def test_the_kappa_that_passes_is_the_smallest_and_may_not_exist() -> None:
    # METHODS.md section 9: at n = 50, even margins, .8 passes .6 with chance .40 and .9 with .88
    least = passing_kappa(0.6, margins=(0.5, 0.5), items=50)
    assert least is not None
    assert 0.8 < least < 0.9
    assert pass_probability(least, 0.6, margins=(0.5, 0.5), items=50) >= 0.8
    assert pass_probability(round(least - 0.01, 2), 0.6, margins=(0.5, 0.5), items=50) < 0.8
    assert passing_kappa(0.6, margins=(0.5, 0.5), items=10) is None


# Tables whose limit from 20,000 draws falls on the wrong side of a threshold, and the limit from two million
# draws with another seed, found by a search over small tables.
NEAR = [
    ([[16, 5], [2, 20]], 0.4, 0.3976),
    ([[23, 4], [3, 15]], 0.4, 0.4036),
    ([[22, 2], [1, 10]], 0.5, 0.4957),
]


@pytest.mark.parametrize(("table", "threshold", "exact"), NEAR)
def test_a_decision_near_its_threshold_is_made_with_more_draws(
    table: list[list[int]], threshold: float, exact: float
) -> None:
    usual = cohen_kappa(table)
    found = decided(partial(cohen_kappa, table), threshold)
    assert usual.low is not None
    assert found.low is not None
    assert (usual.low >= threshold) != (exact >= threshold)
    assert (found.low >= threshold) == (exact >= threshold)
    assert found.method.endswith(f"{MORE_DRAWS:,} draws")


def drawn_with(estimate: partial, *thresholds: float) -> list[int]:
    """The numbers of draws that a decision asks for."""
    asked: list[int] = []

    def noted(*, draws: int):
        asked.append(draws)
        return estimate(draws=draws)

    decided(noted, *thresholds)
    return asked


def test_only_a_limit_within_five_thousandths_of_a_threshold_asks_for_more() -> None:
    kappa = partial(cohen_kappa, [[20, 3], [4, 23]])
    low, high = kappa(draws=DRAWS).low, kappa(draws=DRAWS).high
    assert drawn_with(kappa, low + 0.0049) == [DRAWS, MORE_DRAWS]
    assert drawn_with(kappa, low - 0.0049) == [DRAWS, MORE_DRAWS]
    assert drawn_with(kappa, 0.0, high + 0.0049) == [DRAWS, MORE_DRAWS]
    assert drawn_with(kappa, low + 0.0051, high - 0.0051) == [DRAWS]
    assert drawn_with(kappa) == [DRAWS]


def test_a_corrected_pass_rate_is_decided_the_same_way() -> None:
    rate = partial(poststratified, BinaryCounts(tp=30, fp=4, fn=3, tn=13), Judged(120, 200))
    low = rate(draws=DRAWS).low
    assert drawn_with(rate, low) == [DRAWS, MORE_DRAWS]
    assert decided(rate, low).method == "post-stratified Beta, 200,000 draws"


def test_what_is_undefined_is_decided_without_more_draws() -> None:
    assert drawn_with(partial(cohen_kappa, [[12, 0], [0, 0]]), 0.4) == [DRAWS]
    assert decided(lambda *, draws: proportion(0, 0), 0.0).why_undefined == "no_items"
