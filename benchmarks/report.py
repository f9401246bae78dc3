"""Seconds and peak memory of a report over 100,000 labels, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ITEMS, PEOPLE = 25_000, ("Ada", "Ben", "Chi", "Dee")

_MEASURED = """
import resource, sys, time
from calibration.load import load_report
from calibration.render import render
start = time.perf_counter()
text = render(load_report(sys.argv[1]), "json")
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
print(f"report over {int(sys.argv[2]):,} labels and {int(sys.argv[3]):,} verdicts: "
      f"{seconds:.1f} s, peak {peak:.0f} MB")
"""


def report() -> None:
    """Print seconds and peak memory of the JSON report of a large project."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "large.db"
        verdicts = make_large_project(project)
        labels = ITEMS * len(PEOPLE)
        command = [sys.executable, "-c", _MEASURED, str(project), str(labels), str(verdicts)]
        subprocess.run(command, check=True)


def make_large_project(project: Path, items: int = ITEMS, *, labelled: bool = True) -> int:
    """A project of pairs with four annotators and one judge in both orders; the number of verdicts."""
    from calibration.store import RunStore
    from calibration.types import Verdict
    from labels.store import LabelStore
    from labels.types import Criterion, ImportedLabel, Item, Response

    criterion = Criterion("pairwise-1", "pairwise", "Which response is better?")
    LabelStore.create(project, [criterion])
    text = "A response of ordinary length, as people write them to one another. " * 6
    made = []
    for number in range(items):
        responses = (Response("A", "one", text, 0), Response("B", "two", text[::-1], 1))
        made.append(Item(f"i{number}", f"item {number}", "pairwise", "A question?", responses))
    with LabelStore.open(project) as store, RunStore.open(project) as runs:
        store.add_items(made)
        if not labelled:
            return 0
        store.add_labels(
            [
                ImportedLabel(criterion.id, item.id, name, "A" if (number * 7 + place) % 3 else "B")
                for number, item in enumerate(made)
                for place, name in enumerate(PEOPLE)
            ]
        )
        verdicts = [
            Verdict("judge", criterion.id, item.id, first, first, "first")
            for item in made
            for first in ("A", "B")
        ]
        runs.add_verdicts(verdicts, "benchmark")
    return len(verdicts)
