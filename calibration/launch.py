"""Start a judge run as a process of its own, so that the app stays quick and a closed page stops nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from calibration.asking import Message
from calibration.judging import RunSummary
from calibration.ordering import Order, open_jobs, prepare
from calibration.runs import Plan
from calibration.store import RunStore
from labels.store import LabelStore

_RUN = "import sys; from calibration.cli import main; main(sys.argv[1:])"
TRIED = 3  # items of a try before the whole set
_started: list[subprocess.Popen[bytes]] = []  # kept, so that those that ended can be taken notice of


def launch(project: Path, order: Order, *, only_try: bool = False) -> Path:
    """Start `calibrate judge` in the background; what it says goes to the file that is returned."""
    log = log_of(project)
    _started[:] = [process for process in _started if process.poll() is None]
    with log.open("w") as handle:
        process = subprocess.Popen(
            [sys.executable, "-c", _RUN, *arguments(project, order, only_try=only_try)],
            stdout=handle,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    _started.append(process)
    return log


def arguments(project: Path, order: Order, *, only_try: bool = False) -> list[str]:
    """The command line that stands for an order."""
    made = ["judge", str(project), "--model", order.model, "--yes", "--repeats", str(order.plan.repeats)]
    if order.kind:
        made += ["--kind", order.kind]
    if order.settings.get("api_base"):
        made += ["--api-base", order.settings["api_base"]]
    if order.budget is not None:
        made += ["--budget", str(order.budget)]
    return [*made, "--limit", str(TRIED)] if only_try else made


def log_of(project: Path) -> Path:
    """Where the newest run that was started from the app says how it goes."""
    return project.with_name(project.name + "-judge.log")


def said(project: Path) -> str:
    """What the newest run said last; nothing when none was started."""
    log = log_of(project)
    return log.read_text(encoding="utf-8", errors="replace").strip() if log.exists() else ""


def stop(project: Path, run_id: str) -> None:
    """Ask a run to stop; what is under way still arrives."""
    with RunStore.open(project) as store:
        store.ask_to_stop(run_id)


def first_prompt(project: Path, model: str, *, kind: str) -> Sequence[Message]:
    """The exact messages that the judge gets about the first item, side A first."""
    order = Order(project, model, Plan(limit=1), kind=kind, name="")
    job = next(open_jobs(prepare(order)), None)
    return job.request.messages if job else ()


def runs_of(project: Path) -> list[RunSummary]:
    """All runs of the project, the newest last."""
    with LabelStore.open(project) as labels, RunStore.open(project) as store:
        return [run for criterion in labels.criteria() for run in store.runs(criterion.id)]
