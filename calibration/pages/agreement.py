"""Agreement: estimates with intervals, the confusion table that opens its items, and tie policies."""

from __future__ import annotations

import streamlit as st

from calibration.pages import _choose, _draw
from calibration.render.tables import TITLES, judge_tables, value_in_words
from calibration.types import JudgeReport

LABEL, CELL = 78, 76  # pixels: four columns fit on a phone


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
    _draw.text(judge.sentence)
    for warned in judge.warnings:
        st.warning(warned.text)
    _show_intervals(judge)
    _show_confusion(judge)
    for table in judge_tables(judge):
        if table.title != "Reference labels by judge":
            _draw.table(table)


def _show_intervals(judge: JudgeReport) -> None:
    rows = [
        (TITLES.get(name, name), estimate.value, estimate.low, estimate.high)
        for name, estimate in judge.estimates.items()
        if estimate.value is not None and estimate.low is not None and estimate.high is not None
    ]
    _draw.intervals(rows, title="estimate, 95 % interval")


def _show_confusion(judge: JudgeReport) -> None:
    """Counts as buttons: each opens the items behind it."""
    st.subheader("Reference labels by judge")
    st.caption(
        "Rows are what your experts say, columns what the judge says. Press a number to see its items."
    )
    values = judge.confusion.categories
    with st.container(horizontal=True, gap="xsmall", wrap=False):
        st.html('<span class="jc-small">experts \\ judge</span>', width=LABEL)
        for value in values:
            st.html(f'<div class="jc-small" style="text-align: center">{value}</div>', width=CELL)
    for row, counts in zip(values, judge.confusion.counts, strict=True):
        with st.container(horizontal=True, gap="xsmall", wrap=False, vertical_alignment="center"):
            st.html(f"<span>{row}</span>", width=LABEL)
            for column, count in zip(values, counts, strict=True):
                pressed = st.button(
                    f"{count:,}",
                    key=f"cell-{row}-{column}",
                    type="primary" if row == column else "secondary",
                    width=CELL,
                    disabled=not count,
                )
                if pressed:
                    st.session_state["cell"] = (row, column)
                    st.session_state["filter"] = "cell"
                    st.switch_page(_choose.page("disagreements"))
    if judge.sides:
        _draw.text(
            "; ".join(value_in_words(judge, value) for value in values if value != "tie"), css="jc-small"
        )


show()
