"""A judge run as a process of its own, to be killed: forked from one that has litellm loaded already.

Importing litellm takes seconds of every process. A forked run is a real process all the same, with the
command's own arguments, signals and exit code; only what it imports was read before.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
_CONTEXT = multiprocessing.get_context("forkserver")


@dataclass(frozen=True, slots=True)
class JudgeProcess:
    """A run of the command, and the file with what it printed."""

    process: ForkServerProcess
    log: Path

    def ended_well(self, seconds: float) -> bool:
        """Whether the run ends within so many seconds, with exit code 0."""
        self.process.join(seconds)
        return self.process.exitcode == 0

    def printed(self) -> str:
        """How it ended and what it printed, for whoever wants to know why."""
        text = self.log.read_text(encoding="utf-8") if self.log.exists() else ""
        return f"exit code {self.process.exitcode}: {text}"


def start_judge(arguments: list[str], log: Path) -> JudgeProcess:
    """`calibrate` with these arguments, as a process."""
    os.environ.update(QUIET)  # as the judge sets them itself, but before litellm is imported
    _CONTEXT.set_forkserver_preload(["litellm", "calibration.cli", "calibration.engine"])
    process = _CONTEXT.Process(target=_run, args=(arguments, log), daemon=True)
    process.start()
    return JudgeProcess(process, log)


def _run(arguments: list[str], log: Path) -> None:
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    assert "litellm" in sys.modules, "nothing was loaded before: each run would take seconds more"
    os.environ.pop("OPENAI_API_KEY", None)
    from calibration.cli import main

    main(arguments)
