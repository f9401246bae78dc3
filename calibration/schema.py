"""The calibration house's tables, in the same file as the labels."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

migrations = Migrations("calibration")


@migrations()
def first_tables(db: Database) -> None:
    """Judge runs and their verdicts."""
    for statement in _FIRST_TABLES:
        db.execute(statement)


_FIRST_TABLES = (
    """CREATE TABLE judge_runs (
        id TEXT PRIMARY KEY, judge TEXT NOT NULL, criterion_id TEXT NOT NULL REFERENCES criteria(id),
        source TEXT NOT NULL, created_at TEXT NOT NULL) STRICT""",
    """CREATE TABLE verdicts (
        run_id TEXT NOT NULL REFERENCES judge_runs(id), item_id TEXT NOT NULL REFERENCES items(id),
        first TEXT NOT NULL CHECK (first IN ('A', 'B', '')), repeat INTEGER NOT NULL,
        value TEXT CHECK (value IN ('A', 'B', 'tie', 'pass', 'fail')), choice TEXT NOT NULL,
        error TEXT NOT NULL, reasoning TEXT NOT NULL, raw TEXT NOT NULL, created_at TEXT NOT NULL,
        CHECK ((value IS NULL) = (error != '')),
        PRIMARY KEY (run_id, item_id, first, repeat)) STRICT""",
)
