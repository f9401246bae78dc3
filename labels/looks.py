"""How a text looks: to the letter, as code, or as Markdown that can run, load and open nothing."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from labels.types import Look
from labels.web import escaped, visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

OFF = ("image", "link", "autolink", "html_inline", "html_block", "reference")


def looked(text: str, look: Look) -> str:
    """The text as HTML in this look; plain is the default and changes nothing."""
    if look == "markdown":
        return f'<div class="jc-markdown">{_markdown().render(visible(text))}</div>'
    if look == "code":
        return f'<code class="jc-code">{escaped(text)}</code>'
    return escaped(text)


@cache
def _markdown() -> MarkdownIt:
    """Markdown without links, pictures and HTML: what is switched off stays on the page as written."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(list(OFF))
