"""Drawing for the result pages: escaped text, tables and charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from calibration.cases import Said
from calibration.render.tables import TextTable
from labels.web import escaped

if TYPE_CHECKING:
    import altair as alt

STYLE = """<style>
.jc-table {border-collapse: collapse; width: 100%; font-size: .95rem; font-variant-numeric: tabular-nums}
.jc-table caption {text-align: left; font-weight: 600; padding: .25rem 0}
.jc-table th, .jc-table td {padding: .3rem .6rem; border-bottom: 1px solid rgba(128, 128, 128, .35);
  text-align: right; vertical-align: top; white-space: nowrap}
.jc-table th:first-child, .jc-table td:first-child {text-align: left; overflow-wrap: anywhere;
  white-space: normal; min-width: 8.5rem}
.stMainBlockContainer {padding-top: 3.5rem}
h2.jc-text, h3.jc-text, h4.jc-text, .jc-said-title {padding: .4rem 0 0; margin: 0}
h2.jc-text {font-size: 1.5rem} h3.jc-text {font-size: 1.2rem} h4.jc-text, .jc-said-title {font-size: 1rem}
.jc-scroll {overflow-x: auto}
.jc-text {white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext}
.jc-box {max-height: 24rem; overflow-y: auto; border: 1px solid rgba(128, 128, 128, .35);
  border-radius: .5rem; padding: .6rem .8rem}
.jc-said {margin: 0} .jc-said dd {margin: 0 0 .6rem 0; opacity: .9}
.jc-small {opacity: .75; font-size: .9rem}
</style>"""


def style() -> None:
    """Put the style of tables and texts on the page."""
    st.html(STYLE)


def text(body: str, *, tag: str = "div", css: str = "jc-text") -> None:
    """Show a text to the letter: nothing in it is read as Markdown, HTML or a formula."""
    st.html(f'<{tag} class="{css}" dir="auto">{escaped(body)}</{tag}>')


def table(content: TextTable) -> None:
    """A table that screen readers can read and that scrolls by itself on a phone."""
    head = "".join(f'<th scope="col">{escaped(name)}</th>' for name in content.header)
    body = "".join(
        "<tr>" + "".join(f'<td dir="auto">{escaped(cell)}</td>' for cell in row) + "</tr>"
        for row in content.rows
    )
    st.html(
        f'<div class="jc-scroll" tabindex="0" role="region" aria-label="{escaped(content.title)}">'
        f'<table class="jc-table"><caption>{escaped(content.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def intervals(rows: Sequence[tuple[str, float, float, float]], *, title: str) -> None:
    """Numbers with their intervals on one axis; `rows` holds name, value, lower and upper limit."""
    if rows:
        st.altair_chart(_interval_chart(rows, title), width="stretch")


def _interval_chart(
    rows: Sequence[tuple[str, float, float, float]], title: str
) -> alt.LayerChart | alt.FacetChart:
    import altair as alt

    data = alt.InlineData(
        values=[dict(zip(("name", "value", "low", "high"), row, strict=True)) for row in rows]
    )
    scale = alt.Scale(domain=[min(0.0, *(row[2] for row in rows)), 1.0])
    axis = alt.Axis(labelLimit=260, labelOverlap=False)
    base = alt.Chart(data).encode(y=alt.Y("name:N", sort=None, title=None, axis=axis))
    lines = base.mark_rule(strokeWidth=3, color="#8a8a8a").encode(
        x=alt.X("low:Q", scale=scale, title=title), x2="high:Q"
    )
    tooltip = [alt.Tooltip(f"{name}:Q", format=".2f") for name in ("value", "low", "high")]
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x="value:Q", tooltip=tooltip)
    return alt.layer(lines, points).properties(height=alt.Step(30))


def said(title: str, ratings: Sequence[Said]) -> None:
    """What people or a judge said about one item, each with its reason."""
    rows = "".join(
        f'<dt dir="auto"><b>{escaped(rating.who)}:</b> {escaped(rating.what)}</dt>'
        f'<dd class="jc-text" dir="auto">{escaped(rating.why)}</dd>'
        for rating in ratings
    )
    listed = rows or "<dt>nothing yet</dt>"
    heading = f'<h4 class="jc-said-title">{escaped(title)}</h4>'
    st.html(f'{heading}<dl class="jc-said">{listed}</dl>')
