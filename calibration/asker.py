"""One job from request to outcome: the answer read strictly, one repair, then unanswered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from calibration.asking import Answer, Completion, Message, PassingError, Request, TooLong
from calibration.judging import Job, Outcome
from calibration.parsing import Parsed, parse_verdict
from calibration.prompts import repaired
from labels.text import storable
from labels.types import Criterion

T = TypeVar("T")
Asker = Callable[[Job], Awaitable[Outcome]]
Messages = tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """How one kind of answer is read, and how a faulty one is asked for once more.

    `fault` is None for a usable reading, else what is wrong with it; `again` makes the conversation
    that names the fault from the messages, the faulty text and the fault.
    """

    read: Callable[[Answer], T]
    fault: Callable[[T], str | None]
    again: Callable[[Messages, str, str], Messages]


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer says, with numbers worth keeping."""

    parsed: Parsed
    details: Mapping[str, float]


async def asked(completion: Completion, request: Request, *, form: Form[T], answers: list[Answer]) -> T:
    """The reading of an answer; what cannot be read is asked again once. `answers` gets all that came."""
    answer = await completion.complete(request)
    answers.append(answer)
    reading = form.read(answer)
    fault = form.fault(reading)
    if fault is None:
        return reading
    messages = form.again(request.messages, answer.text, fault)
    try:
        second = await completion.complete(replace(request, messages=messages))
    except (PassingError, TooLong):
        return reading
    answers.append(second)
    return form.read(second)


def reading_asker(read: Callable[[Job, list[Answer]], Awaitable[Reading]]) -> Asker:
    """An asker from a function that asks for a job and keeps the answers that came, whatever happens then."""

    async def ask(job: Job) -> Outcome:
        answers: list[Answer] = []
        try:
            reading = await read(job, answers)
        except TooLong:
            parsed = Parsed(None, "", "too_long", "The item does not fit the model's context window.")
            return outcome_of(Reading(parsed, {}), answers, told=parsed.fault)
        except PassingError as error:
            return outcome_of(Reading(Parsed(None, "", "error"), {}), answers, told=str(error))
        return outcome_of(reading, answers)

    return ask


def verdict_form(criterion: Criterion) -> Form[Parsed]:
    """How a verdict is read."""

    def read(answer: Answer) -> Parsed:
        return parse_verdict(
            answer.text, criterion.kind, ties=criterion.ties, finish_reason=answer.finish_reason
        )

    def again(messages: Messages, raw: str, fault: str) -> Messages:
        return repaired(messages, raw, fault=fault, kind=criterion.kind, ties=criterion.ties)

    return Form(read, lambda parsed: None if parsed.choice is not None else parsed.fault, again)


def verdict_asker(completion: Completion, criterion: Criterion) -> Asker:
    """Asks for one verdict; what cannot be read is asked again once, with the fault named."""
    form = verdict_form(criterion)

    async def read(job: Job, answers: list[Answer]) -> Reading:
        return Reading(await asked(completion, job.request, form=form, answers=answers), {})

    return reading_asker(read)


def outcome_of(reading: Reading, answers: Sequence[Answer], *, told: str = "") -> Outcome:
    """What the last answer says, and what all of them cost; the cost is None when one has no price."""
    costs = [answer.cost for answer in answers]
    last = answers[-1] if answers else Answer("")
    return Outcome(
        choice=reading.parsed.choice,
        error=reading.parsed.error,
        reasoning=reading.parsed.reasoning,
        text=told or storable(last.text),
        thinking=storable(last.reasoning),
        served_model=last.served_model,
        finish_reason=last.finish_reason,
        calls=len(answers),
        prompt_tokens=sum(answer.prompt_tokens for answer in answers),
        completion_tokens=sum(answer.completion_tokens for answer in answers),
        cost=None if None in costs else sum(cost or 0.0 for cost in costs),
        latency=sum(answer.latency for answer in answers),
        left_out=last.left_out,
        details=reading.details,
    )
