"""The report for a pull request or a wiki."""

from __future__ import annotations

import re

from calibration.render.human_tables import human_tables
from calibration.render.tables import comparisons_table, judge_tables, judges_table
from calibration.render.text_table import TextTable
from calibration.types import AgreementReport, CriterionReport, JudgeReport
from labels.text import printable

_SPECIAL = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|$~!&@:"})
_NUMBERED = re.compile(r"^(\d+)([.)])")


def render_markdown(report: AgreementReport) -> str:
    """The report as Markdown tables; names are escaped so that they show to the letter."""
    parts = [f"# Judge report: {escaped(report.title)}"]
    if report.synthetic:
        parts.append("This project is synthetic: its texts, labels and judges were made up.")
    for criterion in report.criteria:
        parts += _criterion(criterion)
    return "\n\n".join(parts) + "\n"


def _criterion(report: CriterionReport) -> list[str]:
    question = escaped(report.criterion.question)
    counts = f"{report.criterion.kind}; {report.items:,} items, {report.labelled:,} with a reference label"
    parts = [f"## {question}", counts, escaped(report.humans.sentence)]
    for table in human_tables(report.humans):
        parts += _titled(table)
    if not report.judges:
        return [*parts, "No judge has rated these items yet."]
    parts.append(table_lines(judges_table(report)))
    if report.comparisons:
        parts += [f"- {escaped(versus.sentence)}" for versus in report.comparisons]
        parts += _titled(comparisons_table(report))
    for judge in report.judges:
        parts += _judge(judge)
    return parts


def _judge(judge: JudgeReport) -> list[str]:
    parts = [f"### {escaped(judge.judge)}", escaped(judge.sentence), escaped(judge.people.sentence)]
    parts.append(escaped(judge.people.alt_sentence))
    parts += [f"- {escaped(warned.text)}" for warned in judge.warnings]
    for table in judge_tables(judge):
        parts += _titled(table)
    return parts


def _titled(table: TextTable) -> list[str]:
    parts = [f"**{escaped(table.title)}**", table_lines(table)]
    return [*parts, escaped(table.note)] if table.note else parts


def table_lines(table: TextTable) -> str:
    """A table as Markdown, without its title and note."""
    lines = [_line(table.header), _line(("---",) * len(table.header), escape=False)]
    return "\n".join(lines + [_line(row) for row in table.rows])


def _line(cells: tuple[str, ...], *, escape: bool = True) -> str:
    return "| " + " | ".join(escaped(cell) if escape else cell for cell in cells) + " |"


def escaped(text: str) -> str:
    """Nothing in a name is read as Markdown, a link, a mention or a list."""
    special = " ".join(printable(text).split()).translate(_SPECIAL)
    return _NUMBERED.sub(r"\1\\\2", special) if not special.startswith(("-", "+")) else f"\\{special}"
