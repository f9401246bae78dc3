"""What every statistic of STATISTICS promises, whatever it is."""

from __future__ import annotations

from dataclasses import fields
from math import isfinite
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from calibration.agreement import STATISTICS
from calibration.stats.agreement import crosstab
from calibration.stats.estimate import Estimate, Reason
from labels.kinds import KINDS

law = settings(deadline=None, max_examples=25)
CASES = [(name, kind) for name, statistic in STATISTICS.items() for kind in statistic.kinds]
IDS = [f"{name}-{kind}" for name, kind in CASES]
every_statistic = pytest.mark.parametrize(("name", "kind"), CASES, ids=IDS)
IN_ORDER = {"weighted_kappa"}  # the order of its categories is part of its meaning
KAPPAS = {"kappa", "kappa_wilson", "weighted_kappa"}  # 0 stands for chance
NOT_SYMMETRIC: set[str] = set()  # statistics that treat reference and judge differently


def estimate_of(name: str, kind: str, *, pairs) -> Estimate:
    table = crosstab([one for one, _ in pairs], [other for _, other in pairs], KINDS[kind].values)
    return STATISTICS[name].estimate(table)


def ratings(data, kind: str, *, least: int = 1):
    value = st.sampled_from(KINDS[kind].values)
    return data.draw(st.lists(st.tuples(value, value), min_size=least, max_size=40))


def is_sound(estimate: Estimate) -> bool:
    numbers = [getattr(estimate, field.name) for field in fields(estimate)]
    finite = all(isfinite(number) for number in numbers if isinstance(number, float))
    if estimate.value is None:
        return finite and estimate.why_undefined in get_args(Reason)
    if estimate.low is None or estimate.high is None:
        return finite and estimate.why_no_interval in get_args(Reason)
    return finite and estimate.low - 1e-9 <= estimate.value <= estimate.high + 1e-9


def same(one: Estimate, other: Estimate) -> bool:
    return (one.n, one.why_undefined) == (other.n, other.why_undefined) and (
        one.value is None or one.value == pytest.approx(other.value, abs=1e-12)
    )


def test_there_are_statistics_and_each_suits_a_kind() -> None:
    assert len(STATISTICS) >= 4
    assert len(CASES) >= len(STATISTICS)
    assert all(statistic.title and statistic.kinds for statistic in STATISTICS.values())
    assert set(STATISTICS) >= NOT_SYMMETRIC | IN_ORDER | KAPPAS


@every_statistic
@law
@given(data=st.data())
def test_an_estimate_is_finite_and_lies_in_its_interval_or_says_why_not(name, kind, data) -> None:
    pairs = ratings(data, kind)
    estimate = estimate_of(name, kind, pairs=pairs)
    assert is_sound(estimate)
    assert estimate.n <= len(pairs)


@every_statistic
@law
@given(data=st.data())
def test_perfect_agreement_is_one_and_never_certain(name, kind, data) -> None:
    chosen = [one for one, _ in ratings(data, kind, least=2)]
    assume(len(set(chosen)) > 1)
    estimate = estimate_of(name, kind, pairs=[(value, value) for value in chosen])
    assert estimate.value == 1
    assert estimate.low is not None
    assert estimate.low < 1
    assert estimate.high == 1


@every_statistic
@law
@given(data=st.data(), order=st.randoms())
def test_the_order_of_items_changes_nothing(name, kind, data, order) -> None:
    pairs = ratings(data, kind)
    shuffled = pairs.copy()
    order.shuffle(shuffled)
    assert estimate_of(name, kind, pairs=shuffled) == estimate_of(name, kind, pairs=pairs)


@every_statistic
@law
@given(data=st.data())
def test_new_names_for_the_categories_change_no_value(name, kind, data) -> None:
    pairs, values = ratings(data, kind), KINDS[kind].values
    names = tuple(reversed(values)) if name in IN_ORDER else data.draw(st.permutations(values))
    rename = dict(zip(values, names, strict=True))
    renamed = [(rename[one], rename[other]) for one, other in pairs]
    assert same(estimate_of(name, kind, pairs=renamed), estimate_of(name, kind, pairs=pairs))


@pytest.mark.parametrize(("name", "kind"), [case for case in CASES if case[0] not in NOT_SYMMETRIC])
@law
@given(data=st.data())
def test_swapping_the_raters_changes_no_value(name, kind, data) -> None:
    pairs = ratings(data, kind)
    swapped = [(other, one) for one, other in pairs]
    assert same(estimate_of(name, kind, pairs=swapped), estimate_of(name, kind, pairs=pairs))


@every_statistic
def test_no_items_give_no_value_and_the_reason(name, kind) -> None:
    estimate = estimate_of(name, kind, pairs=[])
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == (None, None, None, 0)
    assert estimate.why_undefined == "no_items"


@every_statistic
def test_one_class_alone_gives_full_raw_agreement_and_no_value_beyond_chance(name, kind) -> None:
    for value in KINDS[kind].values:  # "tie" among them: a set of nothing but ties
        estimate = estimate_of(name, kind, pairs=[(value, value)] * 12)
        assert is_sound(estimate)
        assert estimate.value in (1, None)
        assert name != "agreement" or estimate.value == 1
        assert name not in KAPPAS or estimate.why_undefined == "expected_agreement_is_1"


@every_statistic
@pytest.mark.parametrize("right", [True, False])
def test_one_item_gives_a_sound_estimate_that_rules_out_little(name, kind, right) -> None:
    first, *_, last = KINDS[kind].values
    estimate = estimate_of(name, kind, pairs=[(first, first if right else last)])
    assert is_sound(estimate)
    assert estimate.n == 1
    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        assert estimate.high - estimate.low > 0.3


@pytest.mark.parametrize(("name", "kind"), [case for case in CASES if case[0] in KAPPAS])
def test_a_constant_judge_gains_nothing_and_one_that_is_always_wrong_loses(name, kind) -> None:
    first, *_, last = KINDS[kind].values
    constant = estimate_of(name, kind, pairs=[(first, first)] * 9 + [(last, first)] * 3)
    wrong = estimate_of(name, kind, pairs=[(first, last), (last, first)] * 10)
    assert constant.value == pytest.approx(0)
    assert wrong.value == pytest.approx(-1)


@every_statistic
def test_the_same_table_gives_the_same_estimate_every_time(name, kind) -> None:
    size = len(KINDS[kind].values)
    table = np.arange(1, size * size + 1).reshape(size, size)
    assert STATISTICS[name].estimate(table) == STATISTICS[name].estimate(table)


@every_statistic
def test_more_items_of_the_same_kind_narrow_the_interval(name, kind) -> None:
    first, *_, last = KINDS[kind].values
    pairs = [(first, first)] * 4 + [(last, last)] * 4 + [(first, last), (last, first)]
    few, many = (estimate_of(name, kind, pairs=pairs * times) for times in (2, 20))
    assert few.value == pytest.approx(many.value)
    assert many.high - many.low < few.high - few.low
