"""A run's progress in the terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from calibration.crew import Progress

EVERY = 2.0  # seconds between two lines where there is no terminal


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[Progress], None]]:
    """A bar with rate, cost, unanswered and time left; a function that moves it.

    Where nobody sits at a terminal it is a line every two seconds.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _line_by_line()
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[words]}"))
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total, words="")

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.done, words=in_words(progress))

        yield show


def _line_by_line() -> Callable[[Progress], None]:
    told = time.monotonic()

    def show(progress: Progress) -> None:
        nonlocal told
        if time.monotonic() - told >= EVERY:
            told = time.monotonic()
            click.echo(f"{progress.done:,} of {progress.total or 0:,}: {in_words(progress)}", err=True)

    return show


def in_words(progress: Progress) -> str:
    """Rate, cost, unanswered and time left on one line."""
    parts = [progress.spent, f"{progress.unanswered:,} unanswered"]
    if progress.rate:
        parts.insert(0, f"{progress.rate:.1f}/s")
    if progress.left is not None:
        parts.append(f"{progress.left:.0f} s left")
    return ", ".join(parts)
