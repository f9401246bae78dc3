"""A side is a system: the laws of ids and sides."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labels.sides import ItemDraft, item_id, placed, with_sides
from labels.types import Item


def draft(
    name: str, systems: tuple[str, ...], *, kind: str = "pairwise", prompt: str = "p", line: int = 1
) -> ItemDraft:
    responses = tuple((system, f"{system} says") for system in systems)
    return ItemDraft(f"a.csv, line {line}", line, kind, name, prompt, responses)  # type: ignore[arg-type]


def sides(item: Item) -> dict[str, str]:
    return {response.system: response.side for response in item.responses}


def test_with_two_systems_a_is_always_the_one_that_came_first() -> None:
    items = with_sides([draft("1", ("x", "y")), draft("2", ("y", "x"))], "pairwise", [])
    assert [sides(item) for item in items] == [{"x": "A", "y": "B"}] * 2
    assert [[r.listed for r in item.responses] for item in items] == [[0, 1], [0, 1]]
    assert [item.responses[0].system for item in items] == ["x", "y"]


def test_systems_that_the_project_knows_come_before_those_of_the_file() -> None:
    (item,) = with_sides([draft("1", ("y", "x"))], "pairwise", ["x", "y"])
    assert sides(item) == {"x": "A", "y": "B"}


def test_one_known_system_and_one_new_make_two() -> None:
    (item,) = with_sides([draft("1", ("new", "old"))], "pairwise", ["old"])
    assert sides(item) == {"old": "A", "new": "B"}


PAIRS = st.lists(st.permutations(["u", "v", "w"]).map(lambda three: tuple(three[:2])), min_size=3, max_size=8)


@given(PAIRS, st.randoms(use_true_random=False))
def test_with_more_systems_the_sides_depend_on_no_order(pairs: list[tuple[str, ...]], random: object) -> None:
    known = ["u", "v", "w"]
    drafts = [draft(str(n), systems) for n, systems in enumerate(pairs)]
    shuffled = list(drafts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one = {item.name: sides(item) for item in with_sides(drafts, "pairwise", known)}
    two = {item.name: sides(item) for item in with_sides(shuffled, "pairwise", known[::-1])}
    assert one == two
    assert all(set(found.values()) == {"A", "B"} for found in one.values())


def test_with_more_systems_neither_place_in_the_file_is_always_a() -> None:
    drafts = [draft(str(n), ("u", "v") if n % 2 else ("v", "w")) for n in range(60)]
    first = [item.responses[0].side for item in with_sides(drafts, "pairwise", [])]
    assert 15 < first.count("A") < 45


def test_a_single_response_is_on_side_a() -> None:
    (item,) = with_sides([draft("1", ("x",), kind="binary")], "binary", ["u", "v", "w"])
    assert sides(item) == {"x": "A"}


def test_only_drafts_of_the_kind_become_items() -> None:
    drafts = [draft("1", ("x",), kind="binary"), draft("2", ("x", "y"))]
    assert [item.name for item in with_sides(drafts, "pairwise", [])] == ["2"]


def test_an_id_is_the_content_and_nothing_else() -> None:
    one = draft("1", ("x", "y"))
    assert item_id(one) == item_id(draft("1", ("x", "y"), line=9))
    assert len(item_id(one)) == 21
    others = [draft("2", ("x", "y")), draft("1", ("y", "x")), draft("1", ("x", "y"), prompt="q")]
    assert len({item_id(other) for other in [one, *others]}) == 4


@given(st.text(), st.text())
def test_texts_that_touch_are_not_confused(left: str, right: str) -> None:
    def made(prompt: str, context: str) -> str:
        return item_id(ItemDraft("", 1, "binary", "", prompt, (("s", "t"),), context))

    if left.isascii() or right.isascii():
        assert (made(left, right) == made(right, left)) == (left == right)


def test_an_item_that_the_project_holds_keeps_its_sides() -> None:
    held = with_sides([draft("1", ("x", "y"))], "pairwise", [])
    again, problems = placed([draft("1", ("x", "y"))], held, {"pairwise": ["y", "x"]})
    assert again == held
    assert problems == []


def test_an_id_of_the_project_with_another_text_is_a_problem() -> None:
    held = with_sides([draft("1", ("x", "y"))], "pairwise", [])
    drafts = [draft("1", ("x", "y"), prompt="other", line=7), draft("2", ("x", "y"))]
    items, problems = placed(drafts, held, {"pairwise": ["x", "y"]})
    assert [item.name for item in items] == ["2"]
    assert problems[0].place == "a.csv, line 7"
    assert "holds the id '1' with another text" in problems[0].text
