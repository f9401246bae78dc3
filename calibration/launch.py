"""Start a judge run as a process of its own, so that the app stays quick and a closed page stops nothing."""

from __future__ import annotations

import glob
import hashlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from calibration.asking import Message
from calibration.judging import Exchange, RunSummary
from calibration.ordering import Order, forecast, prepare
from calibration.runs import Plan, base_request, jobs_of
from calibration.store import RunStore
from calibration.ways import WAYS
from labels.files import write_text
from labels.store import LabelStore
from labels.types import Side

_RUN = "import sys; from calibration.cli import main; main(sys.argv[1:])"
TRIED = 3  # items of a try before the whole set
LAST_LINES = 8
_started: list[subprocess.Popen[bytes]] = []  # kept, so that those that ended can be taken notice of


def launch(project: Path, order: Order, *, only_try: bool = False) -> Path:
    """Start `calibrate judge` in the background; what it says goes to the file that is returned."""
    log = log_of(project, order)
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
    settings = order.settings
    wanted = {
        "--kind": order.kind,
        "--rubric": order.rubric,
        "--api-base": settings.get("api_base"),
        "--pass-from": settings.get("pass_from"),
        "--margin": settings.get("margin"),
        "--split": order.plan.split,
        "--budget": None if order.budget is None else str(order.budget),
        "--limit": str(TRIED) if only_try else None,
        "--questions": str(_kept_questions(project, settings)) if order.mode == "questions" else None,
    }
    made = ["judge", str(project), "--model", order.model, "--yes", "--repeats", str(order.plan.repeats)]
    made += ["--score"] if order.mode == "score" else []
    return made + [text for name, value in wanted.items() if value for text in (name, value)]


def _kept_questions(project: Path, settings: Mapping[str, str]) -> Path:
    """The questions of a run that was started from the app, in a file beside the project."""
    text = settings.get("questions", "") + "\n"
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]  # two runs may ask different ones at a time
    path = project.with_name(f"{project.name}-questions-{digest}.txt")
    write_text(path, text, never=[project])
    return path


def log_of(project: Path, order: Order) -> Path:
    """Where a run that was started from the app says how it goes: one file for each way of asking."""
    parts = (order.model, order.mode, order.kind, order.rubric, sorted(order.settings.items()))
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:8]
    return project.with_name(f"{project.name}-judge-{digest}.log")


def _changed(path: Path) -> float:
    return path.stat().st_mtime


def said(project: Path) -> str:
    """What the newest run said last; nothing when none was started."""
    logs = sorted(project.parent.glob(f"{glob.escape(project.name)}-judge-*.log"), key=_changed)
    if not logs:
        return ""
    log = logs[-1]
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return "\n".join(lines[-LAST_LINES:])


def forecast_of(order: Order) -> str:
    """What the order would take, without the price: that is known to the command alone."""
    expected = forecast(prepare(order), lambda *_: None)
    if not expected.jobs:
        return "Everything is answered already; nothing to ask."
    tokens = f"about {expected.prompt_tokens:,} tokens in and {expected.completion_tokens:,} out"
    return f"{expected.calls:,} calls, {tokens}. The price stands below as soon as a run begins."


def rule_of(order: Order) -> str:
    """How an answer becomes a verdict, where the judge itself names none."""
    return WAYS[order.mode].rule(prepare(order).brief)


def stop(project: Path, run_id: str) -> None:
    """Ask a run to stop; what is under way still arrives."""
    with RunStore.open(project) as store:
        store.ask_to_stop(run_id)


def prompt_for(order: Order, place: int) -> Sequence[Message]:
    """The exact messages that the judge gets about the item at this place, side A first."""
    prepared = prepare(order)
    with LabelStore.open(order.project) as store:
        items = islice(store.each_item(prepared.criterion.kind), place, place + 1)
        jobs = jobs_of(items, prepared.brief, plan=Plan(), base=base_request(prepared.brief))
        job = next(jobs, None)
    return job.request.messages if job else ()


def exchanges_of(
    project: Path, run: RunSummary, place: int
) -> tuple[str, list[tuple[Side | None, Exchange]]]:
    """The item at this place, and what the judge of a run saw and said about it in each order."""
    sides: tuple[Side | None, ...] = ("A", "B", None)
    with LabelStore.open(project) as labels, RunStore.open(project) as store:
        kinds = {criterion.id: criterion.kind for criterion in labels.criteria()}
        item = next(islice(labels.each_item(kinds[run.criterion_id]), place, place + 1), None)
        if item is None:
            return "", []
        return item.id, [(side, seen) for side in sides for seen in store.seen(run.id, item.id, side)]


def runs_of(project: Path, criterion_id: str = "") -> list[RunSummary]:
    """All runs of the project, or those about one criterion, the newest last."""
    with LabelStore.open(project) as labels, RunStore.open(project) as store:
        known = [criterion.id for criterion in labels.criteria()]
        return [run for name in known if criterion_id in ("", name) for run in store.runs(name)]
