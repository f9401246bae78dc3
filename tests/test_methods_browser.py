"""In a real browser: a number's name leads to its paragraph, in a tab of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser_tools import Server
from builders import label, make_project, pair, verdict

from labels.store import LabelStore
from labels.web import owner_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import BrowserContext

pytestmark = pytest.mark.browser


def test_the_name_of_a_number_opens_its_paragraph_in_a_tab_of_its_own(
    context: BrowserContext, serve: Callable[[Path], Server], tmp_path: Path
) -> None:
    items = [pair(n) for n in range(12)]
    labels = [label(item, name, "A") for item in items for name in ("Ada", "Ben")]
    project = make_project(
        tmp_path / "p.db", items, labels, verdicts=[verdict(item, "first") for item in items]
    )
    with LabelStore.open(project) as store:
        key = owner_key(store.setting("salt"))
    page = context.new_page()
    page.goto(f"{serve(project).url}?key={key}")
    with context.expect_page() as opened:
        page.locator("a.jc-about", has_text="Raw agreement").first.click(timeout=60_000)
    methods = opened.value
    first = methods.locator(".jc-methods h3").first
    first.wait_for(timeout=60_000)
    assert first.text_content() == "agreement"
    assert methods.locator("section[id=kappa]").count() == 1
    assert page.locator("h1").inner_text() == "Overview"
    methods.close()
    page.close()
