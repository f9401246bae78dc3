"""Judge: see the whole prompt, try it on three items, run it, stop it, compare runs."""

from __future__ import annotations

import streamlit as st

from calibration import launch
from calibration.ordering import Order
from calibration.pages import _draw
from calibration.render.tables import runs_table
from calibration.runs import Plan
from labels.pages import project_path
from labels.store import LabelStore
from labels.types import KindName

WORDS: dict[KindName, str] = {"pairwise": "Pairs", "binary": "Single responses"}


def show() -> None:
    """The form of a run, the prompt it will use, and the runs so far."""
    _draw.style()
    st.title("Judge")
    with LabelStore.open(project_path()) as store:
        criteria = {criterion.kind: criterion for criterion in store.criteria()}
    kinds = list(criteria)
    kind = st.radio("Question", kinds, format_func=lambda name: WORDS[name], horizontal=True)
    _draw.text(criteria[kind].question, tag="h2")
    order = _order(kind)
    _buttons(order)
    _prompt(order, kind)
    _runs()


def _order(kind: KindName) -> Order:
    model = st.text_input("Model", "scripted:reads", help="A litellm model such as openai/gpt-5-mini.")
    with st.container(horizontal=True):
        repeats = st.number_input("Repeats of each order (odd)", 1, 9, 1, step=2)
        budget = st.number_input("Budget in dollars (0: none)", 0.0, 1000.0, 2.0)
    base = st.text_input("Address of an OpenAI-compatible server (leave empty for the provider's own)")
    plan = Plan(repeats=int(repeats))
    return Order(
        project_path(), model.strip(), plan, settings={"api_base": base}, kind=kind, budget=budget or None
    )


def _buttons(order: Order) -> None:
    with st.container(horizontal=True):
        tried = st.button(f"Try it on {launch.TRIED} items")
        started = st.button("Run it on all items", type="primary")
    if tried or started:
        launch.launch(project_path(), order, only_try=tried)
        st.toast("Started; it goes on even when this page is closed.")


def _prompt(order: Order, kind: KindName) -> None:
    if st.toggle("Show what the judge will see for the first item"):
        for message in launch.first_prompt(project_path(), order.model, kind=kind):
            _draw.text(message.role, css="jc-small")
            _draw.text(message.content, css="jc-text jc-box")


@st.fragment(run_every=2.0)
def _runs() -> None:
    runs = launch.runs_of(project_path())
    _draw.table(runs_table(runs))
    for run in runs:
        if run.state == "running" and st.button("Stop this run", key=f"stop-{run.id}"):
            launch.stop(project_path(), run.id)
    said = launch.said(project_path())
    if said:
        _draw.text(said, css="jc-text jc-box")


show()
