from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, label, make_project, pair, single, verdict

from calibration.store import RunStore
from labels.errors import UserError
from labels.rubric import make_rubric
from labels.store import LabelStore
from labels.types import Added


def test_what_was_added_comes_back(tmp_path: Path) -> None:
    items = [pair(1), pair(2)]
    project = make_project(tmp_path / "p.db", items, [label(items[0], "Ada", "A")])
    with LabelStore.open(project) as store:
        assert store.items() == items
        assert store.criteria() == [PAIRS]
        assert store.systems("pairwise") == ["alpha", "beta"]
        assert [(said.item_id, said.value) for said in store.labels(PAIRS.id)] == [("i0001", "A")]


def test_adding_the_same_again_adds_nothing(tmp_path: Path) -> None:
    items, labels = [pair(1), pair(2)], [label(pair(1), "Ada", "A")]
    verdicts = [verdict(pair(1), "first"), verdict(pair(1), None, first="B")]
    project = make_project(tmp_path / "p.db", items, labels, verdicts=verdicts)
    with LabelStore.open(project) as store, RunStore.open(project) as runs:
        assert store.add_items(items) == Added(0, 2)
        assert store.add_labels(labels) == (Added(0, 1), [])
        assert runs.add_verdicts(verdicts, "again") == (Added(0, 2), [])


def test_a_contradicting_label_comes_back_and_the_first_stays(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(1)], [label(pair(1), "Ada", "A")])
    against = label(pair(1), " Ada ", "B")
    with LabelStore.open(project) as store:
        assert store.add_labels([against]) == (Added(0, 0), [against])
        assert [said.value for said in store.labels(PAIRS.id)] == ["A"]


def test_a_contradicting_verdict_comes_back_but_an_answer_fills_an_open_one(tmp_path: Path) -> None:
    verdicts = [verdict(pair(1), "first"), verdict(pair(1), None, first="B")]
    project = make_project(tmp_path / "p.db", [pair(1)], verdicts=verdicts)
    against, answered = verdict(pair(1), "second"), verdict(pair(1), "tie", first="B")
    with RunStore.open(project) as runs:
        assert runs.add_verdicts([against, answered], "again") == (Added(1, 0), [against])
        assert [said.value for said in runs.verdicts(PAIRS.id)] == ["A", "tie"]


def test_names_that_look_the_same_are_one_person(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(1)])
    with LabelStore.open(project) as store:
        composed, decomposed = store.annotator("Zo\u00e9"), store.annotator("  Zoe\u0301 ")
        assert composed == decomposed
        assert len(store.annotators()) == 1


@pytest.mark.parametrize("name", ["", "  ", "nan", "None", "\u200b"])
def test_what_stands_for_a_missing_name_is_nobodys_name(tmp_path: Path, name: str) -> None:
    project = make_project(tmp_path / "p.db", [pair(1)])
    with LabelStore.open(project) as store:
        with pytest.raises(UserError, match="no name of a person"):
            store.annotator(name)
        assert store.annotators() == []


def test_the_newest_rubric_is_in_force_and_the_same_text_is_one_version(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(1)])
    rubric = make_rubric(PAIRS, ("be kind", "the text alone", "read twice", "A, B or tie"))
    with LabelStore.open(project) as store:
        store.add_rubric(rubric)
        store.add_rubric(rubric)
        assert store.rubric(PAIRS.id) == rubric


def test_both_houses_live_in_one_file(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(1), single(1)], criteria=[PAIRS, SINGLES])
    with RunStore.open(project) as runs:
        runs.add_verdicts([verdict(single(1), "pass", first=None)], "test")
        assert runs.judges(SINGLES.id) == ["judge"]
        assert runs.verdicts(PAIRS.id) == []


def make_text(path: Path) -> None:
    path.write_text("this is no database, only a long enough text " * 30)


def make_foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE labels (id)")


def make_newer(path: Path) -> None:
    make_project(path, [pair(1)])
    with closing(sqlite3.connect(path)) as connection, connection:
        sql = (
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('labels', 'later', '')"
        )
        connection.execute(sql)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: None, "There is no project at"),
        (lambda path: path.mkdir(), "There is no project at"),
        (make_text, "is not a project file"),
        (make_foreign, "not a project"),
        (make_newer, "newer judge-calibration"),
    ],
    ids=["missing", "folder", "text", "foreign", "newer"],
)
def test_a_file_that_is_no_project_is_refused_in_one_sentence_and_not_touched(
    tmp_path: Path, make: Callable[[Path], None], sentence: str
) -> None:
    path = tmp_path / "p.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    code = f"from labels.store import LabelStore\nwith LabelStore.open({str(path)!r}) as s: pass"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"UserError: {path}" in done.stderr or "UserError: There is no project" in done.stderr
    assert sentence in done.stderr
    assert (path.read_bytes() if path.is_file() else None) == before


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(1)])
    with pytest.raises(UserError, match="exists already"):
        LabelStore.create(project, [PAIRS])
    with LabelStore.open(project) as store:
        assert len(store.items()) == 1


FIRST_OPENING = """
import sys
from calibration.store import RunStore
from labels.store import LabelStore
for _ in range(20):
    with RunStore.open(sys.argv[1]) as runs, LabelStore.open(sys.argv[1]) as store:
        store.annotator(sys.argv[2])
        runs.judges("pairwise-1")
"""


def test_six_processes_open_a_project_for_the_first_time_at_once(tmp_path: Path) -> None:
    project = tmp_path / "p.db"
    LabelStore.create(project, [PAIRS])
    command = [sys.executable, "-c", FIRST_OPENING, str(project)]
    running = [
        subprocess.Popen([*command, f"person {n}"], stderr=subprocess.PIPE, text=True) for n in range(6)
    ]
    errors = [process.communicate(timeout=120)[1] for process in running]
    assert [process.returncode for process in running] == [0] * 6, errors
    with LabelStore.open(project) as store:
        assert len(store.annotators()) == 6


READ_THEN_WRITE = """
import sys
from labels.schema import writing
from labels.store import LabelStore
for n in range(100):
    with LabelStore.open(sys.argv[1]) as store, writing(store.db):
        count = int(store.setting("count", "0"))
        store.db.execute("INSERT OR REPLACE INTO project VALUES ('count', ?)", (str(count + 1),))
"""


def test_four_processes_that_read_then_write_lose_nothing_and_are_never_locked_out(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(1)])
    command = [sys.executable, "-c", READ_THEN_WRITE, str(project)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    errors = [process.communicate(timeout=120)[1] for process in running]
    assert errors == [""] * 4
    with LabelStore.open(project) as store:
        assert store.setting("count") == "400"
