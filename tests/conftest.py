"""Fixtures of the tests that drive the app: real project files, a real server, a real browser."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser_tools import FLAGS, SEEN, Server, Sitting
from find_browser import find_browser
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

# Where bytecode is switched off, each process that a test starts would compile all its libraries anew:
# litellm alone then takes ten seconds more of each of dozens of processes.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A slow machine is no wrong result: no test may fail by the clock.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")

Serve = Callable[[Path], Server]
Sit = Callable[..., Sitting]


@pytest.fixture(scope="module")  # Playwright's loop runs while it is open: later modules need their own
def chromium() -> Iterator[Browser]:
    """A headless Chromium; without one the tests skip, but in CI they fail."""
    path = find_browser()
    if path is None:
        reason = "no Chromium was found; get one with: make browser"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """One profile for all tests, so that the app's own files are loaded once."""
    context = chromium.new_context()
    context.add_init_script(SEEN)
    yield context
    context.close()


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One app for all tests; each test lays its own project where the app looks for one."""
    server = Server(tmp_path_factory.mktemp("app") / "current.db")
    yield server
    server.kill()


@pytest.fixture
def serve(shared_server: Server) -> Iterator[Serve]:
    """Serve a project with the real app; no test may leave a traceback in its log."""
    before = shared_server.logged()

    def start(project: Path) -> Server:
        shared_server.project.unlink(missing_ok=True)
        shared_server.project.symlink_to(project)
        if shared_server.process is None:
            shared_server.start()
        return shared_server

    yield start
    news = shared_server.logged()[len(before) :]
    assert "Traceback" not in news, news
    assert "locked" not in news, news


@pytest.fixture
def sit(context: BrowserContext) -> Iterator[Sit]:
    """Open the labelling page as somebody, ready for keys."""
    sittings: list[Sitting] = []

    def open_page(server: Server, name: str = "Ada", *, width: int = 1280, height: int = 800) -> Sitting:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        sitting = Sitting(page, server)
        sittings.append(sitting)
        sitting.open(name)
        return sitting

    yield open_page
    for sitting in sittings:
        sitting.page.close()
