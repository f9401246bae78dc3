"""Label: one item after the other, blind."""

from __future__ import annotations

import sqlite3

import streamlit as st

from labels.desk import Desk
from labels.errors import UserError
from labels.pages import _bar, _identity, _texts, link_parameter, project_path, set_link_parameter
from labels.store import LabelStore
from labels.types import Annotator, Criterion, KindName

KIND_WORDS: dict[KindName, str] = {"pairwise": "Pairs", "binary": "Single responses"}
NOT_OPEN = "The project file cannot be opened just now. What you saved is safe; try again in a minute."


def show() -> None:
    """Ask who labels, then show the next item, or the last page when all is done."""
    _texts.style()
    try:
        person = _identity.annotator()
        if person is not None:
            with LabelStore.open(project_path()) as store:
                criteria = store.criteria()
            _show_next(_choose(criteria, person), person)
    except (UserError, sqlite3.Error):
        _texts.notice(NOT_OPEN)


def _choose(criteria: list[Criterion], person: Annotator) -> Criterion:
    """The top line: who labels and, where the project has both kinds, which question."""
    by_kind = {criterion.kind: criterion for criterion in reversed(criteria)}
    kinds = [kind for kind in KIND_WORDS if kind in by_kind]
    wanted = link_parameter("kind")
    kind = next((name for name in kinds if name == wanted), kinds[0])
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            _texts.person(person.name)
            st.button("Not you?", type="tertiary", on_click=_identity.forget)
        if len(kinds) > 1:
            st.segmented_control(
                "Question",
                kinds,
                default=kind,
                required=True,
                format_func=KIND_WORDS.__getitem__,
                key="kind_chosen",
                label_visibility="collapsed",
                on_change=_keep_kind,
            )
    return by_kind[kind]


def _keep_kind() -> None:
    set_link_parameter("kind", st.session_state["kind_chosen"])


def _show_next(criterion: Criterion, person: Annotator) -> None:
    seat = _bar.seat(criterion, person.id)
    with Desk.open(project_path(), criterion, annotator_id=person.id) as desk:
        item, progress = desk.current(), desk.progress()
        note = desk.note(item.presentation_id) if item else ""
        rubric = desk.store.rubric(criterion.id)
    seat.rubric_id = rubric.id
    # The bar goes first: it waits for the item's texts, and a late bar would only make the person wait.
    _bar.draw(seat, item, progress=progress, note=note)
    _texts.heading(criterion.question, level=1)
    _texts.rubric(rubric)
    if item is None:
        _texts.done(person.name, labelled=progress.labelled, skipped=progress.skipped)
    else:
        _texts.item(item)


show()
