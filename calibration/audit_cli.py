"""`calibrate audit`: what may be wrong with a judge, or with the labels it is held to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from labels.errors import UserError


@click.command("audit")
@click.argument("project", type=click.Path(path_type=Path))
@click.option("--judge", default="", metavar="NAME", help="Only this judge.")
@click.option(
    "--family",
    "families",
    multiple=True,
    metavar="NAME=FAMILY",
    help="Which family a system or judge is of, where its name does not tell; kept in the project.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "json", "markdown"]),
    default="terminal",
    help="How the findings are written.",
)
@click.option("--output", type=click.Path(path_type=Path), help="Write to this file instead of the screen.")
def audit_command(
    project: Path, *, judge: str, families: tuple[str, ...], form: str, output: Path | None
) -> None:
    """Look for order, length, layout and family bias, obedience, leniency, drift and tired annotators."""
    from calibration.load import load_findings, set_families
    from calibration.render.findings import render_findings
    from labels.files import write_text

    if families:
        set_families(project, _families(families))
    text = render_findings(load_findings(project, judge), form)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(output, text, never=[project])
        click.echo(f"Wrote {output}.")


def _families(texts: Sequence[str]) -> dict[str, str]:
    """Names with their families; a name may hold "=", a family may not."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, family = text.rpartition("=")
        if not equals:
            raise UserError(f'--family "{text}" has no "="; write it as --family my-model=openai.')
        found[name.strip()] = family.strip()
    return found
