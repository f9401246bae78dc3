"""The confusion table as buttons: each count opens the items behind it."""

from __future__ import annotations

import streamlit as st

from calibration.pages import _choose, _draw
from calibration.render.tables import value_in_words
from calibration.types import JudgeReport

LABEL, CELL = 78, 76  # pixels: four columns fit on a phone


def show_confusion(judge: JudgeReport) -> None:
    """Counts as buttons: each opens the items behind it."""
    st.subheader("Reference labels by judge")
    st.caption(
        "Rows are what your experts say, columns what the judge says. Press a number to see its items."
    )
    _draw.about("agreement")
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
