"""Develop or holdout: a hash of the group, the same for ever."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import single
from hypothesis import given
from hypothesis import strategies as st

from labels.errors import UserError
from labels.split import part_of, share_from

shares = st.floats(0, 0.99)
texts = st.text(max_size=20)


@given(texts, texts, shares)
def test_items_of_one_group_are_never_parted(group: str, salt: str, share: float) -> None:
    items = [replace(single(n), group=group or "g", prompt=f"prompt {n}") for n in range(5)]
    assert len({part_of(item, salt, share=share) for item in items}) == 1


@given(texts, shares)
def test_items_with_the_same_prompt_are_never_parted(salt: str, share: float) -> None:
    items = [replace(single(n), prompt="the same prompt" + " " * n) for n in range(5)]
    assert len({part_of(item, salt, share=share) for item in items}) == 1


@given(texts, shares, shares)
def test_a_larger_share_only_moves_items_into_the_holdout(salt: str, one: float, other: float) -> None:
    small, large = sorted((one, other))
    for n in range(10):
        if part_of(single(n), salt, share=small) == "holdout":
            assert part_of(single(n), salt, share=large) == "holdout"


def test_the_share_is_about_what_was_asked_for() -> None:
    held = sum(part_of(single(n), "salt", share=0.4) == "holdout" for n in range(2000))
    assert 700 < held < 900  # 800 expected, standard deviation 22
    assert all(part_of(single(n), "salt", share=0.0) == "develop" for n in range(100))


def test_another_salt_gives_another_split() -> None:
    one = [part_of(single(n), "one", share=0.5) for n in range(100)]
    assert one != [part_of(single(n), "other", share=0.5) for n in range(100)]


@pytest.mark.parametrize("text", ["1", "1.5", "-0.1", "half", "nan"])
def test_a_share_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="no share for the holdout"):
        share_from(text)
    assert share_from("") == 0
