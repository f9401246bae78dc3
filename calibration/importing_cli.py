"""`calibrate import`: shows how files are read, asks, and writes them into a project."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibration import importing as judged
from calibration.types import Verdict
from labels import columns
from labels.errors import UserError
from labels.files import write_text
from labels.importing import Lookup, item_in_words, lookup, read_items, read_labels
from labels.resolving import label_in_words, resolve_labels
from labels.sides import placed
from labels.tables import Table, read_table
from labels.text import any_text, one_line
from labels.types import Added, Criterion, ImportedLabel, Item, KindName, Problem

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from labels.store import LabelStore

FILE = click.Path(path_type=Path)
SHOWN_PROBLEMS = 10
SHOWN_ROWS = 3


@dataclass(frozen=True, slots=True)
class Held:
    """What the project holds before the import."""

    path: Path
    criteria: Mapping[KindName, Criterion]
    items: Sequence[Item]
    systems: Mapping[KindName, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Plan:
    """One file, read and understood, not yet written; records know their places."""

    what: str
    table: Table
    mapping: Mapping[str, str]
    problems: Sequence[Problem]
    read_as: Mapping[int, str]
    items: Sequence[Item] = ()
    labels: Mapping[ImportedLabel, str] = field(default_factory=dict)
    verdicts: Mapping[Verdict, str] = field(default_factory=dict)

    @property
    def usable(self) -> int:
        """How many rows can be written."""
        return len(self.items) + len(self.labels) + len(self.verdicts)

    @property
    def doubled(self) -> int:
        """How many rows say again what another row says."""
        rows = len(self.table.rows) + len(self.table.problems)
        return rows - self.usable - len(self.problems)


@click.command("import")
@click.argument("project", type=FILE)
@click.option("--items", type=FILE, help="Prompts with their responses.")
@click.option("--labels", type=FILE, help="What people said.")
@click.option("--verdicts", type=FILE, help="What judges said.")
@click.option("--map", "maps", multiple=True, metavar="FIELD=COLUMN", help="Which column is which field.")
@click.option("--pass", "passed", metavar="WORD", help="The word that stands for pass, e.g. 0.")
@click.option("--fail", "failed", metavar="WORD", help="The word that stands for fail.")
@click.option("--problems", "report", type=FILE, help="Write all problems to this file.")
@click.option("--yes", is_flag=True, help="Write without asking.")
def import_command(
    project: Path,
    *,
    maps: Sequence[str],
    passed: str | None,
    failed: str | None,
    report: Path | None,
    yes: bool,
    **files: Path | None,
) -> None:
    """Read items, labels and verdicts (JSONL, JSON, CSV, TSV or Parquet) into PROJECT.

    The guessed columns and three rows as they are understood are shown before anything is written.
    """
    from labels.store import LabelStore

    with LabelStore.open(project) as store:
        held = _held(store, project)
    in_use = [project, *(path for path in files.values() if path is not None)]
    tables = {what: read_table(path) for what in columns.FILES if (path := files[what]) is not None}
    if not tables:
        raise UserError("Nothing to import; name a file with --items, --labels or --verdicts.")
    given = columns.given_by_file(columns.parse_map(maps), {what: t.columns for what, t in tables.items()})
    plans = plan(tables, held, given, words=columns.pass_words(passed, failed))
    for one in plans:
        _show(one)
    _write_problems(report, plans, in_use)
    for one in plans:
        if not one.usable:
            click.echo(f"{one.table.name} holds no usable {one.what}; nothing was written.", err=True)
            sys.exit(1)
    plans = settle_polarity(plans, held, yes=yes)
    if not yes and not click.confirm(f"Write this to {project}?"):
        click.echo("Nothing was written.")
        return
    _write_problems(report, [_write(one, project) for one in plans], in_use)


def add_items_file(store: LabelStore, path: Path) -> tuple[Added, list[Problem]]:
    """Add the items of a file whose columns have well-known names."""
    held = _held(store, path)
    made = plan_items(read_table(path), held, {})
    return store.add_items(made.items), list(made.problems)


def add_labels_file(store: LabelStore, path: Path) -> tuple[Added, list[Problem]]:
    """Add the labels of a file whose columns have well-known names."""
    held = _held(store, path)
    made = plan_labels(read_table(path), lookup(held.items, held.criteria), {}, words=columns.pass_words())
    added, against = store.add_labels(list(made.labels))
    return added, [*made.problems, *_said_before(made, against)]


def _held(store: LabelStore, path: Path) -> Held:
    # The first criterion of a kind is the one that imported labels and verdicts are about.
    criteria = {criterion.kind: criterion for criterion in reversed(store.criteria())}
    return Held(path, criteria, store.items(), {kind: store.systems(kind) for kind in criteria})


def plan(
    tables: Mapping[str, Table], held: Held, given: Mapping[str, Mapping[str, str]], *, words: columns.Words
) -> list[Plan]:
    """Each file as it would be written; labels and verdicts may be about items of the same import."""
    plans = [plan_items(tables["items"], held, given["items"])] if "items" in tables else []
    known = {item.id: item for one in plans for item in one.items} | {item.id: item for item in held.items}
    find = lookup(known.values(), held.criteria)
    if "labels" in tables:
        plans.append(plan_labels(tables["labels"], find, given["labels"], words=words))
    if "verdicts" in tables:
        plans.append(plan_verdicts(tables["verdicts"], find, given["verdicts"], words=words))
    return plans


def plan_items(table: Table, held: Held, given: Mapping[str, str]) -> Plan:
    """The items of a file, beside those of the project."""
    mapping = columns.guess(table.columns, columns.ITEM_FIELDS, given)
    kind = next(iter(held.criteria)) if len(held.criteria) == 1 else None
    drafts, problems = read_items(table, mapping, kind=kind)
    items, clashes = placed(drafts, held.items, held.systems)
    by_name = {(item.kind, item.name): item for item in items}
    shown = {d.line: by_name.get((d.kind, d.name)) for d in drafts[:SHOWN_ROWS]}
    read_as = {line: item_in_words(item) if item else "left out" for line, item in shown.items()}
    return Plan("items", table, mapping, [*problems, *clashes], read_as, items=items)


def plan_labels(table: Table, find: Lookup, given: Mapping[str, str], *, words: columns.Words) -> Plan:
    """The labels of a file in terms of sides."""
    mapping = columns.guess(table.columns, columns.LABEL_FIELDS, given)
    drafts, problems = read_labels(table, mapping)
    labels, unusable = resolve_labels(drafts, find, words=words)
    by_place = {place: label_in_words(find.items[label.item_id][0], label) for label, place in labels.items()}
    read_as = {draft.line: by_place.get(draft.place, "left out") for draft in drafts[:SHOWN_ROWS]}
    return Plan("labels", table, mapping, [*problems, *unusable], read_as, labels=labels)


def plan_verdicts(table: Table, find: Lookup, given: Mapping[str, str], *, words: columns.Words) -> Plan:
    """The verdicts of a file in terms of sides."""
    mapping = columns.guess(table.columns, columns.VERDICT_FIELDS, given)
    drafts, problems = judged.read_verdicts(table, mapping)
    verdicts, unusable = judged.resolve_verdicts(drafts, find, words=words)
    by_place = {
        place: judged.verdict_in_words(find.items[verdict.item_id][0], verdict)
        for verdict, place in verdicts.items()
    }
    read_as = {draft.line: by_place.get(draft.place, "left out") for draft in drafts[:SHOWN_ROWS]}
    return Plan("verdicts", table, mapping, [*problems, *unusable], read_as, verdicts=verdicts)


def settle_polarity(plans: Sequence[Plan], held: Held, *, yes: bool) -> list[Plan]:
    """Where agreement is far below chance, both readings and the question which one is right."""
    criterion = held.criteria.get("binary")
    rated = [one for one in plans if one.what != "items"]
    found = _inverted(rated, held, criterion) if criterion and rated else []
    if not found:
        return list(plans)
    for one in found:
        both = f"as written agreement is {one.written:.0%}; turned round it would be {one.turned:.0%}"
        click.echo(f"Warning: on {one.n} items people and {one.judge} agree far below chance: {both}.")
    if yes:
        remedy = "import that file into a new project with the word that stands for pass, e.g. --pass 0"
        click.echo(f"It is kept as written. If pass and fail are turned round in one of the files, {remedy}.")
        return list(plans)
    choices = click.Choice(["as written", *(one.what for one in rated)])
    answer = click.prompt("Keep it as written, or turn pass and fail round in", type=choices)
    return [_turned(one, {p.judge for p in found}) if one.what == answer else one for one in plans]


def _inverted(rated: Sequence[Plan], held: Held, criterion: Criterion) -> list[judged.Polarity]:
    from calibration.store import RunStore
    from labels.store import LabelStore

    with LabelStore.open(held.path) as store, RunStore.open(held.path) as runs:
        labels = [(label.item_id, label.value) for label in store.labels(criterion.id)]
        verdicts = runs.verdicts(criterion.id)
    labels += [(label.item_id, label.value) for one in rated for label in one.labels]
    verdicts += [verdict for one in rated for verdict in one.verdicts]
    return judged.inverted(labels, verdicts)


def _turned(one: Plan, judges: Collection[str]) -> Plan:
    """The file with pass and fail turned round: all its labels, or the verdicts of these judges."""
    labels = {judged.turned_label(label): place for label, place in one.labels.items()}
    return replace(one, labels=labels, verdicts=judged.turned_verdicts(one.verdicts, judges))


def _write(one: Plan, project: Path) -> Plan:
    """Write one file in one call; the plan with what contradicts the project among its problems."""
    from calibration.store import RunStore
    from labels.store import LabelStore

    against: Sequence[ImportedLabel | Verdict] = ()
    with LabelStore.open(project) as store, RunStore.open(project) as runs:
        if one.what == "items":
            added = store.add_items(one.items)
        elif one.what == "labels":
            added, against = store.add_labels(list(one.labels))
        else:
            added, against = runs.add_verdicts(list(one.verdicts), one.table.name)
    contradictions = _said_before(one, against)
    problems = [*one.problems, *contradictions]
    counts = f"{added.new:,} {one.what} added, {added.known:,} known already, {len(problems):,} left out"
    click.echo(f"{one.table.name}: {counts}.")
    _print_problems(contradictions)
    return replace(one, problems=problems)


def _said_before(one: Plan, against: Sequence[ImportedLabel | Verdict]) -> list[Problem]:
    people = [(one.labels[said], said.annotator) for said in against if isinstance(said, ImportedLabel)]
    judges = [(one.verdicts[said], said.judge) for said in against if isinstance(said, Verdict)]
    why = "said otherwise of this item before; what was said first stays."
    return [Problem(place, f"{name} {why}") for place, name in [*people, *judges]]


def _write_problems(report: Path | None, plans: Sequence[Plan], never: Sequence[Path]) -> None:
    if report is not None:
        lines = (f"{problem.place}: {problem.text}\n" for one in plans for problem in one.problems)
        write_text(report, "".join(lines), never=never)


def _print_problems(problems: Sequence[Problem]) -> None:
    for problem in problems[:SHOWN_PROBLEMS]:
        click.echo(f"  {problem.place}: {problem.text}")
    if len(problems) > SHOWN_PROBLEMS:
        click.echo(f"  and {len(problems) - SHOWN_PROBLEMS:,} more; --problems FILE writes them all.")


def _show(one: Plan) -> None:
    """How a file is read: its columns, three rows, the votes' convention, and what is left out."""
    from rich.console import Console

    Console().print(_preview(one))
    doubled = f", {one.doubled:,} said twice" if one.doubled else ""
    problems = f"{len(one.problems):,} problem{'s' * (len(one.problems) != 1)}"
    click.echo(f"{one.table.name}: {one.usable:,} {one.what} can be read, {problems}{doubled}.")
    if one.what == "verdicts":
        click.echo(judged.CONVENTION)
        click.echo(f"Votes: {_counted(one)}.")
    for what, rater in (("labels", "annotator"), ("verdicts", "judge")):
        if one.what == what and rater not in one.mapping:
            click.echo(f'No column says whose they are; all are by "{rater} 1" (--map {rater}=COLUMN).')
    _print_problems(one.problems)


def _counted(one: Plan) -> str:
    values = Counter(v.value or f"unanswered ({v.error.replace('_', ' ')})" for v in one.verdicts)
    return ", ".join(f"{value} {count:,}" for value, count in sorted(values.items()))


def _preview(one: Plan) -> RichTable:
    from rich.table import Table as RichTable
    from rich.text import Text

    rows = {row.line: row for row in one.table.rows}
    places = [f"{one.table.unit} {line}" for line in one.read_as]
    grid = RichTable("field", "column", *places, title=Text(f"{one.what} from {one.table.name}"))
    for name, column in one.mapping.items():
        cells = [any_text(rows[line].fields.get(column)) for line in one.read_as]
        grid.add_row(*(Text(one_line(text)) for text in (name, column, *cells)))
    grid.add_row("read as", "", *(Text(one_line(text)) for text in one.read_as.values()))
    return grid
