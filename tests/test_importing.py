"""From files to items and labels: what a row says, and a problem with its place where it says nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, pair, single
from hypothesis import given
from hypothesis import strategies as st

from labels.columns import ITEM_FIELDS, LABEL_FIELDS, guess, pass_words
from labels.errors import UserError
from labels.importing import (
    LabelDraft,
    RowError,
    in_words,
    item_in_words,
    lookup,
    read_items,
    read_labels,
    resolve_label,
)
from labels.resolving import resolve_labels
from labels.sides import ItemDraft, with_sides
from labels.tables import read_table
from labels.types import Criterion, Item, KindName, Problem, Response

BOTH: dict[KindName, Criterion] = {"pairwise": PAIRS, "binary": SINGLES}
Items = Callable[..., tuple[list[ItemDraft], list[Problem]]]
Labels = Callable[..., tuple[list[LabelDraft], list[Problem]]]


@pytest.fixture
def items(tmp_path: Path) -> Items:
    def read(
        content: str, *, kind: KindName | None = None, name: str = "items.csv", **given: str
    ) -> tuple[list[ItemDraft], list[Problem]]:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8", newline="")
        table = read_table(path)
        return read_items(table, guess(table.columns, ITEM_FIELDS, given), kind=kind)

    return read


@pytest.fixture
def labels(tmp_path: Path) -> Labels:
    def read(
        content: str, *, name: str = "labels.csv", **given: str
    ) -> tuple[list[LabelDraft], list[Problem]]:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8", newline="")
        table = read_table(path)
        return read_labels(table, guess(table.columns, LABEL_FIELDS, given))

    return read


def lines(*rows: object) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def texts(problems: Sequence[Problem]) -> list[str]:
    return [f"{problem.place}: {problem.text}" for problem in problems]


def test_the_normal_form_is_read_with_its_systems_and_meta(items: Items) -> None:
    row = {
        "id": 7,
        "prompt": "p",
        "responses": {"alpha": "x", "beta": ""},
        "meta": {"n": 1, "t": [1]},
        "extra": 2.0,
    }
    drafts, problems = items(lines(row), name="a.jsonl")
    assert problems == []
    (draft,) = drafts
    assert (draft.given, draft.name, draft.kind, draft.prompt) == ("7", "7", "pairwise", "p")
    assert draft.responses == (("alpha", "x"), ("beta", ""))
    assert draft.meta == {"n": "1", "t": "[1]", "extra": "2"}
    assert (draft.place, draft.line) == ("a.jsonl, line 1", 1)


def test_a_pair_without_system_columns_is_by_its_answer_columns(items: Items) -> None:
    drafts, _ = items("id,question,output_1,output_2\n1,p,x,y\n")
    assert drafts[0].responses == (("output_1", "x"), ("output_2", "y"))


def test_columns_that_no_field_takes_become_meta(items: Items) -> None:
    drafts, _ = items("id,prompt,answer,slice,empty\n1,p,x,geo,\n")
    assert drafts[0].meta == {"slice": "geo"}


def test_context_reference_and_group_are_read(items: Items) -> None:
    drafts, _ = items("id,prompt,answer,context,reference,group\n1,p,x,c,r, g \n")
    assert (drafts[0].context, drafts[0].reference, drafts[0].group) == ("c", "r", "g")


def test_texts_of_responses_are_kept_to_the_letter(items: Items) -> None:
    text = " cafe\u0301 $x$ <b>\r\n\u202e "
    drafts, _ = items(lines({"id": "cafe\u0301 ", "prompt": text, "response": text}), name="a.jsonl")
    assert drafts[0].responses[0][1] == drafts[0].prompt == text
    assert drafts[0].name == "café"


@pytest.mark.parametrize("text", ["NaN", "None", "null", "N/A", "true", "42"])
def test_a_response_that_spells_a_missing_value_is_a_text(text: str, items: Items) -> None:
    drafts, problems = items(f"id,prompt,answer\n1,{text},{text}\n")
    assert problems == []
    assert (drafts[0].prompt, drafts[0].responses[0][1]) == (text, text)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (True, "'response' is true where a text is expected; write it in quotation marks."),
        (42, "'response' is the number 42 where a text is expected; write it in quotation marks."),
        (["a"], "'response' is a list where a text is expected; write it in quotation marks."),
        ({"a": 1}, "'response' is an object where a text is expected; write it in quotation marks."),
        (None, "The text of 'response' is missing."),
        (float("nan"), "The text of 'response' is missing."),
    ],
)
def test_a_response_that_is_no_text_is_a_problem_with_its_line(
    value: object, reason: str, items: Items
) -> None:
    good = {"prompt": "p", "response": "x"}
    drafts, problems = items(lines(good, {"prompt": "p", "response": value}), name="a.jsonl")
    assert len(drafts) == 1
    assert texts(problems) == [f"a.jsonl, line 2: {reason}"]


def test_an_empty_cell_of_a_csv_is_no_response(items: Items) -> None:
    drafts, problems = items("id,prompt,answer_a,answer_b\n1,p,x,\n2,p,x,y\n3,,x,y\n")
    assert [draft.name for draft in drafts] == ["2"]
    assert [problem.place for problem in problems] == ["items.csv, line 2", "items.csv, line 4"]
    assert "'answer_b' is empty" in problems[0].text


def test_a_prompt_that_is_a_boolean_is_a_problem(items: Items) -> None:
    _, problems = items(lines({"prompt": True, "response": "x"}), name="a.jsonl")
    assert "'prompt' is true" in problems[0].text


def test_the_same_row_twice_is_one_item(items: Items) -> None:
    drafts, problems = items("id,prompt,answer\n1,p,x\n1,p,x\n2,p,x\n")
    assert [draft.name for draft in drafts] == ["1", "2"]
    assert problems == []


def test_one_id_with_two_texts_is_a_problem_and_the_first_is_kept(items: Items) -> None:
    drafts, problems = items("id,prompt,answer\n1,p,x\n 1 ,p,y\n")
    assert [draft.responses[0][1] for draft in drafts] == ["x"]
    reason = "The id '1' has another text at items.csv, line 2; that one is kept."
    assert texts(problems) == [f"items.csv, line 3: {reason}"]


def test_one_and_the_text_one_are_the_same_id(items: Items) -> None:
    row = {"prompt": "p", "response": "x"}
    drafts, problems = items(lines({"id": 1} | row, {"id": "1"} | row, {"id": 1.0} | row), name="a.jsonl")
    assert [draft.name for draft in drafts] == ["1"]
    assert problems == []


@pytest.mark.parametrize("written", ["", " ", "NaN", "None", "null"])
def test_a_row_without_an_id_is_named_by_its_content(written: str, items: Items) -> None:
    drafts, problems = items(f"id,prompt,answer\n{written},p,x\n{written},p,x\n{written},p,y\n")
    assert problems == []
    assert len({draft.name for draft in drafts}) == 2
    without, _ = items("prompt,answer\np,x\n", name="b.csv")
    assert without[0].name == drafts[0].name
    assert without[0].name.startswith("item-")


@pytest.mark.parametrize(
    ("kind", "row", "reason"),
    [
        (
            "pairwise",
            {"prompt": "p", "responses": {"a": "x"}},
            "There is 1 response, but a pairwise item has 2.",
        ),
        ("binary", {"prompt": "p", "responses": {"a": "x", "b": "y"}}, "There are 2 responses, but a binary"),
        (None, {"prompt": "p", "responses": {"a": "x", "b": "y", "c": "z"}}, "There are 3 responses, but a"),
        (None, {"prompt": "p", "responses": {}}, "There are 0 responses"),
        (None, {"prompt": "p", "responses": "x"}, "The column 'responses' is no object of systems"),
        (None, {"prompt": "p", "responses": None}, "The column 'responses' is empty"),
        (None, {"prompt": "p", "responses": {"a": "x", "b": None}}, "The text of 'b' is missing."),
    ],
)
def test_a_wrong_number_of_responses_is_a_problem(
    kind: KindName | None, row: object, reason: str, items: Items
) -> None:
    drafts, problems = items(lines(row), kind=kind, name="a.jsonl")
    assert drafts == []
    assert reason in problems[0].text


def test_two_responses_of_one_system_are_a_problem(items: Items) -> None:
    _, problems = items("id,prompt,answer_a,answer_b,model_a,model_b\n1,p,x,y,m, m \n")
    assert "Both responses are by 'm'" in problems[0].text
    _, problems = items('{"id":1,"responses":{"m":"x"," m":"y"}}\n', name="a.jsonl")
    assert "the key 'm' twice" in problems[0].text


def test_a_missing_system_is_a_problem_since_it_would_count_as_one_more(items: Items) -> None:
    _, problems = items("id,answer_a,answer_b,model_a,model_b\n1,x,y,m,\n")
    assert "'model_b' does not say who wrote" in problems[0].text


def test_a_project_of_both_kinds_takes_pairs_and_singles_from_one_file(items: Items) -> None:
    rows = "id,prompt,answer,answer_a,answer_b\n1,p,x,,\n2,p,,x,y\n3,p,,x,\n"
    drafts, problems = items(rows)
    assert [(draft.name, draft.kind) for draft in drafts] == [("1", "binary"), ("2", "pairwise")]
    assert [problem.place for problem in problems] == ["items.csv, line 4"]
    nested = lines({"id": 1, "responses": {"a": "x"}}, {"id": 2, "responses": {"a": "x", "b": "y"}})
    assert [draft.kind for draft in items(nested, name="a.jsonl")[0]] == ["binary", "pairwise"]


def test_a_file_without_a_response_column_is_told_how_to_name_one(items: Items) -> None:
    with pytest.raises(
        UserError, match=r"no column for a response; .*--map answer=COLUMN.* id, prompt, text"
    ):
        items("id,prompt,text\n1,p,x\n")
    drafts, _ = items("id,prompt,text\n1,p,x\n", answer="text")
    assert drafts[0].responses == (("text", "x"),)


def test_broken_lines_of_the_file_stay_among_the_problems(items: Items) -> None:
    drafts, problems = items("id,prompt,answer\n1,p,x\n2,p\n3,p,\n")
    assert len(drafts) == 1
    assert [problem.place for problem in problems] == ["items.csv, line 3", "items.csv, line 4"]


def make_pair(systems: tuple[str, str], *, turned: bool = False) -> Item:
    sides = ("B", "A") if turned else ("A", "B")
    responses = tuple(
        Response(side, s, "t", n) for n, (side, s) in enumerate(zip(sides, systems, strict=True))
    )
    return Item("i1", "q1", "pairwise", "p", responses)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("alpha", "B"),
        (" Beta ", "A"),
        ("A", "B"),
        ("b", "A"),
        ("1", "B"),
        ("2.0", "A"),
        ("answer_a", "B"),
        ("model_b", "A"),
        ("Output 2", "A"),
        ("first", "B"),
        ("right", "A"),
        ("tie", "tie"),
        ("TIED", "tie"),
        ("tie (inconsistent)", "tie"),
        ("1.5", "tie"),
    ],
)
def test_a_label_names_a_system_a_tie_or_a_response_as_listed(said: str, wanted: str) -> None:
    item = make_pair(("alpha", "beta"), turned=True)
    assert resolve_label(item, said, words=pass_words()) == wanted


def test_a_systems_name_goes_before_every_other_word() -> None:
    item = make_pair(("B", "A"))
    assert resolve_label(item, "A", words={}) == "B"
    assert resolve_label(make_pair(("x", "tie")), "tie", words={}) == "B"
    assert resolve_label(make_pair(("GPT", "gpt")), "gpt", words={}) == "B"


@given(st.booleans(), st.sampled_from(["alpha", "beta", "A", "2", "tie"]))
def test_turning_the_sides_turns_every_label(turned: bool, said: str) -> None:
    plain = resolve_label(make_pair(("alpha", "beta")), said, words={})
    other = resolve_label(make_pair(("alpha", "beta"), turned=True), said, words={})
    assert {plain, other} in ({"A", "B"}, {"tie"})
    assert turned in (True, False)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("pass", "pass"),
        ("1", "pass"),
        ("1.0", "pass"),
        ("Yes.", "pass"),
        ("TRUE", "pass"),
        ("incorrect", "fail"),
    ],
)
def test_pass_and_fail_are_understood_in_many_words(said: str, wanted: str) -> None:
    assert resolve_label(single(1), said, words=pass_words()) == wanted


def test_the_other_way_round_is_understood_when_told() -> None:
    words = pass_words("0")
    assert [resolve_label(single(1), said, words=words) for said in ("0", "1", "yes")] == [
        "pass",
        "fail",
        "pass",
    ]


@pytest.mark.parametrize(
    ("item", "said"), [(pair(1), "pass"), (pair(1), "0"), (single(1), "A"), (single(1), "-1")]
)
def test_a_word_that_says_nothing_is_answered_with_those_that_do(item: Item, said: str) -> None:
    with pytest.raises(RowError, match=f"The label '{said}' is not understood; understood are"):
        resolve_label(item, said, words=pass_words())


def test_labels_are_read_with_names_folded_and_notes_kept(labels: Labels) -> None:
    drafts, problems = labels(
        lines({"item_id": 1, "annotator": " Ana\u00a0 B ", "label": True, "note": " n "}), name="a.jsonl"
    )
    assert problems == []
    assert drafts == [LabelDraft("a.jsonl, line 1", 1, "1", "Ana B", "true", " n ")]


def test_missing_parts_of_a_label_are_problems(labels: Labels) -> None:
    drafts, problems = labels("item_id,annotator,label\n1,ana,\n,ana,A\n1,NaN,A\n1,ana,None\n1,ana,B\n")
    assert [draft.said for draft in drafts] == ["B"]
    assert texts(problems) == [
        "labels.csv, line 2: The label is missing (column 'label').",
        "labels.csv, line 3: The item_id is missing (column 'item_id').",
        "labels.csv, line 4: The annotator is missing (column 'annotator').",
        "labels.csv, line 5: The label is missing (column 'label').",
    ]


def test_a_file_without_a_column_of_annotators_is_by_annotator_1(labels: Labels) -> None:
    drafts, _ = labels("id,human_label\n1,A\n")
    assert drafts[0].annotator == "annotator 1"


def test_a_file_without_labels_or_ids_is_told_how_to_name_them(labels: Labels) -> None:
    with pytest.raises(UserError, match=r"no column for label; say which with --map label=COLUMN"):
        labels("id,x\n1,A\n")
    with pytest.raises(UserError, match=r"no column for item_id"):
        labels("x,label\n1,A\n")


def draft(line: int, item: str, said: str, annotator: str = "ana") -> LabelDraft:
    return LabelDraft(f"labels.csv, line {line}", line, item, annotator, said)


def resolved(
    drafts: Sequence[LabelDraft], *held: Item, criteria: dict[KindName, Criterion] = BOTH
) -> tuple[list[tuple[str, str, str]], list[str]]:
    made, problems = resolve_labels(drafts, lookup(held, criteria), words=pass_words())
    return [(label.item_id, label.annotator, label.value) for label in made], texts(problems)


def test_a_label_for_an_unknown_item_is_a_problem_with_its_number() -> None:
    made, problems = resolved([draft(2, "pair-1", "alpha"), draft(3, "other", "alpha")], pair(1))
    assert made == [("i0001", "ana", "A")]
    assert problems == [
        "labels.csv, line 3: There is no item 'other' in the project; import its items first."
    ]


def test_contradicting_labels_of_one_person_are_a_problem_and_the_first_is_kept() -> None:
    drafts = [draft(2, "pair-1", "A"), draft(3, "pair-1", "beta"), draft(4, "pair-1", "B", "ben")]
    made, problems = resolved(drafts, pair(1))
    assert made == [("i0001", "ana", "A"), ("i0001", "ben", "B")]
    reason = "ana says 'beta' of 'pair-1' here but 'A' at labels.csv, line 2; the first is kept."
    assert problems == [f"labels.csv, line 3: {reason}"]


def test_the_same_label_twice_counts_once_however_it_is_written() -> None:
    drafts = [draft(2, "pair-1", "A"), draft(3, "pair-1", "alpha"), draft(4, "i0001", "1")]
    assert resolved(drafts, pair(1)) == ([("i0001", "ana", "A")], [])


def test_an_id_that_a_spreadsheet_made_a_float_still_finds_its_item() -> None:
    item = Item("i9", "9", "binary", "p", single(9).responses)
    assert resolved([draft(2, "9.0", "pass")], item) == ([("i9", "ana", "pass")], [])


def test_a_name_that_a_pair_and_a_single_share_is_told_apart_by_the_label() -> None:
    both = (pair(1), Item("s1", "pair-1", "binary", "p", single(1).responses))
    made, problems = resolved(
        [draft(2, "pair-1", "tie"), draft(3, "pair-1", "pass"), draft(4, "pair-1", "1")], *both
    )
    assert made == [("i0001", "ana", "tie"), ("s1", "ana", "pass")]
    assert "names 2 items" in problems[0]


def test_a_tie_is_a_problem_where_the_question_allows_none() -> None:
    strict: dict[KindName, Criterion] = {"pairwise": Criterion("c", "pairwise", "q", ties=False)}
    made, problems = resolved([draft(2, "pair-1", "tie")], pair(1), criteria=strict)
    assert made == []
    assert "allows none" in problems[0]


def test_items_and_values_are_said_with_the_systems_names() -> None:
    (item,) = with_sides(
        [ItemDraft("", 1, "pairwise", "q", "p", (("beta", "x"), ("alpha", "y")))], "pairwise", []
    )
    assert item_in_words(item) == "A is beta, B is alpha"
    assert (in_words(item, "B"), in_words(item, "tie")) == ("alpha is better", "tie")
    assert item_in_words(single(1)) == "a single response by alpha"
