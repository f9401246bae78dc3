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


@migrations()
def judge_runs_of_our_own(db: Database) -> None:
    """What a run was asked, each attempt with its raw answer, and what a verdict cost."""
    for statement in _JUDGE_RUNS:
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

_JUDGE_RUNS = (
    "ALTER TABLE judge_runs ADD COLUMN rubric_id TEXT REFERENCES rubrics(id)",
    "ALTER TABLE judge_runs ADD COLUMN plan TEXT NOT NULL DEFAULT '{}'",
    "ALTER TABLE judge_runs ADD COLUMN state TEXT NOT NULL DEFAULT 'imported'",
    "ALTER TABLE judge_runs ADD COLUMN finished_at TEXT",
    "ALTER TABLE verdicts ADD COLUMN request_key TEXT NOT NULL DEFAULT ''",
    "CREATE TABLE prompts (id TEXT PRIMARY KEY, messages TEXT NOT NULL) STRICT",
    """CREATE TABLE attempts (
        id INTEGER PRIMARY KEY, request_key TEXT NOT NULL, run_id TEXT NOT NULL REFERENCES judge_runs(id),
        prompt_id TEXT NOT NULL REFERENCES prompts(id), usable INTEGER NOT NULL, choice TEXT NOT NULL,
        error TEXT NOT NULL, text TEXT NOT NULL, reasoning TEXT NOT NULL, thinking TEXT NOT NULL,
        served_model TEXT NOT NULL, finish_reason TEXT NOT NULL, calls INTEGER NOT NULL,
        prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, cost REAL, latency REAL NOT NULL,
        left_out TEXT NOT NULL, details TEXT NOT NULL, created_at TEXT NOT NULL) STRICT""",
    "CREATE INDEX attempts_by_key ON attempts (request_key, usable)",
    "CREATE INDEX attempts_of_run ON attempts (run_id)",
)
