"""The ways of asking a judge: what is sent for an item in an order, and how the answer becomes a choice.

To add a way, write its functions and one entry in `WAYS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from calibration.asker import Asker, Form, Reading, asked, reading_asker, verdict_asker
from calibration.asking import Answer, Completion, Message, Request
from calibration.code_judges import by_itself, code_messages, reference_asker, rule_asker
from calibration.judging import Brief, Job, Mode, Outcome
from calibration.prompts import answer_schema, build_messages
from labels.present import Order
from labels.types import Item, Side

if TYPE_CHECKING:
    from calibration.geval import ScoreReading
    from calibration.qag import QagReading

LOGPROBS = 20  # the most candidates for a token that providers give


@dataclass(frozen=True, slots=True)
class Way:
    """One way of asking; `reread` says what a stored answer means under this run's own rule, which `rule`
    states where the judge itself names no verdict.

    A way without `orders` looks at each response alone: it is asked once, and its verdict holds for both
    orders of a pair. `logprobs` is how many candidates for each token it wants to see.
    """

    title: str
    messages: Callable[[Brief, Item, Order], tuple[Message, ...]]
    schema: Callable[[Brief], str]
    asker: Callable[[Brief, Completion], Asker]
    reread: Callable[[Brief, Outcome], Outcome]
    orders: bool = True
    logprobs: int = 0
    asks_a_model: bool = True
    rule: Callable[[Brief], str] = lambda _: ""


def questions_of(text: str) -> tuple[str, ...]:
    """The closed questions of a text, one a line; empty lines and lines that begin with # do not count."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def _verdict_messages(brief: Brief, item: Item, order: Order) -> tuple[Message, ...]:
    return build_messages(brief.rubric, brief.criterion, item, order)


def _as_stored(_: Brief, outcome: Outcome) -> Outcome:
    return outcome


def _question_messages(brief: Brief, item: Item, _: Order) -> tuple[Message, ...]:
    from calibration.qag import qag_messages

    questions = questions_of(brief.run.settings.get("questions", ""))
    return qag_messages(brief.rubric, brief.criterion, item, questions)


def _question_schema(_: Brief) -> str:
    from calibration.qag import qag_schema

    return qag_schema()


def _question_asker(brief: Brief, completion: Completion) -> Asker:
    from calibration.qag import parse_qag, qag_repaired

    count = len(questions_of(brief.run.settings.get("questions", "")))

    def read(answer: Answer) -> QagReading:
        threshold = brief.number("pass_from", 1.0)
        return parse_qag(answer.text, count, threshold=threshold, finish_reason=answer.finish_reason)

    def again(messages: tuple[Message, ...], raw: str, fault: str) -> tuple[Message, ...]:
        return qag_repaired(messages, raw, fault=fault, questions=count)

    form = Form(read, lambda said: None if said.score is not None else said.parsed.fault, again)

    async def ask(job: Job, answers: list[Answer]) -> Reading:
        said = await asked(completion, job.request, form=form, answers=answers)
        return Reading(said.parsed, {} if said.score is None else {"score": said.score})

    return reading_asker(ask)


def _question_rule(brief: Brief) -> str:
    from calibration.qag import pass_rule

    return pass_rule(brief.number("pass_from", 1.0))


def _question_reread(brief: Brief, outcome: Outcome) -> Outcome:
    passes = outcome.details["score"] >= brief.number("pass_from", 1.0) - 1e-9
    return replace(outcome, choice="pass" if passes else "fail")


def _score_messages(brief: Brief, item: Item, order: Order) -> tuple[Message, ...]:
    """The conversation about each response alone, the one in the first slot first."""
    from calibration.geval import score_messages

    talks = (score_messages(brief.rubric, brief.criterion, item, side=side) for side in _sides(item, order))
    return tuple(message for talk in talks for message in talk)


def _sides(item: Item, order: Order) -> tuple[Side, ...]:
    return order.sides if item.kind == "pairwise" else ("A",)


def _score_schema(_: Brief) -> str:
    from calibration.geval import score_schema

    return score_schema()


def _score_asker(brief: Brief, completion: Completion) -> Asker:
    """Asks for the score of each response alone, the first slot's first."""
    from calibration.geval import read_score, score_repaired

    def again(messages: tuple[Message, ...], raw: str, fault: str) -> tuple[Message, ...]:
        return score_repaired(messages, raw, fault=fault)

    form = Form(read_score, lambda said: None if said.score is not None else said.fault, again)

    async def ask(job: Job, answers: list[Answer]) -> Reading:
        said = []
        for request in _alone(job.request):
            said.append(await asked(completion, request, form=form, answers=answers))
            if said[-1].score is None:
                break
        return _scored(brief, said)

    return reading_asker(ask)


def _alone(request: Request) -> list[Request]:
    """The request about each response, from the one that holds them all."""
    starts = [place for place, message in enumerate(request.messages) if message.role == "system"]
    ends = [*starts[1:], len(request.messages)]
    parts = zip(starts, ends, strict=True)
    return [replace(request, messages=request.messages[start:end]) for start, end in parts]


def _scored(brief: Brief, said: list[ScoreReading]) -> Reading:
    from calibration.geval import pass_or_fail, winner

    slots = ("first", "second") if brief.criterion.kind == "pairwise" else ("score",)
    details: dict[str, float] = {}
    for slot, reading in zip(slots, said, strict=False):
        details |= {} if reading.score is None else {slot: reading.score}
        details |= {} if reading.valid_mass is None else {f"{slot}_mass": reading.valid_mass}
    if len(said) == 1 or said[-1].score is None:
        return Reading(pass_or_fail(said[-1], threshold=_score_threshold(brief)), details)
    both = winner(said[0], said[1], margin=_score_margin(brief), ties=brief.criterion.ties)
    return Reading(both, details)


def _score_reread(brief: Brief, outcome: Outcome) -> Outcome:
    from calibration.geval import ScoreReading, pass_or_fail, winner

    scores = {name: ScoreReading(outcome.details.get(name)) for name in ("first", "second", "score")}
    if brief.criterion.kind == "binary":
        parsed = pass_or_fail(scores["score"], threshold=_score_threshold(brief))
    else:
        margin, ties = _score_margin(brief), brief.criterion.ties
        parsed = winner(scores["first"], scores["second"], margin=margin, ties=ties)
    return replace(outcome, choice=parsed.choice, error=parsed.error)


def _score_rule(brief: Brief) -> str:
    from calibration.geval import pair_rule, pass_rule

    if brief.criterion.kind == "binary":
        return pass_rule(_score_threshold(brief))
    return pair_rule(_score_margin(brief), ties=brief.criterion.ties)


def _score_threshold(brief: Brief) -> float:
    from calibration.geval import THRESHOLD

    return brief.number("pass_from", THRESHOLD)


def _score_margin(brief: Brief) -> float:
    from calibration.geval import MARGIN

    return float(brief.run.settings.get("margin") or MARGIN)


def _no_schema(_: Brief) -> str:
    return ""


WAYS: Mapping[Mode, Way] = {
    "verdict": Way(
        "A verdict with its reasons",
        _verdict_messages,
        lambda brief: answer_schema(brief.criterion.kind, ties=brief.criterion.ties),
        lambda brief, completion: verdict_asker(completion, brief.criterion),
        _as_stored,
    ),
    "questions": Way(
        "Closed questions",
        _question_messages,
        _question_schema,
        _question_asker,
        _question_reread,
        rule=_question_rule,
    ),
    "score": Way(
        "A score from 1 to 5",
        _score_messages,
        _score_schema,
        _score_asker,
        _score_reread,
        orders=False,
        logprobs=LOGPROBS,
        rule=_score_rule,
    ),
    "rule": Way("Rules", code_messages, _no_schema, rule_asker, _as_stored, orders=False, asks_a_model=False),
    "reference": Way(
        "A metric against the reference",
        code_messages,
        _no_schema,
        reference_asker,
        _as_stored,
        orders=False,
        asks_a_model=False,
    ),
    "command": Way("A program", code_messages, _no_schema, by_itself, _as_stored, asks_a_model=False),
}
