"""`calibrate demo`: the synthetic project that ships with the package, opened in the app."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from calibration.types import Verdict
    from labels.store import LabelStore
    from labels.types import Criterion, Item, KindName

SETS: tuple[tuple[KindName, str], ...] = (("pairwise", "pairs"), ("binary", "singles"))


@click.command("demo")
@click.argument("project", type=click.Path(path_type=Path), default="demo.db")
@click.option("--app/--no-app", "start", default=True, help="Open the app once the project is made.")
@click.option("--browser/--no-browser", default=True, help="Open a browser window.")
@click.pass_context
def demo_command(context: click.Context, *, project: Path, start: bool, browser: bool) -> None:
    """Open the app on a synthetic project, made at PROJECT where there is none yet."""
    from calibration.app_cli import app_command

    if not project.exists():
        build_demo(project)
        click.echo(
            f"Made {project}: synthetic pairs and single responses, two annotators, two scripted judges."
        )
    if start:
        context.invoke(app_command, project=project, port=None, address="127.0.0.1", no_browser=not browser)


def build_demo(project: Path) -> None:
    """Make the demo project: shipped items and labels, and what two scripted judges say of them."""
    from labels.rubric import make_rubric
    from labels.store import LabelStore
    from labels.types import Criterion

    with as_file(files("calibration") / "demo") as folder:
        rubrics = json.loads((folder / "rubrics.json").read_text(encoding="utf-8"))
        criteria = [Criterion(f"{kind}-1", kind, rubrics[kind]["question"]) for kind, _ in SETS]
        LabelStore.create(project, criteria, title="Support assistant (synthetic)")
        with LabelStore.open(project) as store:
            store.set_setting("synthetic", "yes")
            for criterion, (kind, name) in zip(criteria, SETS, strict=True):
                parts = rubrics[kind]
                texts = (parts["criterion"], parts["evidence"], parts["procedure"], parts["output"])
                store.add_rubric(make_rubric(criterion, texts))
                _fill(project, folder, store, criterion=criterion, name=name)


def _fill(project: Path, folder: Path, store: LabelStore, *, criterion: Criterion, name: str) -> None:
    from calibration.importing_cli import add_items_file, add_labels_file
    from calibration.store import RunStore

    add_items_file(store, folder / f"{name}.items.jsonl")
    add_labels_file(store, folder / f"{name}.labels.jsonl")
    with RunStore.open(project) as runs:
        runs.add_verdicts(scripted_verdicts(criterion, store.items(criterion.kind)), "scripted")


def scripted_verdicts(criterion: Criterion, items: Sequence[Item]) -> list[Verdict]:
    """What each scripted judge says of each item, in both orders where there are two responses."""
    from calibration.scripted import SCRIPTED

    return [
        _scripted(criterion, item, judge=judge, first=first)
        for judge in SCRIPTED
        for item in items
        for first in (("A", "B") if criterion.kind == "pairwise" else ("A",))
    ]


def _scripted(criterion: Criterion, item: Item, *, judge: str, first: str) -> Verdict:
    from calibration.scripted import SCRIPTED
    from calibration.types import Verdict
    from labels.kinds import KINDS
    from labels.present import Order
    from labels.types import Side

    order = Order(cast("Side", first))
    texts = [item.response(side).text for side in order.sides[: len(item.responses)]]
    answer = SCRIPTED[judge](texts)
    kind = KINDS[criterion.kind]
    return Verdict(
        judge=judge,
        criterion_id=criterion.id,
        item_id=item.id,
        first=order.first if kind.responses == 2 else None,
        value=kind.value(order, answer.choice),
        choice=answer.choice,
        reasoning=answer.reasoning,
        raw=answer.reasoning,
    )
