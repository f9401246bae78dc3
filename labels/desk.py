"""Desk: what one person does on the labelling page, each act saved before it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from labels.assign import REPEAT_EVERY, repeat_block, repeat_due, repeats_planned
from labels.kinds import KINDS
from labels.present import first_side, keyed_hash, other_side
from labels.rubric import shown_evidence
from labels.schema import migrations, open_database, writing
from labels.store import LabelStore, now
from labels.types import BlindItem, Choice, Criterion, Event, Look, Presentation, Saw, Side, Value

LOOKS: Mapping[str, Look] = {"plain": "plain", "markdown": "markdown", "code": "code"}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a person is: `done` of `total`; when the last act was saved (UTC).

    `labelled` and `skipped` count items, without the hidden repeats.
    """

    done: int
    total: int
    saved_at: str
    labelled: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """One act on the page: for which presentation and which revision of it, and what was said.

    `rubric_id` names the rubric version that was in view; without it the one in force is taken.
    """

    presentation_id: str
    revision: int
    event: Event
    choice: Choice | None = None
    skip_reason: str = ""
    note: str = ""
    seconds: float | None = None
    rubric_id: str = ""


class Desk:
    """One person's labelling of one criterion; opened for each run of the page and never shared."""

    def __init__(self, db: Database, criterion: Criterion, annotator_id: str) -> None:
        self.db = db
        self.criterion = criterion
        self.annotator_id = annotator_id
        self.store = LabelStore(db)

    @classmethod
    @contextmanager
    def open(cls, path: Path | str, criterion: Criterion, *, annotator_id: str) -> Iterator[Desk]:
        """The desk of a person; UserError when the file is missing or is no project."""
        with open_database(Path(path), migrations) as db:
            yield cls(db, criterion, annotator_id)

    def current(self) -> BlindItem | None:
        """The item to show now, its order stored before it is returned; None when all is done."""
        presentation_id = self._open_presentation()
        if presentation_id is None:
            with writing(self.db):
                presentation_id = self._open_presentation() or self._present_next()
        return None if presentation_id is None else self._blind(presentation_id)

    def save(self, answer: Answer) -> bool:
        """Append the answer; False, and nothing written, when it is not for what was last shown."""
        with writing(self.db):
            presentation = self._presentation(answer.presentation_id)
            if presentation is None or self._revision(presentation.id) != answer.revision:
                return False
            if self._state(presentation.id) != "open":
                return False
            self._append(presentation, answer)
        return True

    def undo(self, shown: str | None = None) -> bool:
        """Take back the person's last answer or skip, so that its item is shown again; False if none.

        With `shown`, the presentation in view, nothing is taken back unless it still is in view.
        """
        sql = """SELECT l.presentation_id, l.note FROM labels l JOIN presentations p
            ON p.id = l.presentation_id WHERE l.criterion_id = ? AND l.annotator_id = ?
            AND l.event != 'undo' AND p.state != 'open'
            AND l.revision = (SELECT max(revision) FROM labels m WHERE m.presentation_id = p.id)
            ORDER BY l.id DESC LIMIT 1"""
        with writing(self.db):
            if shown is not None and shown != (self._open_presentation() or ""):
                return False
            row = self.db.execute(sql, (self.criterion.id, self.annotator_id)).fetchone()
            presentation = self._presentation(row[0]) if row else None
            if presentation is None:
                return False
            revision = self._revision(presentation.id)
            self._append(presentation, Answer(presentation.id, revision, "undo"))
            self._set_draft(presentation.id, str(row[1]))
        return True

    def keep_note(self, presentation_id: str, note: str) -> None:
        """Keep a note that belongs to the item in view until its answer is given."""
        with writing(self.db):
            if self._presentation(presentation_id) is not None:
                self._set_draft(presentation_id, note)

    def note(self, presentation_id: str) -> str:
        """The note kept for the item in view."""
        sql = "SELECT draft_note FROM presentations WHERE id = ?"
        row = self.db.execute(sql, (presentation_id,)).fetchone()
        return str(row[0]) if row else ""

    def progress(self) -> Progress:
        """How far the person is; the total counts the hidden repeats that are still to come."""
        key = (self.criterion.id, self.annotator_id)
        sql = """SELECT count(*) FILTER (WHERE state != 'open'),
            count(*) FILTER (WHERE state = 'answered' AND round = 0),
            count(*) FILTER (WHERE state = 'skipped' AND round = 0)
            FROM presentations WHERE criterion_id = ? AND annotator_id = ?"""
        done, labelled, skipped = self.db.execute(sql, key).fetchone()
        sql = "SELECT created_at FROM labels WHERE criterion_id = ? AND annotator_id = ? AND source = 'app'"
        row = self.db.execute(sql + " ORDER BY id DESC LIMIT 1", key).fetchone()
        imported, items = self._imported(), self.store.count_items(self.criterion.kind)
        total = items + repeats_planned(items - imported, every=self._repeat_every())
        done += imported
        saved_at = str(row[0]) if row else ""
        return Progress(done, max(total, done), saved_at, labelled + imported, skipped)

    def _imported(self) -> int:
        """How many items have a label of this person from a file: they are done and not asked again."""
        sql = """SELECT count(DISTINCT item_id) FROM labels l
            WHERE criterion_id = ? AND annotator_id = ? AND presentation_id IS NULL AND NOT EXISTS (
            SELECT 1 FROM presentations p WHERE p.criterion_id = l.criterion_id
            AND p.annotator_id = l.annotator_id AND p.item_id = l.item_id)"""
        return int(self.db.execute(sql, (self.criterion.id, self.annotator_id)).fetchone()[0])

    def _repeat_every(self) -> int:
        return int(self.store.setting("repeat_every", str(REPEAT_EVERY)))

    def _open_presentation(self) -> str | None:
        sql = """SELECT id FROM presentations WHERE criterion_id = ? AND annotator_id = ?
            AND state = 'open' ORDER BY position LIMIT 1"""
        row = self.db.execute(sql, (self.criterion.id, self.annotator_id)).fetchone()
        return str(row[0]) if row else None

    def _present_next(self) -> str | None:
        sql = """SELECT count(*), count(*) FILTER (WHERE round = 0), count(*) FILTER (WHERE round = 1)
            FROM presentations WHERE criterion_id = ? AND annotator_id = ?"""
        shown, originals, repeats = self.db.execute(sql, (self.criterion.id, self.annotator_id)).fetchone()
        if repeat_due(originals, repeats, every=self._repeat_every()):
            return self._present_repeat(shown, repeats)
        item_id = self._next_item()
        if item_id is None:
            return None
        rater = f"{self.criterion.id}:{self.annotator_id}"
        first = first_side(self.store.setting("salt"), rater, position=originals)
        return self._insert_presentation(item_id, first, position=shown, repeat=0)

    def _next_item(self) -> str | None:
        sql = """SELECT i.id FROM items i WHERE i.kind = ?1
            AND NOT EXISTS (SELECT 1 FROM presentations p WHERE p.criterion_id = ?2
                AND p.annotator_id = ?3 AND p.item_id = i.id AND p.round = 0)
            AND NOT EXISTS (SELECT 1 FROM labels l WHERE l.criterion_id = ?2
                AND l.annotator_id = ?3 AND l.item_id = i.id AND l.round = 0)
            ORDER BY i.shuffle LIMIT 1"""
        key = (self.criterion.kind, self.criterion.id, self.annotator_id)
        row = self.db.execute(sql, key).fetchone()
        return str(row[0]) if row else None

    def _present_repeat(self, position: int, repeats: int) -> str | None:
        block = repeat_block(repeats, every=self._repeat_every())
        sql = """SELECT item_id, first FROM presentations WHERE criterion_id = ? AND annotator_id = ?
            AND round = 0 ORDER BY position LIMIT ? OFFSET ?"""
        key = (self.criterion.id, self.annotator_id, len(block), block.start)
        rows = self.db.execute(sql, key).fetchall()
        salt = self.store.setting("salt")
        pick = int(keyed_hash(salt, "repeat", self.annotator_id, str(repeats)), 16) % len(rows)
        item_id, first = rows[pick]
        return self._insert_presentation(item_id, other_side(first), position=position, repeat=1)

    def _insert_presentation(self, item_id: str, first: Side, *, position: int, repeat: int) -> str:
        key = (self.criterion.id, item_id, self.annotator_id)
        digest = keyed_hash(self.store.setting("salt"), "presentation", *key, str(repeat))[:24]
        sql = """INSERT INTO presentations (id, criterion_id, item_id, annotator_id, round, position,
            first, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
        self.db.execute(sql, (digest, *key, repeat, position, first, now()))
        return digest

    def _blind(self, presentation_id: str) -> BlindItem:
        """Texts in slots: this reads no system, no verdict and nobody else's label."""
        sql = """SELECT p.first, i.prompt, i.context, i.reference, r.side, r.text FROM presentations p
            JOIN items i ON i.id = p.item_id JOIN responses r ON r.item_id = i.id WHERE p.id = ?"""
        rows = self.db.execute(sql, (presentation_id,)).fetchall()
        first, prompt, context, reference = rows[0][:4]
        ordered = sorted(rows, key=lambda row: row[4] != first)
        texts = tuple(str(row[5]) for row in ordered)
        shown = shown_evidence(self.store.rubric(self.criterion.id))  # the judge sees no more and no less
        context, reference = (
            text if name in shown else "" for name, text in (("context", context), ("reference", reference))
        )
        revision = self._revision(presentation_id)
        look = LOOKS.get(self.store.setting("look"), "plain")
        return BlindItem(presentation_id, revision, prompt, context, reference, texts, look)

    def _presentation(self, presentation_id: str) -> Presentation | None:
        sql = """SELECT id, criterion_id, item_id, annotator_id, first FROM presentations
            WHERE id = ? AND criterion_id = ? AND annotator_id = ?"""
        row = self.db.execute(sql, (presentation_id, self.criterion.id, self.annotator_id)).fetchone()
        return Presentation(*row) if row else None

    def _revision(self, presentation_id: str) -> int:
        sql = """SELECT count(*) FROM labels l JOIN presentations p ON p.criterion_id = l.criterion_id
            AND p.item_id = l.item_id AND p.annotator_id = l.annotator_id AND p.round = l.round
            WHERE p.id = ?"""
        return int(self.db.execute(sql, (presentation_id,)).fetchone()[0])

    def _state(self, presentation_id: str) -> str:
        sql = "SELECT state FROM presentations WHERE id = ?"
        return str(self.db.execute(sql, (presentation_id,)).fetchone()[0])

    def _append(self, presentation: Presentation, answer: Answer) -> None:
        kind = KINDS[self.criterion.kind]
        value: Value | None = None
        if answer.event == "answer" and answer.choice is not None:
            value = kind.value(presentation, answer.choice)
        draft = answer.note or (self.note(presentation.id) if answer.event != "undo" else "")
        sql = """INSERT INTO labels (criterion_id, item_id, annotator_id, round, revision, presentation_id,
            event, value, skip_reason, note, saw, rubric_id, seconds, source, created_at)
            VALUES (?, ?, ?, (SELECT round FROM presentations WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?,
            'app', ?)"""
        key = (presentation.criterion_id, presentation.item_id, presentation.annotator_id)
        said = (answer.event, value, answer.skip_reason, draft, self._saw(presentation.item_id))
        rubric_id = answer.rubric_id or self.store.rubric(self.criterion.id).id
        place = (presentation.id, answer.revision, presentation.id)
        self.db.execute(sql, (*key, *place, *said, rubric_id, answer.seconds, now()))
        state = {"answer": "answered", "skip": "skipped", "undo": "open"}[answer.event]
        self.db.execute("UPDATE presentations SET state = ? WHERE id = ?", (state, presentation.id))

    def _saw(self, item_id: str) -> Saw:
        sql = """SELECT saw FROM reveals WHERE annotator_id = ? AND criterion_id = ? AND item_id = ?
            ORDER BY saw DESC LIMIT 1"""
        row = self.db.execute(sql, (self.annotator_id, self.criterion.id, item_id)).fetchone()
        return "nothing" if row is None else ("verdict" if row[0] == "verdict" else "label")

    def _set_draft(self, presentation_id: str, note: str) -> None:
        self.db.execute("UPDATE presentations SET draft_note = ? WHERE id = ?", (note, presentation_id))
