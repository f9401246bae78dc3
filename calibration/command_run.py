"""Carry out the run of a command judge: one program, all open items, each verdict stored as it arrives."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator

from calibration.code_judges import code_outcome, shown_to_code
from calibration.command_judge import CommandAnswer, CommandRequest, StrayLine, ask_command
from calibration.crew import Progress
from calibration.engine import GROUP, Ride
from calibration.judging import Job, Outcome, RunState
from calibration.runs import Done, verdict_of
from calibration.store import RunStore

LONGEST_WAIT = 0.5  # seconds until what has arrived is stored and a stop is looked for


def carry_command(
    ride: Ride,
    jobs: Iterable[Job],
    *,
    seconds: float,
    on_progress: Callable[[Progress], None] | None = None,
) -> int:
    """Ask the program of the run about the jobs; how many of its lines answered nothing.

    UserError when the program cannot start, takes too long or ends with an error; what arrived is stored.
    """
    with RunStore.open(ride.project) as store:
        store.start(ride.run)
        keeper = _Keeper(ride, store, on_progress)
        ended: RunState = "stopped"
        try:
            stray = _listen(ride, keeper, jobs, seconds=seconds)
            ended = "done" if ride.ended == "done" else "stopped"
        finally:
            try:
                keeper.store_all()
            finally:
                store.finish(ride.run.id, ended)
    return stray


def _listen(ride: Ride, keeper: _Keeper, jobs: Iterable[Job], *, seconds: float) -> int:
    stray = 0
    command = ride.run.settings["command"]
    for said in ask_command(command, keeper.requests(jobs), seconds=seconds):
        if isinstance(said, CommandAnswer):
            keeper.keep(said)
        elif isinstance(said, StrayLine):
            stray += 1
        if keeper.is_stopped():
            ride.end("stopped")
            break
    return stray


class _Keeper:
    """Matches answers with jobs and stores them by groups; an answer that is taken back is withdrawn."""

    def __init__(self, ride: Ride, store: RunStore, on_progress: Callable[[Progress], None] | None) -> None:
        self._ride, self._store, self._on_progress = ride, store, on_progress
        self._jobs: dict[str, Job] = {}
        self._open: list[Done] = []
        self._answered: set[str] = set()
        self._stored_at = self._looked_at = time.monotonic()

    def requests(self, jobs: Iterable[Job]) -> Iterator[CommandRequest]:
        """What the program reads, one line for each job."""
        for job in jobs:
            name = hashlib.sha256(job.key.encode()).hexdigest()[:24]
            self._jobs[name] = job
            yield _request(job, name)

    def keep(self, said: CommandAnswer) -> None:
        """Take one answer; store when enough have come or some time has passed."""
        job = self._jobs[said.id]
        done = self._done(job, said)
        if said.id in self._answered and done[2].value is None:
            self.store_all()
            self._store.withdraw(self._ride.run.id, job, verdict=done[2])
            return
        if said.id not in self._answered:
            self._ride.meter.add(answered=done[2].value is not None, cost=0.0)
        self._answered.add(said.id)
        self._open.append(done)
        if len(self._open) >= GROUP or time.monotonic() - self._stored_at > LONGEST_WAIT:
            self.store_all()

    def store_all(self) -> None:
        """Store what has come since the last time."""
        self._store.record(self._ride.run.id, self._open)
        self._open, self._stored_at = [], time.monotonic()
        if self._on_progress is not None:
            self._on_progress(self._ride.meter.snapshot())

    def is_stopped(self) -> bool:
        """Whether somebody asked for a stop, from the page or from another terminal."""
        if time.monotonic() - self._looked_at < LONGEST_WAIT:
            return False
        self.store_all()
        self._looked_at = time.monotonic()
        return self._store.state_of_run(self._ride.run.id) == "stopping"

    def _done(self, job: Job, said: CommandAnswer) -> Done:
        ride = self._ride
        if said.choice is None:
            outcome = Outcome(None, said.error or "unparseable", said.reasoning, said.raw, cost=0.0)
        else:
            outcome = code_outcome(
                said.choice, said.reasoning, run=ride.run, criterion=ride.criterion, raw=said.raw
            )
        return job, outcome, verdict_of(ride.run, job, outcome=outcome, criterion=ride.criterion)


def _request(job: Job, name: str) -> CommandRequest:
    shown = shown_to_code(job)
    return CommandRequest(
        name,
        str(shown["prompt"]),
        tuple(map(str, shown["responses"])),  # type: ignore[call-overload]
        str(shown["context"]),
        str(shown["reference"]),
    )
