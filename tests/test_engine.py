"""A run's engine over real project files: what arrives is stored once, in a thread, in little memory."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from sqlite3 import IntegrityError

import pytest
from builders import PAIRS, make_project, pair

from calibration.crew import Meter
from calibration.engine import GROUP, Ride, carry_on
from calibration.flow import Limits
from calibration.judging import Job, Outcome
from calibration.ordering import Order, Prepared, open_jobs, prepare
from calibration.runs import Plan
from calibration.store import RunStore

LIMITS = Limits(concurrency=16)


class Judge:
    """Answers at once, or after uneven times, and counts what it was asked."""

    def __init__(self, *, at_once: bool = True) -> None:
        self.asked: Counter[str] = Counter()
        self._at_once = at_once

    async def ask(self, job: Job) -> Outcome:
        self.asked[job.request.key] += 1
        await asyncio.sleep(0 if self._at_once else 0.001 * (len(self.asked) % 7))
        return Outcome("first", text="one of many", cost=0.0)


class CountingJudge(Judge):
    """Keeps nothing, and counts now and then how many jobs are in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.most = self._calls = 0

    async def ask(self, job: Job) -> Outcome:
        self._calls += 1
        if self._calls % 200 == 0:
            self.most = max(self.most, sum(type(thing) is Job for thing in gc.get_objects()))
        await asyncio.sleep(0)
        return Outcome("first", text="one of many", cost=0.0)


def prepared_run(path: Path, pairs: int, **plan: object) -> Prepared:
    make_project(path, [pair(n) for n in range(pairs)])
    return prepare(Order(path, "scripted:reads", plan=Plan(**plan)))  # type: ignore[arg-type]


def carried(prepared: Prepared, jobs: Iterator[Job], judge: Judge) -> Ride:
    async def act() -> Ride:
        ride = Ride(prepared.order.project, prepared.run, prepared.criterion, Meter(), asyncio.Event())
        await carry_on(ride, jobs, judge.ask, limits=LIMITS)
        return ride

    return asyncio.run(asyncio.wait_for(act(), 60))


def rows(project: Path, table: str) -> int:
    with RunStore.open(project) as store:
        return int(store.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("pairs", [1, GROUP // 2, 5 * GROUP + 3])
def test_all_that_arrives_is_stored_once_however_it_arrives(
    tmp_path: Path, pairs: int, at_once: bool
) -> None:
    prepared = prepared_run(tmp_path / "p.db", pairs)
    with open_jobs(prepared) as jobs:
        carried(prepared, jobs, Judge(at_once=at_once))
    assert rows(tmp_path / "p.db", "verdicts") == rows(tmp_path / "p.db", "attempts") == 2 * pairs
    with RunStore.open(tmp_path / "p.db") as store:
        assert store.runs(PAIRS.id)[0].state == "done"


def test_a_job_whose_answer_is_stored_already_is_not_asked_again(tmp_path: Path) -> None:
    prepared, judge = prepared_run(tmp_path / "p.db", 20), Judge()
    with open_jobs(prepared) as opened:
        jobs = list(opened)
    carried(prepared, iter(jobs[:30]), judge)
    carried(prepared, iter(jobs), judge)
    assert set(judge.asked.values()) == {1}
    assert len(judge.asked) == rows(tmp_path / "p.db", "verdicts") == 40


def test_a_verdict_that_cannot_be_stored_ends_the_run_with_its_error(tmp_path: Path) -> None:
    """An item that the project does not hold, among more outcomes than the queue takes."""
    prepared, judge = prepared_run(tmp_path / "p.db", 10 * GROUP), Judge()
    with open_jobs(prepared) as jobs, pytest.raises(IntegrityError):
        carried(prepared, (replace(job, item_id="nobody") for job in jobs), judge)
    assert judge.asked.total() < 20 * GROUP
    with RunStore.open(tmp_path / "p.db") as store:
        assert store.runs(PAIRS.id)[0].state == "stopped"


def test_what_is_in_memory_is_bounded_however_many_items_there_are(tmp_path: Path) -> None:
    """Jobs wait in a queue of four groups, in the groups under way and with the workers, nowhere else."""
    prepared, judge = prepared_run(tmp_path / "p.db", 800), CountingJudge()
    with open_jobs(prepared) as jobs:
        carried(prepared, jobs, judge)
    assert rows(tmp_path / "p.db", "verdicts") == 1600
    assert 0 < judge.most <= (4 + 2) * GROUP + 4 * LIMITS.concurrency < 1600 / 3


def test_a_run_loads_neither_pandas_nor_scikit_learn() -> None:
    """They would cost each command seconds and ninety megabytes, and a run needs neither."""
    code = (
        "import sys, calibration.ordering, calibration.engine, calibration.judge_cli;"
        "print([name for name in ('pandas', 'sklearn', 'litellm') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
