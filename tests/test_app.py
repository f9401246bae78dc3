"""The app's pages without a browser: who may see what, the name, the question, the end, the guard."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_tools import ADDRESS
from builders import PAIRS, SINGLES, label, make_project, pair, single, verdict
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from calibration.app_cli import FLAGS, app_command, is_ready, server_command
from labels.environment import PROJECT_VARIABLE
from labels.errors import UserError
from labels.pages import _bar
from labels.pages._bar import NOT_SAVED, NOTHING_TO_UNDO, STALE, TOO_QUICK, Seat, carry_out
from labels.pages._identity import usable_name
from labels.store import LabelStore
from labels.types import BlindItem, Criterion, Label
from labels.web import Act, Guard, escaped, is_owner, offered, owner_key, read_act, shown_name, visible

APP = str(Path(__file__).parent.parent / "annotate_app.py")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    items = [*(pair(n) for n in range(3)), single(1)]
    verdicts = [verdict(item, "first", first=first) for item in items[:3] for first in ("A", "B")]
    path = make_project(tmp_path / "p.db", items, verdicts=verdicts, criteria=(PAIRS, SINGLES))
    monkeypatch.setenv(PROJECT_VARIABLE, str(path))
    return path


def run(**parameters: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=30)
    for name, value in parameters.items():
        app.query_params[name] = value
    return app.run()


def page(app: AppTest) -> str:
    """All HTML that the app sent, the bar's own data included."""
    bars = [bar.proto.mixed.json + bar.proto.json for bar in app.get("bidi_component")]
    return "\n".join([*(part.proto.body for part in app.get("html")), *bars])


def key_of(project: Path) -> str:
    with LabelStore.open(project) as store:
        return owner_key(store.setting("salt"))


def labels_of(project: Path, criterion: Criterion = PAIRS) -> list[Label]:
    with LabelStore.open(project) as store:
        return store.labels(criterion.id)


def test_the_plain_address_asks_for_a_name_and_shows_no_result(project: Path) -> None:
    app = run()
    assert not app.exception
    assert [field.label for field in app.text_input] == ["Your name"]
    assert "Overview" not in page(app)


@pytest.mark.parametrize("key", ["", "0" * 22, "Ω", "None"])
def test_a_wrong_key_opens_the_labelling_page_only(project: Path, key: str) -> None:
    app = run(key=key, annotator="Ada")
    assert not app.exception
    assert "First response" in page(app)
    assert ("opens no results" in page(app)) == bool(key)
    assert not app.title


def test_the_owners_key_opens_the_overview_and_stays_in_the_address(project: Path) -> None:
    app = run(key=key_of(project))
    assert not app.exception
    assert [title.value for title in app.title] == ["Overview"]
    assert app.query_params["key"] == key_of(project)


def test_an_empty_name_is_refused_with_a_sentence_and_a_name_is_kept_trimmed(project: Path) -> None:
    app = run()
    app.text_input[0].input("   ")
    app.button[0].click().run()
    assert "Please type your name first" in page(app)
    app.text_input[0].input("  Ada   Lo\u0301pez ")
    app.button[0].click().run()
    assert app.query_params["annotator"] == "Ada López"
    assert "First response" in page(app)
    with LabelStore.open(project) as store:
        assert [annotator.name for annotator in store.annotators()] == ["Ada López"]


def test_not_you_asks_for_the_name_again(project: Path) -> None:
    app = run(annotator="Ada")
    next(button for button in app.button if button.label == "Not you?").click().run()
    assert "annotator" not in app.query_params
    assert [field.label for field in app.text_input] == ["Your name"]


def test_names_that_are_none_are_refused() -> None:
    assert [usable_name(name) for name in ("", " ", "nan", "None", "x" * 81)] == [""] * 5
    assert usable_name(" Ada\u00a0 Lovelace ") == "Ada Lovelace"


def test_the_question_is_chosen_with_one_click_and_kept_in_the_address(project: Path) -> None:
    app = run(annotator="Ada")
    assert PAIRS.question in page(app)
    app.segmented_control[0].set_value("binary").run()
    assert SINGLES.question in page(app)
    assert app.query_params["kind"] == "binary"
    assert SINGLES.question in page(run(annotator="Ada", kind="binary"))


def test_the_last_page_says_what_was_done(project: Path) -> None:
    with LabelStore.open(project) as store:
        store.add_labels([label(pair(n), "Ada", "A") for n in range(3)])
    app = run(annotator="Ada")
    assert "All done, thank you" in page(app)
    assert "You labelled 3 and skipped 0." in page(app)


def test_a_project_without_items_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROJECT_VARIABLE, str(make_project(tmp_path / "empty.db", [])))
    assert "Nothing to label" in page(run(annotator="Ada"))


@pytest.mark.parametrize("name", ["", "missing.db"])
def test_a_missing_project_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["annotate_app.py"])
    monkeypatch.setenv(PROJECT_VARIABLE, str(tmp_path / name) if name else "")
    app = run(annotator="Ada")
    assert not app.exception
    assert "There is no project here" in page(app)
    assert str(tmp_path) not in page(app)


def test_nothing_that_tells_reaches_the_labelling_page(project: Path) -> None:
    sent = page(run(annotator="Ada"))
    assert "short answer" in sent
    for secret in ("alpha", "beta", "judge", "pair-", "i000", PAIRS.id):
        assert secret not in sent


# What a key does: the callback as a function.


@pytest.fixture
def seat(project: Path) -> Seat:
    with LabelStore.open(project) as store:
        taken = Seat(PAIRS, store.annotator("Ada").id)
    show(taken)
    return taken


def show(taken: Seat) -> BlindItem | None:
    """What the page does on each run; the item has been in view for a moment."""
    from labels.desk import Desk
    from labels.pages import project_path

    with Desk.open(project_path(), taken.criterion, annotator_id=taken.annotator_id) as desk:
        item = desk.current()
    taken.guard.show(shown_name(item), time.monotonic() - 1)
    return item


def test_an_answer_is_saved_with_its_note_and_seconds(project: Path, seat: Seat) -> None:
    act = Act(seat.guard.shown, "answer", "first", note="short", seconds=2.5)
    assert carry_out(act, seat) == ""
    saved = labels_of(project)[0]
    assert (saved.value, saved.note, saved.seconds) == (saved.first, "short", 2.5)


def test_a_key_for_something_else_than_what_is_in_view_is_refused(project: Path, seat: Seat) -> None:
    assert carry_out(Act("0" * 24 + ":0", "answer", "first"), seat) == TOO_QUICK
    assert carry_out(Act(seat.guard.shown, "answer", "first"), seat) == TOO_QUICK
    assert labels_of(project) == []


def test_what_another_window_has_answered_is_refused_and_undo_with_it(project: Path, seat: Seat) -> None:
    other = Seat(seat.criterion, seat.annotator_id)
    show(other)
    assert carry_out(Act(other.guard.shown, "answer", "first"), other) == ""
    assert carry_out(Act(seat.guard.shown, "answer", "second"), seat) == STALE
    assert carry_out(Act(seat.guard.shown, "undo"), seat) == STALE
    assert len(labels_of(project)) == 1


@pytest.mark.parametrize(
    ("name", "known"), [("nan", False), (" None ", False), ("x" * 81, False), ("  Ada  B ", True)]
)
def test_the_link_names_a_person_by_the_same_rule_as_everywhere(
    project: Path, name: str, known: bool
) -> None:
    def script() -> None:
        import streamlit as st

        from labels.pages import annotator_id, keep_link_parameters

        keep_link_parameters()
        st.text(str(annotator_id()))

    app = AppTest.from_function(script)
    app.query_params["annotator"] = name
    said = app.run().text[0].value
    with LabelStore.open(project) as store:
        people = {person.id: person.name for person in store.annotators()}
    assert people == ({said: "Ada B"} if known else {})
    assert known or said == "None"


def test_undo_brings_the_last_item_back_also_from_the_last_page(project: Path, seat: Seat) -> None:
    assert carry_out(Act(seat.guard.shown, "undo"), seat) == NOTHING_TO_UNDO
    for _ in range(3):
        show(seat)
        seat.guard.since = 0
        assert carry_out(Act(seat.guard.shown, "skip", reason="unclear"), seat) == ""
    assert show(seat) is None
    assert carry_out(Act(seat.guard.shown, "undo"), seat) == ""
    assert show(seat) is not None
    assert len(labels_of(project)) == 2


def test_a_save_that_fails_keeps_the_item_and_says_so(
    project: Path, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PROJECT_VARIABLE, str(project.with_name("gone.db")))
    act = Act(seat.guard.shown, "answer", "first")
    assert carry_out(act, seat) == NOT_SAVED
    monkeypatch.setenv(PROJECT_VARIABLE, str(project))
    assert carry_out(act, seat) == ""
    assert len(labels_of(project)) == 1


def test_a_note_is_kept_for_the_item_in_view(seat: Seat) -> None:
    assert carry_out(Act(seat.guard.shown, "note", note="both are vague"), seat) == ""
    assert '"note": "both are vague"' in page(run(annotator="Ada"))


@pytest.mark.parametrize(
    "message",
    [
        None,
        "answer",
        {"event": "delete"},
        {"event": "answer", "choice": "pass"},
        {"event": "answer", "choice": "tie"},
        {"event": "answer", "choice": ["first"]},
        {"event": "skip", "reason": "  "},
    ],
)
def test_what_the_bar_does_not_send_is_ignored(message: object) -> None:
    assert read_act(message, Criterion("c", "pairwise", "?", ties=False)) is None


def test_a_message_is_read_without_what_the_project_cannot_hold() -> None:
    message = {"event": "answer", "choice": "tie", "shown": "a:0", "note": " x\0\ud800 ", "seconds": True}
    assert read_act(message, PAIRS) == Act("a:0", "answer", "tie", note="x?")
    for seconds in (float("nan"), -1, 1e9, "3"):
        act = read_act({"event": "undo", "shown": "a:0", "seconds": seconds}, PAIRS)
        assert act is not None
        assert act.seconds is None


def test_each_refusal_starts_the_wait_again() -> None:
    guard = Guard()
    guard.show("a:0", 10.0)
    guard.show("a:0", 10.2)
    assert not guard.admits("a:0", 10.25)
    assert not guard.admits("a:0", 10.5)
    assert guard.admits("a:0", 10.85)
    guard.show("b:0", 11.0)
    assert not guard.admits("a:0", 12.0)
    assert guard.admits("b:0", 12.5)


def test_ties_are_offered_where_the_criterion_takes_them() -> None:
    assert [one.key for one in offered(PAIRS)] == ["1", "0", "2"]
    assert [one.key for one in offered(Criterion("c", "pairwise", "?", ties=False))] == ["1", "2"]
    assert [one.key for one in offered(SINGLES)] == ["1", "2"]


@given(st.text())
def test_a_text_becomes_html_without_tags_of_its_own_on_one_line(text: str) -> None:
    from html import unescape

    html = escaped(text)
    assert "\n" not in html
    assert unescape(html.replace('<span class="jc-mark">', "").replace("</span>", "")) == visible(text)
    assert html.count("<") == 2 * html.count('<span class="jc-mark">')


def test_marks_that_cannot_be_seen_are_written_out_but_joined_signs_stay_whole() -> None:
    assert visible("a\u202eb\u2066c\u200bd\ufeff") == "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200B⟩d⟨U+FEFF⟩"
    assert visible("👨\u200d👩\u200d👧 می\u200cخواهم") == "👨\u200d👩\u200d👧 می\u200cخواهم"
    assert visible("pass\u200dword\u200c") == "pass⟨U+200D⟩word⟨U+200C⟩"


def test_the_owners_key_is_compared_as_text() -> None:
    assert is_owner("salt", owner_key("salt"))
    assert not is_owner("salt", owner_key("other"))
    assert len(owner_key("salt")) == 22


# The command.


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as busy:
        busy.bind((ADDRESS, 0))
        busy.listen()
        yield busy.getsockname()[1]


def test_app_says_clearly_what_is_wrong(project: Path, taken_port: int) -> None:
    for arguments, reason in (
        ([str(project.with_name("gone.db"))], "There is no project"),
        ([str(project), "--port", str(taken_port)], f"Port {taken_port} is in use"),
        ([str(project), "--address", "no.such.host.invalid"], "is no address of this machine"),
    ):
        result = CliRunner().invoke(app_command, arguments)
        assert isinstance(result.exception, UserError)
        assert reason in str(result.exception)


def test_the_server_listens_here_only_and_tells_nobody() -> None:
    command = server_command(address=ADDRESS, port=8501)
    assert f"--server.address={ADDRESS}" in command
    assert FLAGS["browser.gatherUsageStats"] == "false"
    assert FLAGS["client.showErrorDetails"] == "none"


def test_app_prints_both_links_and_ends_quietly(project: Path) -> None:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "calibration", "app", str(project), "--no-browser", "--port", str(port)]
    command[1:3] = ["-c", "from calibration.cli import main; main()"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(2)]
    assert is_ready(ADDRESS, port)
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=120)
    link = f"http://{ADDRESS}:{port}/"
    assert lines[0] == f"For you (results and labelling): {link}?key={key_of(project)}\n"
    assert lines[1] == f"For annotators (labelling only): {link}\n"
    assert rest == "Stopped. Everything that was saved is in the project.\n"
    assert "Traceback" not in errors
    assert process.returncode == 0
    assert not is_ready(ADDRESS, port)


def test_the_component_is_made_of_trusted_files_only() -> None:
    folder = Path(_bar.__file__).parent
    html = (folder / "bar.html").read_text(encoding="utf-8")
    script = (folder / "bar.js").read_text(encoding="utf-8")
    assert "innerHTML" not in script
    assert "{" not in html
    assert "http" not in html + script
