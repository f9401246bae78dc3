"""Judge: see the whole prompt, try it on three items, run it, stop it, compare runs, read what it saw."""

from __future__ import annotations

import streamlit as st

from calibration import launch
from calibration.ordering import Order
from calibration.pages import _choose, _draw, _order
from calibration.render.tables import runs_table
from labels.errors import UserError
from labels.pages import project_path


def show() -> None:
    """The form of a run, the prompt it will use, the runs so far, and what each judge saw."""
    _draw.style()
    st.title("Judge")
    asked = _order.criterion()
    _draw.text(asked.question, tag="h2")
    order = _order.order(asked)
    try:
        _run(order)
    except UserError as error:
        _draw.text(str(error))
    _runs(asked.id)
    _seen(asked.id)


def _run(order: Order) -> None:
    """The rule that makes a verdict of an answer, the buttons, and the prompt."""
    if order.mode == "questions" and not order.settings["questions"]:
        raise UserError("Write at least one question.")
    if rule := launch.rule_of(order):
        _draw.text(rule, css="jc-small")
    _buttons(order)
    _order.prompt(order)


def _buttons(order: Order) -> None:
    with st.container(horizontal=True):
        tried = st.button(f"Try it on {launch.TRIED} items")
        started = st.button("Run it on all items", type="primary", help="A run that was stopped goes on.")
        asked = st.button("What will it take?")
    if asked:
        _draw.text(launch.forecast_of(order))
    if tried or started:
        launch.launch(project_path(), order, only_try=tried)
        st.toast("Started; it goes on even when this page is closed.")


@st.fragment(run_every=2.0)
def _runs(criterion_id: str) -> None:
    runs = launch.runs_of(project_path(), criterion_id)
    _draw.table(runs_table(runs))
    for run in runs:
        if run.state == "running" and st.button("Stop this run", key=f"stop-{run.id}"):
            launch.stop(project_path(), run.id)
    if said := launch.said(project_path()):
        _draw.text(said, css="jc-text jc-box")


def _seen(criterion_id: str) -> None:
    """The exact messages of a run and what came back."""
    runs = [run for run in launch.runs_of(project_path(), criterion_id) if run.calls]
    if not runs or not st.toggle("Show what a judge saw and said"):
        return
    place = st.selectbox("Run", range(len(runs)), format_func=lambda n: runs[n].judge)
    item = st.number_input("Item", 1, None, 1, key="seen-item")
    item_id, exchanges = launch.exchanges_of(project_path(), runs[place], int(item) - 1)
    _choose.note_seen(criterion_id, [item_id] if exchanges else [])
    for side, seen in exchanges:
        _draw.text({"A": "A first", "B": "B first"}.get(side or "", "Single response"), tag="h3")
        _draw.messages(seen.messages)
        _draw.text(f"answer of {seen.served_model}", css="jc-small")
        _draw.text(seen.text, css="jc-text jc-box")


show()
