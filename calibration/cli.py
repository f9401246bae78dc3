"""The `calibrate` command. Slow libraries are imported inside the commands that need them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from calibration.app_cli import app_command
from calibration.audit_cli import audit_command
from calibration.demo_cli import demo_command
from calibration.importing_cli import import_command
from calibration.judge_cli import judge_command
from calibration.plan_cli import plan_command
from calibration.rank_cli import rank_command
from calibration.rubric_cli import rubric_command
from labels.errors import UserError
from labels.files import write_text
from labels.kinds import KINDS
from labels.text import counted
from labels.types import Criterion, KindName

if TYPE_CHECKING:
    from labels.store import LabelStore

QUESTIONS: dict[KindName, str] = {
    "pairwise": "Which response is better?",
    "binary": "Is this response good enough?",
}
PROJECT = click.argument("project", type=click.Path(path_type=Path))


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="judge-calibration")
def cli() -> None:
    """Measure how far an LLM judge can be trusted, against labels that experts gave blind."""


@cli.command()
@PROJECT
@click.option("--kind", type=click.Choice(sorted(KINDS)), default="pairwise", help="What is asked.")
@click.option("--question", help="The question put to people and judge alike.")
@click.option("--ties/--no-ties", default=True, help="Whether a pair may be called a tie.")
@click.option("--title", default="", help="The project's name on screen.")
@click.option(
    "--text",
    type=click.Choice(["plain", "markdown", "code"]),
    default="plain",
    help="How texts look to annotators; plain shows them to the letter.",
)
@click.option("--holdout", default="0", help="The share of items that is kept for the release, such as 0.4.")
def new(
    project: Path, *, kind: str, question: str | None, ties: bool, title: str, text: str, holdout: str
) -> None:
    """Make a project file with one question."""
    from labels.split import SETTING, share_from
    from labels.store import LabelStore

    name = cast(KindName, kind)
    asked = (question or "").strip() or QUESTIONS[name]
    share = share_from(holdout)
    LabelStore.create(project, [Criterion(f"{name}-1", name, asked, ties=ties)], title=title)
    with LabelStore.open(project) as store:
        store.set_setting("look", text)
        store.set_setting(SETTING, str(share))
    click.echo(f"Made {project}. Next: calibrate import {project} --items FILE")


@cli.command()
@PROJECT
def status(project: Path) -> None:
    """Show what the project holds and what to do next."""
    from labels.store import LabelStore

    with LabelStore.open(project) as store:
        for criterion in store.criteria():
            _print_status(project, criterion, store)


@cli.command()
@PROJECT
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "json", "markdown"]),
    default="terminal",
    help="How the report is written.",
)
@click.option("--output", type=click.Path(path_type=Path), help="Write to this file instead of the screen.")
def report(project: Path, *, form: str, output: Path | None) -> None:
    """Compare each judge with the labels: agreement, kappa, order flips, all that was left out."""
    from calibration.load import load_report
    from calibration.render import render

    text = render(load_report(project), form)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(output, text, never=[project])
        click.echo(f"Wrote {output}.")


@cli.command()
@PROJECT
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv", "parquet"]),
    default="jsonl",
    help="The files' format.",
)
def export(project: Path, *, folder: Path, form: str) -> None:
    """Write items, labels and verdicts to FOLDER, ready to be imported again.

    A label is what a person says now: hidden repeats and labels that were corrected later stay in the
    project and are not written.
    """
    from calibration.exporting import export_project

    for path, rows in export_project(project, folder, form=form):
        click.echo(f"{path}: {counted(rows, 'row')}")


cli.add_command(import_command)
cli.add_command(judge_command)
cli.add_command(rubric_command)
cli.add_command(audit_command)
cli.add_command(plan_command)
cli.add_command(rank_command)
cli.add_command(app_command)
cli.add_command(demo_command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; a mistake of the user ends in one sentence and exit code 2."""
    try:
        cli.main(args=arguments, prog_name="calibrate", standalone_mode=False)
    except UserError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped; nothing more was written.", err=True)
        sys.exit(130)


def _print_status(project: Path, criterion: Criterion, store: LabelStore) -> None:
    from calibration.store import RunStore

    items, labels = store.count_items(criterion.kind), store.labels(criterion.id)
    click.echo(f"{criterion.question} ({criterion.kind}): {counted(items, 'item')}")
    for annotator in store.annotators():
        theirs = [label for label in labels if label.annotator_id == annotator.id]
        skipped = sum(label.value is None for label in theirs)
        if theirs:
            said = counted(len(theirs) - skipped, "label")
            click.echo(f"  annotator {annotator.name}: {said}, {skipped:,} skipped")
    with RunStore.open(project) as runs:
        verdicts = runs.verdicts(criterion.id)
    for judge in dict.fromkeys(verdict.judge for verdict in verdicts):
        theirs_too = [verdict for verdict in verdicts if verdict.judge == judge]
        open_ones = sum(verdict.value is None for verdict in theirs_too)
        click.echo(f"  judge {judge}: {counted(len(theirs_too), 'verdict')}, {open_ones:,} unanswered")
    click.echo(f"  next: {_next_step(project, items, labels=len(labels), verdicts=len(verdicts))}")


def _next_step(project: Path, items: int, *, labels: int, verdicts: int) -> str:
    if not items:
        return f"calibrate import {project} --items FILE"
    if not labels:
        return f"calibrate app {project}"
    if not verdicts:
        return f"calibrate import {project} --verdicts FILE"
    return f"calibrate report {project}"
