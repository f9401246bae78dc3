"""Drawing for the result pages: escaped text, tables and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import streamlit as st

from calibration.asking import Message
from calibration.cases import Said
from calibration.render.text_table import TextTable
from calibration.stats.estimate import Estimate
from labels.pages import link_parameter
from labels.web import escaped

if TYPE_CHECKING:
    import altair as alt

LONGEST_NUMBER = 20  # characters

STYLE = """<style>
.jc-table {border-collapse: collapse; width: 100%; font-size: .95rem; font-variant-numeric: tabular-nums}
.jc-table caption {text-align: left; font-weight: 600; padding: .25rem 0}
.jc-table th, .jc-table td {padding: .3rem .5rem; border-bottom: 1px solid rgba(128, 128, 128, .35);
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
.jc-about {color: inherit; text-decoration: underline dotted; text-underline-offset: .2em}
.jc-about:hover, .jc-about:focus-visible {text-decoration-style: solid}
.jc-table td.jc-words {white-space: normal; min-width: 9rem}
.jc-figures {display: flex; flex-wrap: wrap; gap: .75rem 2rem}
.jc-figure {font-size: .9rem} .jc-figure b {display: block; font-weight: 400; font-size: 1.6rem;
  font-variant-numeric: tabular-nums} .jc-figure small {font-size: .85rem; opacity: .8}
.jc-markdown code {overflow-wrap: anywhere} .jc-markdown p, .jc-markdown ul {margin: 0 0 .6rem}
.jc-methods {max-width: 46rem} .jc-methods h2 {font-size: 1.5rem} .jc-methods h3 {font-size: 1.1rem}
.jc-methods section {scroll-margin-top: 4rem}
</style>"""


def style() -> None:
    """Put the style of tables and texts on the page."""
    st.html(STYLE)


def text(body: str, *, tag: str = "div", css: str = "jc-text") -> None:
    """Show a text to the letter: nothing in it is read as Markdown, HTML or a formula."""
    st.html(f'<{tag} class="{css}" dir="auto">{escaped(body)}</{tag}>')


def table(content: TextTable) -> None:
    """A table that screen readers can read and that scrolls by itself on a phone; names lead to Methods."""
    head = "".join(
        f'<th scope="col">{_linked(name, about)}</th>'
        for name, about in _with_about(content.header, content.column_about)
    )
    body = "".join(
        "<tr>" + _linked_row(row, about) + "</tr>"
        for row, about in zip(content.rows, _padded(content.row_about, len(content.rows)), strict=True)
    )
    note = f'<div class="jc-text jc-small" dir="auto">{escaped(content.note)}</div>' if content.note else ""
    st.html(
        f'<div class="jc-scroll" tabindex="0" role="region" aria-label="{escaped(content.title)}">'
        f'<table class="jc-table"><caption>{_linked(content.title, content.about)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{note}"
    )


@dataclass(frozen=True, slots=True)
class Figure:
    """One number in large type: its name, the number, the paragraph about it, what stands below."""

    name: str
    number: str
    about: str
    below: str = ""


def figures(shown: Sequence[Figure]) -> None:
    """A few numbers in large type, side by side; each name leads to its paragraph."""
    parts = "".join(
        f'<div class="jc-figure">{_linked(one.name, one.about)}'
        f"<b>{escaped(one.number)}</b><small>{escaped(one.below)}</small></div>"
        for one in shown
    )
    st.html(f'<div class="jc-figures">{parts}</div>')


def about(name: str) -> None:
    """A small link to the paragraph of the Methods page that explains a number."""
    st.html(f'<span class="jc-small">{_linked("What is this?", name)}</span>')


def methods_link(name: str) -> str:
    """The address of a paragraph of the Methods page; it keeps the owner's key."""
    return f"methods?{urlencode({'about': name, 'key': link_parameter('key')})}#{quote(name)}"


def _linked(shown: str, name: str) -> str:
    """A text as a link to a paragraph of the Methods page, in a tab of its own so that no choice is lost."""
    if not name:
        return escaped(shown)
    return f'<a class="jc-about" target="_blank" href="{escaped(methods_link(name))}">{escaped(shown)}</a>'


def _linked_row(row: Sequence[str], name: str) -> str:
    first, *rest = row
    cells = "".join(_cell(cell) for cell in rest)
    return f'<td dir="auto">{_linked(first, name)}</td>{cells}'


def _cell(shown: str) -> str:
    """Numbers stay on one line; words may wrap, so that a phone shows the column beside them."""
    words = ' class="jc-words"' if len(shown) > LONGEST_NUMBER else ""
    return f'<td dir="auto"{words}>{escaped(shown)}</td>'


def _padded(names: Sequence[str], length: int) -> list[str]:
    return [*names, *[""] * (length - len(names))]


def _with_about(texts: Sequence[str], names: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(texts, _padded(names, len(texts)), strict=True))


def intervals(
    rows: Sequence[tuple[str, float, float, float]],
    *,
    title: str,
    people: Mapping[str, Estimate] | None = None,
) -> None:
    """Numbers with their intervals on one axis; `rows` holds name, value, lower and upper limit.

    `people` holds, for some of the names, the same number of people among themselves: a band behind it.
    """
    if not rows:
        return
    bands = [
        (name, band.value, band.low, band.high)
        for name, band in (people or {}).items()
        if band.value is not None and band.low is not None and band.high is not None
    ]
    st.altair_chart(_interval_chart(rows, bands, title=title), width="stretch")
    if bands:
        legend = (
            "Dot and line: the judge, 95 % interval. Blue band and stroke: your experts among themselves."
        )
        text(legend, css="jc-text jc-small")


def _interval_chart(
    rows: Sequence[tuple[str, float, float, float]],
    bands: Sequence[tuple[str, float, float, float]],
    *,
    title: str,
) -> alt.LayerChart | alt.FacetChart:
    import altair as alt

    least = min(0.0, *(row[2] for row in (*rows, *bands)))
    x = alt.X("low:Q", scale=alt.Scale(domain=[least, 1.0]), title=title)
    axis = alt.Axis(labelLimit=210, labelOverlap=False)
    y = alt.Y("name:N", sort=[row[0] for row in rows], title=None, axis=axis)
    base = alt.Chart(_inline(rows)).encode(y=y)
    tooltip = [alt.Tooltip(f"{name}:Q", format=".2f") for name in ("value", "low", "high")]
    lines = base.mark_rule(strokeWidth=3, color="#8a8a8a").encode(x=x, x2="high:Q")
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x="value:Q", tooltip=tooltip)
    behind = alt.Chart(_inline(bands)).encode(y=y)
    band = behind.mark_bar(opacity=0.3, color="#4c8dd6", size=28).encode(x=x, x2="high:Q", tooltip=tooltip)
    stroke = behind.mark_tick(thickness=2, color="#4c8dd6", size=28).encode(x="value:Q")
    layers = (band, stroke, lines, points) if bands else (lines, points)
    return alt.layer(*layers).properties(height=alt.Step(30))


def _inline(rows: Sequence[tuple[str, float, float, float]]) -> alt.InlineData:
    import altair as alt

    names = ("name", "value", "low", "high")
    return alt.InlineData(values=[dict(zip(names, row, strict=True)) for row in rows])


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


def messages(shown: Sequence[Message]) -> None:
    """The exact messages of a prompt."""
    if not shown:
        text("There is no such item.", css="jc-small")
    for message in shown:
        text(message.role, css="jc-small")
        text(message.content, css="jc-text jc-box")
