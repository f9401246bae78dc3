"""Ways to draw one AgreementReport: terminal, JSON and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from calibration.render.as_json import render_json
from calibration.render.as_markdown import render_markdown
from calibration.render.as_terminal import render_terminal
from calibration.types import AgreementReport

RENDERERS: Mapping[str, Callable[[AgreementReport], str]] = {
    "terminal": render_terminal,
    "json": render_json,
    "markdown": render_markdown,
}


def render(report: AgreementReport, form: str) -> str:
    """The report in one of the forms of RENDERERS."""
    text = RENDERERS[form](report)
    return text if text.endswith("\n") else text + "\n"
