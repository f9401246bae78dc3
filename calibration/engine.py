"""Carry out a judge run: ask what is not answered yet and store each verdict as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from calibration.asker import Asker
from calibration.crew import Meter, Progress, carry_out
from calibration.flow import Limits
from calibration.judging import Job, JudgeRun, Outcome, RunState
from calibration.runs import verdict_of
from calibration.store import RunStore
from calibration.types import Verdict
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
) -> Ended:
    """Ask about all jobs whose answer is not stored yet; the same call goes on where a killed one was.

    Raises Stopping when the provider refuses all that would follow. What arrived is stored in any case.
    """
    _note_state(ride, "running")
    writer = _Writer(ride, on_progress)
    watching = asyncio.create_task(_watch(ride))
    state: RunState = "stopped"
    try:
        with RunStore.open(ride.project) as store:
            open_jobs = _unanswered(store, ride, jobs)
            await carry_out(
                open_jobs,
                _or_reuse(store, ask),
                on_answer=writer.put,
                limits=limits,
                stop=ride.stop,
                meter=ride.meter,
            )
        state = "done" if ride.ended == "done" else "stopped"
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        await writer.close()
        _note_state(ride, state)
    return ride.ended


class _Writer:
    """Stores outcomes in the order they arrive, in a thread, so that asking never waits for the disk."""

    def __init__(self, ride: Ride, on_progress: Callable[[Progress], None] | None) -> None:
        self._ride = ride
        self._on_progress = on_progress
        self._queue: asyncio.Queue[tuple[Job, Outcome, Verdict] | None] = asyncio.Queue(4 * GROUP)
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

    async def _hand_over(self, entry: tuple[Job, Outcome, Verdict] | None) -> None:
        """Put an entry into the queue; a writer that failed raises here instead of blocking for ever."""
        putting = asyncio.ensure_future(self._queue.put(entry))
        await asyncio.wait((putting, self._task), return_when=asyncio.FIRST_COMPLETED)
        if not putting.done():
            putting.cancel()
            await self._task

    async def _write_all(self) -> None:
        while (first := await self._queue.get()) is not None:
            group, last = [first], False
            while len(group) < GROUP and not self._queue.empty():
                following = self._queue.get_nowait()
                if following is None:
                    last = True
                    break
                group.append(following)
            await asyncio.to_thread(self._record, group)
            if self._on_progress is not None:
                self._on_progress(self._ride.meter.snapshot())
            if last:
                return

    def _record(self, group: list[tuple[Job, Outcome, Verdict]]) -> None:
        with RunStore.open(self._ride.project) as store:
            store.record(self._ride.run.id, group)


def _unanswered(store: RunStore, ride: Ride, jobs: Iterable[Job]) -> Iterator[Job]:
    answered = store.answered(ride.run.id)
    return (job for job in jobs if job.request.key not in answered)


def _or_reuse(store: RunStore, ask: Asker) -> Callable[[Job], Awaitable[Outcome]]:
    """The stored answer of an equal request where there is one, else the question."""

    async def asked_or_stored(job: Job) -> Outcome:
        return store.reusable(job.request.key) or await ask(job)

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
