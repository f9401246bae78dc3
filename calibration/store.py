"""RunStore: the only SQL about judge runs and verdicts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from calibration.schema import migrations
from calibration.types import Verdict
from labels.schema import migrations as label_migrations
from labels.schema import open_database, writing
from labels.store import now
from labels.types import Added

CHUNK = 500  # rows to one transaction, so that a long import never keeps an annotator waiting

_VERDICTS = """SELECT r.judge, r.criterion_id, v.* FROM verdicts v JOIN judge_runs r ON r.id = v.run_id
    WHERE r.criterion_id = ? ORDER BY r.rowid, v.rowid"""


class RunStore:
    """The verdicts of one project; one per operation, never shared by threads."""

    def __init__(self, db: Database) -> None:
        self.db = db

    @classmethod
    @contextmanager
    def open(cls, path: Path | str) -> Iterator[RunStore]:
        """The store of an existing project; UserError when the file is missing or is no project."""
        with open_database(Path(path), label_migrations, migrations) as db:
            yield cls(db)

    def verdicts(self, criterion_id: str) -> list[Verdict]:
        """All verdicts about a criterion, in the order they arrived."""
        return [_verdict(row) for row in self.db.query(_VERDICTS, [criterion_id])]

    def judges(self, criterion_id: str) -> list[str]:
        """The judges that have rated this criterion, in the order they first did."""
        sql = "SELECT judge FROM judge_runs WHERE criterion_id = ? GROUP BY judge ORDER BY min(rowid)"
        return [row["judge"] for row in self.db.query(sql, [criterion_id])]

    def state(self) -> str:
        """A text that changes whenever a verdict arrives."""
        sql = "SELECT count(*), max(created_at) FROM verdicts"
        return " ".join(map(str, self.db.execute(sql).fetchone()))

    def add_verdicts(self, verdicts: Sequence[Verdict], source: str) -> tuple[Added, list[Verdict]]:
        """Add verdicts that the project does not hold; those that contradict stored ones come back."""
        new, against = 0, []
        for start in range(0, len(verdicts), CHUNK):
            with writing(self.db):
                for verdict in verdicts[start : start + CHUNK]:
                    stored = self._stored(self._run(verdict, source), verdict)
                    new += stored is None
                    if stored is not None and stored != (verdict.value or verdict.error):
                        against.append(verdict)
        return Added(new, len(verdicts) - new - len(against)), against

    def _run(self, verdict: Verdict, source: str) -> str:
        text = "\x1f".join((verdict.judge, verdict.criterion_id, "imported"))
        run_id = "j" + hashlib.sha256(text.encode()).hexdigest()[:20]
        sql = "INSERT INTO judge_runs VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        self.db.execute(sql, (run_id, verdict.judge, verdict.criterion_id, source, now()))
        return run_id

    def _stored(self, run_id: str, verdict: Verdict) -> str | None:
        """What stands in this verdict's place already; None when it is new, or answers what was open."""
        key = (run_id, verdict.item_id, verdict.first or "", verdict.repeat)
        texts = (verdict.value, verdict.choice or "", verdict.error, verdict.reasoning, verdict.raw)
        sql = """INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET value = excluded.value, choice = excluded.choice,
            error = excluded.error, reasoning = excluded.reasoning, raw = excluded.raw,
            created_at = excluded.created_at WHERE value IS NULL AND excluded.value IS NOT NULL"""
        if self.db.execute(sql, (*key, *texts, now())).rowcount:
            return None
        sql = """SELECT coalesce(value, error) FROM verdicts
            WHERE run_id = ? AND item_id = ? AND first = ? AND repeat = ?"""
        return str(self.db.execute(sql, key).fetchone()[0])


def _verdict(row: dict[str, object]) -> Verdict:
    names = ("judge", "criterion_id", "item_id", "value", "repeat", "error", "reasoning", "raw")
    known = {name: row[name] for name in names}
    known |= {"first": row["first"] or None, "choice": row["choice"] or None}
    return Verdict(**known)  # type: ignore[arg-type]
