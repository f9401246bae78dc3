"""One job from request to outcome: the answer read strictly, one repair, then unanswered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from calibration.asking import Answer, Completion, PassingError, TooLong
from calibration.judging import Job, Outcome
from calibration.parsing import Parsed, parse_verdict, storable
from calibration.prompts import repaired
from labels.types import Criterion

Asker = Callable[[Job], Awaitable[Outcome]]


def verdict_asker(completion: Completion, criterion: Criterion) -> Asker:
    """Asks for one verdict; what cannot be read is asked again once, with the fault named."""

    async def ask(job: Job) -> Outcome:
        try:
            first = await completion.complete(job.request)
        except TooLong:
            return Outcome(None, "too_long", text="The item does not fit the model's context window.")
        except PassingError as error:
            return Outcome(None, "error", text=str(error), calls=0)
        parsed = _parsed(first, criterion)
        if parsed.choice is not None:
            return outcome_of(parsed, [first])
        return await _repair(completion, job, first, parsed=parsed, criterion=criterion)

    return ask


def outcome_of(parsed: Parsed, answers: Sequence[Answer]) -> Outcome:
    """What the last answer says, and what all of them cost; the cost is None when one has no price."""
    last = answers[-1]
    costs = [answer.cost for answer in answers]
    return Outcome(
        choice=parsed.choice,
        error=parsed.error,
        reasoning=parsed.reasoning,
        text=storable(last.text),
        thinking=storable(last.reasoning),
        served_model=last.served_model,
        finish_reason=last.finish_reason,
        calls=len(answers),
        prompt_tokens=sum(answer.prompt_tokens for answer in answers),
        completion_tokens=sum(answer.completion_tokens for answer in answers),
        cost=None if None in costs else sum(cost or 0.0 for cost in costs),
        latency=sum(answer.latency for answer in answers),
        left_out=last.left_out,
    )


async def _repair(
    completion: Completion, job: Job, first: Answer, *, parsed: Parsed, criterion: Criterion
) -> Outcome:
    messages = repaired(
        job.request.messages, first.text, fault=parsed.fault, kind=criterion.kind, ties=criterion.ties
    )
    try:
        second = await completion.complete(replace(job.request, messages=messages))
    except (PassingError, TooLong):
        return outcome_of(parsed, [first])
    return outcome_of(_parsed(second, criterion), [first, second])


def _parsed(answer: Answer, criterion: Criterion) -> Parsed:
    return parse_verdict(answer.text, criterion.kind, ties=criterion.ties, finish_reason=answer.finish_reason)
