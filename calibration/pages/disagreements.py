"""Disagreements: read where judge and experts part, with the reasons of both."""

from __future__ import annotations

import streamlit as st

from calibration.cases import AT_ONCE, Case, Filter, Opened, case_ids, cases_of, offered, opened, pages_of
from calibration.load import load_material
from calibration.pages import _choose, _draw
from labels.pages import project_path


def show() -> None:
    """The items behind a cell, a finding, a flip or any disagreement, ten at a time."""
    report = _choose.report()
    _draw.style()
    st.title("Disagreements")
    _choose.synthetic_notice(report)
    criterion = _choose.criterion_with_judges(report)
    if criterion is None:
        return
    _draw.text(criterion.criterion.question, tag="h2")
    judge = _choose.judge_of(criterion)
    elsewhere = opened(judge, st.session_state.get("cell"), finding=st.session_state.get("finding"))
    by = _filter(elsewhere)
    material = load_material(project_path(), criterion.criterion)
    shown = _page(case_ids(judge, material.verdicts, by=by, elsewhere=elsewhere))
    _choose.note_seen(criterion.criterion.id, shown)
    for case in cases_of(material, shown, judge=judge.judge):
        _show_case(case)


def _filter(elsewhere: Opened) -> Filter:
    words = offered(elsewhere)
    names = list(words)
    wanted = st.session_state.get("filter", "disagreements")
    index = names.index(wanted) if wanted in names else 0
    chosen = st.selectbox("Show", names, index=index, format_func=lambda name: words[name])
    st.session_state["filter"] = chosen
    return chosen


def _page(ids: list[str]) -> list[str]:
    if not ids:
        st.success("There is no such item.")
        return []
    pages = pages_of(ids)
    st.caption(f"{len(ids):,} items" + (f", {AT_ONCE} on a page" if len(pages) > 1 else ""))
    number = st.number_input("Page", 1, len(pages), 1) if len(pages) > 1 else 1
    return pages[int(number) - 1]


def _show_case(case: Case) -> None:
    with st.container(border=True):
        _draw.text(case.item.name, css="jc-text jc-small")
        _draw.text(case.item.prompt)
        columns = st.columns(len(case.item.responses))
        for column, response in zip(columns, case.item.responses, strict=True):
            with column:
                _draw.text(f"{response.side}: {response.system}", tag="h4")
                _draw.text(response.text, css="jc-text jc-box")
        experts, judge = st.columns(2)
        with experts:
            _draw.said("Experts", case.labels)
        with judge:
            _draw.said("Judge", case.verdicts)


show()
