"""The labelling house's tables and how a project file is opened: locks, WAL and migrations."""

from __future__ import annotations

import fcntl
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.abc import MetaPathFinder
from pathlib import Path
from sqlite3 import DatabaseError, OperationalError
from threading import get_ident

from labels.errors import UserError


class _Hidden(MetaPathFinder):
    """Tells the thread that made it that a library is not there; other threads find it as ever."""

    def __init__(self, *names: str) -> None:
        self.names, self.thread = names, get_ident()

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname in self.names and get_ident() == self.thread:
            raise ModuleNotFoundError(f"{fullname} is not imported here", name=fullname)


@contextmanager
def _hidden(*names: str) -> Iterator[None]:
    finder = _Hidden(*names)
    # A new list each time: another thread that imports may be walking through the old one.
    sys.meta_path = [finder, *sys.meta_path]
    try:
        yield
    finally:
        sys.meta_path = [other for other in sys.meta_path if other is not finder]


# sqlite_utils imports pandas and numpy where they are installed, only to know the column types of their
# values in tables that it makes itself. Ours are made in SQL, and the import took seconds of each command.
with _hidden("pandas", "numpy"):
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

APPLICATION_ID = 0x4A43414C  # "JCAL": tells a project from any other SQLite file
BUSY_TIMEOUT_MS = 30_000
_MIGRATIONS_TABLE = "_sqlite_migrations"
_ready: set[tuple[str, int, str]] = set()

migrations = Migrations("labels")


@migrations()
def first_tables(db: Database) -> None:
    """Projects, criteria, rubrics, items, annotators, presentations, labels, reveals."""
    for statement in _FIRST_TABLES:
        db.execute(statement)


_FIRST_TABLES = (
    "CREATE TABLE project (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    """CREATE TABLE criteria (
        id TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('pairwise', 'binary')),
        question TEXT NOT NULL, ties INTEGER NOT NULL, created_at TEXT NOT NULL) STRICT""",
    """CREATE TABLE rubrics (
        id TEXT PRIMARY KEY, criterion_id TEXT NOT NULL REFERENCES criteria(id),
        criterion TEXT NOT NULL, evidence TEXT NOT NULL, procedure TEXT NOT NULL, output TEXT NOT NULL,
        parent TEXT REFERENCES rubrics(id), note TEXT NOT NULL, created_at TEXT NOT NULL) STRICT""",
    """CREATE TABLE items (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, prompt TEXT NOT NULL,
        context TEXT NOT NULL, reference TEXT NOT NULL, item_group TEXT NOT NULL, meta TEXT NOT NULL,
        shuffle TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE (kind, name)) STRICT""",
    "CREATE INDEX items_in_order ON items (kind, shuffle)",
    """CREATE TABLE responses (
        item_id TEXT NOT NULL REFERENCES items(id), side TEXT NOT NULL CHECK (side IN ('A', 'B')),
        system TEXT NOT NULL, text TEXT NOT NULL, listed INTEGER NOT NULL,
        PRIMARY KEY (item_id, side)) STRICT""",
    """CREATE TABLE annotators (
        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL) STRICT""",
    """CREATE TABLE presentations (
        id TEXT PRIMARY KEY, criterion_id TEXT NOT NULL REFERENCES criteria(id),
        item_id TEXT NOT NULL REFERENCES items(id), annotator_id TEXT NOT NULL REFERENCES annotators(id),
        round INTEGER NOT NULL, position INTEGER NOT NULL, first TEXT NOT NULL CHECK (first IN ('A', 'B')),
        state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'answered', 'skipped')),
        draft_note TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL,
        UNIQUE (criterion_id, annotator_id, item_id, round),
        UNIQUE (criterion_id, annotator_id, position)) STRICT""",
    """CREATE INDEX presentations_by_state
        ON presentations (criterion_id, annotator_id, state, position)""",
    """CREATE TABLE labels (
        id INTEGER PRIMARY KEY, criterion_id TEXT NOT NULL REFERENCES criteria(id),
        item_id TEXT NOT NULL REFERENCES items(id), annotator_id TEXT NOT NULL REFERENCES annotators(id),
        round INTEGER NOT NULL, revision INTEGER NOT NULL,
        presentation_id TEXT REFERENCES presentations(id),
        event TEXT NOT NULL CHECK (event IN ('answer', 'skip', 'undo')),
        value TEXT CHECK (value IN ('A', 'B', 'tie', 'pass', 'fail')),
        skip_reason TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '',
        saw TEXT NOT NULL DEFAULT 'nothing' CHECK (saw IN ('nothing', 'verdict', 'label')),
        rubric_id TEXT REFERENCES rubrics(id), seconds REAL, source TEXT NOT NULL,
        created_at TEXT NOT NULL, CHECK ((event = 'answer') = (value IS NOT NULL)),
        UNIQUE (criterion_id, item_id, annotator_id, round, revision)) STRICT""",
    "CREATE INDEX labels_of_annotator ON labels (criterion_id, annotator_id, id)",
    """CREATE TABLE reveals (
        annotator_id TEXT NOT NULL REFERENCES annotators(id), item_id TEXT NOT NULL REFERENCES items(id),
        criterion_id TEXT NOT NULL REFERENCES criteria(id),
        saw TEXT NOT NULL CHECK (saw IN ('verdict', 'label')), created_at TEXT NOT NULL,
        PRIMARY KEY (annotator_id, criterion_id, item_id, saw)) STRICT""",
    """CREATE TRIGGER labels_are_never_changed BEFORE UPDATE ON labels
        BEGIN SELECT raise(ABORT, 'labels are append-only'); END""",
    """CREATE TRIGGER labels_are_never_deleted BEFORE DELETE ON labels
        BEGIN SELECT raise(ABORT, 'labels are append-only'); END""",
    """CREATE TRIGGER orders_are_never_changed
        BEFORE UPDATE OF id, criterion_id, item_id, annotator_id, round, position, first ON presentations
        BEGIN SELECT raise(ABORT, 'a stored presentation never changes'); END""",
)


@contextmanager
def open_database(path: Path, *sets: Migrations, create: bool = False) -> Iterator[Database]:
    """A project file, migrated, with foreign keys on and full durability; UserError when it is none."""
    _check_exists(path, create=create)
    key = (str(path.resolve()), path.stat().st_ino if path.exists() else 0, ",".join(s.name for s in sets))
    with closing(_connect(path)) as db:
        if key not in _ready:
            try:
                with _first_opening(path):
                    _prepare(db, path, sets, create=create)
            except (OSError, OperationalError) as error:
                raise UserError(f"{path} cannot be opened for writing ({error}).") from error
            _ready.add((key[0], path.stat().st_ino, key[2]))
        yield db


@contextmanager
def writing(db: Database) -> Iterator[None]:
    """One transaction that takes the write lock at once, so that it waits instead of failing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.conn.rollback()
        raise
    db.conn.commit()


def _check_exists(path: Path, *, create: bool) -> None:
    if create and path.exists():
        raise UserError(f"{path} exists already; choose another name, nothing was changed.")
    if not create and not path.is_file():
        raise UserError(f"There is no project at {path}; make one with: calibrate new {path} --kind pairwise")
    if create and not path.parent.is_dir():
        raise UserError(f"The folder {path.parent} does not exist; make it first.")


def _connect(path: Path) -> Database:
    try:
        db = Database(path)
    except OperationalError as error:
        raise UserError(f"{path} cannot be opened ({error}).") from error
    try:
        db.conn.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        db.conn.execute("PRAGMA foreign_keys = ON")
        db.conn.execute("PRAGMA synchronous = FULL")
    except DatabaseError as error:
        db.close()
        what = "cannot be opened" if isinstance(error, OperationalError) else "is not a project file"
        raise UserError(f"{path} {what} ({error}).") from error
    return db


@contextmanager
def _first_opening(path: Path) -> Iterator[None]:
    """A lock over the switch to WAL and the migrations, which SQLite's own locks do not cover."""
    lock = path.with_name(path.name + "-lock")
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _prepare(db: Database, path: Path, sets: tuple[Migrations, ...], *, create: bool) -> None:
    application = db.conn.execute("PRAGMA application_id").fetchone()[0]
    if not create and application != APPLICATION_ID:
        raise UserError(f"{path} is an SQLite file but not a project; make one with: calibrate new NAME.db")
    _check_not_newer(db, path, sets)
    db.enable_wal()
    if create:
        db.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for migration_set in sets:
        migration_set.apply(db)


def _check_not_newer(db: Database, path: Path, sets: tuple[Migrations, ...]) -> None:
    if not db.table(_MIGRATIONS_TABLE).exists():
        return
    empty = Database(memory=True)
    for migration_set in sets:
        ours = {migration.name for migration in migration_set.pending(empty)}
        applied = {migration.name for migration in migration_set.applied(db)}
        if applied - ours:
            raise UserError(f"{path} was written by a newer judge-calibration; upgrade this one to open it.")
