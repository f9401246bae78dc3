from __future__ import annotations

import re
from pathlib import Path

import pytest
from builders import PAIRS, make_project, pair
from hypothesis import given, settings
from hypothesis import strategies as st

from labels.desk import Desk
from labels.looks import looked
from labels.store import LabelStore

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> ![p](http://other.invalid/p.png) "
    "[go](http://other.invalid) <http://other.invalid> <a href=http://other.invalid>x</a>"
)
TAG = re.compile(r"<\s*([a-z0-9]+)[^>]*>", re.IGNORECASE)
HARMLESS = {"div", "p", "strong", "em", "ul", "ol", "li", "code", "pre", "h1", "h2", "h3", "h4", "h5", "h6"}
HARMLESS |= {"blockquote", "hr", "br", "table", "thead", "tbody", "tr", "th", "td"}


@pytest.mark.parametrize("look", ["plain", "markdown", "code"])
def test_no_look_runs_loads_or_opens_anything(look: str) -> None:
    html = looked(HOSTILE, look)  # type: ignore[arg-type]
    assert {name.lower() for name in TAG.findall(html)} <= HARMLESS
    assert "other.invalid" in html


@settings(deadline=None)
@given(st.text(alphabet="<>![]()`*_#|-:/ abc\n&;\"'=", max_size=80))
def test_markdown_of_any_text_holds_harmless_tags_only(text: str) -> None:
    assert {name.lower() for name in TAG.findall(looked(text, "markdown"))} <= HARMLESS


def test_markdown_is_drawn_where_the_project_asks_for_it(tmp_path: Path) -> None:
    assert "<strong>bold</strong>" in looked("**bold**", "markdown")
    assert "<td>1</td>" in looked("| a |\n| - |\n| 1 |", "markdown")
    project = make_project(tmp_path / "p.db", [pair(1)], settings={"look": "markdown"})
    with LabelStore.open(project) as store:
        ada = store.annotator("Ada").id
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        shown = desk.current()
    assert shown is not None
    assert shown.look == "markdown"


def test_plain_is_the_default_and_shows_the_letters() -> None:
    assert looked("**b** $x$ <b>", "plain") == "**b** $x$ &lt;b&gt;"
