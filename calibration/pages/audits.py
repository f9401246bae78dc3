"""Audits: what may be wrong with a judge, or with the labels it is held to, the worst first."""

from __future__ import annotations

import streamlit as st

from calibration.audits import AUDITS, Audited, audited
from calibration.cases import Behind
from calibration.load import load_material, state_of
from calibration.pages import _choose, _draw
from calibration.render.findings import finding_tables, headline, plotted
from calibration.types import Finding
from labels.pages import project_path
from labels.text import counted
from labels.types import Criterion


@st.cache_data(show_spinner="Auditing ...", max_entries=8)
def _cached_findings(path: str, state: str, criterion: Criterion, judge: str) -> Audited:
    del state  # a part of the cache's key: the audits run anew when it changes
    return audited(load_material(path, criterion, for_audits=True), judge)


def show() -> None:
    """One card for each finding about the judge that the reader chose."""
    report = _choose.report()
    _draw.style()
    st.title("Audits")
    _choose.synthetic_notice(report)
    criterion = _choose.criterion_with_judges(report)
    if criterion is None:
        return
    _draw.text(criterion.criterion.question, tag="h2")
    judge = _choose.judge_of(criterion)
    path = project_path()
    found = _cached_findings(str(path), state_of(path), criterion.criterion, judge.judge)
    for finding in found.findings:
        with st.container(border=True):
            _show_finding(finding)
            if finding.items:
                _show_items(finding, criterion_id=criterion.criterion.id, judge=judge.judge)


def _show_finding(finding: Finding) -> None:
    _draw.text(headline(finding), tag="h3")
    _draw.text(AUDITS[finding.audit].question, css="jc-text jc-small")
    _draw.about(finding.audit)
    _draw.text(finding.sentence)
    _draw.intervals(plotted(finding), title="95 % interval")
    for table in finding_tables(finding):
        _draw.table(table)


def _show_items(finding: Finding, *, criterion_id: str, judge: str) -> None:
    """The items behind a finding, one press away: a name here would say of the item how it was judged."""
    if st.button(f"Read {counted(len(finding.items), 'item')} behind it", key=f"open-{finding.audit}"):
        title = AUDITS[finding.audit].title
        st.session_state["finding"] = Behind(criterion_id, judge, title, finding.items)
        st.session_state["filter"] = "finding"
        st.switch_page(_choose.page("disagreements"))


show()
