"""From the key to the next pair painted, in a real Chromium, at 50 and at 10,000 items."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
SIZES = (50, 10_000)
PRESSES = 40


def labelling() -> None:
    """Print p50 and p95 of the time from a key to the next pair painted."""
    sys.path.insert(0, str(ROOT / "tests"))  # the browser tests' own hands drive the page here
    from browser_tools import FLAGS, SEEN, Server, Sitting
    from find_browser import find_browser
    from playwright.sync_api import sync_playwright

    from benchmarks.report import make_large_project

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        for items in SIZES:
            project = Path(folder) / f"{items}.db"
            make_large_project(project, items, labelled=False)
            server = Server(project)
            server.start()
            context = browser.new_context()
            context.add_init_script(SEEN)
            sitting = Sitting(context.new_page(), server)
            sitting.open("Ada")
            times = _times(sitting)
            server.kill()
            p50, p95 = np.percentile(times, [50, 95])
            print(
                f"key to next pair painted, {items:,} items: p50 {p50:.0f} ms, p95 {p95:.0f} ms", flush=True
            )
        browser.close()


def _times(sitting: Any) -> list[float]:
    """Milliseconds from each key going down to the next pair painted, by the page's own clock."""
    page, times = sitting.page, []
    page.evaluate("document.addEventListener('keydown', e => (window.down = e.timeStamp), true)")
    for press in range(PRESSES):
        after = sitting.press("12"[press % 2])
        painted, _ = sitting.seen()
        times.append(painted[after] - page.evaluate("window.down"))
    return times
