"""The Judge page over a real project: choose, see the prompt, try, run, stop, read what the judge saw."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, make_project, pair, single
from fake_server import fake_server
from streamlit.testing.v1 import AppTest

import calibration.pages
from calibration import launch
from calibration.cli import main
from calibration.judging import RunSummary
from calibration.launch import runs_of
from calibration.ordering import Order
from labels.rubric import make_rubric
from labels.store import LabelStore
from labels.web import owner_key

APP = Path(__file__).parent.parent / "annotate_app.py"
PAGE = Path(calibration.pages.__file__).parent / "judge.py"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    items = [pair(n) for n in range(6)] + [single(n) for n in range(6)]
    return make_project(tmp_path / "p.db", items, criteria=[PAIRS, SINGLES])


@pytest.fixture
def page(project: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("JUDGE_CALIBRATION_PROJECT", str(project))
    with LabelStore.open(project) as store:
        key = owner_key(store.setting("salt"))
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.query_params["key"] = key
    at.run()
    at.switch_page(str(PAGE)).run()
    assert not at.exception
    return at


def html_of(at: AppTest) -> str:
    assert not at.exception
    return "\n".join(element.proto.body for element in at.get("html"))


def pressed(at: AppTest, label: str) -> AppTest:
    (button,) = [button for button in at.button if button.label == label]
    return button.click().run()


def toggled(at: AppTest, label: str) -> AppTest:
    (toggle,) = [toggle for toggle in at.toggle if toggle.label == label]
    return toggle.set_value(True).run()


def wait_for(project: Path, holds: Callable[[RunSummary], bool]) -> RunSummary:
    deadline = time.monotonic() + 120
    while not (runs := runs_of(project)) or not holds(runs[-1]):
        assert time.monotonic() < deadline, launch.said(project)
        time.sleep(0.2)
    return runs[-1]


def test_a_try_asks_three_items_and_the_run_then_asks_only_the_rest(page: AppTest, project: Path) -> None:
    assert "12 calls" in html_of(pressed(page, "What will it take?"))
    pressed(page, "Try it on 3 items")
    tried = wait_for(project, lambda run: run.state == "done")
    assert (tried.verdicts, tried.calls) == (6, 6)
    assert "6 calls" in html_of(pressed(page, "What will it take?"))
    pressed(page, "Run it on all items")
    whole = wait_for(project, lambda run: run.state == "done" and run.verdicts == 12)
    assert (whole.id, whole.calls) == (tried.id, 12)
    assert "nothing to ask" in html_of(pressed(page, "What will it take?"))


def test_what_a_judge_saw_and_said_can_be_read_for_each_item_and_order(page: AppTest, project: Path) -> None:
    pressed(page, "Try it on 3 items")
    wait_for(project, lambda run: run.state == "done")
    text = html_of(toggled(page.run(), "Show what a judge saw and said"))
    assert "A first" in text
    assert "B first" in text
    assert "short answer 0" in text
    assert "&quot;verdict&quot;" in text or '"verdict"' in text
    assert not any(secret in text for secret in ("alpha", "beta", "pair-0"))


def test_who_reads_what_a_judge_said_is_not_blind_for_that_item_any_more(
    page: AppTest, project: Path
) -> None:
    pressed(page, "Try it on 3 items")
    wait_for(project, lambda run: run.state == "done")
    with LabelStore.open(project) as store:
        ada = store.annotator("Ada").id
    page.query_params["annotator"] = "Ada"
    toggled(page.run(), "Show what a judge saw and said")
    with LabelStore.open(project) as store:
        seen = store.db.execute("SELECT item_id, saw FROM reveals WHERE annotator_id = ?", (ada,)).fetchall()
    assert ("i0000", "verdict") in seen
    assert {item_id for item_id, _ in seen} == {"i0000"}


def test_the_prompt_of_any_item_is_shown_as_the_rubric_version_makes_it(page: AppTest, project: Path) -> None:
    with LabelStore.open(project) as store:
        store.add_rubric(make_rubric(PAIRS, ("Be kind to <b>everyone</b>.", "", "", ""), note="kinder"))
    at = toggled(page.run(), "Show what the judge will see")
    assert "Be kind to &lt;b&gt;everyone" in html_of(at)
    (versions,) = [box for box in at.selectbox if box.label == "Rubric version"]
    at = versions.select_index(0).run()
    assert "Be kind" not in html_of(at)
    (item,) = [box for box in at.number_input if box.label == "Item"]
    assert "question 4" in html_of(item.set_value(5).run())
    assert "There is no such item" in html_of(item.set_value(99).run())


def test_closed_questions_and_scores_can_be_asked_from_the_page(page: AppTest, project: Path) -> None:
    page.radio[0].set_value("binary").run()
    (way,) = [radio for radio in page.radio if radio.label == "How it is asked"]
    way.set_value("questions").run()
    assert "Write at least one question." in html_of(page)
    page.text_area[0].set_value("Is it right?\nIs it kind?").run()
    assert "1. Is it right?" in html_of(toggled(page, "Show what the judge will see"))
    pressed(page, "Try it on 3 items")
    run = wait_for(project, lambda run: run.state == "done")
    assert run.verdicts == 3
    assert "questions" in run.judge
    way.set_value("score").run()
    pressed(page, "Try it on 3 items")
    assert "score" in wait_for(project, lambda run: "score" in run.judge and run.state == "done").judge


def test_a_wrong_model_is_told_on_the_page(page: AppTest, project: Path) -> None:
    page.text_input[0].set_value("scripted:nobody").run()
    pressed(page, "Try it on 3 items")
    deadline = time.monotonic() + 60
    while "There is no judge" not in launch.said(project):
        assert time.monotonic() < deadline, launch.said(project)
        time.sleep(0.2)
    assert "scripted:nobody" in html_of(page.run())


def test_a_run_can_be_stopped_from_the_page_and_goes_on_by_the_same_button(
    page: AppTest, project: Path
) -> None:
    with fake_server(latency=2.0) as server:
        launch.launch(project, _order(project, server.api_base))
        wait_for(project, lambda run: run.state == "running")
        pressed(page.run(), "Stop this run")
        stopped = wait_for(project, lambda run: run.state == "stopped")
        assert stopped.verdicts < 12
        main(launch.arguments(project, _order(project, server.api_base)))
    again = wait_for(project, lambda run: run.state == "done" and run.verdicts == 12)
    assert (again.id, again.calls) == (stopped.id, 12)


def _order(project: Path, api_base: str) -> Order:
    return Order(project, "openai/test-judge", settings={"api_base": api_base}, kind="pairwise")
