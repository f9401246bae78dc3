"""Overview: for the lead who has one minute."""

from __future__ import annotations

import streamlit as st

from calibration.pages import _choose, _draw
from calibration.pages._draw import Figure
from calibration.render.tables import comparisons_table, judges_table
from calibration.render.text_table import share_cell
from calibration.types import CriterionReport, JudgeReport
from calibration.wording import UNLIKE, interval, left_out_in_words, number, percent


def show() -> None:
    """One sentence for each judge, kappa on a line beside people, all judges in one table."""
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
        _draw.text(judge.people.sentence)
    _draw.text(report.humans.sentence)
    rows = [
        (judge.judge, kappa.value, kappa.low, kappa.high)
        for judge in report.judges
        if (kappa := judge.headline_kappa).value is not None
        and kappa.low is not None
        and kappa.high is not None
    ]
    bands = {name: report.humans.ceiling for name, *_ in rows}
    _draw.intervals(rows, title="kappa (0 chance, 1 full agreement)", people=bands)
    _draw.about("ceiling")
    if rows and report.humans.ceiling.low is not None:
        _draw.text(UNLIKE, css="jc-text jc-small")
        _draw.about("ceiling_delta")
    _draw.table(judges_table(report))
    for versus in report.comparisons:
        _draw.text(versus.sentence)
    if report.comparisons:
        _draw.table(comparisons_table(report))
    for judge in report.judges:
        _show_judge(judge)


def _show_judge(judge: JudgeReport) -> None:
    with st.container(border=True):
        _draw.text(judge.judge, tag="h3")
        _draw.text(judge.sentence)
        kappa = judge.headline_kappa
        shown = [
            Figure("Items compared", f"{judge.n:,}", "conventions"),
            Figure("Raw agreement", share_cell(judge.estimates["agreement"]), "agreement"),
            Figure("Kappa", number(kappa.value), "kappa", interval(kappa)),
        ]
        if judge.position.consistency.value is not None:
            flips = percent(judge.position.flip_share)
            shown.append(Figure("Verdicts that flip with the order", flips, "consistency"))
        _draw.figures(shown)
        for warned in judge.warnings:
            st.warning(warned.text)
        _draw.text(left_out_in_words(judge.left_out), css="jc-text jc-small")


show()
