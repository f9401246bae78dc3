"""The answer bar: what it is told, and what happens when it reports a key."""

from __future__ import annotations

import logging
import sqlite3
import time
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from labels.desk import Answer, Desk, Progress
from labels.errors import UserError
from labels.pages import project_path, spare_the_garbage_collector
from labels.types import BlindItem, Criterion
from labels.web import DONE, Act, Guard, offered, read_act, shown_name

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

KEY = "answer_bar"
SKIP_REASONS = (
    "I do not know enough about this",
    "The prompt is unclear",
    "A text is broken or cut off",
)
TOO_QUICK = "Too quick: that press did not count."
STALE = "Answered in another window; this is next."
NOTHING_TO_UNDO = "There is nothing to undo."
NOT_SAVED = "Could not be saved. Nothing is lost; press again."

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Seat:
    """Who labels what in this session, and what is in view."""

    criterion: Criterion
    annotator_id: str
    rubric_id: str = ""
    guard: Guard = field(default_factory=Guard)


def seat(criterion: Criterion, annotator_id: str) -> Seat:
    """The session's seat, made anew when the person or the question changes."""
    found: Seat | None = st.session_state.get("seat")
    if found is None or (found.criterion, found.annotator_id) != (criterion, annotator_id):
        found = st.session_state["seat"] = Seat(criterion, annotator_id)
    return found


def draw(taken: Seat, item: BlindItem | None, *, progress: Progress, note: str) -> None:
    """The bar at the bottom of the page, told what is in view and how far the person is."""
    shown = shown_name(item)
    answers = offered(taken.criterion) if item else ()
    data = {
        "shown": shown,
        "run": time.monotonic_ns(),
        "answers": [asdict(answer) for answer in answers],
        "reasons": SKIP_REASONS,
        "note": note,
        "done": progress.done,
        "total": progress.total,
        "saved_at": progress.saved_at,
        "hint": st.session_state.pop("hint", ""),
    }
    with st.bottom:
        _component()(key=KEY, data=data, on_act_change=receive)
    taken.guard.show(shown, time.monotonic())
    spare_the_garbage_collector()


def receive() -> None:
    """The bar's callback: all is saved here, before anything is painted."""
    taken: Seat | None = st.session_state.get("seat")
    if taken is not None:
        act = read_act(st.session_state.get(KEY, {}).get("act"), taken.criterion)
        st.session_state["hint"] = carry_out(act, taken) if act else ""


def carry_out(act: Act, taken: Seat) -> str:
    """Save what the person did; a sentence for the bar where it was not, or "" where it was."""
    if act.event != "note" and not taken.guard.admits(act.shown, time.monotonic()):
        return TOO_QUICK
    try:
        with Desk.open(project_path(), taken.criterion, annotator_id=taken.annotator_id) as desk:
            return _save(desk, act, rubric_id=taken.rubric_id)
    except (UserError, sqlite3.Error, OSError):
        _log.exception("What an annotator did could not be saved.")
        return NOT_SAVED


def _save(desk: Desk, act: Act, *, rubric_id: str) -> str:
    presentation_id, _, revision = act.shown.partition(":")
    if act.event == "note":
        desk.keep_note(presentation_id, act.note)
        return ""
    if shown_name(desk.current()) != act.shown:
        return STALE
    if act.event == "undo":
        return "" if desk.undo("" if act.shown == DONE else presentation_id) else NOTHING_TO_UNDO
    if not revision:
        return STALE
    answer = Answer(
        presentation_id,
        int(revision),
        act.event,
        act.choice,
        skip_reason=act.reason,
        note=act.note,
        seconds=act.seconds,
        rubric_id=rubric_id,
    )
    return "" if desk.save(answer) else STALE


@cache
def _component() -> ComponentRenderer:
    html, css, js = (
        Path(__file__).with_name(f"bar.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js")
    )
    return st.components.v2.component("labels_answer_bar", html=html, css=css, js=js)
