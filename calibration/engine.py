"""Carry out a judge run: ask what is not answered yet and store each verdict as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from calibration.asker import Asker
from calibration.crew import Meter, Progress, carry_out
from calibration.flow import Interrupted, Limits
from calibration.judging import Job, JudgeRun, Outcome, RunState
from calibration.runs import Done, for_both_orders, verdict_of
from calibration.store import RunStore
from labels.types import Criterion

Ended = Literal["done", "budget spent", "price unknown", "stopped"]
RECENT = 1_024  # answers kept for equal requests: more than can be under way or not yet stored
GROUP = 64  # verdicts that arrived together share one commit
LOOK_EVERY = 0.5  # seconds between looks for a stop that another process asked for


@dataclass(slots=True)
class Ride:
    """One sitting of a run: what it knows of its progress, and how it ends."""

    project: Path
    run: JudgeRun
    criterion: Criterion
    meter: Meter
    stop: asyncio.Event
    budget: float | None = None
    ended: Ended = "done"

    def end(self, why: Ended) -> None:
        """Ask no more; what is under way may still arrive."""
        if not self.stop.is_set():
            self.ended = why
            self.stop.set()


async def carry_on(
    ride: Ride,
    jobs: Iterable[Job],
    ask: Asker,
    *,
    limits: Limits,
    on_progress: Callable[[Progress], None] | None = None,
    reread: Callable[[Outcome], Outcome] = lambda outcome: outcome,
) -> Ended:
    """Ask about all jobs; the same call goes on where a killed one was: what is stored is not asked again.

    `reread` says what a stored answer of an equal request means for this run. Raises Stopping when the
    provider refuses all that would follow. What arrived is stored in any case.
    """
    _note_state(ride, "running")
    writer = _Writer(ride, on_progress)
    watching = asyncio.create_task(_watch(ride))
    watching.add_done_callback(lambda task: None if task.cancelled() else ride.end("stopped"))
    state: RunState = "stopped"
    try:
        with RunStore.open(ride.project) as store:
            try:
                await carry_out(
                    jobs,
                    _OnceEach(store, _Thrifty(ride, ask), reread),
                    on_answer=writer.put,
                    limits=limits,
                    stop=ride.stop,
                    meter=ride.meter,
                )
            finally:
                await writer.close()
        state = "done" if ride.ended == "done" else "stopped"
    finally:
        _note_state(ride, state)
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
    return ride.ended


class _Writer:
    """Stores outcomes in the order they arrive, in a thread with one store: while it writes, more gather.

    Whoever hands on an outcome waits until it is stored, so that a kill costs no more than is under way.
    """

    def __init__(self, ride: Ride, on_progress: Callable[[Progress], None] | None) -> None:
        self._ride = ride
        self._on_progress = on_progress
        self._queue: asyncio.Queue[tuple[Done, asyncio.Future[None]] | None] = asyncio.Queue()
        self._last = False
        self._task = asyncio.create_task(self._write_all())

    async def put(self, job: Job, outcome: Outcome) -> None:
        """Hand on one outcome and wait until it is stored; a writer that failed raises here."""
        ride = self._ride
        verdict = verdict_of(ride.run, job, outcome=outcome, criterion=ride.criterion)
        ride.meter.add(answered=verdict.value is not None, cost=outcome.cost, calls=outcome.calls)
        if ride.budget is not None and outcome.cost is None and outcome.calls:
            ride.end("price unknown")
        elif ride.budget is not None and ride.meter.reaches(ride.budget):
            ride.end("budget spent")
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(((job, outcome, verdict), stored))
        await asyncio.wait((stored, self._task), return_when=asyncio.FIRST_COMPLETED)
        if not stored.done():
            await self._task

    async def close(self) -> None:
        """Store what is left."""
        self._queue.put_nowait(None)
        await self._task

    async def _write_all(self) -> None:
        loop = asyncio.get_running_loop()
        opened = RunStore.open(self._ride.project)
        with ThreadPoolExecutor(1, "verdicts") as thread:  # a connection belongs to the thread that opened it
            store = await loop.run_in_executor(thread, opened.__enter__)
            try:
                while group := await self._group():
                    await loop.run_in_executor(thread, self._record, store, [done for done, _ in group])
                    for _, stored in group:
                        if not stored.done():
                            stored.set_result(None)
                    if self._on_progress is not None:
                        self._on_progress(self._ride.meter.snapshot())
            finally:
                await loop.run_in_executor(thread, opened.__exit__, None, None, None)

    async def _group(self) -> list[tuple[Done, asyncio.Future[None]]]:
        """What has arrived since the last commit, at least one; nothing when all is stored."""
        group: list[tuple[Done, asyncio.Future[None]]] = []
        while not self._last and len(group) < GROUP and not (group and self._queue.empty()):
            entry = await self._queue.get()
            if entry is None:
                self._last = True
            else:
                group.append(entry)
        return group

    def _record(self, store: RunStore, group: list[Done]) -> None:
        run = self._ride.run
        store.record(run.id, [entry for done in group for entry in for_both_orders(run, done)])


class _Thrifty:
    """Asks only what the budget still allows beside what is under way, and ends the run when it is spent."""

    def __init__(self, ride: Ride, ask: Asker) -> None:
        self._ride, self._ask = ride, ask
        self._asking = 0
        self._answered = asyncio.Event()

    async def __call__(self, job: Job) -> Outcome:
        """The answer, once the budget allows to ask; Interrupted when it never will."""
        await self._allowed()
        self._asking += 1
        try:
            return await self._ask(job)
        finally:
            self._asking -= 1
            self._answered.set()
            self._answered = asyncio.Event()

    async def _allowed(self) -> None:
        ride = self._ride
        while ride.budget is not None and not ride.meter.allows(ride.budget, asking=self._asking):
            if not self._asking:
                ride.end("budget spent")
            if ride.stop.is_set():
                raise Interrupted
            await self._answered.wait()


class _OnceEach:
    """Asks each request once: equal ones wait for its answer, now or in any run that stored it."""

    def __init__(self, store: RunStore, ask: Asker, reread: Callable[[Outcome], Outcome]) -> None:
        self._store, self._ask, self._reread = store, ask, reread
        self._recent: dict[str, asyncio.Future[Outcome]] = {}

    async def __call__(self, job: Job) -> Outcome:
        """The answer of an equal request where there is one, else the question."""
        key = job.request.key
        if (first := self._recent.get(key)) is not None:
            return replace(await asyncio.shield(first), calls=0, cost=0.0)
        stored = self._store.reusable(key)
        if stored is not None:
            return self._reread(stored)
        return await self._asked(job, key)

    async def _asked(self, job: Job, key: str) -> Outcome:
        self._recent[key] = answer = asyncio.get_running_loop().create_future()
        if len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]
        try:
            outcome = await self._ask(job)
        except BaseException as error:
            self._recent.pop(key, None)
            if isinstance(error, asyncio.CancelledError):
                answer.cancel()
            else:
                answer.set_exception(error)
                answer.exception()  # taken notice of, also where nobody waits for it
            raise
        answer.set_result(outcome)
        return outcome


async def _watch(ride: Ride) -> None:
    """See whether somebody asked for a stop, from the page or from another terminal."""
    while True:
        await asyncio.sleep(LOOK_EVERY)
        with RunStore.open(ride.project) as store:
            if store.state_of_run(ride.run.id) == "stopping":
                ride.end("stopped")


def _note_state(ride: Ride, state: RunState) -> None:
    with RunStore.open(ride.project) as store:
        if state == "running":
            store.start(ride.run)
        else:
            store.finish(ride.run.id, state)
