"""Planning: how many labels, what they can show, and how many a gate still needs."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from calibration.outlook import Start, outlook_of, starts_of
from calibration.pages import _choose, _draw, _plan_chart
from calibration.plan_words import curve_table, looks_table, outlook_in_words, sentences_of
from calibration.planning import LABELS, MOST_COMMON, Plan, Wish, plan_of


def show() -> None:
    """Sliders, what they come to in sentences, a chart and its table."""
    report = _choose.report()
    _draw.style()
    st.title("Planning")
    _choose.synthetic_notice(report)
    starts = starts_of(report)
    chosen = _start(starts)
    plan = plan_of(_wish(chosen))
    if chosen is not None:
        _draw.text("Where this judge stands", tag="h3")
        _draw.text(outlook_in_words(outlook_of(chosen, plan.wish.floor)))
        _draw.about("items_for_power")
    _draw.text(f"What {plan.wish.labels:,} labels can show", tag="h3")
    for sentence in sentences_of(plan):
        _draw.text(sentence.replace(" %", "\u00a0%"))
    _draw.about("pass_probability")
    if plan.kappa is not None:
        _show_numbers(plan)


def _start(starts: tuple[Start, ...]) -> Start | None:
    """The judge from which the sliders start, if there is one."""
    if not starts:
        st.info("No judge has been compared with labels yet: the sliders start from usual values.")
        return None
    if len(starts) == 1:
        return starts[0]
    names = [f"{start.judge} ({start.question})" for start in starts]
    place = st.selectbox("Start from", range(len(names)), format_func=lambda number: names[number])
    return starts[place]


def _wish(start: Start | None) -> Wish:
    """The sliders; another start lays them anew."""
    wish = start.wish if start else Wish()
    key = f"{start.judge}-{start.question}" if start else ""
    left, right = st.columns(2)
    with left:
        labels = st.slider("Labels", *LABELS, wish.labels, key=f"labels-{key}")
        agreement = st.slider("Expected agreement, %", 0, 100, _cent(wish.agreement), key=f"agreement-{key}")
    with right:
        least = 100 // wish.answers
        share = st.slider(
            f"Share of the commonest of {wish.answers} answers, %",
            least,
            _cent(MOST_COMMON),
            max(least, _cent(wish.share)),
            key=f"share-{key}",
        )
        floor = st.slider("Floor of the gate: kappa at least", 0.0, 0.95, wish.floor, step=0.05)
    return replace(wish, labels=labels, agreement=agreement / 100, share=share / 100, floor=round(floor, 2))


def _cent(share: float) -> int:
    return round(100 * share)


def _show_numbers(plan: Plan) -> None:
    _plan_chart.chances(plan)
    _draw.table(curve_table(plan))
    _draw.table(looks_table(plan))


show()
