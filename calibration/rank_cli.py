"""`calibrate rank`: which system is better, by the experts' labels and by each judge."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from calibration.plan_cli import WIDTH
from labels.errors import UserError
from labels.text import printable


@click.command("rank")
@click.argument("project", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "json"]),
    default="terminal",
    help="How the standings are written.",
)
def rank_command(project: Path, *, form: str) -> None:
    """Rank the systems of pairs, as your experts and as each judge see them.

    Ranks count half a win more each way for every two systems that met, so that one that never lost has a
    rank too. Win rates and abilities are from the data alone.
    """
    from rich.console import Console

    from calibration.load import load_material
    from calibration.render.as_terminal import print_table
    from calibration.standings import standings_of, standings_table
    from labels.store import LabelStore

    with LabelStore.open(project) as store:
        criteria = [criterion for criterion in store.criteria() if criterion.kind == "pairwise"]
    found = [one for criterion in criteria for one in standings_of(load_material(project, criterion))]
    if not found:
        raise UserError(
            f"{project} holds no pair with a label or a verdict, so no system can be ranked. "
            f"Import pairs: calibrate import {project} --items FILE"
        )
    if form == "json":
        data = [asdict(one) for one in found]
        click.echo(json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False))
        return
    for one in found:
        click.echo(click.wrap_text(printable(one.sentence), WIDTH) + "\n")
        print_table(standings_table(one), Console())
        click.echo()
