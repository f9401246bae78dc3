"""The form on the Judge page: which judge is asked, by which rubric, how, and what it may cost."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from calibration import launch
from calibration.judging import Mode
from calibration.ordering import Order
from calibration.pages import _draw
from calibration.runs import Plan
from calibration.ways import WAYS
from labels.pages import project_path
from labels.split import SETTING, Part, share_from
from labels.store import LabelStore
from labels.types import Criterion, KindName, Rubric

KINDS: Mapping[KindName, str] = {"pairwise": "Pairs", "binary": "Single responses"}
MODES: tuple[Mode, ...] = ("verdict", "score", "questions")  # those that ask a model


def criterion() -> Criterion:
    """The question that the reader chose."""
    with LabelStore.open(project_path()) as store:
        known = {criterion.kind: criterion for criterion in store.criteria()}
    kinds = list(known)
    if len(kinds) == 1:
        return known[kinds[0]]
    kind = st.radio("Question", kinds, format_func=lambda name: KINDS[name], horizontal=True)
    return known[kind]


def order(asked: Criterion) -> Order:
    """The run that the form stands for."""
    with st.container(horizontal=True):
        model = st.text_input("Model", "scripted:reads", help="A litellm model such as openai/gpt-5-mini.")
        base = st.text_input(
            "Address (only for a server of your own)", placeholder="http://127.0.0.1:8000/v1"
        )
    rubric = _rubric(asked)
    mode, settings = _way(asked)
    with st.container(horizontal=True):
        repeats = st.number_input("Repeats of each order (odd)", 1, 9, 1, step=2)
        budget = st.number_input("Budget in dollars (0: none)", 0.0, 1000.0, 2.0)
    return Order(
        project_path(),
        model.strip(),
        Plan(repeats=int(repeats), split=_split()),
        settings={"api_base": base.strip(), "temperature": "0.0", "max_tokens": "16000"} | settings,
        kind=asked.kind,
        mode=mode,
        rubric=rubric.id,
        budget=budget or None,
    )


def prompt(order: Order) -> None:
    """The whole prompt for any item, where the reader wants to see it."""
    if st.toggle("Show what the judge will see"):
        place = st.number_input("Item", 1, None, 1, key="prompt-item")
        _draw.messages(launch.prompt_for(order, int(place) - 1))


def _split() -> Part | None:
    """Where a holdout is kept for the release, the page asks about the rest alone."""
    with LabelStore.open(project_path()) as store:
        return "develop" if share_from(store.setting(SETTING)) else None


def _rubric(asked: Criterion) -> Rubric:
    with LabelStore.open(project_path()) as store:
        versions, in_force = store.rubrics(asked.id), store.rubric(asked.id)
    if len(versions) == 1:
        return in_force
    places = range(len(versions))
    place = st.selectbox(
        "Rubric version",
        places,
        index=versions.index(in_force),
        format_func=lambda n: f"{versions[n].id[:6]} {versions[n].note or versions[n].criterion[:60]}",
    )
    return versions[place]


def _way(asked: Criterion) -> tuple[Mode, dict[str, str]]:
    """How the judge is asked, with what decides the answer beside model and prompt."""
    modes = [mode for mode in MODES if mode != "questions" or asked.kind == "binary"]
    mode = st.radio("How it is asked", modes, format_func=lambda name: WAYS[name].title, horizontal=True)
    if mode == "questions":
        text = st.text_area("One closed question a line; yes must speak for the response")
        share = st.slider("It passes from this share of yes", 0.0, 1.0, 1.0)
        return mode, {"questions": text.strip(), "pass_from": repr(share)}
    if mode == "score" and asked.kind == "binary":
        return mode, {"pass_from": repr(st.slider("It passes from this score", 1.0, 5.0, 4.0, step=0.5))}
    if mode == "score":
        return mode, {"margin": repr(st.slider("Scores closer than this tie", 0.0, 4.0, 0.5, step=0.25))}
    return mode, {}
