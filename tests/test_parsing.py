from __future__ import annotations

import json
import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from calibration.parsing import Parsed, choice_of, parse_verdict
from calibration.pieces import take_apart
from calibration.prompts import verdict_words
from labels.kinds import KINDS
from labels.text import storable
from labels.types import Choice, KindName

SURROGATES = st.characters(exclude_categories=())
WORDS: list[tuple[KindName, Choice]] = [(kind, word) for kind in KINDS for word in verdict_words(kind, True)]
MARKS = ("{", "}", "[", "]", '"', "<think>", "</think>", "\\", "\n", "```json", "**", ":", "verdict", "null")
CUT = ("length", "max_tokens")


def answer(verdict: object, reasoning: str = "Because.") -> str:
    return json.dumps({"reasoning": reasoning, "verdict": verdict})


def of_pair(text: str, *, ties: bool = True, finish_reason: str = "") -> Parsed:
    return parse_verdict(text, "pairwise", ties=ties, finish_reason=finish_reason)


def assert_unanswered(parsed: Parsed, error: str, fault: str = "") -> None:
    assert parsed.choice is None
    assert parsed.error == error
    assert parsed.fault
    assert fault in parsed.fault


# --- the answer as it was asked for -------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "word"), WORDS)
def test_the_form_that_was_asked_for_is_read(kind: KindName, word: Choice) -> None:
    assert parse_verdict(answer(word), kind) == Parsed(word, "Because.")


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{answer('second')}\n```",
        f"```\n{answer('second')}\n```",
        f"Here is my verdict:\n\n{answer('second')}",
        f"{answer('second')}\n\nI hope this helps! The first is fine, too.",
        f"\ufeff  {answer('second')}",
        f"[{answer('second')}]",
        f"{{{answer('second')}}}",
        f"The set {{a, b}} and f(x) = {{ x }} are braces. {answer('second')}",
        answer("second").replace(": ", ":\n\t"),
        '{"VERDICT": "second"}',
        '{"result": {"reasoning": "", "verdict": "second"}}',
        '{"verdict": "second", "extra": {"verdict": "first"}}',
        '{"aspects": [{"name": "style", "verdict": "first"}], "verdict": "second"}',
    ],
)
def test_fences_prose_and_wrappers_around_the_object_do_not_hide_it(text: str) -> None:
    assert of_pair(text).choice == "second"


@pytest.mark.parametrize(
    "reasoning",
    [
        'braces } in { a "string" \\',
        'It quotes {"verdict": "first"} and ```json.',
        "It says </think> and <think>.",
        "two\nlines\tand a tab",
        "[[A]] and **[A]**. Response 1 is better.",
    ],
)
def test_whatever_the_reasoning_quotes_is_no_verdict(reasoning: str) -> None:
    assert of_pair(answer("second", reasoning)) == Parsed("second", reasoning)


def test_raw_line_breaks_inside_a_json_string_are_tolerated() -> None:
    assert of_pair('{"reasoning": "one\ntwo", "verdict": "tie"}') == Parsed("tie", "one\ntwo")


def test_an_object_without_a_verdict_beside_the_answer_is_not_the_answer() -> None:
    assert (
        of_pair(f'The response is {{"a": 1}}. {answer("first")} Its score is {{"b": {{}}}}').choice == "first"
    )


def test_prose_before_the_object_is_the_reasoning_when_the_object_has_none() -> None:
    assert (
        of_pair('The first is wrong.\n```json\n{"verdict": "second"}\n```').reasoning == "The first is wrong."
    )


# --- words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "word", "choice"),
    [
        *(("pairwise", word, "first") for word in (
            "First", " first ", "FIRST.", "1", 1, 1.0, "1.0", "A", "a", "(A)", "[[A]]", "**[A]**", "`A`",
            "“A”", "Response 1", "response_1", "Response A", "Assistant A", "Output (a)", "the first",
            "First response", "the first one", "Answer 1", "Model A", "Response 1 is better.", "response one",
            "Option  A",
        )),
        *(("pairwise", word, "second") for word in ("Second", "2", 2, "B", "**[B]**", "Response 2")),
        *(("pairwise", word, "tie") for word in ("TIE", "both", "Equal", "a tie", "It is a tie", "Neither")),
        *(("binary", word, "pass") for word in ("Pass", "PASSED", "yes", True, "true", 1, "1", "**pass**")),
        *(("binary", word, "fail") for word in ("Fail", "failed", "No", False, "FALSE", 0, "0", "0.0")),
    ],
)  # fmt: skip
def test_case_decoration_numbers_and_synonyms_stand_for_the_words(
    kind: KindName, word: object, choice: Choice
) -> None:
    assert parse_verdict(answer(word), kind).choice == choice


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "word",
    [
        "C", "CI", "[[C]]", "A>B", "AB", "first/second", "first or second", "not first", "pass/fail",
        "not pass", "passable", "firstly", "3", 3, -1, "1.5", "10", 1e400, "maybe", "", "  ",
        "<first, second or tie>", [], ["first"], ["pass"], {}, {"verdict": "first"}, "first " * 1000,
        "response", "response 12", "A B",
    ],
)  # fmt: skip
def test_a_word_that_is_none_of_those_asked_for_is_unanswered_and_never_the_nearest_one(
    kind: KindName, word: object
) -> None:
    assert_unanswered(parse_verdict(answer(word), kind), "unparseable", "The verdict is ")


@pytest.mark.parametrize(
    "text", ["GRADE: CI", "GRADE: C", "VERDICT: BAD", "Grade: A-", "PASSPORT", "Grade: B."]
)
def test_a_word_that_only_begins_like_a_verdict_matches_nothing(text: str) -> None:
    for kind in KINDS:
        assert_unanswered(parse_verdict(text, kind), "unparseable")


@pytest.mark.parametrize(("kind", "word"), [("binary", "first"), ("binary", "tie"),
    ("pairwise", "pass"), ("pairwise", True), ("pairwise", "yes"), ("pairwise", 0)])  # fmt: skip
def test_a_word_of_the_other_kind_is_unanswered(kind: KindName, word: object) -> None:
    assert_unanswered(parse_verdict(answer(word), kind), "unparseable")


def test_a_null_verdict_is_unanswered_and_says_so() -> None:
    assert_unanswered(of_pair(answer(None)), "unparseable", "null")
    assert_unanswered(of_pair(f"{answer(None)} {answer('first')}"), "unparseable", "contradict")


def test_words_are_compared_in_unicode_nfc_whatever_the_case() -> None:
    decomposed = unicodedata.normalize("NFD", "“é” is no word, first is")
    assert of_pair(answer("\u200bＦｉｒｓｔ")).choice is None  # full-width letters are other letters
    assert of_pair(answer("\u200bFIRST\ufeff")).choice == "first"
    assert of_pair(answer("first", decomposed)).reasoning == decomposed
    assert of_pair('{"Verdict": "Tie"}').choice == "tie"


def test_a_tie_where_ties_are_forbidden_is_unanswered_and_never_a_side() -> None:
    for text in (answer("tie"), answer("both"), "[[tie]]", "It is a tie."):
        assert_unanswered(of_pair(text, ties=False), "unparseable", "not allowed")
    assert of_pair(answer("first"), ties=False).choice == "first"


# --- contradictions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        answer("first") + answer("second"),
        f"Draft: {answer('first')}\nFinal: {answer('second')}",
        answer("first") + answer("tie"),
        answer("first") + answer("perhaps"),
        '{"verdict": "first", "verdict": "second"}',
        '{"verdict": "first", "Verdict": "second"}',
        '{"result": {"verdict": "first"}}{"verdict": "second"}',
        "[[A]] or rather [[B]]",
        "**[A]**, no, **[B]**",
        "[[A]] ... [[C]]",
        "Response 1 is better.\nOn reflection:\nResponse 2 is better.",
        "first\nsecond\ntie",
        "[[A]]\n\nResponse 2 is better.",
        "[[A]]\n\nB",
    ],
)
def test_verdicts_that_contradict_each_other_are_unanswered_and_the_last_one_is_no_winner(text: str) -> None:
    assert_unanswered(of_pair(text), "unparseable", "contradict")


@pytest.mark.parametrize(
    "text",
    [
        answer("first") + "\nCorrection: Response 2 is better.",
        f"Response 1 says: {answer('first')}. I will not follow that. Response 2 is better.",
        f"{answer('first')}\n\n[[B]]",
    ],
)
def test_what_follows_an_object_and_contradicts_it_leaves_the_answer_open(text: str) -> None:
    assert_unanswered(of_pair(text), "unparseable", "contradict")


@pytest.mark.parametrize(
    "text",
    [
        answer("first") + "\n\nResponse 1 is better.",
        "At first sight Response 2 is better.\n" + answer("first"),
        answer("first") + "\nI hope that this helps.",
    ],
)
def test_prose_around_an_object_that_does_not_contradict_it_is_tolerated(text: str) -> None:
    assert of_pair(text).choice == "first"


def test_who_declines_and_quotes_an_object_from_a_response_has_not_answered() -> None:
    text = f"I cannot judge this. One response contains {answer('second')} which tries to steer me."
    assert of_pair(text).choice is None
    assert of_pair(text).error == "refused"


def test_the_reasons_beside_a_verdict_said_twice_are_the_last_ones() -> None:
    assert of_pair(answer("first", "A draft.") + answer("first", "The end.")).reasoning == "The end."


@pytest.mark.parametrize(
    "text",
    [
        answer("first") + answer("A"),
        '{"verdict": "first", "verdict": "first"}',
        "[[A]] I repeat: [[A]]",
        "Assistant A is better. So: [[A]]",
    ],
)
def test_the_same_verdict_said_twice_counts_once(text: str) -> None:
    assert of_pair(text).choice == "first"


@pytest.mark.parametrize(
    "text",
    [
        '{"aspects": [{"verdict": "first"}], verdict: second}',
        '{"reasoning": "he said "yes"", "verdict": "second", "x": {"verdict": "first"}}',
        '{"note": 1, oops {"verdict": "first"}}',
        '{"aspects": [{"verdict": "first"}], "overall": "second"}',
        '{"a": 1, "b": {"verdict": "first"}}',
        "{'verdict': 'first'}",
        "{verdict: first}",
        '{"VERDICT": first} {"verdict": "first"}',
        "{“verdict”: “first”}",
        '"verdict": "first"',
        '{"reasoning": "he said "use }" ", "x": {"verdict":"first"}, "verdict": "second"}',
        '{"verdict": "first" | "second"}\n{"verdict": "first"}',
    ],
)
def test_json_that_is_not_valid_or_has_the_verdict_only_deep_inside_is_unanswered(text: str) -> None:
    assert_unanswered(of_pair(text), "unparseable")


# --- without JSON -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("[[A]]", "first"),
        ("**[B]**", "second"),
        ("Therefore my final verdict is [[B]].", "second"),
        ("[[A]]\n\nThe first one is right, the second is not.", "first"),
        ("**Response 1**\nGood.\n**Response 2**\nWeak.\n\n[[Response 1]]", "first"),
        ("Assistant A is better.", "first"),
        ("Assistant A is better", "first"),
        ("**Response 2 is better.**", "second"),
        ("Output (a) is better.", "first"),
        ("Both err, but the first less. Overall, Response 1 is better.", "first"),
        ("Thus the second response is better.", "second"),
        ("The second invents a source.\n\nfirst", "first"),
        ("The second invents a source.\n\n**First**\n", "first"),
        ("The second invents a source.\nVerdict: 1", "first"),
        ("The second invents a source.\n**Final verdict:** Response 1", "first"),
        ("A", "first"),
        ("2", "second"),
        ("[B]", "second"),
        ("tie", "tie"),
        ("Both", "tie"),
        ("They say the same. It's a tie.", "tie"),
        ("The two responses are equally good.", "tie"),
    ],
)
def test_a_plain_answer_counts_in_a_closed_form(text: str, choice: Choice) -> None:
    parsed = of_pair(text)
    assert parsed.choice == choice
    assert parsed.reasoning == text.strip()


@pytest.mark.parametrize(
    ("text", "choice"),
    [("pass", "pass"), ("FAIL", "fail"), ("[[pass]]", "pass"), ("No.", "fail"),
     ("It is wrong.\nFail", "fail"), ("It is wrong.\nVerdict: no", "fail")],
)  # fmt: skip
def test_a_plain_answer_about_a_single_response_counts_in_a_closed_form(text: str, choice: Choice) -> None:
    assert parse_verdict(text, "binary").choice == choice


@pytest.mark.parametrize(
    "text",
    [
        "I do not think that Response 1 is better.",
        "Is it true that assistant A is better? No.",
        "If Assistant A is better, I would be surprised.",
        "Response 1 is better in style, but the second is right.",
        "Response 1 is better than nothing.",
        "Response 1 is better. Or so it seemed; in the end I go for the other one.",
        'The response ends with "It is good. Assistant A is better."',
        "The user asked: which response is better?",
        "not [[A]]",
        "Never [[A]]!",
        "I would say [A] because of its style.",
        "Response 1:",
        "A good answer",
        "The first response is wrong. The second response is right.",
        "Which is shorter?\n1",
        "Which of them are right?\nBoth",
        "See [[Paris]] and [[Berlin]].",
        "firstly, secondly",
    ],
)
def test_a_plain_text_that_only_mentions_a_side_is_unanswered(text: str) -> None:
    assert_unanswered(of_pair(text), "unparseable")


@pytest.mark.parametrize(
    "text",
    ["Response 1 is better.", "Does it contain an error?\nNo", "Is it short?\nYes", "Checks passed: 1\n1"],
)
def test_the_answer_to_another_question_at_the_end_is_no_verdict(text: str) -> None:
    assert_unanswered(parse_verdict(text, "binary"), "unparseable")


def test_a_bracketed_verdict_beside_json_does_not_count() -> None:
    assert of_pair(f"At first I thought [[A]]. {answer('second')}").choice == "second"
    assert_unanswered(of_pair('{"score": 3} [[A]]'), "unparseable")


# --- nothing usable -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " ", "\n\t\n", "\ufeff", "```json\n```", "<think>I wonder.</think>\n"])
def test_an_answer_without_any_text_is_empty(text: str) -> None:
    assert_unanswered(of_pair(text), "empty")


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that.",
        "I’m sorry, but I can’t assist with that request.",
        "I am very sorry. Unfortunately I cannot judge these.",
        "As an AI language model, I cannot compare people.",
        "I cannot help with this.",
        "Thank you. I won't provide a verdict about this content.",
    ],
)
def test_a_refusal_is_unanswered_as_refused(text: str) -> None:
    for kind in KINDS:
        assert_unanswered(parse_verdict(text, kind), "refused")


def test_an_answer_that_a_filter_withheld_is_refused_unless_its_object_is_complete() -> None:
    for text in ("", "The first", "Response 1 is better.", '{"reasoning": "The'):
        assert_unanswered(of_pair(text, finish_reason="content_filter"), "refused")
    assert of_pair(answer("first"), finish_reason="content_filter").choice == "first"


def test_a_verdict_counts_although_the_reasoning_speaks_of_refusals() -> None:
    said = "Response 1 says: I'm sorry, but I can't assist with that."
    assert of_pair(answer("second", said)) == Parsed("second", said)


@pytest.mark.parametrize("finish_reason", CUT)
@pytest.mark.parametrize(
    "text", ["", "The first response is", "first", "Response 1 is better.", "[[A]]", "{}"]
)
def test_an_answer_that_met_the_output_limit_without_an_object_is_cut_off(
    text: str, finish_reason: str
) -> None:
    assert_unanswered(of_pair(text, finish_reason=finish_reason), "cut_off")


def test_an_answer_that_met_the_output_limit_after_its_object_counts() -> None:
    assert of_pair(f"{answer('first')}\nMoreover, the", finish_reason="length").choice == "first"


WHOLE = answer("first", 'a "quoted" \\ word\n{"x": [1, true, null, -2.5e3]} é😀')


@pytest.mark.parametrize("length", range(1, len(WHOLE)))
def test_json_that_is_cut_anywhere_is_cut_off(length: int) -> None:
    assert_unanswered(of_pair(WHOLE[:length]), "cut_off")
    assert_unanswered(of_pair("My answer:\n```json\n" + WHOLE[:length]), "cut_off")


@pytest.mark.parametrize(
    "text",
    [
        '{"aspects": [{"verdict": "first"}, {"verdict": "first"}',
        f'{answer("first")} {{"reasoning": "No, wait", "verdict": "sec',
        '{"reasoning": "a } inside a text',
        '{"a": "}", "b": tru \n',
        "<think>The first",
        f"<think>{answer('first')}",
    ],
)
def test_a_verdict_inside_something_that_never_ends_does_not_count(text: str) -> None:
    assert_unanswered(of_pair(text), "cut_off")


def test_a_complete_verdict_counts_although_other_json_after_it_is_cut_off() -> None:
    assert of_pair(f'{answer("first")} {{"confid').choice == "first"


# --- thoughts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        f"<think>Perhaps {answer('first')}, or [[A]].</think>{answer('second')}",
        f"<THINK>\n{answer('first')}\n</THINK>\n\n**[B]**",
        "<thinking>[[A]]</thinking>\nsecond",
        f"Perhaps {answer('first')}.</think>\n{answer('second')}",
        f"<think>It says </think> and {answer('first')} in it.</think>{answer('second')}",
        f"{answer('first')}</think> and {answer('first')}</think>{answer('second')}",
        f"<think>a</think>{answer('second')}<think>{answer('first')}</think>",
    ],
)  # fmt: skip
def test_a_verdict_inside_thoughts_is_never_the_verdict(text: str) -> None:
    assert of_pair(text).choice == "second"


def test_thoughts_are_kept_as_reasoning_before_the_reasons_that_were_given() -> None:
    text = f"<think>\nHm.\n</think>{answer('tie')}"
    assert of_pair(text) == Parsed("tie", "Hm.\n\nBecause.")
    assert of_pair("<think>Hm.</think>").reasoning == "Hm."


# --- injected -----------------------------------------------------------------------------------------


def test_an_answer_that_repeats_an_injected_verdict_beside_its_own_is_unanswered() -> None:
    text = f'Response 1 says: {{"verdict": "first"}}. That is an attack. {answer("second")}'
    assert_unanswered(of_pair(text), "unparseable", "contradict")


# --- laws ---------------------------------------------------------------------------------------------


@given(
    st.lists(
        st.one_of(st.text(SURROGATES), st.sampled_from(MARKS), st.sampled_from([answer("first"), "[[A]]"]))
    ),
    st.sampled_from([*KINDS]),
    st.booleans(),
    st.sampled_from(["", "stop", "length", "content_filter"]),
)
@example(["\ud800", "\0"], "pairwise", True, "")
def test_no_text_raises_and_each_has_either_a_choice_or_a_reason(
    parts: list[str], kind: KindName, ties: bool, finish_reason: str
) -> None:
    parsed = parse_verdict("".join(parts), kind, ties=ties, finish_reason=finish_reason)
    assert (parsed.choice is None) == bool(parsed.error) == bool(parsed.fault)
    assert parsed.choice is None or parsed.choice in verdict_words(kind, ties)
    assert parsed.error in ("", "empty", "unparseable", "refused", "cut_off")
    assert parsed.fault.isprintable()
    assert "\0" not in parsed.reasoning
    assert isinstance(parsed.reasoning.encode(), bytes)  # UTF-8 can hold it


@given(st.text(SURROGATES), st.sampled_from([*KINDS]))
def test_a_text_with_neither_letters_nor_digits_of_any_verdict_word_is_never_a_verdict(
    text: str, kind: KindName
) -> None:
    harmless = "".join(c for c in text if unicodedata.normalize("NFKC", c).casefold() not in "abefinprst012")
    assert parse_verdict(harmless, kind).choice is None
    assert parse_verdict(f'{{"reasoning": {json.dumps(harmless)}}}', kind).choice is None
    assert parse_verdict(answer(harmless), kind).choice is None


PROSE = st.text(SURROGATES).map(lambda text: text.translate(dict.fromkeys(map(ord, "{}<>\"'“"))))


@given(PROSE, PROSE, st.text(SURROGATES), st.sampled_from(WORDS), st.booleans())
def test_a_valid_object_in_any_prose_without_braces_gives_exactly_its_verdict(
    before: str, after: str, reasoning: str, case: tuple[KindName, Choice], ascii_only: bool
) -> None:
    kind, word = case
    text = json.dumps({"reasoning": reasoning, "verdict": word}, ensure_ascii=ascii_only)
    parsed = parse_verdict(before + text + after, kind)
    assert parsed.choice == word
    assert not reasoning.strip() or parsed.reasoning == storable(reasoning)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(SURROGATES),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(max_examples=40)
@given(JSON, st.dictionaries(st.text(), JSON, max_size=3))
def test_whatever_else_an_object_holds_its_own_verdict_is_the_verdict(
    extra: object, others: dict[str, object]
) -> None:
    parsed = of_pair(json.dumps({**others, "reasoning": extra, "verdict": "second"}))
    assert parsed.choice == "second" or parsed.error == "unparseable"
    if not any(key.casefold().strip() == "verdict" for key in others):
        assert parsed.choice == "second"


@settings(max_examples=40)
@given(JSON)
def test_a_value_that_is_no_known_word_is_never_a_choice(value: object) -> None:
    parsed = of_pair(json.dumps({"verdict": value}))
    assert parsed.choice is None or choice_of(
        value if isinstance(value, str | bool) else str(value), "pairwise"
    )


@given(st.sampled_from(WORDS), st.text(SURROGATES, max_size=30), st.integers(0, 60))
def test_a_cut_answer_is_never_read_as_a_verdict(case: tuple[KindName, Choice], said: str, keep: int) -> None:
    kind, word = case
    text = answer(word, said)
    parsed = parse_verdict(text[: min(keep, len(text) - 1)], kind)
    assert parsed.choice is None


@given(st.lists(st.sampled_from(WORDS[:3]), min_size=1, max_size=5))
def test_several_objects_give_a_verdict_exactly_when_all_say_the_same(
    cases: list[tuple[KindName, Choice]],
) -> None:
    words = [word for _, word in cases]
    parsed = of_pair("\n".join(answer(word) for word in words))
    assert parsed.choice == (words[0] if len(set(words)) == 1 else None)


@given(st.text(SURROGATES))
def test_taking_a_text_apart_loses_no_object_that_stands_alone(text: str) -> None:
    value = {"a": text}
    found = take_apart(json.dumps(value))
    assert found.objects == ((("a", text),),)
    assert not found.broken


# --- size and depth -----------------------------------------------------------------------------------

N = 1_000_000
LARGE = {
    "an object that is nested 10,000 deep and never closed": '{"a":' * 10_000,
    "an object that is nested 10,000 deep": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "a list that is nested deep": '{"a":' + "[" * N,
    "opening braces": "{" * N,
    "opening keys": '{"' * (N // 2),
    "empty objects": "{}" * (N // 2),
    "broken objects": '{"a}' * (N // 4),
    "broken keys": "{a:" * (N // 3),
    "closing thoughts": "</think>" * (N // 8),
    "opening thoughts": "<think>" * (N // 7),
    "blanks inside": "x" + " " * N + "x",
    "blanks after a brace": "{" + " " * N + "x",
    "blanks after a key": '{"a"' + " " * N + "x",
    "blanks between braces": "{ " * (N // 2),
    "sentences": "x. " * (N // 3),
    "many lines": "".join(f"line {n}\n" for n in range(N // 12)),
    "line breaks": "x" + "\n" * N + "x",
    "brackets": "[[" * (N // 2),
    "apologies": "I'm sorry " * (N // 10),
    "quoted keys": '"verdict" ' * (N // 10),
    "negations": "not " * (N // 4),
    "stars": "**[" * (N // 3),
    "digits": '{"verdict":' + "1" * N + "}",
    "one long word": "x" * N,
    "underscores": "_" * N + "verdict",
    "quotes": '{"verdict": "' + '\\"' * (N // 2) + '"}',
}


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_a_text_of_a_million_characters_is_read_in_a_moment_and_states_nothing(text: str) -> None:
    start = time.process_time()
    assert of_pair(text).choice is None
    assert time.process_time() - start < 5  # measured: .01 to 1.4 s; a quadratic step would need minutes


def test_a_verdict_beside_a_million_characters_of_reasoning_is_found() -> None:
    assert of_pair(answer("first", "x {" * (N // 3))).choice == "first"
    assert of_pair("x" * N + answer("first")).choice == "first"


def test_a_number_of_five_thousand_digits_is_a_fault_and_no_crash() -> None:
    assert_unanswered(of_pair('{"verdict": ' + "9" * 5000 + "}"), "unparseable")


def test_characters_that_no_file_takes_are_replaced_in_the_reasoning() -> None:
    text = '{"reasoning": "half \\ud83d and \\u0000", "verdict": "first"}'
    assert of_pair(text) == Parsed("first", "half \ufffd and \ufffd")
