"""From what the user ordered to a run, its open jobs, and what they will take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from calibration.flow import Limits
from calibration.judging import Job, JudgeRun
from calibration.runs import Plan, base_request, chosen_items, jobs_of
from calibration.store import RunStore
from calibration.tokens import request_tokens
from labels.errors import UserError
from labels.store import LabelStore
from labels.types import Criterion, Rubric

USUAL_ANSWER = 250  # tokens foreseen for an answer before any has come
Price = Callable[[int, int], float | None]


@dataclass(frozen=True, slots=True)
class Order:
    """What the user wants: which model, about which items, how hard it may be asked, for how much."""

    project: Path
    model: str
    plan: Plan = field(default_factory=Plan)
    limits: Limits = field(default_factory=Limits)
    settings: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = None
    name: str | None = None
    budget: float | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run with the criterion and the rubric version that it follows."""

    order: Order
    run: JudgeRun
    criterion: Criterion
    rubric: Rubric


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the open jobs of a run will take; `cost` is in dollars, None when the price is unknown."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


def prepare(order: Order) -> Prepared:
    """The run that the order stands for; UserError when the project has no such question."""
    with LabelStore.open(order.project) as store:
        criterion = _criterion(store, order.kind)
        rubric = store.rubric(criterion.id)
    name = order.name or f"{order.model} ({rubric.id[:6]})"
    run = JudgeRun(name, criterion.id, rubric.id, order.model, settings=order.settings)
    return Prepared(order, run, criterion, rubric)


def open_jobs(prepared: Prepared) -> Iterator[Job]:
    """The jobs whose answer the run does not hold yet, one after the other."""
    order, run, criterion = prepared.order, prepared.run, prepared.criterion
    with LabelStore.open(order.project) as store, RunStore.open(order.project) as runs:
        verdicts = [verdict for verdict in runs.verdicts(criterion.id) if verdict.judge == run.name]
        labels = store.labels(criterion.id) if order.plan.only == "disputed" else []
        items = chosen_items(store.each_item(criterion.kind), order.plan, verdicts=verdicts, labels=labels)
        answered = runs.answered(run.id)
        base = base_request(run, criterion)
        for job in jobs_of(
            items, run, criterion=criterion, rubric=prepared.rubric, plan=order.plan, base=base
        ):
            if job.request.key not in answered:
                yield job


def forecast(prepared: Prepared, price: Price) -> Forecast:
    """Calls, tokens and money that the open jobs will take; `price` knows dollars for tokens."""
    calls = prompt_tokens = 0
    for job in open_jobs(prepared):
        calls += 1
        prompt_tokens += request_tokens(job.request)
    completion_tokens = calls * USUAL_ANSWER
    return Forecast(calls, prompt_tokens, completion_tokens, price(prompt_tokens, completion_tokens))


def check_name(prepared: Prepared) -> None:
    """UserError when another run has the name: the two would be read as repeats of one judge."""
    run = prepared.run
    with RunStore.open(prepared.order.project) as runs:
        others = [known for known in runs.runs(run.criterion_id) if known.id != run.id]
    if any(known.judge == run.name for known in others):
        raise UserError(
            f"A judge called {run.name} has rated this question in another way; choose another --name."
        )


def _criterion(store: LabelStore, kind: str | None) -> Criterion:
    found = [criterion for criterion in store.criteria() if kind in (None, criterion.kind)]
    if not found:
        raise UserError(f"The project has no {kind} question.")
    if len(found) > 1:
        raise UserError("The project has two questions; choose with --kind pairwise or --kind binary.")
    return found[0]
