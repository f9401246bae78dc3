"""Disagreements: read where judge and experts part, with the reasons of both."""

from __future__ import annotations

import streamlit as st

from calibration.cases import FILTERS, Case, Filter, case_ids, cases_of
from calibration.load import load_material, note_reveal
from calibration.pages import _choose, _draw
from calibration.types import JudgeReport
from labels.pages import annotator_id, project_path

AT_ONCE = 10


def show() -> None:
    """The items behind a cell, a flip or any disagreement, ten at a time."""
    report = _choose.report()
    _draw.style()
    st.title("Disagreements")
    _choose.synthetic_notice(report)
    criterion = _choose.criterion_with_judges(report)
    if criterion is None:
        return
    _draw.text(criterion.criterion.question, tag="h2")
    judge = _choose.judge_of(criterion)
    by = _filter(judge)
    material = load_material(project_path(), criterion.criterion)
    verdicts = [verdict for verdict in material.verdicts if verdict.judge == judge.judge]
    ids = case_ids(judge, verdicts, by=by, cell=st.session_state.get("cell"))
    page = _page(len(ids))
    shown = ids[page * AT_ONCE : (page + 1) * AT_ONCE]
    note_reveal(project_path(), criterion.criterion.id, annotator_id=annotator_id(), item_ids=shown)
    for case in cases_of(material, shown, judge=judge.judge):
        _show_case(case)


def _filter(judge: JudgeReport) -> Filter:
    cell = st.session_state.get("cell")
    if cell and cell not in judge.confusion.items:
        cell = None
    offered = [name for name in FILTERS if name != "cell" or cell]
    wanted = st.session_state.get("filter", "disagreements")
    index = offered.index(wanted) if wanted in offered else 0
    words = {**FILTERS, "cell": f"Experts say {cell[0]}, the judge says {cell[1]}" if cell else ""}
    chosen = st.selectbox("Show", offered, index=index, format_func=lambda name: words[name])
    st.session_state["filter"] = chosen
    return chosen


def _page(count: int) -> int:
    if not count:
        st.success("There is no such item.")
        return 0
    last = (count - 1) // AT_ONCE
    st.caption(f"{count:,} items" + (f", {AT_ONCE} on a page" if last else ""))
    return int(st.number_input("Page", 1, last + 1, 1)) - 1 if last else 0


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
