"""LabelStore: the SQL about items, rubrics, annotators and labels, but for the labelling page."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from labels.errors import UserError
from labels.present import keyed_hash
from labels.rubric import default_rubric
from labels.schema import migrations, open_database, writing
from labels.text import person, quoted
from labels.types import (
    Added,
    Annotator,
    Criterion,
    ImportedLabel,
    Item,
    KindName,
    Label,
    Response,
    Rubric,
    Saw,
)

if TYPE_CHECKING:
    from sqlite_utils import Database

AT_ONCE = 500  # items read with one query

_CURRENT_LABELS = """
    SELECT l.*, p.first FROM labels l LEFT JOIN presentations p ON p.id = l.presentation_id
    WHERE l.criterion_id = ? AND l.round = ? AND l.event != 'undo' AND NOT EXISTS (
        SELECT 1 FROM labels later WHERE later.criterion_id = l.criterion_id
        AND later.item_id = l.item_id AND later.annotator_id = l.annotator_id
        AND later.round = l.round AND later.revision > l.revision)
    ORDER BY l.id"""


def now() -> str:
    """The time in UTC to the millisecond, as the project file keeps it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class LabelStore:
    """The only SQL about projects, items, rubrics and labels; one per operation, never shared by threads."""

    def __init__(self, db: Database) -> None:
        self.db = db

    @classmethod
    @contextmanager
    def open(cls, path: Path | str) -> Iterator[LabelStore]:
        """The store of an existing project; UserError when the file is missing or is no project."""
        with open_database(Path(path), migrations) as db:
            yield cls(db)

    @classmethod
    def create(cls, path: Path | str, criteria: Sequence[Criterion], *, title: str = "") -> None:
        """Make a project file with these criteria; UserError when the file exists."""
        with open_database(Path(path), migrations, create=True) as db:
            store = cls(db)
            settings = {"salt": secrets.token_hex(16), "title": title, "repeat_every": "10"}
            with writing(db):
                for key, value in settings.items():
                    db.execute("INSERT INTO project VALUES (?, ?)", (key, value))
                for criterion in criteria:
                    store._insert_criterion(criterion)

    def setting(self, key: str, default: str = "") -> str:
        """A setting of the project, or the default where it was never set."""
        row = self.db.execute("SELECT value FROM project WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else default

    def set_setting(self, key: str, value: str) -> None:
        """Change a setting of the project."""
        with writing(self.db):
            self.db.execute("INSERT OR REPLACE INTO project VALUES (?, ?)", (key, value))

    def criteria(self) -> list[Criterion]:
        """The project's criteria in the order they were made."""
        rows = self.db.query("SELECT * FROM criteria ORDER BY rowid")
        return [Criterion(r["id"], r["kind"], r["question"], ties=bool(r["ties"])) for r in rows]

    def rubric(self, criterion_id: str) -> Rubric:
        """The rubric version in force: the one that was set last, else the newest of the criterion."""
        versions = self.rubrics(criterion_id)
        in_force = self.setting(f"rubric {criterion_id}")
        return next((rubric for rubric in versions if rubric.id == in_force), versions[-1])

    def rubrics(self, criterion_id: str) -> list[Rubric]:
        """All rubric versions of the criterion, the newest last."""
        rows = self.db.query("SELECT * FROM rubrics WHERE criterion_id = ? ORDER BY rowid", [criterion_id])
        return [Rubric(**{name: row[name] for name in row if name != "created_at"}) for row in rows]

    def add_rubric(self, rubric: Rubric) -> None:
        """Make this version the one in force; the same text again adds nothing."""
        with writing(self.db):
            self._insert_rubric(rubric)
            key = f"rubric {rubric.criterion_id}"
            self.db.execute("INSERT OR REPLACE INTO project VALUES (?, ?)", (key, rubric.id))

    def items(self, kind: KindName | None = None) -> list[Item]:
        """All items, or those of one kind, in the order they were imported."""
        return list(self.each_item(kind))

    def each_item(self, kind: KindName | None = None) -> Iterator[Item]:
        """The same one after the other, so that a long run need not hold them all."""
        last = 0
        sql = """SELECT rowid AS place, * FROM items WHERE rowid > ? AND (kind = ? OR ? IS NULL)
            ORDER BY rowid LIMIT ?"""
        while rows := list(self.db.query(sql, [last, kind, kind, AT_ONCE])):
            responses = self._responses(last, rows[-1]["place"])
            yield from (_item(row, responses[row["id"]]) for row in rows)
            last = rows[-1]["place"]

    def _responses(self, after: int, until: int) -> dict[str, list[Response]]:
        found: dict[str, list[Response]] = {}
        sql = """SELECT r.* FROM responses r JOIN items i ON i.id = r.item_id
            WHERE i.rowid > ? AND i.rowid <= ? ORDER BY r.item_id, r.side"""
        for r in self.db.query(sql, [after, until]):
            response = Response(r["side"], r["system"], r["text"], r["listed"])
            found.setdefault(r["item_id"], []).append(response)
        return found

    def systems(self, kind: KindName) -> list[str]:
        """The systems whose responses the items of a kind hold, in order of first appearance."""
        sql = """SELECT r.system FROM responses r JOIN items i ON i.id = r.item_id
            WHERE i.kind = ? GROUP BY r.system ORDER BY min(i.rowid * 2 + r.listed)"""
        return [row["system"] for row in self.db.query(sql, [kind])]

    def count_items(self, kind: KindName) -> int:
        """How many items of a kind the project holds."""
        return int(self.db.execute("SELECT count(*) FROM items WHERE kind = ?", (kind,)).fetchone()[0])

    def add_items(self, items: Sequence[Item]) -> Added:
        """Add the items that the project does not hold yet, all or none."""
        salt, new = self.setting("salt"), 0
        with writing(self.db):
            for item in items:
                new += self._insert_item(item, keyed_hash(salt, "shuffle", item.id))
        return Added(new, len(items) - new)

    def annotators(self) -> list[Annotator]:
        """Everybody who has labelled or was named in an import."""
        rows = self.db.query("SELECT id, name FROM annotators ORDER BY rowid")
        return [Annotator(r["id"], r["name"]) for r in rows]

    def annotator(self, name: str) -> Annotator:
        """The person of this name, made known when new."""
        with writing(self.db):
            return self._annotator(name)

    def labels(self, criterion_id: str) -> list[Label]:
        """What each person says now about each item: answers and skips, without hidden repeats."""
        return [_label(row) for row in self.db.query(_CURRENT_LABELS, [criterion_id, 0])]

    def repeat_labels(self, criterion_id: str) -> list[Label]:
        """The labels of hidden repeats, which measure an annotator's own consistency."""
        return [_label(row) for row in self.db.query(_CURRENT_LABELS, [criterion_id, 1])]

    def state(self) -> str:
        """A text that changes whenever an item arrives or a person labels."""
        sql = """SELECT (SELECT count(*) FROM items), (SELECT count(*) FROM labels),
            (SELECT count(*) FROM annotators), (SELECT group_concat(key || value) FROM project)"""
        return " ".join(map(str, self.db.execute(sql).fetchone()))

    def add_labels(self, labels: Sequence[ImportedLabel]) -> tuple[Added, list[ImportedLabel]]:
        """Add labels read from a file; those that contradict what a person said before come back."""
        new, against = 0, []
        with writing(self.db):
            people = {label.annotator: self._annotator(label.annotator).id for label in labels}
            for label in labels:
                said = self._said(label, people[label.annotator])
                if said is None:
                    self._insert_label(label, people[label.annotator])
                    new += 1
                elif said != (label.value or "skip"):
                    against.append(label)
        return Added(new, len(labels) - new - len(against)), against

    def reveal(self, annotator_id: str, criterion_id: str, *, item_ids: Sequence[str], saw: Saw) -> None:
        """Note in the ledger of blindness that a person has seen what others or a judge said."""
        sql = "INSERT OR IGNORE INTO reveals VALUES (?, ?, ?, ?, ?)"
        with writing(self.db):
            for item_id in item_ids:
                self.db.execute(sql, (annotator_id, item_id, criterion_id, saw, now()))

    def _insert_criterion(self, criterion: Criterion) -> None:
        values = (criterion.id, criterion.kind, criterion.question, int(criterion.ties), now())
        self.db.execute("INSERT INTO criteria VALUES (?, ?, ?, ?, ?)", values)
        self._insert_rubric(default_rubric(criterion))

    def _insert_rubric(self, rubric: Rubric) -> None:
        parts = (rubric.criterion, rubric.evidence, rubric.procedure, rubric.output)
        values = (rubric.id, rubric.criterion_id, *parts, rubric.parent, rubric.note, now())
        self.db.execute("INSERT OR IGNORE INTO rubrics VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    def _insert_item(self, item: Item, shuffle: str) -> int:
        texts = (item.prompt, item.context, item.reference, item.group)
        meta = json.dumps(dict(item.meta), ensure_ascii=False)
        values = (item.id, item.name, item.kind, *texts, meta, shuffle, now())
        sql = "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        if self.db.execute(sql, values).rowcount == 0:
            return 0
        for r in item.responses:
            row = (item.id, r.side, r.system, r.text, r.listed)
            self.db.execute("INSERT INTO responses VALUES (?, ?, ?, ?, ?)", row)
        return 1

    def _annotator(self, said: str) -> Annotator:
        name = person(said)
        if name is None:
            raise UserError(f"{quoted(said)} is no name of a person; use another one.")
        annotator = Annotator("a" + keyed_hash(self.setting("salt"), "annotator", name)[:20], name)
        sql = "INSERT INTO annotators VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        self.db.execute(sql, (annotator.id, name, now()))
        return annotator

    def _said(self, label: ImportedLabel, annotator_id: str) -> str | None:
        sql = """SELECT value, event FROM labels WHERE criterion_id = ? AND item_id = ?
            AND annotator_id = ? AND round = 0 ORDER BY revision DESC LIMIT 1"""
        key = (label.criterion_id, label.item_id, annotator_id)
        row = self.db.execute(sql, key).fetchone()
        return None if row is None or row[1] == "undo" else str(row[0] or row[1])

    def _insert_label(self, label: ImportedLabel, annotator_id: str) -> None:
        key = (label.criterion_id, label.item_id, annotator_id)
        sql = """SELECT count(*) FROM labels WHERE criterion_id = ? AND item_id = ? AND annotator_id = ?
            AND round = 0"""
        revision = self.db.execute(sql, key).fetchone()[0]
        said = ("answer" if label.value else "skip", label.value, label.skip_reason, label.note, label.saw)
        sql = """INSERT INTO labels (criterion_id, item_id, annotator_id, round, revision, event, value,
            skip_reason, note, saw, source, created_at) VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)"""
        self.db.execute(sql, (*key, revision, *said, label.source, now()))
        sql = """UPDATE presentations SET state = ? WHERE criterion_id = ? AND item_id = ?
            AND annotator_id = ? AND round = 0 AND state = 'open'"""
        self.db.execute(sql, ("answered" if label.value else "skipped", *key))


def _item(row: dict[str, object], responses: list[Response]) -> Item:
    return Item(
        id=str(row["id"]),
        name=str(row["name"]),
        kind="pairwise" if row["kind"] == "pairwise" else "binary",
        prompt=str(row["prompt"]),
        responses=tuple(responses),
        context=str(row["context"]),
        reference=str(row["reference"]),
        group=str(row["item_group"]),
        meta=json.loads(str(row["meta"])),
    )


def _label(row: dict[str, object]) -> Label:
    fields = ("id", "criterion_id", "item_id", "annotator_id", "value", "skip_reason", "note", "saw", "first")
    known = {name: row[name] for name in (*fields, "seconds", "rubric_id", "source")}
    return Label(**known, at=str(row["created_at"]))  # type: ignore[arg-type]
