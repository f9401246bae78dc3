"""What a judge run has to ask: items by orders by repeats, less what is answered already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from calibration.asking import Request
from calibration.compare import Rated, is_inconsistent, rate_items
from calibration.judging import Brief, Job, JudgeRun, Outcome
from calibration.types import Verdict
from calibration.ways import WAYS
from labels.errors import UserError
from labels.kinds import KINDS
from labels.present import Order, other_side
from labels.split import Part
from labels.types import Criterion, Item, Label, Side

Only = Literal["all", "new", "unanswered", "disputed"]
OrderPlan = Literal["both", "forward", "reverse"]
Done = tuple[Job, Outcome, Verdict]
ORDERS: Mapping[OrderPlan, tuple[Side, ...]] = {"both": ("A", "B"), "forward": ("A",), "reverse": ("B",)}


@dataclass(frozen=True, slots=True)
class Plan:
    """Which items are asked about, in which orders and how often."""

    orders: OrderPlan = "both"
    repeats: int = 1
    only: Only = "all"
    where: Mapping[str, str] | None = None
    limit: int | None = None
    split: Part | None = None

    def __post_init__(self) -> None:
        if self.repeats < 1 or self.repeats % 2 == 0:
            raise UserError(
                f"{self.repeats} repeats have no majority; ask an odd number of times, e.g. --repeats 3."
            )


def chosen_items(
    items: Iterable[Item],
    plan: Plan,
    *,
    verdicts: Sequence[Verdict],
    labels: Sequence[Label],
    part_of: Callable[[Item], Part] = lambda _: "develop",
) -> Iterator[Item]:
    """The items that the plan asks about, in the project's order; `part_of` tells develop from holdout."""
    wanted = _wanted(plan.only, verdicts, labels)
    count = 0
    for item in items:
        if plan.limit is not None and count >= plan.limit:
            return
        if plan.split not in (None, part_of(item)):
            continue
        if (wanted is None or wanted(item.id)) and _matches(item, plan.where or {}):
            count += 1
            yield item


def jobs_of(items: Iterable[Item], brief: Brief, *, plan: Plan, base: Request) -> Iterator[Job]:
    """Every verdict that the plan wants, with the exact request for it."""
    way = WAYS[brief.run.mode]
    for item in items:
        for first in orders_of(brief, plan):
            messages = way.messages(brief, item, Order(first))
            shown = first if KINDS[brief.criterion.kind].responses == 2 else None
            for repeat in range(plan.repeats):
                request = replace(base, messages=messages, repeat=repeat, seed=_seed(base, repeat))
                yield Job(item.id, shown, repeat, request)


def base_request(brief: Brief) -> Request:
    """The settings that all requests of a run share; messages and repeat are filled in for each."""
    settings, way = brief.run.settings, WAYS[brief.run.mode]
    temperature = settings.get("temperature", "0")
    return Request(
        model=brief.run.model,
        messages=(),
        schema=way.schema(brief),
        temperature=float(temperature) if temperature else None,
        seed=int(settings["seed"]) if settings.get("seed") else 0,
        max_tokens=int(settings.get("max_tokens", "16000")),
        top_logprobs=way.logprobs,
        api_base=settings.get("api_base", ""),
    )


def orders_of(brief: Brief, plan: Plan) -> tuple[Side, ...]:
    """The orders that are asked: one for a single response, and where the two are never seen together."""
    seen_together = KINDS[brief.criterion.kind].responses == 2 and WAYS[brief.run.mode].orders
    return ORDERS[plan.orders] if seen_together else ("A",)


def for_both_orders(run: JudgeRun, done: Done) -> tuple[Done, ...]:
    """What a job brought, and the same verdict for the other order where the judge sees no order."""
    job, outcome, verdict = done
    if WAYS[run.mode].orders or job.first is None:
        return (done,)
    other = other_side(job.first)
    choice = None if verdict.value is None else KINDS["pairwise"].slot(Order(other), verdict.value)
    mirrored = replace(verdict, first=other, choice=choice)
    return done, (replace(job, first=other), replace(outcome, calls=0, cost=0.0), mirrored)


def verdict_of(run: JudgeRun, job: Job, *, outcome: Outcome, criterion: Criterion) -> Verdict:
    """The outcome in terms of sides; without a choice it is unanswered, with the raw text kept."""
    value = None
    if outcome.choice is not None:
        value = KINDS[criterion.kind].value(Order(job.first or "A"), outcome.choice)
    return Verdict(
        judge=run.name,
        criterion_id=criterion.id,
        item_id=job.item_id,
        first=job.first,
        value=value,
        choice=outcome.choice,
        repeat=job.repeat,
        error="" if value is not None else (outcome.error or "unparseable"),
        reasoning=outcome.reasoning,
        raw=outcome.text,
    )


def _seed(base: Request, repeat: int) -> int | None:
    """Each repeat has its own seed, or a provider that honours seeds would repeat itself."""
    return None if base.seed is None else base.seed + repeat


def _matches(item: Item, where: Mapping[str, str]) -> bool:
    return all(item.meta.get(name) == value for name, value in where.items())


def _wanted(only: Only, verdicts: Sequence[Verdict], labels: Sequence[Label]) -> Callable[[str], bool] | None:
    """Which item ids a choice lets through; None lets all."""
    if only == "all":
        return None
    rated = rate_items(verdicts)
    if only == "new":
        return lambda item_id: item_id not in rated
    if only == "unanswered":
        return lambda item_id: item_id in rated and rated[item_id].unanswered > 0
    blind = [label for label in labels if label.saw == "nothing" and label.value is not None]
    said = {label.item_id: set[str]() for label in blind}
    for label in blind:
        said[label.item_id].add(str(label.value))
    return lambda item_id: _is_disputed(rated.get(item_id), said.get(item_id, set()))


def _is_disputed(rated: Rated | None, said: set[str]) -> bool:
    """Whether the orders disagree, people disagree, or the judge disagrees with a person."""
    if rated is None or not rated.given:
        return len(said) > 1
    return is_inconsistent(rated) or bool(said - {str(value) for value in rated.given})
