"""The chart of the Planning page: the chance that the gate is decided, against the number of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from calibration.plan_words import verb
from calibration.planning import POWER, Plan

if TYPE_CHECKING:
    import altair as alt


def chances(plan: Plan) -> None:
    """Draw the chance for each number of labels, with the rule at 80 % and the labels that were chosen."""
    st.altair_chart(_chart(plan), width="stretch")


def _chart(plan: Plan) -> alt.LayerChart | alt.FacetChart:
    import altair as alt

    values = [{"labels": one.labels, "chance": one.decided} for one in plan.curve]
    chosen = [{"labels": plan.wish.labels, "chance": plan.decided}]
    x = alt.X("labels:Q", title="labels", scale=alt.Scale(domain=[0, max(500, plan.wish.labels)]))
    title = f"{verb(plan)} at a floor of {plan.wish.floor:.2f}"
    y = alt.Y("chance:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    tooltip = [alt.Tooltip("labels:Q"), alt.Tooltip("chance:Q", format=".0%")]
    line = alt.Chart(alt.InlineData(values=values)).mark_line(point=True, strokeWidth=3)
    line = line.encode(x=x, y=y, tooltip=tooltip)
    rule = alt.Chart(alt.InlineData(values=[{"chance": POWER}])).mark_rule(color="#8a8a8a", strokeDash=[6, 4])
    mark = alt.Chart(alt.InlineData(values=chosen)).mark_point(size=160, strokeWidth=3, color="#d9480f")
    layers = (rule.encode(y=y), line, mark.encode(x=x, y=y, tooltip=tooltip))
    return alt.layer(*layers).properties(height=260)
