from __future__ import annotations

from typing import get_args

import pytest
from builders import Shown
from hypothesis import given
from hypothesis import strategies as st

from labels.kinds import KINDS
from labels.types import Choice, KindName, Side, Value

SIDES: tuple[Side, ...] = ("A", "B")
CHOICES: dict[KindName, tuple[Choice, ...]] = {
    "pairwise": ("first", "second", "tie"),
    "binary": ("pass", "fail"),
}
CASES = [(name, first, choice) for name, choices in CHOICES.items() for first in SIDES for choice in choices]


@given(st.sampled_from(CASES))
def test_from_slot_to_side_and_back_returns_the_slot(case: tuple[KindName, Side, Choice]) -> None:
    name, first, choice = case
    kind = KINDS[name]
    assert kind.slot(Shown(first), kind.value(Shown(first), choice)) == choice


@given(st.sampled_from(SIDES), st.sampled_from(KINDS["pairwise"].values))
def test_from_side_to_slot_and_back_returns_the_side(first: Side, value: Value) -> None:
    kind = KINDS["pairwise"]
    assert kind.value(Shown(first), kind.slot(Shown(first), value)) == value


@given(st.sampled_from(KINDS["pairwise"].values))
def test_swapping_the_order_never_changes_the_side_that_is_meant(value: Value) -> None:
    kind = KINDS["pairwise"]
    slots = {first: kind.slot(Shown(first), value) for first in SIDES}
    assert {kind.value(Shown(first), slot) for first, slot in slots.items()} == {value}
    assert value == "tie" or slots["A"] != slots["B"]


def test_the_first_slot_is_the_side_shown_first() -> None:
    kind = KINDS["pairwise"]
    assert kind.value(Shown("B"), "first") == "B"
    assert kind.value(Shown("B"), "second") == "A"
    assert kind.value(Shown("A"), "second") == "B"


@pytest.mark.parametrize("name", KINDS)
def test_a_choice_of_another_kind_is_refused(name: KindName) -> None:
    for choice in set(get_args(Choice)) - set(CHOICES[name]):
        with pytest.raises(ValueError, match="is no choice of a"):
            KINDS[name].value(Shown("A"), choice)
    for value in set(get_args(Value)) - set(KINDS[name].values):
        with pytest.raises(ValueError, match="is no value of a"):
            KINDS[name].slot(Shown("A"), value)


def test_the_values_of_a_pair_stand_in_order_with_the_tie_between() -> None:
    assert KINDS["pairwise"].values == ("A", "tie", "B")
