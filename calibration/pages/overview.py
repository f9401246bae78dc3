"""Overview: for the lead who has one minute."""

from __future__ import annotations

import streamlit as st

from calibration.pages import _choose, _draw
from calibration.render.tables import judges_table
from calibration.types import CriterionReport, JudgeReport
from calibration.wording import interval, left_out_in_words, number, percent


def show() -> None:
    """One sentence for each judge, with kappa on a line, order flips, n and what was left out."""
    report = _choose.report()
    _draw.style()
    st.title("Overview")
    _draw.text(report.title)
    _choose.synthetic_notice(report)
    for criterion in report.criteria:
        _show_criterion(criterion)


def _show_criterion(report: CriterionReport) -> None:
    _draw.text(report.criterion.question, tag="h2")
    people = ", ".join(f"{name}: {count:,}" for name, count in report.annotators.items())
    counts = f"{report.items:,} items, {report.labelled:,} with a reference label"
    _draw.text(f"{counts}. Labels by {people}." if people else f"{counts}. Nobody has labelled yet.")
    if not report.judges:
        st.info("No judge has rated these items yet.")
        return
    for judge in report.judges:
        _draw.text(judge.sentence)
    kappas = [(judge.judge, judge.estimates["kappa"]) for judge in report.judges]
    rows = [
        (name, kappa.value, kappa.low, kappa.high)
        for name, kappa in kappas
        if kappa.value is not None and kappa.low is not None and kappa.high is not None
    ]
    _draw.intervals(rows, title="kappa (0 chance, 1 full agreement)")
    _draw.table(judges_table(report))
    for judge in report.judges:
        _show_judge(judge)


def _show_judge(judge: JudgeReport) -> None:
    with st.container(border=True):
        _draw.text(judge.judge, tag="h3")
        kappa, agreement = judge.estimates["kappa"], judge.estimates["agreement"]
        same = judge.position.consistency
        with st.container(horizontal=True, gap="large"):
            st.metric("Items compared", f"{judge.n:,}", width="content")
            st.metric(
                "Raw agreement",
                percent(agreement.value) if agreement.value is not None else "–",
                width="content",
            )
            st.metric(
                "Kappa",
                number(kappa.value),
                delta=interval(kappa) or None,
                delta_color="off",
                delta_arrow="off",
                width="content",
            )
            if same.value is not None:
                st.metric(
                    "Verdicts that flip with the order", percent(judge.position.flip_share), width="content"
                )
        for warned in judge.warnings:
            st.warning(warned.text)
        _draw.text(left_out_in_words(judge.left_out), css="jc-text jc-small")


show()
