"""`calibrate rubric`: show the rubric in force, its versions, or make a new version from a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from labels.files import read_utf8

if TYPE_CHECKING:
    from labels.types import Rubric


@click.command("rubric")
@click.argument("project", type=click.Path(path_type=Path))
@click.option("--kind", type=click.Choice(["pairwise", "binary"]), help="Which question, if there are two.")
@click.option("--set", "file", type=click.Path(path_type=Path), help="Make a new version of this file.")
@click.option("--note", default="", help="Why the new version was made.")
@click.option("--list", "listed", is_flag=True, help="List all versions, the newest last.")
@click.option("--id", "beginning", default="", help="Show this version instead of the one in force.")
def rubric_command(
    project: Path, *, kind: str | None, file: Path | None, note: str, listed: bool, beginning: str
) -> None:
    """Show the rubric that people and judges follow, or make a new version of it.

    The file has the headings # Criterion, # Evidence, # Procedure and # Output. Evidence that names
    "context" or "reference" shows these to people and judges; without any evidence all is shown.
    """
    from calibration.ordering import chosen_criterion, chosen_rubric
    from labels.rubric import rubric_from_text, rubric_text
    from labels.store import LabelStore

    with LabelStore.open(project) as store:
        criterion = chosen_criterion(store, kind)
        if file is not None:
            made = rubric_from_text(criterion, read_utf8(file), note=note)
            store.add_rubric(replace(made, parent=store.rubric(criterion.id).id))
            click.echo(f"In force: {_line(store.rubric(criterion.id))}")
        elif listed:
            for rubric in store.rubrics(criterion.id):
                click.echo(_line(rubric))
        else:
            click.echo(rubric_text(chosen_rubric(store, criterion.id, beginning)), nl=False)


def _line(rubric: Rubric) -> str:
    first = rubric.criterion.splitlines()[0]
    return f"{rubric.id[:6]}  {first}" + (f"  ({rubric.note})" if rubric.note else "")
