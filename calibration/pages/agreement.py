"""Agreement: estimates beside people, the confusion table that opens its items, slices, tie policies."""

from __future__ import annotations

import streamlit as st

from calibration.pages import _choose, _confusion, _draw
from calibration.render.human_tables import human_tables
from calibration.render.tables import judge_tables
from calibration.render.titles import people_beside, plotted
from calibration.types import CriterionReport, JudgeReport
from calibration.wording import UNLIKE


def show() -> None:
    """One judge against the reference labels."""
    report = _choose.report()
    _draw.style()
    st.title("Agreement")
    _choose.synthetic_notice(report)
    criterion = _choose.criterion_with_judges(report)
    if criterion is None:
        return
    _draw.text(criterion.criterion.question, tag="h2")
    judge = _choose.judge_of(criterion)
    for sentence in (judge.sentence, judge.people.sentence):
        _draw.text(sentence)
    for warned in judge.warnings:
        st.warning(warned.text)
    _draw.intervals(
        plotted(judge.estimates), title="estimate, 95 % interval", people=people_beside(criterion.humans)
    )
    if criterion.humans.agreement.low is not None:
        _draw.text(UNLIKE, css="jc-text jc-small")
        _draw.about("ceiling_delta")
    _confusion.show_confusion(judge)
    _show_tables(judge)
    _show_people(criterion)


def _show_tables(judge: JudgeReport) -> None:
    for table in judge_tables(judge):
        if table.name == "people":
            _draw.text(judge.people.alt_sentence)
        if table.name == "pass rate":
            _choose.sampling(judge)
        if table.name != "confusion":
            _draw.table(table)


def _show_people(criterion: CriterionReport) -> None:
    """The annotators among themselves."""
    st.subheader("Your experts")
    _draw.text(criterion.humans.sentence)
    for table in human_tables(criterion.humans):
        _draw.table(table)


show()
