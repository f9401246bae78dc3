"""The report for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibration.render.human_tables import human_tables
from calibration.render.tables import comparisons_table, judge_tables, judges_table
from calibration.render.text_table import TextTable
from calibration.types import AgreementReport, CriterionReport, JudgeReport
from labels.text import printable

WIDEST_NAME, WIDEST_TABLE = 48, 400

if TYPE_CHECKING:
    from rich.console import Console


def render_terminal(report: AgreementReport) -> str:
    """The report as text with colours where the terminal has them."""
    from rich.console import Console

    console = Console()
    with console.capture() as capture:
        print_report(report, console)
    return capture.get()


def print_report(report: AgreementReport, console: Console) -> None:
    """Draw the report; names are printed to the letter, never as markup."""
    from rich.text import Text

    console.print(Text(printable(report.title), style="bold"))
    if report.synthetic:
        console.print("This project is synthetic: its texts, labels and judges were made up.", style="yellow")
    for criterion in report.criteria:
        _print_criterion(criterion, console)


def _print_criterion(criterion: CriterionReport, console: Console) -> None:
    from rich.text import Text

    console.rule()
    console.print(Text(printable(criterion.criterion.question), style="bold"))
    counts = f"{criterion.items:,} items, {criterion.labelled:,} with a reference label"
    console.print(f"{criterion.criterion.kind}; {counts}", markup=False)
    console.print(Text(printable(criterion.humans.sentence)))
    for table in human_tables(criterion.humans):
        print_table(table, console)
    if not criterion.judges:
        console.print("No judge has rated these items yet.")
        return
    print_table(judges_table(criterion), console)
    for versus in criterion.comparisons:
        console.print(Text(printable(versus.sentence)))
    if criterion.comparisons:
        print_table(comparisons_table(criterion), console)
    for judge in criterion.judges:
        _print_judge(judge, console)


def _print_judge(judge: JudgeReport, console: Console) -> None:
    from rich.text import Text

    console.print()
    console.print(Text(printable(judge.judge), style="bold cyan"))
    for sentence in (judge.sentence, judge.people.sentence, judge.people.alt_sentence):
        console.print(Text(printable(sentence)))
    for warned in judge.warnings:
        console.print(f"! {warned.text}", style="yellow", markup=False)
    for table in judge_tables(judge):
        print_table(table, console)


def print_table(table: TextTable, console: Console) -> None:
    """Draw a table with its title and note, the first column to the left and numbers to the right."""
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=Text(printable(table.title)), title_justify="left", box=SIMPLE, pad_edge=False)
    for index, name in enumerate(table.header):
        first = index == 0
        drawn.add_column(
            Text(printable(name)),
            justify="left" if first else "right",
            overflow="fold",
            no_wrap=not first,
            max_width=WIDEST_NAME if first else None,
        )
    for row in table.rows:
        drawn.add_row(*(Text(printable(cell)) for cell in row))
    # A terminal may wrap a line, but no column is ever left out for want of room.
    wanted = console.measure(drawn, options=console.options.update(width=WIDEST_TABLE)).maximum
    usual, console.width = console.width, max(wanted, console.width)
    console.print(drawn)
    console.width = usual
    if table.note:
        console.print(Text(printable(table.note), style="dim"))
