"""From what the user ordered to a run, its open jobs, and what they will take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from calibration.flow import Limits
from calibration.judging import Brief, Job, JudgeRun, Mode
from calibration.local import LOCAL, LONGEST_ANSWER, model_here
from calibration.runs import Plan, base_request, chosen_items, jobs_of
from calibration.store import RunStore
from calibration.tokens import request_tokens
from calibration.ways import WAYS
from labels.errors import UserError
from labels.split import SETTING, Part, part_of, share_from
from labels.store import LabelStore
from labels.types import Criterion, Item, Rubric

USUAL_ANSWER = 250  # tokens foreseen for an answer before any has come
Price = Callable[[int, int], float | None]


@dataclass(frozen=True, slots=True)
class Order:
    """What the user wants: which judge, about which items, how hard it may be asked, for how much.

    `title` stands for the judge in its name where its model does not say enough; `rubric` is the beginning
    of a version's id, the version in force when it is empty.
    """

    project: Path
    model: str
    plan: Plan = field(default_factory=Plan)
    limits: Limits = field(default_factory=Limits)
    settings: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = None
    name: str | None = None
    mode: Mode = "verdict"
    title: str = ""
    rubric: str = ""
    budget: float | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run with the criterion and the rubric version that it follows."""

    order: Order
    run: JudgeRun
    criterion: Criterion
    rubric: Rubric

    @property
    def brief(self) -> Brief:
        """What the way of asking needs to know."""
        return Brief(self.run, self.criterion, self.rubric)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the open jobs of a run will take; `cost` is in dollars, None when the price is unknown.

    One job takes more than one call where each response of a pair is asked about alone; `asked` jobs have
    no stored answer.
    """

    jobs: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    asked: int = 0

    @property
    def cost_each(self) -> float:
        """What one job that must be asked is expected to cost; 0 where the price is unknown."""
        return (self.cost or 0.0) / self.asked if self.asked else 0.0


def prepare(order: Order) -> Prepared:
    """The run that the order stands for; UserError when the project has no such question or rubric."""
    order = _as_it_runs_here(order)
    with LabelStore.open(order.project) as store:
        criterion = chosen_criterion(store, order.kind)
        rubric = chosen_rubric(store, criterion.id, order.rubric)
    follows = WAYS[order.mode].asks_a_model
    name = order.name or (f"{order.title or order.model} ({rubric.id[:6]})" if follows else order.title)
    run = JudgeRun(
        name, criterion.id, rubric.id if follows else "", order.model, order.mode, settings=order.settings
    )
    return Prepared(order, run, criterion, rubric)


def _as_it_runs_here(order: Order) -> Order:
    """The order with all that decides the answers of the weights that run here, so that it is stored."""
    if order.model != LOCAL:
        return order
    limit = min(int(order.settings.get("max_tokens", LONGEST_ANSWER)), LONGEST_ANSWER)
    settings = {**order.settings, "max_tokens": str(limit)}
    return replace(order, model=model_here(), title=order.title or LOCAL, settings=settings)


def chosen_rubric(store: LabelStore, criterion_id: str, beginning: str) -> Rubric:
    """The rubric version whose id begins so, the one in force for no beginning; UserError without one."""
    if not beginning:
        return store.rubric(criterion_id)
    versions = store.rubrics(criterion_id)
    found = [rubric for rubric in versions if rubric.id.startswith(beginning)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(rubric.id[:6] for rubric in versions)
    raise UserError(f'"{beginning}" names {len(found)} rubric versions; the project has {known}.')


@contextmanager
def open_jobs(prepared: Prepared) -> Iterator[Iterator[Job]]:
    """The jobs whose answer the run does not hold yet, one after the other.

    They are read from the project as they are asked for, so the block must end in the thread that began it.
    """
    order, run, criterion = prepared.order, prepared.run, prepared.criterion
    with LabelStore.open(order.project) as store, RunStore.open(order.project) as runs:
        known = runs.verdicts(criterion.id) if order.plan.only != "all" else []
        verdicts = [verdict for verdict in known if verdict.judge == run.name]
        labels = store.labels(criterion.id) if order.plan.only == "disputed" else []
        items = chosen_items(
            store.each_item(criterion.kind),
            order.plan,
            verdicts=verdicts,
            labels=labels,
            part_of=parts_of(store, order.plan.split),
        )
        answered = runs.answered(run.id)
        brief = prepared.brief
        jobs = jobs_of(items, brief, plan=order.plan, base=base_request(brief))
        yield (job for job in jobs if job.key not in answered)


def parts_of(store: LabelStore, wanted: Part | None) -> Callable[[Item], Part]:
    """Which part of the project an item is in; UserError for a holdout that the project has not."""
    share, salt = share_from(store.setting(SETTING)), store.setting("salt")
    if wanted == "holdout" and not share:
        raise UserError(
            "The project has no holdout: all its items are for development. "
            "Set one aside with calibrate new --holdout 0.4."
        )
    return lambda item: part_of(item, salt, share=share)


def forecast(prepared: Prepared, price: Price) -> Forecast:
    """Calls, tokens and money that the open jobs will take; `price` knows dollars for tokens.

    What an equal request was answered, or will be in the same run, takes nothing.
    """
    jobs = calls = prompt_tokens = 0
    asked: set[str] = set()
    with RunStore.open(prepared.order.project) as store, open_jobs(prepared) as opened:
        for job in opened:
            jobs += 1
            key = job.request.key
            if key in asked or store.reusable(key) is not None:
                continue
            asked.add(key)
            calls += max(1, sum(message.role == "system" for message in job.request.messages))
            prompt_tokens += request_tokens(job.request)
    completion_tokens = calls * USUAL_ANSWER
    cost = price(prompt_tokens, completion_tokens)
    return Forecast(jobs, calls, prompt_tokens, completion_tokens, cost, asked=len(asked))


def check_name(prepared: Prepared) -> None:
    """UserError when another run has the name: the two would be read as repeats of one judge."""
    run = prepared.run
    with RunStore.open(prepared.order.project) as runs:
        others = [known for known in runs.runs(run.criterion_id) if known.id != run.id]
    if any(known.judge == run.name for known in others):
        raise UserError(
            f"A judge called {run.name} has rated this question in another way; choose another --name."
        )


def chosen_criterion(store: LabelStore, kind: str | None) -> Criterion:
    """The question of this kind, or the only one; UserError when there is none or a choice is needed."""
    found = [criterion for criterion in store.criteria() if kind in (None, criterion.kind)]
    if not found:
        raise UserError(f"The project has no {kind} question.")
    if len(found) > 1:
        raise UserError("The project has two questions; choose with --kind pairwise or --kind binary.")
    return found[0]
