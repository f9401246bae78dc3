"""Find the Chromium that the browser tests drive; with --install, get one where there is none.

An installed Chromium or Chrome comes first. Else Playwright downloads its own; where that is not
possible, Debian's package is tried.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"


def find_browser() -> str | None:
    """The path of a Chromium on this machine, or None."""
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    return MAC if Path(MAC).exists() else _playwright_browser()


def _playwright_browser() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _install() -> None:
    commands = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if shutil.which("apt-get") and os.geteuid() == 0:
        commands.append(["apt-get", "update", "-qq"])
        commands.append(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"])
    for command in commands:
        print("trying:", " ".join(command[-4:]), flush=True)
        subprocess.run(command, check=False, timeout=900)
        if find_browser():
            return


def main() -> int:
    """Print the browser's path; exit code 1 when there is none."""
    if find_browser() is None and "--install" in sys.argv:
        _install()
    browser = find_browser()
    print(f"browser: {browser}" if browser else "No Chromium was found; install one and run again.")
    return 0 if browser else 1


if __name__ == "__main__":
    sys.exit(main())
