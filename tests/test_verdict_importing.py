"""Verdicts from files: the order that was shown, the slot that was chosen, and what it means."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, pair, single
from hypothesis import given
from hypothesis import strategies as st

from calibration.importing import (
    VerdictDraft,
    inverted,
    read_verdicts,
    resolve_verdict,
    resolve_verdicts,
    turned_verdict,
    verdict_in_words,
)
from calibration.types import Verdict
from labels.columns import VERDICT_FIELDS, guess, pass_words
from labels.errors import UserError
from labels.importing import RowError, lookup
from labels.tables import read_table
from labels.types import Criterion, Item, KindName, Problem, Response, Value

BOTH: dict[KindName, Criterion] = {"pairwise": PAIRS, "binary": SINGLES}
Read = Callable[..., tuple[list[VerdictDraft], list[Problem]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def verdicts(
        content: str, *, name: str = "v.jsonl", **given: str
    ) -> tuple[list[VerdictDraft], list[Problem]]:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8", newline="")
        table = read_table(path)
        return read_verdicts(table, guess(table.columns, VERDICT_FIELDS, given))

    return verdicts


def turned_pair() -> Item:
    """A pair whose first listed system stands on side B."""
    responses = (Response("B", "alpha", "x", 0), Response("A", "beta", "y", 1))
    return Item("i1", "q", "pairwise", "p", responses)


def draft(
    vote: str | None, order: tuple[str, ...] = (), *, item: str = "q", line: int = 1, repeat: int = 0
) -> VerdictDraft:
    return VerdictDraft(f"v.jsonl, line {line}", line, item, "judge", order, vote, repeat)


def meaning(vote: str | None, order: tuple[str, ...] = (), *, item: Item | None = None) -> Verdict:
    held = item or turned_pair()
    return resolve_verdict(draft(vote, order, item=held.name), lookup([held], BOTH), words=pass_words())


def test_a_vote_for_the_second_slot_of_a_turned_order_is_for_the_first_system() -> None:
    (item, words) = (pair(1, ("output_1", "output_2")), pass_words())
    one = draft("B", ("output_2", "output_1"), item="pair-1")
    verdict = resolve_verdict(one, lookup([item], BOTH), words=words)
    assert (verdict.value, verdict.choice, verdict.first) == ("A", "second", "B")
    assert verdict_in_words(item, verdict) == "output_1 is better, output_2 shown first"


@pytest.mark.parametrize("vote", ["A", "a", "1", "first", "[[A]]", "1.0"])
def test_slot_words_mean_the_slot_as_shown_where_there_is_an_order(vote: str) -> None:
    assert meaning(vote, ("alpha", "beta")).value == "B"
    assert meaning(vote, ("beta", "alpha")).value == "A"
    assert meaning(vote, ("beta", "alpha")).choice == "first"


@pytest.mark.parametrize("vote", ["alpha", "Alpha", "answer_a", "model_1", "output 1"])
def test_a_systems_name_means_that_system_in_every_order(vote: str) -> None:
    for order in (("alpha", "beta"), ("beta", "alpha"), ()):
        verdict = meaning(vote, order)
        assert verdict.value == "B"
        assert verdict.choice == {"alpha": "first", "beta": "second", "": None}["".join(order[:1])]


def test_without_an_order_a_and_b_are_the_responses_as_listed() -> None:
    for vote, value in (("A", "B"), ("B", "A"), ("2", "A"), ("tie", "tie")):
        verdict = meaning(vote)
        assert (verdict.value, verdict.first) == (value, None)
    assert verdict_in_words(turned_pair(), meaning("A")) == "alpha is better"


def test_slot_words_go_before_systems_that_are_called_like_slots() -> None:
    item = pair(1, ("A", "B"))
    assert meaning("A", ("B", "A"), item=item).value == "B"
    assert meaning("A", item=item).value == "A"


@given(st.sampled_from(["A", "B", "tie"]), st.booleans(), st.booleans())
def test_swapping_order_and_slot_together_never_changes_the_value(vote: str, swap: bool, turn: bool) -> None:
    item = turned_pair() if turn else pair(1)
    order = tuple(response.system for response in item.responses)
    order = order[::-1] if swap else order
    mirrored = {"A": "B", "B": "A", "tie": "tie"}[vote]
    assert meaning(vote, order, item=item).value == meaning(mirrored, order[::-1], item=item).value


@pytest.mark.parametrize(
    ("written", "first"),
    [
        (["alpha", "beta"], "B"),
        (["beta", " ALPHA "], "A"),
        ('["beta", "alpha"]', "A"),
        ("alpha,beta", "B"),
        ("beta | alpha", "A"),
        ("A,B", "B"),
        ("B,A", "A"),
        ("ab", "B"),
        ("BA", "A"),
        ("forward", "B"),
        ("Reverse", "A"),
        ("swapped", "A"),
        (None, None),
        ("", None),
        ("NaN", None),
    ],
)
def test_an_order_may_be_written_in_many_ways(written: object, first: str | None, read: Read) -> None:
    drafts, problems = read(json.dumps({"item_id": "q", "judge": "j", "order": written, "vote": "tie"}))
    assert problems == []
    verdict = resolve_verdict(drafts[0], lookup([turned_pair()], BOTH), words={})
    assert verdict.first == first


@pytest.mark.parametrize(
    "order", [("alpha", "gamma"), ("alpha",), ("alpha", "alpha"), ("alpha", "beta", "alpha"), ("sideways",)]
)
def test_an_order_that_does_not_name_both_systems_is_a_problem(order: tuple[str, ...]) -> None:
    with pytest.raises(RowError, match="does not name the item's systems, 'alpha' and 'beta'"):
        meaning("A", order)


def test_an_order_that_is_broken_json_is_a_problem_with_its_line(read: Read) -> None:
    drafts, problems = read('{"item_id":"q","order":"[alpha, beta","vote":"A"}\n')
    assert drafts == []
    assert problems[0].place == "v.jsonl, line 1"


@pytest.mark.parametrize(
    ("vote", "error"),
    [
        (None, "not_given"),
        ("no_verdict", "not_given"),
        ("error", "error"),
        ("refused", "refused"),
        ("cut off", "cut_off"),
        ("GRADE: CI", "unparseable"),
        ("pass", "unparseable"),
        ("C", "unparseable"),
    ],
)
def test_a_vote_that_gives_nothing_is_unanswered_never_a_tie(vote: str | None, error: str) -> None:
    verdict = meaning(vote, ("alpha", "beta"))
    assert (verdict.value, verdict.choice, verdict.error) == (None, None, error)
    assert verdict.raw == (vote or "")
    assert verdict_in_words(turned_pair(), verdict) == f"unanswered ({error.replace('_', ' ')})"


def test_the_reason_in_a_column_of_errors_is_kept(read: Read) -> None:
    rows = [{"item_id": "q", "vote": None, "error": error} for error in ("cut_off", "HTTP 500", "", None)]
    drafts, _ = read("\n".join(map(json.dumps, rows)))
    verdicts = [resolve_verdict(one, lookup([turned_pair()], BOTH), words={}) for one in drafts]
    assert [verdict.error for verdict in verdicts] == ["cut_off", "error", "not_given", "not_given"]


def test_the_raw_text_and_the_reasoning_are_kept_to_the_letter(read: Read) -> None:
    row = {"item_id": "q", "judge": "j", "vote": "?", "raw": " $x$\n", "reasoning": {"steps": ["é"]}}
    drafts, _ = read(json.dumps(row))
    verdict = resolve_verdict(drafts[0], lookup([turned_pair()], BOTH), words={})
    assert (verdict.raw, verdict.reasoning) == (" $x$\n", '{"steps": ["é"]}')


@pytest.mark.parametrize(
    ("vote", "value"), [("pass", "pass"), ("1", "pass"), ("No", "fail"), ("true", "pass")]
)
def test_votes_on_single_responses_are_pass_or_fail(vote: str, value: str) -> None:
    verdict = meaning(vote, item=single(1))
    assert (verdict.value, verdict.choice, verdict.first, verdict.error) == (value, value, None, "")


def test_a_boolean_vote_in_json_is_a_pass_or_a_fail(read: Read) -> None:
    drafts, _ = read('{"item_id":"single-1","vote":true}\n{"item_id":"single-1","vote":0,"repeat":1}\n')
    verdicts, _ = resolve_verdicts(drafts, lookup([single(1)], BOTH), words=pass_words())
    assert [verdict.value for verdict in verdicts] == ["pass", "fail"]


def test_pass_and_fail_may_be_turned_round() -> None:
    held = lookup([single(1)], BOTH)
    verdict = resolve_verdict(draft("0", item="single-1"), held, words=pass_words("0"))
    assert verdict.value == "pass"


def resolved(*drafts: VerdictDraft) -> tuple[list[Verdict], list[str]]:
    verdicts, problems = resolve_verdicts(drafts, lookup([turned_pair()], BOTH), words=pass_words())
    return list(verdicts), [f"{problem.place}: {problem.text}" for problem in problems]


def test_the_same_verdict_twice_counts_once_and_both_orders_count_both() -> None:
    same = [draft("A", ("alpha", "beta"), line=1), draft("first", ("A", "B"), line=2)]
    verdicts, problems = resolved(*same, draft("A", ("beta", "alpha"), line=3), draft("A", line=4))
    assert [(verdict.first, verdict.value) for verdict in verdicts] == [("B", "B"), ("A", "A"), (None, "B")]
    assert problems == []


def test_another_vote_in_the_same_order_is_a_problem_and_the_first_is_kept() -> None:
    verdicts, problems = resolved(draft("A", ("A", "B"), line=1), draft("B", ("A", "B"), line=2))
    assert [verdict.value for verdict in verdicts] == ["B"]
    assert problems == [
        "v.jsonl, line 2: judge votes 'B' on 'q' in the same order as at v.jsonl, line 1, "
        "where it votes 'A'; the first is kept (a column `repeat` tells repeats apart)."
    ]


def test_repeats_are_told_apart_by_their_column(read: Read) -> None:
    rows = "item_id,judge,order,vote,repeat\nq,j,ab,A,0\nq,j,ab,B,1.0\nq,j,ab,B,\nq,j,ab,B,two\n"
    drafts, problems = read(rows, name="v.csv")
    verdicts, against = resolve_verdicts(drafts, lookup([turned_pair()], BOTH), words={})
    assert [(verdict.repeat, verdict.value) for verdict in verdicts] == [(0, "B"), (1, "A")]
    assert [problem.place for problem in [*problems, *against]] == ["v.csv, line 5", "v.csv, line 4"]


def test_a_verdict_for_an_unknown_item_is_a_problem_with_its_number() -> None:
    verdicts, problems = resolved(draft("A", item="other", line=4), draft("A"))
    assert len(verdicts) == 1
    assert problems == ["v.jsonl, line 4: There is no item 'other' in the project; import its items first."]


def test_a_file_without_a_column_of_judges_is_by_judge_1(read: Read) -> None:
    drafts, problems = read('{"item_id":1,"vote":"A"}\n{"vote":"A"}\n')
    assert [one.judge for one in drafts] == ["judge 1"]
    assert "item_id is missing" in problems[0].text
    with pytest.raises(UserError, match="no column for vote"):
        read('{"item_id":1,"score":"A"}')


def test_a_name_that_a_pair_and_a_single_share_is_told_apart_by_vote_and_order() -> None:
    held = lookup([turned_pair(), Item("s1", "q", "binary", "p", single(1).responses)], BOTH)

    def item_of(vote: str | None, order: tuple[str, ...] = ()) -> str:
        return resolve_verdict(draft(vote, order), held, words=pass_words()).item_id

    assert [item_of("alpha"), item_of("tie"), item_of("yes"), item_of(None)] == ["i1", "i1", "s1", "s1"]
    assert item_of(None, ("A", "B")) == "i1"
    with pytest.raises(RowError, match="names 2 items"):
        item_of("1")


def votes(*values: Value) -> list[Verdict]:
    return [Verdict("j", "c", f"i{n}", None, value) for n, value in enumerate(values)]


def said(*values: Value | None) -> list[tuple[str, Value | None]]:
    return [(f"i{n}", value) for n, value in enumerate(values)]


def test_agreement_far_below_chance_is_noticed_with_both_readings() -> None:
    people, judge = ["pass", "fail"] * 10, ["fail", "pass"] * 10
    judge[0] = "pass"
    (found,) = inverted(said(*people), votes(*judge))  # type: ignore[arg-type]
    assert (found.judge, found.n, found.written) == ("j", 20, 1 / 20)
    assert found.turned == pytest.approx(19 / 20)


def test_chance_agreement_few_items_and_one_category_are_left_in_peace() -> None:
    half = ["pass", "pass", "fail", "fail"] * 5
    assert inverted(said(*half), votes(*["pass", "fail"] * 10)) == []  # type: ignore[arg-type]
    assert inverted(said(*["pass", "fail"] * 4), votes(*["fail", "pass"] * 4)) == []  # type: ignore[arg-type]
    assert inverted(said(*["pass"] * 12), votes(*["pass"] * 12)) == []  # type: ignore[arg-type]
    assert inverted(said(*["pass"] * 12), votes(*["fail"] * 12)) == []  # type: ignore[arg-type]
    assert inverted(said(*[None] * 12), votes(*["fail"] * 12)) == []  # type: ignore[arg-type]
    assert inverted([], []) == []


def test_turning_a_verdict_twice_gives_it_back() -> None:
    one = meaning("pass", item=single(1))
    assert turned_verdict(one).value == turned_verdict(one).choice == "fail"
    assert turned_verdict(turned_verdict(one)) == one
    open_one = meaning(None, item=single(1))
    assert turned_verdict(open_one) == open_one
