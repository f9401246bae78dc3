"""What a killed server and a busy project file must not do: lose, double or refuse a label."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_tools import PATIENCE, Server, Sitting
from builders import PAIRS, make_project, pair
from conftest import Serve, Sit

from calibration.store import RunStore
from calibration.types import Verdict
from labels.store import LabelStore

pytestmark = pytest.mark.browser


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    project = make_project(tmp_path / "p.db", [pair(n) for n in range(40)], settings={"repeat_every": "0"})
    server = Server(project)
    server.start()
    yield server
    server.kill()


def said_saved(sitting: Sitting, wanted: int = 0) -> int:
    """What the bar says is saved; it is drawn a moment after the item, so wait until it is `wanted`."""
    deadline = time.monotonic() + PATIENCE
    while (said := int(sitting.status.split(" of ")[0])) < wanted and time.monotonic() < deadline:
        sitting.page.wait_for_timeout(50)
    return said


def answers(project: Path) -> Counter[str]:
    """How many label rows each presentation has."""
    with LabelStore.open(project) as store:
        return Counter(str(row["presentation_id"]) for row in store.db.query("SELECT * FROM labels"))


def test_a_killed_server_loses_nothing_that_was_shown_as_saved(server: Server, sit: Sit) -> None:
    ada = sit(server)
    moments = random.Random(20261201)
    for _ in range(10):
        before = answers(server.project)
        ada.page.keyboard.press(moments.choice("120"))
        ada.page.wait_for_timeout(moments.uniform(0, 100))
        server.kill()
        shown_as_saved = said_saved(ada)
        after = answers(server.project)
        assert set(after.values()) <= {1}
        assert before <= after
        assert shown_as_saved <= len(after) <= len(before) + 1
        server.start()
        ada.page.reload()
        ada.ready()
        assert said_saved(ada, len(after)) == len(after)
        assert ada.shown.split(":")[0] not in after


def test_the_page_comes_back_by_itself_after_a_kill(server: Server, sit: Sit) -> None:
    ada = sit(server)
    ada.press("1")
    before = ada.shown
    server.kill()
    ada.page.wait_for_selector("[data-testid=stApp]:not([data-test-connection-state=CONNECTED])")
    ada.page.keyboard.press("1")
    assert "not saved" in ada.answered_or_told(before)
    server.start()
    ada.page.wait_for_selector("[data-test-connection-state=CONNECTED]", timeout=PATIENCE * 1000)
    assert ada.shown == before
    for _ in range(5):
        ada.wait_for_silence()
        ada.page.keyboard.press("2")
        if ada.answered_or_told(before) == "answered":
            break
    assert said_saved(ada, 2) == len(answers(server.project)) == 2


def test_labels_and_ten_thousand_verdicts_are_written_at_the_same_time(
    tmp_path: Path, serve: Serve, sit: Sit
) -> None:
    items = [pair(n) for n in range(2500)]
    project = make_project(tmp_path / "p.db", items)
    verdicts = [
        Verdict("judge", PAIRS.id, item.id, first, "A", repeat=repeat)
        for item in items
        for first in ("A", "B")
        for repeat in (0, 1)
    ]
    written: list[int] = []

    def write() -> None:
        for start in range(0, len(verdicts), 100):
            with RunStore.open(project) as runs:
                written.append(runs.add_verdicts(verdicts[start : start + 100], "test")[0].new)

    ada = sit(serve(project))
    writer = threading.Thread(target=write)
    writer.start()
    pressed = 0
    while writer.is_alive() or pressed < 5:
        ada.press("1")
        pressed += 1
    writer.join()
    assert sum(written) == len(verdicts) == 10_000
    assert said_saved(ada, pressed) == pressed == len(answers(project))
    assert ada.hint == ""
