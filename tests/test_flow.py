"""Pace, patience and workers, on a clock of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from calibration.asking import Answer, Message, PassingError, Request, Stopping, TooLong
from calibration.flow import (
    LONGEST_WAIT,
    Clock,
    Gatekeeper,
    Interrupted,
    Limits,
    Patient,
    may_pass,
    with_retries,
)


@dataclass
class Time:
    """A clock that jumps to the next sleeper once nobody has anything else to do."""

    at: float = 0.0
    sleepers: list[tuple[float, asyncio.Future[None]]] = field(default_factory=list)

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.at, self.sleep)

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        self.sleepers.append((self.at + seconds, woken))
        await woken

    async def run(self, task: Coroutine[object, object, object]) -> None:
        running = asyncio.ensure_future(task)
        while not running.done():
            for _ in range(20):
                await asyncio.sleep(0)
            self.sleepers = [(due, woken) for due, woken in self.sleepers if not woken.done()]
            if self.sleepers and not running.done():
                self.at = max(self.at, min(due for due, _ in self.sleepers))
                for due, woken in self.sleepers:
                    if due <= self.at and not woken.done():
                        woken.set_result(None)
        await running


def gate_at(time: Time, *, stop: asyncio.Event | None = None, **limits: float) -> Gatekeeper:
    return Gatekeeper(Limits(**limits), clock=time.clock, stop=stop)  # type: ignore[arg-type]


def failing(*failures: PassingError, then: str = "answer") -> Callable[[], Awaitable[str]]:
    left = list(failures)

    async def ask() -> str:
        if left:
            raise left.pop(0)
        return then

    return ask


def starts_of(gate: Gatekeeper, time: Time, *, tokens: list[int]) -> list[float]:
    starts: list[float] = []

    async def one(count: int) -> None:
        await gate.admit(count)
        starts.append(time.at)

    async def all_of_them() -> None:
        await asyncio.gather(*(one(count) for count in tokens))

    asyncio.run(time.run(all_of_them()))
    return sorted(starts)


def test_no_minute_holds_more_requests_than_are_allowed() -> None:
    time = Time()
    starts = starts_of(gate_at(time, requests_per_minute=30), time, tokens=[1] * 100)
    assert starts == pytest.approx([2.0 * n for n in range(100)])


def test_requests_are_paced_by_their_tokens() -> None:
    time = Time()
    starts = starts_of(gate_at(time, tokens_per_minute=600), time, tokens=[100, 100, 300, 10])
    assert starts == pytest.approx([0, 10, 20, 50])


def test_tokens_that_were_not_foreseen_are_charged_afterwards() -> None:
    time = Time()
    gate = gate_at(time, tokens_per_minute=600)

    async def scene() -> None:
        await gate.admit(100)
        gate.settle(50)
        await gate.admit(1)

    asyncio.run(time.run(scene()))
    assert time.at == pytest.approx(15)


def test_without_limits_nobody_waits() -> None:
    time = Time()
    assert starts_of(gate_at(time), time, tokens=[10_000] * 50) == [0.0] * 50


def test_a_429_makes_every_worker_wait_as_long_as_the_provider_asks() -> None:
    time = Time()
    gate = gate_at(time)
    starts: list[float] = []

    async def other() -> None:
        await time.sleep(1.0)
        await gate.admit(0)
        starts.append(time.at)

    async def scene() -> None:
        limited = failing(PassingError("slow down", status=429, retry_after=30.0))
        await asyncio.gather(with_retries(limited, gate), *(other() for _ in range(3)))

    asyncio.run(time.run(scene()))
    assert min(starts) >= 30.0
    assert len(set(starts)) == 3, "all at once would be refused at once"


def test_a_failing_server_is_asked_again_after_longer_and_longer_pauses() -> None:
    time = Time()
    gate = gate_at(time, tries=5)
    at: list[float] = []

    async def ask() -> str:
        at.append(time.at)
        raise PassingError("broken", status=500)

    async def scene() -> None:
        with pytest.raises(PassingError):
            await with_retries(ask, gate)

    asyncio.run(time.run(scene()))
    pauses = [late - early for early, late in pairwise(at)]
    assert len(at) == 5
    assert all(0.5 * 2**n <= pause <= 2**n for n, pause in enumerate(pauses))


def test_a_retry_after_on_another_failure_makes_only_its_own_worker_wait() -> None:
    time = Time()
    gate = gate_at(time)

    async def scene() -> None:
        unwell = failing(PassingError("unwell", status=503, retry_after=12.0))
        waiting = asyncio.ensure_future(with_retries(unwell, gate))
        await gate.admit(0)
        assert time.at == 0.0
        assert await waiting == "answer"

    asyncio.run(time.run(scene()))
    assert time.at == pytest.approx(12.0)


@pytest.mark.parametrize("status", [400, 409, 418, 422, 429, 500, 503, None])
def test_only_what_may_pass_is_asked_again(status: int | None) -> None:
    time = Time()
    gate = gate_at(time, tries=3)
    calls = 0

    async def ask() -> str:
        nonlocal calls
        calls += 1
        raise PassingError("no", status=status)

    async def scene() -> None:
        with pytest.raises(PassingError):
            await with_retries(ask, gate)

    asyncio.run(time.run(scene()))
    assert calls == (3 if may_pass(PassingError("", status=status)) else 1)
    assert may_pass(PassingError("", status=status)) == (status not in (400, 418, 422))


def test_who_is_asked_to_wait_for_an_hour_stops() -> None:
    time = Time()
    late = failing(PassingError("tomorrow", status=429, retry_after=LONGEST_WAIT * 6))

    async def scene() -> None:
        with pytest.raises(Stopping, match="wait 60 minutes"):
            await with_retries(late, gate_at(time))

    asyncio.run(time.run(scene()))


def test_many_failures_in_a_row_end_the_run_and_one_answer_starts_the_count_again() -> None:
    time = Time()
    gate = gate_at(time, tries=1, failures_in_a_row=3)
    broken = PassingError("no connection.")

    async def scene() -> None:
        for _ in range(2):
            with pytest.raises(PassingError):
                await with_retries(failing(broken), gate)
        await with_retries(failing(), gate)
        for _ in range(2):
            with pytest.raises(PassingError):
                await with_retries(failing(broken), gate)
        with pytest.raises(Stopping, match="3 requests in a row failed; the last one: no connection"):
            await with_retries(failing(broken), gate)

    asyncio.run(time.run(scene()))


def test_an_item_that_is_too_long_is_no_failure_of_the_provider() -> None:
    gate = gate_at(Time(), tries=1, failures_in_a_row=2)

    async def too_long() -> str:
        raise TooLong

    async def scene() -> None:
        for _ in range(3):
            with pytest.raises(PassingError):
                await with_retries(failing(PassingError("x")), gate)
            with pytest.raises(TooLong):
                await with_retries(too_long, gate)

    asyncio.run(scene())


def test_who_waits_is_let_go_when_the_run_is_stopped() -> None:
    async def scene() -> None:
        stop = asyncio.Event()
        gate = Gatekeeper(Limits(requests_per_minute=1), stop=stop)
        await gate.admit(0)
        waiting = asyncio.ensure_future(gate.admit(0))
        await asyncio.sleep(0)
        stop.set()
        with pytest.raises(Interrupted):
            await waiting
        with pytest.raises(Interrupted):
            await gate.admit(0)

    asyncio.run(asyncio.wait_for(scene(), 5))


def test_a_patient_completion_learns_how_long_answers_are() -> None:
    time = Time()
    starts: list[float] = []

    class Model:
        async def complete(self, request: Request) -> Answer:
            starts.append(time.at)
            return Answer("x", prompt_tokens=6, completion_tokens=1_000)

        async def close(self) -> None:
            starts.append(-1)

    async def scene() -> None:
        patient = Patient(Model(), gate_at(time, tokens_per_minute=60_000))
        for _ in range(3):
            await patient.complete(Request("m", (Message("user", "hello"),)))
        await patient.close()

    asyncio.run(time.run(scene()))
    assert starts == pytest.approx([0.0, 1.006, 2.012, -1])
