"""Pages of the app for the people who label, and what every page asks of the session."""

from __future__ import annotations

import gc
import os
import sys
from functools import cache
from pathlib import Path

import streamlit as st

from labels.environment import PROJECT_VARIABLE
from labels.errors import UserError
from labels.store import LabelStore

PARAMETERS = ("key", "annotator", "kind")


def project_path() -> Path:
    """The project that the app was started with; UserError when it was started without one."""
    named = os.environ.get(PROJECT_VARIABLE) or "".join(sys.argv[1:2])
    if not named:
        raise UserError("The app was started without a project; start it with: calibrate app PROJECT.db")
    return Path(named)


def annotator_id() -> str | None:
    """The id of the person who labels in this session, or None before a usable name was given."""
    from labels.pages._identity import usable_name  # which imports this package

    found: str | None = st.session_state.get("annotator_id")
    name = usable_name(link_parameter("annotator"))
    if found is None and name:
        with LabelStore.open(project_path()) as store:
            found = store.annotator(name).id
    return found


def link_parameter(name: str) -> str:
    """A parameter of the link that this session was opened with."""
    return str(st.session_state.get(f"link_{name}", ""))


def set_link_parameter(name: str, value: str) -> None:
    """Set a parameter in the session and in the address, so that a reload goes on; "" takes it out."""
    st.session_state[f"link_{name}"] = value
    if value:
        if st.query_params.get(name) != value:
            st.query_params[name] = value
    else:
        st.query_params.pop(name, None)


def keep_link_parameters() -> None:
    """Write the link's parameters back to the address: a change of page drops them there."""
    for name in PARAMETERS:
        value = st.query_params.get(name) or link_parameter(name)
        set_link_parameter(name, value)


@cache
def spare_the_garbage_collector() -> None:
    """Once, set aside all that the libraries loaded.

    Streamlit collects garbage after each run of a page, and until that is done nothing reaches the
    browser: walking through the libraries' objects took 100 ms of every key.
    """
    gc.collect()
    gc.freeze()
