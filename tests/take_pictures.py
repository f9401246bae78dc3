"""Take the pictures of the README from the demo project: `make pictures`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from browser_tools import FLAGS, Server
from find_browser import find_browser
from playwright.sync_api import Browser, sync_playwright

from calibration.demo_cli import build_demo
from labels.store import LabelStore
from labels.web import owner_key

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
SIZES = {1280: 800, 390: 844}
OWNERS = ("overview", "agreement", "disagreements")
SHOTS = tuple((name, scheme, width) for name in OWNERS for scheme in ("light", "dark") for width in SIZES)
README = {
    ("overview", "light", 1280),
    ("label", "light", 1280),
    ("label", "dark", 390),
    ("agreement", "dark", 1280),
    ("disagreements", "light", 1280),
}


def main() -> int:
    """Take the pictures that the README shows, or with --all every page at each size and scheme."""
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    labels = tuple(("label", scheme, width) for scheme in ("light", "dark") for width in SIZES)
    shots = (*SHOTS, *labels) if "--all" in sys.argv else tuple(README)
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        project = Path(made) / "demo.db"
        build_demo(project)
        with LabelStore.open(project) as store:
            key = owner_key(store.setting("salt"))
        server = Server(project)
        server.start()
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        for name, scheme, width in shots:
            page = "" if name == "overview" else name
            path = "?annotator=Ada" if name == "label" else f"{page}?key={key}"
            target = folder / f"{name}-{scheme}-{width}.png"
            _take(browser, server.url + path, target, scheme=scheme, width=width)
        browser.close()
        server.kill()
    return 0


def _take(browser: Browser, url: str, target: Path, *, scheme: str, width: int) -> None:
    size = {"width": width, "height": SIZES[width]}
    page = browser.new_page(viewport=size, color_scheme=scheme)
    page.goto(url)
    page.wait_for_selector("[data-test-script-state=notRunning]", timeout=60_000)
    page.wait_for_timeout(2_500)
    page.screenshot(path=target)
    page.close()


if __name__ == "__main__":
    sys.exit(main())
