from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration import judge_agreement, judge_order_audit, map_judge_vote

IDS = st.text(min_size=1, max_size=100)
VOTES = st.sampled_from(["A", "B", "tie"])


def test_a_vote_names_the_model_in_its_slot() -> None:
    assert map_judge_vote(["x", "y"], "A") == "x"
    assert map_judge_vote(("x", "y"), "B") == "y"
    assert map_judge_vote(["x", "y"], "tie") is None


@given(st.lists(IDS, min_size=2, max_size=2, unique=True), VOTES)
def test_swapping_order_and_vote_together_names_the_same_model(order: list[str], vote: str) -> None:
    swapped = {"A": "B", "B": "A", "tie": "tie"}[vote]
    assert map_judge_vote(order, vote) == map_judge_vote(order[::-1], swapped)


@pytest.mark.parametrize(
    ("order", "vote"),
    [
        (["x"], "A"),
        (["x", "y", "z"], "A"),
        (["x", "x"], "A"),
        (["x", ""], "A"),
        (["x", "y" * 101], "A"),
        (["x", 1], "A"),
        ("xy", "A"),
        ({"x", "y"}, "A"),
        (None, "A"),
        (["x", "y"], "a"),
        (["x", "y"], "C"),
        (["x", "y"], "TIE"),
        (["x", "y"], None),
        (["x", "y"], ["A"]),
        (["x", "y"], True),
    ],
)
def test_anything_else_is_no_vote(order: object, vote: object) -> None:
    with pytest.raises(ValueError, match="must"):
        map_judge_vote(order, vote)  # type: ignore[arg-type]


def row(name: str, forward: str, reverse: str) -> dict[str, str]:
    return {"id": name, "forward": forward, "reverse": reverse}


def test_an_order_audit_by_hand() -> None:
    """Forward shows model-1 first: A then B is model-1 twice, A then A is a flip, two ties agree."""
    votes = [row("1", "A", "B"), row("2", "A", "A"), row("3", "tie", "tie"), row("4", "tie", "A")]
    assert judge_order_audit(votes) == {
        "consistent": 2,
        "total": 4,
        "consistency": 0.5,
        "rows": [
            {"id": "1", "consistent": True, "winner": "model-1"},
            {"id": "2", "consistent": False, "winner": None},
            {"id": "3", "consistent": True, "winner": None},
            {"id": "4", "consistent": False, "winner": None},
        ],
    }


def test_the_second_model_wins_when_reverse_names_the_first_slot() -> None:
    assert judge_order_audit([row("1", "B", "A")])["rows"][0]["winner"] == "model-2"


@pytest.mark.parametrize(
    "votes",
    [
        [],
        (row("1", "A", "B"),),
        [row("1", "A", "B"), row("1", "B", "A")],
        [row("", "A", "B")],
        [row("x" * 101, "A", "B")],
        [row("1", "A", "C")],
        [{"id": "1", "forward": "A"}],
        [row("1", "A", "B") | {"more": "x"}],
        [{"id": 1, "forward": "A", "reverse": "B"}],
        ["A"],
        [row(str(n), "A", "B") for n in range(1001)],
        None,
    ],
)
def test_anything_else_is_no_order_audit(votes: object) -> None:
    with pytest.raises(ValueError, match="must"):
        judge_order_audit(votes)  # type: ignore[arg-type]


def test_agreement_by_hand() -> None:
    """AABB against ABBB: 3 of 4 agree; chance is 2/4 x 1/4 + 2/4 x 3/4 = .5; (.75 - .5) / .5 = .5."""
    expected = {"agreement": 0.75, "chance_agreement": 0.5, "kappa": 0.5}
    assert judge_agreement(list("AABB"), list("ABBB")) == expected


def test_full_disagreement_has_kappa_minus_one() -> None:
    assert judge_agreement(["A", "B"], ["B", "A"])["kappa"] == -1.0


def test_one_category_throughout_has_no_kappa() -> None:
    assert judge_agreement(["A", "A"], ["A", "A"]) == {
        "agreement": 1.0,
        "chance_agreement": 1.0,
        "kappa": None,
    }


def test_two_different_constants_have_kappa_zero() -> None:
    result = judge_agreement(["A", "A"], ["tie", "tie"])
    assert result == {"agreement": 0.0, "chance_agreement": 0.0, "kappa": 0.0}


@given(st.lists(st.tuples(VOTES, VOTES), min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_agreement_depends_neither_on_item_order_nor_on_what_is_called_a(
    votes: list[tuple[str, str]], random: object
) -> None:
    shuffled = sorted(votes, key=lambda _: random.random())  # type: ignore[attr-defined]
    renamed = [tuple({"A": "B", "B": "A"}.get(vote, vote) for vote in pair) for pair in votes]
    plain = judge_agreement(*map(list, zip(*votes, strict=True)))
    assert judge_agreement(*map(list, zip(*shuffled, strict=True))) == pytest.approx(plain)
    assert judge_agreement(*map(list, zip(*renamed, strict=True))) == pytest.approx(plain)


@pytest.mark.parametrize(
    ("reference", "judge"),
    [
        ([], []),
        (["A"], ["A", "B"]),
        (["A"], "A"),
        (("A",), ("A",)),
        (["A"], ["a"]),
        (["A"], [None]),
        (["A"] * 1001, ["A"] * 1001),
    ],
)
def test_anything_else_is_no_agreement(reference: object, judge: object) -> None:
    with pytest.raises(ValueError, match=r"must|votes but"):
        judge_agreement(reference, judge)  # type: ignore[arg-type]
