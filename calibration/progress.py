"""A run's progress in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from calibration.crew import Progress


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[Progress], None]]:
    """A bar with rate, cost, unanswered and time left; a function that moves it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[words]}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, words="")

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.done, words=in_words(progress))

        yield show


def in_words(progress: Progress) -> str:
    """Rate, cost, unanswered and time left on one line."""
    parts = [progress.spent, f"{progress.unanswered:,} unanswered"]
    if progress.rate:
        parts.insert(0, f"{progress.rate:.1f}/s")
    if progress.left is not None:
        parts.append(f"{progress.left:.0f} s left")
    return ", ".join(parts)
