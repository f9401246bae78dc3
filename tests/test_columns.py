"""Which column is which field, and what the words of single responses mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labels.columns import (
    FIELDS,
    FILES,
    ITEM_FIELDS,
    LABEL_FIELDS,
    SYNONYMS,
    VERDICT_FIELDS,
    given_by_file,
    guess,
    named,
    parse_map,
    pass_words,
    synonyms,
)
from labels.errors import UserError
from labels.text import key


@pytest.mark.parametrize(
    ("columns", "fields", "wanted"),
    [
        (
            ["id", "prompt", "responses", "meta"],
            ITEM_FIELDS,
            {"item_id": "id", "prompt": "prompt", "responses": "responses", "meta": "meta"},
        ),
        (
            ["Item ID", "Question", "Answer A", "answerB", "Model-A", "model_b", "Slice"],
            ITEM_FIELDS,
            {
                "item_id": "Item ID",
                "prompt": "Question",
                "answer_a": "Answer A",
                "answer_b": "answerB",
                "model_a": "Model-A",
                "model_b": "model_b",
            },
        ),
        (
            ["instruction", "output_1", "generator_1", "output_2", "generator_2"],
            ITEM_FIELDS,
            {
                "prompt": "instruction",
                "answer_a": "output_1",
                "answer_b": "output_2",
                "model_a": "generator_1",
                "model_b": "generator_2",
            },
        ),
        (["id", "input", "output"], ITEM_FIELDS, {"item_id": "id", "prompt": "input", "answer": "output"}),
        (["response"], ITEM_FIELDS, {"answer": "response"}),
        (["text", "human_label"], ITEM_FIELDS, {}),
        (
            ["label_id", "item_id", "annotator", "verdict", "notes"],
            LABEL_FIELDS,
            {"item_id": "item_id", "annotator": "annotator", "label": "verdict", "note": "notes"},
        ),
        (
            ["item_id", "judge_id", "order", "repeat", "verdict", "raw_text", "error"],
            VERDICT_FIELDS,
            {
                "item_id": "item_id",
                "judge": "judge_id",
                "order": "order",
                "vote": "verdict",
                "repeat": "repeat",
                "raw": "raw_text",
                "error": "error",
            },
        ),
    ],
)
def test_well_known_columns_are_found(
    columns: list[str], fields: tuple[str, ...], wanted: dict[str, str]
) -> None:
    assert guess(columns, fields, {}) == wanted


def test_the_response_column_is_never_taken_for_the_prompt() -> None:
    assert not set(synonyms("prompt")) & set(synonyms("answer", "answer_a", "answer_b", "responses"))
    assert "prompt" not in guess(["response", "score"], ITEM_FIELDS, {})


def test_what_the_user_says_goes_before_the_guess() -> None:
    mapping = guess(["prompt", "question", "answer"], ITEM_FIELDS, {"prompt": "question"})
    assert mapping == {"prompt": "question", "answer": "answer"}
    assert guess(["answer", "output"], ITEM_FIELDS, {"prompt": "answer"}) == {
        "prompt": "answer",
        "answer": "output",
    }


def test_the_better_known_name_wins_where_a_file_has_two() -> None:
    assert guess(["input", "prompt"], ITEM_FIELDS, {}) == {"prompt": "prompt"}


def test_a_column_that_is_not_there_is_answered_with_the_columns_closest_first() -> None:
    with pytest.raises(UserError, match=r"no column 'promt' .*The columns are: prompt, id, answer\."):
        guess(["id", "answer", "prompt"], ITEM_FIELDS, {"prompt": "promt"})
    assert named([]) == "The columns are: none."


def test_an_unknown_field_is_answered_with_the_fields() -> None:
    with pytest.raises(UserError, match="no field 'question' for --map; the fields are: item_id, prompt"):
        parse_map(["question=prompt"])
    with pytest.raises(UserError, match="the fields are: item_id, annotator, label, note"):
        guess(["a"], LABEL_FIELDS, {"prompt": "a"})


@pytest.mark.parametrize("option", ["prompt", "prompt=", "=x", "prompt= "])
def test_a_map_option_without_both_names_is_an_error(option: str) -> None:
    with pytest.raises(UserError, match="--map"):
        parse_map([option])


def test_a_column_name_may_hold_an_equals_sign_and_a_field_be_named_once_only() -> None:
    assert parse_map(["prompt=a=b", " answer = c "]) == {"prompt": "a=b", "answer": "c"}
    with pytest.raises(UserError, match="twice"):
        parse_map(["prompt=a", "prompt=b"])


def test_a_shared_field_goes_to_the_files_that_have_its_column() -> None:
    columns = {"items": ["uid", "prompt"], "labels": ["item_id", "label"], "verdicts": ["uid", "vote"]}
    by_file = given_by_file({"item_id": "uid", "label": "label"}, columns)
    assert by_file == {
        "items": {"item_id": "uid"},
        "labels": {"label": "label"},
        "verdicts": {"item_id": "uid"},
    }
    assert given_by_file({"item_id": "none"}, columns)["items"] == {"item_id": "none"}
    with pytest.raises(UserError, match="none of the files"):
        given_by_file({"vote": "x"}, {"items": ["x"]})


def test_every_field_has_names_and_knows_its_own_name_best() -> None:
    assert set(SYNONYMS) == set(FIELDS)
    for field in FIELDS:
        assert synonyms(field)[0] == field
        assert [key(name) for name in synonyms(field)] == synonyms(field)


@given(st.lists(st.text(), unique=True), st.sampled_from(sorted(FILES)))
def test_a_guess_names_only_columns_of_the_file_and_each_once(columns: list[str], what: str) -> None:
    mapping = guess(columns, FILES[what], {})
    assert set(mapping.values()) <= set(columns)
    assert len(set(mapping.values())) == len(mapping)


def test_pass_and_fail_have_many_words() -> None:
    words = pass_words()
    assert {words[w] for w in ("pass", "1", "yes", "true", "correct", "good", "y", "t")} == {"pass"}
    assert {words[w] for w in ("fail", "0", "no", "false", "incorrect", "bad", "n", "f")} == {"fail"}


def test_the_user_may_turn_a_pair_of_words_round() -> None:
    words = pass_words("0")
    assert (words["0"], words["1"], words["yes"]) == ("pass", "fail", "pass")
    assert pass_words(None, "1")["0"] == "pass"
    assert pass_words("False")["true"] == "fail"
    assert pass_words("0", "1") == words


def test_the_user_may_teach_words() -> None:
    words = pass_words("Gut", "schlecht")
    assert (words["gut"], words["schlecht"], words["pass"]) == ("pass", "fail", "pass")


@pytest.mark.parametrize(("passed", "failed"), [("x", "X"), ("0", "0"), ("1", "1.0")])
def test_pass_and_fail_may_not_be_one_word(passed: str, failed: str) -> None:
    with pytest.raises(UserError, match="contradict"):
        pass_words(passed, failed)
