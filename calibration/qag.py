"""The judge that answers closed questions about a response: the share of yes is computed here, not by it.

Each question is put so that yes speaks for the response. "Unknown" counts as not supported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from calibration.asking import Message
from calibration.parsing import Parsed, keyed_objects, reasoning_of, values_of, why_unanswered, word_of
from calibration.pieces import Found, JsonObject, take_apart
from calibration.prompts import (
    DATA_BLOCK,
    EVIDENCE_BLOCKS,
    RUBRIC_BLOCKS,
    JudgePrompt,
    asked_again,
    assemble,
    evidence_texts,
    object_schema,
    repair_request,
    rubric_places,
    strict_object,
)
from labels.errors import UserError
from labels.text import storable
from labels.types import Choice, Criterion, Item, Rubric

Reply = Literal["yes", "no", "unknown"]
_REPLIES: Mapping[str, Reply] = {
    **dict.fromkeys(("yes", "true"), "yes"),
    **dict.fromkeys(("no", "false"), "no"),
    "unknown": "unknown",
}
_EXACT = 9  # decimals to which a share is compared, so that a threshold of .333333333 is one third
QUESTIONS_PROMPT = JudgePrompt(
    "questions",
    (
        "You are an impartial judge. You answer closed questions about one response to a prompt.",
        *RUBRIC_BLOCKS[:-1],  # the rubric's output part is about verdicts, not answers
        "The questions:\n{questions}",
        DATA_BLOCK,
        'Answer "yes" or "no" to each question by what the texts show, and "unknown" when they show neither.',
        "{form}",
    ),
    (*EVIDENCE_BLOCKS, "The response:\n{response}", "Now answer every question."),
)


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """A judge's answer to one question; questions are counted from 1."""

    question: int
    answer: Reply
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class QagReading:
    """What a judge's text says about the questions; `score` is None unless each has one answer."""

    answers: tuple[QuestionAnswer, ...]
    score: float | None
    parsed: Parsed


def qag_messages(
    rubric: Rubric, criterion: Criterion, item: Item, questions: Sequence[str]
) -> tuple[Message, ...]:
    """The messages that put the questions about a single response; UserError for a pair or no questions."""
    if item.kind != "binary":
        raise UserError("Closed questions are about one response; use a pass-or-fail criterion for them.")
    if not questions or not all(question.strip() for question in questions):
        raise UserError(
            "There are no questions, or one is empty; write each as a sentence that yes speaks for."
        )
    listed = "\n".join(f"{number}. {question.strip()}" for number, question in enumerate(questions, start=1))
    places = rubric_places(rubric, criterion) | {"questions": listed, "form": _form(len(questions))}
    texts = evidence_texts(rubric, item) | {"response": item.responses[0].text}
    return assemble(QUESTIONS_PROMPT, places, texts=texts)


def qag_schema() -> str:
    """The JSON schema of the answers as canonical text: for each its number, reasoning, then answer."""
    entry = strict_object(
        {
            "question": {"type": "integer"},
            "reasoning": {"type": "string"},
            "answer": {"type": "string", "enum": ["yes", "no", "unknown"]},
        }
    )
    return object_schema({"answers": {"type": "array", "items": entry}})


def qag_repaired(
    messages: tuple[Message, ...], raw_text: str, *, fault: str, questions: int
) -> tuple[Message, ...]:
    """The conversation that asks once more, with the fault named."""
    return asked_again(messages, raw_text, request=repair_request(fault, _form(questions)))


def pass_rule(threshold: float = 1.0) -> str:
    """The rule that turns a score into a verdict, as a sentence."""
    if threshold >= 1:
        return "A response passes when every question is answered with yes."
    return f"A response passes when at least {threshold:.4g} of the questions are answered with yes."


def parse_qag(text: str, questions: int, *, threshold: float = 1.0, finish_reason: str = "") -> QagReading:
    """The answers in a judge's text, their score and the verdict that follows; never raises for any text."""
    found = take_apart(text)
    answers, fault = _answers(found, questions)
    reasoning = storable("\n\n".join(filter(None, (found.thoughts, _listed(answers)))))
    missing = set(range(1, questions + 1)) - {answer.question for answer in answers}
    score = None if fault or missing else score_of(answers, questions)
    if score is not None:
        choice: Choice = "pass" if round(score - threshold, _EXACT) >= 0 else "fail"
        return QagReading(answers, score, Parsed(choice, reasoning))
    error, said = why_unanswered(found, finish_reason, fault=fault, key="answers")
    if answers and missing and error == "unparseable":
        said = fault or f"There is no answer to {', '.join(f'question {n}' for n in sorted(missing))}."
    return QagReading(answers, None, Parsed(None, reasoning, error, said))


def score_of(answers: Sequence[QuestionAnswer], questions: int) -> float | None:
    """The share of questions answered with yes; None when there are no questions or one has no answer."""
    from calibration.stats.repeats import qag_score

    if {answer.question for answer in answers} != set(range(1, questions + 1)):
        return None
    return qag_score(sum(answer.answer == "yes" for answer in answers), questions)


def _form(questions: int) -> str:
    return (
        'Answer with a single JSON object and nothing else. Its one key is "answers", a list with one object '
        f'for each of the questions 1 to {questions}, in their order. Each has three keys: "question", the '
        'number; then "reasoning", a text with your reasons; then "answer", which is exactly "yes", "no" or '
        '"unknown".'
    )


def _answers(found: Found, questions: int) -> tuple[tuple[QuestionAnswer, ...], str]:
    entries, fault = _entries(found)
    answers: dict[int, QuestionAnswer] = {}
    for entry in entries:
        answer = _answer(entry, questions)
        if isinstance(answer, str):
            fault = fault or answer
        elif answers.setdefault(answer.question, answer).answer != answer.answer:
            fault = fault or f"Question {answer.question} has answers that contradict each other."
    return tuple(answers[number] for number in sorted(answers)), fault


def _entries(found: Found) -> tuple[list[object], str]:
    objects, fault = keyed_objects(found, "answers")
    if not objects and not fault:  # a bare list, or one object a line
        entries, fault = keyed_objects(found, "question")
        return [*entries], fault
    lists = [held for value in objects for held in values_of(value, "answers")]
    if not all(isinstance(held, list) for held in lists):
        return [], '"answers" is no list.'
    return [entry for held in lists if isinstance(held, list) for entry in held], fault


def _answer(entry: object, questions: int) -> QuestionAnswer | str:
    """One answer, or what is wrong with it."""
    if not isinstance(entry, tuple):
        return 'An entry of "answers" is no object.'
    number, word = (_only_word(entry, key) for key in ("question", "answer"))
    reply = _REPLIES.get(word)
    if number not in map(str, range(1, questions + 1)):
        return f'A "question" is none of the numbers 1 to {questions}.'
    if reply is None:
        return f'The answer to question {number} is not "yes", "no" or "unknown".'
    return QuestionAnswer(int(number), reply, storable(reasoning_of(entry)))


def _only_word(entry: JsonObject, key: str) -> str:
    words = {word_of(held) for held in values_of(entry, key)}
    return words.pop() if len(words) == 1 else ""


def _listed(answers: Sequence[QuestionAnswer]) -> str:
    return "\n".join(f"{a.question}. {a.answer}: {a.reasoning}".rstrip(": ") for a in answers)
