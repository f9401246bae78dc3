"""The app: opens the project and runs one of the pages that this person may see."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import streamlit as st

import calibration.pages
import labels.pages
from labels.errors import UserError
from labels.pages import keep_link_parameters, link_parameter, project_path
from labels.store import LabelStore
from labels.web import is_owner

LABEL = Path(labels.pages.__file__).parent / "label.py"
RESULTS = Path(calibration.pages.__file__).parent
TITLES = ("Overview", "Judge", "Agreement", "Disagreements", "Audits", "Planning", "Methods")


def main() -> None:
    """The labelling page alone, under / and /label, or all pages for the owner."""
    st.set_page_config(layout="wide")
    keep_link_parameters()
    try:
        with LabelStore.open(project_path()) as store:
            owner = is_owner(store.setting("salt"), link_parameter("key"))
    except (UserError, sqlite3.Error):
        st.html('<p role="alert">There is no project here. Start again with: calibrate app PROJECT.db</p>')
        return
    if link_parameter("key") and not owner:
        st.html('<p role="alert">The key in this link opens no results; you can label here.</p>')
    pages = [st.Page(RESULTS / f"{name.lower()}.py", title=name) for name in TITLES if owner]
    pages.append(st.Page(LABEL, title="Label", url_path="label"))
    pages += [st.Page(LABEL, title="Label", url_path="start", default=True)] * (not owner)
    st.navigation(pages, position="sidebar" if owner else "hidden").run()


main()
