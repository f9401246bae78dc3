"""`calibrate plan`: what a number of labels can show, in the terminal or as JSON."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from labels.errors import UserError
from labels.text import printable

if TYPE_CHECKING:
    from calibration.outlook import Start
    from calibration.planning import Wish

WIDTH = 96


@click.command("plan")
@click.argument("project", type=click.Path(path_type=Path), required=False)
@click.option("--labels", type=int, help="How many items are labelled: 10 to 1000.")
@click.option("--agreement", type=float, help="The share of items on which judge and experts will agree.")
@click.option("--prevalence", type=float, help="The share of the commonest answer, such as 0.6.")
@click.option("--floor", type=float, help="The kappa that the lower limit must reach.")
@click.option("--answers", type=click.IntRange(2, 3), help="How many answers there are: 3 with ties.")
@click.option("--judge", default="", help="Start from this judge of the project.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "json"]),
    default="terminal",
    help="How the plan is written.",
)
def plan_command(project: Path | None, *, form: str, judge: str, **chosen: float | None) -> None:
    """Say what a number of labels can show, and how many a gate needs.

    With a PROJECT the plan starts from what its first judge has reached; options change that.
    """
    from rich.console import Console

    from calibration.outlook import outlook_of
    from calibration.plan_words import outlook_in_words, plan_as_json, sentences_of, tables_of
    from calibration.planning import plan_of
    from calibration.render.as_terminal import print_table

    starts = _starts(project, judge)
    plan = plan_of(_wish(starts, chosen))
    outlooks = [outlook_of(start, plan.wish.floor) for start in starts]
    if form == "json":
        click.echo(plan_as_json(plan, outlooks))
        return
    for sentence in (*map(outlook_in_words, outlooks), *sentences_of(plan)):
        click.echo(click.wrap_text(printable(sentence), WIDTH) + "\n")
    for table in tables_of(plan):
        print_table(table, Console())


def _starts(project: Path | None, judge: str) -> tuple[Start, ...]:
    """Where the project's judges stand, the wanted one first."""
    from calibration.load import load_report
    from calibration.outlook import starts_of

    if project is None:
        if judge:
            raise UserError("--judge needs a project: calibrate plan P.db --judge NAME")
        return ()
    starts = starts_of(load_report(project))
    if judge and judge not in [start.judge for start in starts]:
        known = "; ".join(start.judge for start in starts) or "none yet"
        raise UserError(f'No judge called "{judge}" was compared with labels in {project}. Judges: {known}.')
    return tuple(sorted(starts, key=lambda start: start.judge != judge))


def _wish(starts: tuple[Start, ...], chosen: dict[str, float | None]) -> Wish:
    """What was typed, and for the rest where the first judge stands."""
    from calibration.planning import Wish

    wish = starts[0].wish if starts else Wish()
    names = {"prevalence": "share"}
    given = {names.get(name, name): value for name, value in chosen.items() if value is not None}
    share = given.get("share")
    if share is not None and given.get("answers", wish.answers) == 2 and 0 < share < 1:
        given["share"] = max(share, 1 - share)  # of two answers either share says the same
    return replace(wish, **given)  # type: ignore[arg-type]
