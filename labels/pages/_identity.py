"""Who labels: a name that is asked once and kept in the link."""

from __future__ import annotations

import streamlit as st

from labels.pages import _texts, link_parameter, project_path, set_link_parameter
from labels.store import LabelStore
from labels.text import person
from labels.types import Annotator

LONGEST = 80


def annotator() -> Annotator | None:
    """The person who labels; draws the form for the name, and returns None, while there is none."""
    name = usable_name(link_parameter("annotator"))
    if not name:
        _ask()
        return None
    known: Annotator | None = st.session_state.get("annotator")
    if known is None or known.name != name:
        with LabelStore.open(project_path()) as store:
            known = store.annotator(name)
            for criterion_id, items in st.session_state.get("seen", {}).items():
                for saw in ("verdict", "label"):
                    store.reveal(known.id, criterion_id, item_ids=sorted(items), saw=saw)
        st.session_state["annotator"] = known
        st.session_state["annotator_id"] = known.id
    return known


def usable_name(typed: str) -> str:
    """A name as it is kept (NFC, trimmed, single blanks), or "" where nothing usable was typed."""
    name = person(typed) or ""
    return name if len(name) <= LONGEST else ""


def forget() -> None:
    """Ask for the name again."""
    for key in ("annotator", "annotator_id", "typed_name"):
        st.session_state.pop(key, None)
    set_link_parameter("annotator", "")


def accept() -> None:
    """Take the name that was typed, or say why it will not do."""
    typed = str(st.session_state.get("typed_name", ""))
    name = usable_name(typed)
    if name:
        set_link_parameter("annotator", name)
    elif len(typed) > LONGEST:
        st.session_state["name_problem"] = f"Please use a name of at most {LONGEST} characters."
    else:
        st.session_state["name_problem"] = "Please type your name first; your labels are kept under it."


def _ask() -> None:
    _texts.heading("Who is labelling?", level=1)
    with st.form("name", width=440, enter_to_submit=True):
        st.text_input("Your name", key="typed_name", autocomplete="name")
        problem = st.session_state.pop("name_problem", "")
        if problem:
            _texts.notice(problem)
        st.form_submit_button("Start", type="primary", on_click=accept)
    _texts.line("You read one item after the other and answer with one key; each answer is saved at once.")
    _texts.line("Your labels are kept under this name. Type it the same way to go on another day.")
