"""Print every benchmark, or those named on the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial

from benchmarks.judging import judging
from benchmarks.labelling import labelling
from benchmarks.report import report
from benchmarks.statistics import kappa, statistics

BENCHMARKS: Mapping[str, Callable[[], None]] = {
    "kappa": partial(kappa, 50),
    "report": report,
    "judging": judging,
    "labelling": labelling,
    "statistics": statistics,
}


def main() -> int:
    """Run the benchmarks that were named, or all."""
    names = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"No benchmark is called {unknown[0]}; there are {', '.join(BENCHMARKS)}.")
        return 2
    for name in names:
        print(f"## {name}", flush=True)
        BENCHMARKS[name]()
    return 0


sys.exit(main())
