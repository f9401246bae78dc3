"""Carry out a judge run: ask what is not answered yet and store each verdict as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from calibration.asker import Asker
from calibration.crew import Meter, Progress, carry_out
from calibration.flow import Limits
from calibration.judging import Job, JudgeRun, Outcome, RunState
from calibration.runs import Done, for_both_orders, verdict_of
from calibration.store import RunStore
from labels.types import Criterion

Ended = Literal["done", "budget spent", "stopped"]
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
    state: RunState = "stopped"
    try:
        with RunStore.open(ride.project) as store:
            try:
                await carry_out(
                    jobs,
                    _or_reuse(store, ask, reread=reread),
                    on_answer=writer.put,
                    limits=limits,
                    stop=ride.stop,
                    meter=ride.meter,
                )
            finally:
                await writer.close()
        state = "done" if ride.ended == "done" else "stopped"
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        _note_state(ride, state)
    return ride.ended


class _Writer:
    """Stores outcomes in the order they arrive, in a thread, so that asking never waits for the disk.

    The thread keeps one store open; while it writes, the next group gathers.
    """

    def __init__(self, ride: Ride, on_progress: Callable[[Progress], None] | None) -> None:
        self._ride = ride
        self._on_progress = on_progress
        self._queue: asyncio.Queue[Done | None] = asyncio.Queue(4 * GROUP)
        self._last = False
        self._task = asyncio.create_task(self._write_all())

    async def put(self, job: Job, outcome: Outcome) -> None:
        """Hand on one outcome; waits when the disk is far behind."""
        ride = self._ride
        verdict = verdict_of(ride.run, job, outcome=outcome, criterion=ride.criterion)
        ride.meter.add(answered=verdict.value is not None, cost=outcome.cost, calls=outcome.calls)
        await self._hand_over((job, outcome, verdict))
        if ride.budget is not None and ride.meter.reaches(ride.budget):
            ride.end("budget spent")

    async def close(self) -> None:
        """Store what is left."""
        await self._hand_over(None)
        await self._task

    async def _hand_over(self, entry: Done | None) -> None:
        """Put an entry into the queue; a writer that failed raises here instead of blocking for ever."""
        if self._task.done():
            await self._task
        if entry is not None and not self._queue.full():
            self._queue.put_nowait(entry)  # most often; the end waits its turn behind those that wait
            return
        putting = asyncio.ensure_future(self._queue.put(entry))
        await asyncio.wait((putting, self._task), return_when=asyncio.FIRST_COMPLETED)
        if not putting.done():
            putting.cancel()
            await self._task

    async def _write_all(self) -> None:
        loop = asyncio.get_running_loop()
        opened = RunStore.open(self._ride.project)
        with ThreadPoolExecutor(1, "verdicts") as thread:  # a connection belongs to the thread that opened it
            store = await loop.run_in_executor(thread, opened.__enter__)
            try:
                while group := await self._group():
                    await loop.run_in_executor(thread, self._record, store, group)
                    if self._on_progress is not None:
                        self._on_progress(self._ride.meter.snapshot())
            finally:
                await loop.run_in_executor(thread, opened.__exit__, None, None, None)

    async def _group(self) -> list[Done]:
        """What has arrived since the last commit, at least one; nothing when all is stored."""
        group: list[Done] = []
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


def _or_reuse(
    store: RunStore, ask: Asker, *, reread: Callable[[Outcome], Outcome]
) -> Callable[[Job], Awaitable[Outcome]]:
    """The stored answer of an equal request where there is one, else the question."""

    async def asked_or_stored(job: Job) -> Outcome:
        stored = store.reusable(job.request.key)
        return await ask(job) if stored is None else reread(stored)

    return asked_or_stored


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
