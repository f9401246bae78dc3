"""The findings of the audits for the terminal, for programs, for Markdown and for the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from calibration.audits import AUDITS, Audited
from calibration.render.as_markdown import escaped as _escape
from calibration.render.as_markdown import table_lines as _table
from calibration.render.as_terminal import print_table as _print_table
from calibration.render.text_table import TextTable
from calibration.stats.estimate import Estimate
from calibration.types import Finding, Weight
from calibration.wording import REASONS, interval, number
from labels.text import printable

if TYPE_CHECKING:
    from rich.console import Console

PARAGRAPHS: Mapping[str, str] = {
    "lean to a slot": "preference",
    "verdicts that change with the order": "consistency",
    "both times the same slot": "consistency",
    "changes towards the one shown first": "primacy_share",
    "change beyond the judge's own noise": "position_effect",
    "kappa with the labels, ": "kappa_by_repeats",
    "kappa, lengths": "kappa",
    "odds of the longer, within": "length_strata",
    "side A first": "repetition_stability",
    "side B first": "repetition_stability",
    "as shown": "repetition_stability",
}
FIRST_FEW = 8  # items named where there is no room for all
PEOPLE = "The people who label"
WEIGHTS: Mapping[Weight, str] = {
    "concern": "Concern",
    "watch": "Watch",
    "unknown": "Not known yet",
    "fine": "Fine",
}
STYLES: Mapping[Weight, str] = {
    "concern": "bold red",
    "watch": "yellow",
    "unknown": "dim",
    "fine": "green",
}


@dataclass(frozen=True, slots=True)
class FindingsReport:
    """What the audits of a project say, judge by judge."""

    title: str
    synthetic: bool
    audited: tuple[Audited, ...]


def headline(finding: Finding) -> str:
    """The weight and the title of a finding."""
    return f"{WEIGHTS[finding.weight]}: {AUDITS[finding.audit].title}"


def numbers(finding: Finding) -> dict[str, Estimate]:
    """The estimate and the parts by the words that stand beside them."""
    return {AUDITS[finding.audit].measure: finding.estimate, **finding.parts}


def finding_tables(finding: Finding) -> list[TextTable]:
    """The numbers of a finding, each with its interval and n; odds also as the chance that is plotted.

    Nothing where all are undefined: the sentence says why.
    """
    if all(estimate.value is None for estimate in numbers(finding).values()):
        return []
    rows: list[tuple[str, ...]] = []
    about: list[str] = []
    for name, estimate in numbers(finding).items():
        rows.append(_row(name, estimate))
        if _is_odds(name) and estimate.value is not None:
            rows.append(_row(_chance_name(name), _chance(estimate)))
        about += [_paragraph(finding.audit, name)] * (len(rows) - len(about))
    title = f"Numbers (the first: {AUDITS[finding.audit].fair})"
    header = ("what", "value", "95 % interval", "n")
    return [TextTable(title, header, tuple(rows), row_about=tuple(about))]


def _paragraph(audit: str, name: str) -> str:
    """The paragraph that explains a number; that of the audit where it has none of its own."""
    return next((about for start, about in PARAGRAPHS.items() if name.startswith(start)), audit)


def plotted(finding: Finding) -> list[tuple[str, float, float, float]]:
    """Name, value and limits of all numbers with an interval, odds as chances so that one axis fits all."""
    shown = {
        _chance_name(name) if _is_odds(name) else name: _chance(estimate) if _is_odds(name) else estimate
        for name, estimate in numbers(finding).items()
    }
    return [
        (name, estimate.value, estimate.low, estimate.high)
        for name, estimate in shown.items()
        if estimate.value is not None and estimate.low is not None and estimate.high is not None
    ]


def items_in_words(finding: Finding, names: Mapping[str, str]) -> str:
    """The first few items behind a finding and how many more there are."""
    first = ", ".join(names[item_id] for item_id in finding.items[:FIRST_FEW])
    more = len(finding.items) - FIRST_FEW
    return f"{first} and {more:,} more" if more > 0 else first


def render_findings(report: FindingsReport, form: str) -> str:
    """The findings in one of the forms of RENDERERS."""
    text = RENDERERS[form](report)
    return text if text.endswith("\n") else text + "\n"


def _as_json(report: FindingsReport) -> str:
    data = {
        "project": report.title,
        "synthetic": report.synthetic,
        "judges": [
            {
                "judge": one.judge or None,
                "criterion": one.criterion.id,
                "kind": one.criterion.kind,
                "findings": [_finding(finding, one.names) for finding in one.findings],
            }
            for one in report.audited
        ],
    }
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)


def _finding(finding: Finding, names: Mapping[str, str]) -> dict[str, object]:
    audit = AUDITS[finding.audit]
    return {
        "audit": finding.audit,
        "title": audit.title,
        "question": audit.question,
        "subject": finding.subject,
        "weight": finding.weight,
        "sentence": finding.sentence,
        "measure": audit.measure,
        "fair": audit.fair,
        "estimate": asdict(finding.estimate),
        "parts": {name: asdict(estimate) for name, estimate in finding.parts.items()},
        "need": finding.need,
        "items": [names[item_id] for item_id in finding.items],
    }


def _as_markdown(report: FindingsReport) -> str:
    parts = [f"# Audits: {_escape(report.title)}"]
    if report.synthetic:
        parts.append("This project is synthetic: its texts, labels and judges were made up.")
    for one in report.audited:
        parts += [f"## {_escape(one.judge or PEOPLE)}", _escape(one.criterion.question)]
        for finding in one.findings:
            parts += [f"### {headline(finding)}", AUDITS[finding.audit].question, _escape(finding.sentence)]
            parts += [_table(table) for table in finding_tables(finding)]
            if finding.items:
                parts.append(f"Items: {_escape(items_in_words(finding, one.names))}")
    return "\n\n".join(parts) + "\n"


def _as_terminal(report: FindingsReport) -> str:
    from rich.console import Console

    console = Console()
    with console.capture() as capture:
        _print(report, console)
    return capture.get()


def _print(report: FindingsReport, console: Console) -> None:
    from rich.text import Text

    console.print(Text(printable(report.title), style="bold"))
    if report.synthetic:
        console.print("This project is synthetic: its texts, labels and judges were made up.", style="yellow")
    for one in report.audited:
        console.rule()
        console.print(Text(printable(one.judge or PEOPLE), style="bold cyan"))
        console.print(Text(printable(one.criterion.question)))
        for finding in one.findings:
            _print_finding(finding, one.names, console=console)


def _print_finding(finding: Finding, names: Mapping[str, str], *, console: Console) -> None:
    from rich.text import Text

    console.print()
    console.print(Text(headline(finding), style=STYLES[finding.weight]))
    console.print(Text(AUDITS[finding.audit].question, style="italic"))
    console.print(Text(printable(finding.sentence)))
    for table in finding_tables(finding):
        _print_table(table, console)
    if finding.items:
        console.print(Text(f"Items: {printable(items_in_words(finding, names))}"))


def _row(name: str, estimate: Estimate) -> tuple[str, ...]:
    if estimate.value is None:
        return (
            name,
            "–",
            f"undefined: {REASONS[estimate.why_undefined or 'not_applicable']}",
            f"{estimate.n:,}",
        )
    return name, number(estimate.value), interval(estimate), f"{estimate.n:,}"


def _is_odds(name: str) -> bool:
    return name.startswith("odds ")


def _chance_name(name: str) -> str:
    return f"chance {name.removeprefix('odds ')}"


def _chance(odds: Estimate) -> Estimate:
    """A factor on the odds as the chance that it makes of an even one."""
    value, low, high = (None if x is None else x / (1 + x) for x in (odds.value, odds.low, odds.high))
    return Estimate(value, low, high, odds.n, odds.why_undefined, level=odds.level)


RENDERERS: Mapping[str, Callable[[FindingsReport], str]] = {
    "terminal": _as_terminal,
    "json": _as_json,
    "markdown": _as_markdown,
}
