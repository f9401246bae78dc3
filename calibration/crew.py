"""The workers of a run: a fixed number of them, so that memory does not grow with the number of items."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from calibration.flow import Interrupted, Limits

J = TypeVar("J")
R = TypeVar("R")
GRACE = 30.0  # seconds that requests under way are given to end when a run is stopped
_RECENT = 200


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; `cost` counts what has a price, `unpriced` the calls without one."""

    done: int
    unanswered: int
    total: int | None
    cost: float
    unpriced: int
    seconds: float
    rate: float | None
    left: float | None

    @property
    def spent(self) -> str:
        """The cost in words that claim no more than is known."""
        if self.unpriced and not self.cost:
            return "price unknown"
        return f"at least ${self.cost:.4f}" if self.unpriced else f"${self.cost:.4f}"


class Meter:
    """Counts what a run brings."""

    def __init__(
        self,
        total: int | None = None,
        *,
        foreseen: float = 0.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total = total
        self._foreseen = foreseen
        self._now = now
        self._started = now()
        self._recent: deque[float] = deque([self._started], maxlen=_RECENT)
        self.under_way = 0
        self._done = self._unanswered = self._unpriced = self._paid = 0
        self._cost = 0.0

    def add(self, *, answered: bool, cost: float | None, calls: int = 1) -> None:
        """Count one outcome; the cost is None when its price is unknown."""
        self._recent.append(self._now())
        self._done += 1
        self._unanswered += not answered
        if cost is None:
            self._unpriced += calls
        else:
            self._cost += cost
            self._paid += calls > 0  # a stored answer costs nothing and foretells nothing

    def reaches(self, budget: float) -> bool:
        """Whether what was spent, with what the requests under way will cost, comes to the budget."""
        return self._cost + self._usual * max(0, self.under_way - 1) >= budget

    def allows(self, budget: float, *, asking: int) -> bool:
        """Whether one more request beside so many under way will hardly cost more than the budget."""
        return self._cost + self._usual * (asking + 1) <= budget

    @property
    def _usual(self) -> float:
        """What an answer costs: as measured, and before the first one as foreseen."""
        return self._cost / self._paid if self._paid else self._foreseen

    def snapshot(self) -> Progress:
        """The numbers as they are now; the rate is that of the last answers."""
        now = self._now()
        span = now - self._recent[0]
        rate = (len(self._recent) - 1) / span if span > 0 and self._done else None
        left = None
        if rate and self._total is not None:
            left = max(0, self._total - self._done) / rate
        return Progress(
            done=self._done,
            unanswered=self._unanswered,
            total=self._total,
            cost=self._cost,
            unpriced=self._unpriced,
            seconds=now - self._started,
            rate=rate,
            left=left,
        )


async def carry_out(
    jobs: Iterable[J] | AsyncIterable[J],
    ask: Callable[[J], Awaitable[R]],
    *,
    on_answer: Callable[[J, R], Awaitable[None] | None],
    limits: Limits,
    stop: asyncio.Event,
    meter: Meter | None = None,
    grace: float = GRACE,
) -> None:
    """Ask about every job and hand on each answer at once, until the jobs end or `stop` is set.

    Requests under way when the run is stopped, or when one of them raises, have `grace` seconds to end;
    then they are abandoned. The first error that a request or `on_answer` raised is raised again.
    """
    source, drawing = _drawn(jobs), asyncio.Lock()
    errors: list[BaseException] = []
    counted = meter or Meter()

    async def work() -> None:
        while not stop.is_set() and not errors:
            async with drawing:
                try:
                    job = await anext(source)
                except StopAsyncIteration:
                    return
            counted.under_way += 1
            try:
                await _handed_on(on_answer, job, await ask(job))
            except Interrupted:
                return
            except Exception as error:
                errors.append(error)
                raise
            finally:
                counted.under_way -= 1

    workers = [asyncio.create_task(work()) for _ in range(limits.concurrency)]
    try:
        await _until_ended(workers, stop, grace=grace)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        await source.aclose()
    if errors:
        raise errors[0]


async def _drawn(jobs: Iterable[J] | AsyncIterable[J]) -> AsyncGenerator[J, None]:
    """The jobs one by one, from either kind of source."""
    if isinstance(jobs, AsyncIterable):
        async for job in jobs:
            yield job
    else:
        for job in jobs:
            yield job


async def _handed_on(on_answer: Callable[[J, R], Awaitable[None] | None], job: J, result: R) -> None:
    waiting = on_answer(job, result)
    if inspect.isawaitable(waiting):
        await waiting


async def _until_ended(workers: Sequence[asyncio.Task[None]], stop: asyncio.Event, *, grace: float) -> None:
    """Return when all workers have ended, or `grace` seconds after a stop or an error."""
    stopping = asyncio.ensure_future(stop.wait())
    ending = asyncio.ensure_future(asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION))
    try:
        await asyncio.wait((stopping, ending), return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        ending.cancel()
    await asyncio.wait(workers, timeout=grace)
