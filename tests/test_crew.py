"""The workers of a run, and the numbers that it shows of itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import pytest

from calibration.asking import Stopping
from calibration.crew import Meter, carry_out
from calibration.flow import Gatekeeper, Limits


@dataclass
class Scene:
    """A run of the workers over numbers, with what was handed on."""

    limits: Limits = field(default_factory=lambda: Limits(concurrency=4))
    answers: dict[int, int] = field(default_factory=dict)
    drawn: int = 0
    most_tasks: int = 0

    def numbers(self, count: int) -> Iterator[int]:
        for number in range(count):
            self.drawn += 1
            yield number

    def keep(self, job: int, result: int) -> None:
        self.answers[job] = result
        self.most_tasks = max(self.most_tasks, len(asyncio.all_tasks()))

    async def double(self, number: int) -> int:
        await asyncio.sleep(0)
        return 2 * number


def test_every_job_is_handed_on_once() -> None:
    scene = Scene()
    asyncio.run(
        carry_out(
            scene.numbers(500), scene.double, on_answer=scene.keep, limits=scene.limits, stop=asyncio.Event()
        )
    )
    assert scene.answers == {number: 2 * number for number in range(500)}


def test_the_number_of_tasks_does_not_grow_with_the_number_of_jobs() -> None:
    scene = Scene()
    asyncio.run(
        carry_out(
            scene.numbers(5_000),
            scene.double,
            on_answer=scene.keep,
            limits=scene.limits,
            stop=asyncio.Event(),
        )
    )
    assert scene.most_tasks <= scene.limits.concurrency + 3


def test_jobs_are_drawn_only_when_a_worker_is_free() -> None:
    scene = Scene()
    ahead: list[int] = []

    def keep(job: int, result: int) -> None:
        scene.keep(job, result)
        ahead.append(scene.drawn - len(scene.answers))

    asyncio.run(
        carry_out(scene.numbers(200), scene.double, on_answer=keep, limits=scene.limits, stop=asyncio.Event())
    )
    assert max(ahead) < scene.limits.concurrency


def test_jobs_may_come_asynchronously_and_answers_be_taken_so() -> None:
    scene = Scene()

    async def numbers() -> AsyncIterator[int]:
        for number in range(50):
            await asyncio.sleep(0)
            yield number

    async def keep(job: int, result: int) -> None:
        await asyncio.sleep(0)
        scene.keep(job, result)

    asyncio.run(carry_out(numbers(), scene.double, on_answer=keep, limits=scene.limits, stop=asyncio.Event()))
    assert len(scene.answers) == 50


def test_a_stopped_run_draws_nothing_more_and_keeps_what_was_under_way() -> None:
    scene = Scene()
    stop = asyncio.Event()

    def keep(job: int, result: int) -> None:
        scene.keep(job, result)
        if len(scene.answers) == 10:
            stop.set()

    asyncio.run(carry_out(scene.numbers(500), scene.double, on_answer=keep, limits=scene.limits, stop=stop))
    assert scene.drawn == len(scene.answers)
    assert 10 <= len(scene.answers) <= 10 + scene.limits.concurrency


def test_what_does_not_end_in_time_after_a_stop_is_abandoned_and_not_handed_on() -> None:
    scene = Scene()
    stop = asyncio.Event()

    async def slow(number: int) -> int:
        stop.set()
        await asyncio.sleep(60 if number else 0)
        return number

    asyncio.run(
        asyncio.wait_for(
            carry_out(
                scene.numbers(9), slow, on_answer=scene.keep, limits=scene.limits, stop=stop, grace=0.05
            ),
            5,
        )
    )
    assert scene.answers == {0: 0}


def test_a_waiting_request_is_let_go_at_once_when_the_run_is_stopped() -> None:
    scene = Scene()
    stop = asyncio.Event()
    gate = Gatekeeper(Limits(requests_per_minute=1), stop=stop)

    async def ask(number: int) -> int:
        await gate.admit(0)
        asyncio.get_running_loop().call_later(0.02, stop.set)
        return number

    asyncio.run(
        asyncio.wait_for(
            carry_out(scene.numbers(9), ask, on_answer=scene.keep, limits=scene.limits, stop=stop), 5
        )
    )
    assert scene.answers == {0: 0}


def test_an_error_that_all_would_share_ends_the_run_and_loses_no_answer() -> None:
    scene = Scene()
    asked: list[int] = []

    async def ask(number: int) -> int:
        asked.append(number)
        if number == 2:
            raise Stopping("The provider does not accept the key.")
        await asyncio.sleep(0.02)
        return number

    with pytest.raises(Stopping, match="does not accept"):
        asyncio.run(
            carry_out(
                scene.numbers(500), ask, on_answer=scene.keep, limits=scene.limits, stop=asyncio.Event()
            )
        )
    assert asked == [0, 1, 2]
    assert set(scene.answers) == {0, 1}


def test_a_mistake_in_taking_answers_is_not_swallowed() -> None:
    scene = Scene()

    def broken(job: int, result: int) -> None:
        raise KeyError(job)

    with pytest.raises(KeyError):
        asyncio.run(
            carry_out(
                scene.numbers(9), scene.double, on_answer=broken, limits=scene.limits, stop=asyncio.Event()
            )
        )


def test_a_cancelled_run_leaves_no_task_behind() -> None:
    async def scene() -> None:
        async def forever(number: int) -> int:
            await asyncio.sleep(60)
            return number

        run = asyncio.ensure_future(
            carry_out(
                range(99),
                forever,
                on_answer=lambda job, result: None,
                limits=Limits(concurrency=5),
                stop=asyncio.Event(),
            )
        )
        await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(scene())


def test_progress_says_what_is_known_and_no_more() -> None:
    now = [100.0]
    meter = Meter(total=10, now=lambda: now[0])
    assert (meter.snapshot().rate, meter.snapshot().left, meter.snapshot().done) == (None, None, 0)
    for _ in range(4):
        now[0] += 2.0
        meter.add(answered=True, cost=0.01)
    meter.add(answered=False, cost=0.0)
    progress = meter.snapshot()
    assert (progress.done, progress.unanswered, progress.total) == (5, 1, 10)
    assert progress.rate == pytest.approx(5 / 8)
    assert progress.left == pytest.approx(8.0)
    assert progress.spent == "$0.0400"


@pytest.mark.parametrize(
    ("costs", "spent"),
    [
        ([0.5, None], "at least $0.5000"),
        ([None, None], "price unknown"),
        ([0.5, 0.25], "$0.7500"),
        ([0.0], "$0.0000"),
    ],
)
def test_an_unknown_price_is_never_counted_as_nothing(costs: list[float | None], spent: str) -> None:
    meter = Meter()
    for cost in costs:
        meter.add(answered=True, cost=cost)
    assert meter.snapshot().spent == spent


def test_the_budget_counts_what_is_under_way() -> None:
    scene = Scene(limits=Limits(concurrency=4))
    meter = Meter()
    stop = asyncio.Event()

    def keep(job: int, result: int) -> None:
        scene.keep(job, result)
        meter.add(answered=True, cost=0.01)
        if meter.reaches(1.0):
            stop.set()

    asyncio.run(
        carry_out(
            scene.numbers(500), scene.double, on_answer=keep, limits=scene.limits, stop=stop, meter=meter
        )
    )
    assert meter.under_way == 0
    assert meter.snapshot().cost == pytest.approx(1.0, abs=0.011)
