from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labels.assign import repeat_block, repeat_due, repeats_planned
from labels.present import BLOCK, first_side, keyed_hash, other_side

SALTS = st.text(min_size=1, max_size=20)


@given(SALTS, st.text(max_size=10), st.integers(0, 200))
def test_each_block_of_four_shows_each_side_first_twice(salt: str, rater: str, block: int) -> None:
    sides = [first_side(salt, rater, position=BLOCK * block + place) for place in range(BLOCK)]
    assert sorted(sides) == ["A", "A", "B", "B"]


@given(SALTS, st.text(max_size=10), st.integers(0, 1000))
def test_the_order_depends_on_nothing_but_salt_rater_and_position(
    salt: str, rater: str, position: int
) -> None:
    assert first_side(salt, rater, position=position) == first_side(salt, rater, position=position)


def test_two_annotators_do_not_share_one_sequence_of_orders() -> None:
    sequences = {
        tuple(first_side("salt", f"rater {number}", position=place) for place in range(20))
        for number in range(30)
    }
    assert len(sequences) > 25


def test_without_the_salt_an_id_cannot_be_computed() -> None:
    assert keyed_hash("one salt", "item", "1") != keyed_hash("another salt", "item", "1")
    assert keyed_hash("salt", "ab", "c") != keyed_hash("salt", "a", "bc")


def test_the_other_side_of_the_other_side_is_the_side() -> None:
    assert (other_side("A"), other_side("B")) == ("B", "A")


def test_forty_items_have_three_hidden_repeats_and_ten_have_none() -> None:
    assert [repeats_planned(n) for n in (0, 10, 19, 20, 40)] == [0, 0, 0, 1, 3]
    assert repeats_planned(40, every=0) == 0


def test_a_repeat_comes_at_least_ten_originals_after_its_item() -> None:
    repeats = 0
    for originals in range(200):
        while repeat_due(originals, repeats):
            assert originals - max(repeat_block(repeats)) > 10
            repeats += 1
    assert repeats == 18
