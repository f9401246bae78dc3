"""`calibrate rubric`: versions that people and judges follow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, make_project, pair
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from calibration.cli import cli
from calibration.store import RunStore
from labels.desk import Desk
from labels.errors import UserError
from labels.rubric import make_rubric, rubric_from_text, rubric_text
from labels.store import LabelStore

PARTS = ("Be right.", "The reference.", "Read twice.", "One fact.")
FULL = "# Criterion\n\n{}\n\n# Evidence\n\n{}\n\n# Procedure\n\n{}\n\n# Output\n\n{}\n".format(*PARTS)
part = st.text("abc .\n", max_size=30).map(str.strip)


def rubric(project: Path, *arguments: object) -> str:
    command = ["rubric", str(project), *map(str, arguments)]
    result = CliRunner().invoke(cli, command, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def project(tmp_path: Path) -> Path:
    item = replace(pair(0), context="some context", reference="the reference text")
    return make_project(tmp_path / "p.db", [item])


@given(part.filter(bool), part, part, part)
def test_a_rubric_is_read_back_from_its_text(one: str, two: str, three: str, four: str) -> None:
    rubric = make_rubric(PAIRS, (one, two, three, four))
    assert rubric_from_text(PAIRS, rubric_text(rubric)) == rubric


def test_a_file_makes_a_new_version_and_the_old_one_can_come_back(project: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "old.md", tmp_path / "new.md"
    old.write_text(rubric(project), encoding="utf-8")
    new.write_text(FULL, encoding="utf-8")
    assert "Be right." in rubric(project, "--set", new, "--note", "shorter")
    assert rubric(project) == FULL
    with LabelStore.open(project) as store:
        first, second = store.rubrics(PAIRS.id)
    assert (second.parent, second.note) == (first.id, "shorter")
    rubric(project, "--set", old)
    assert rubric(project) == old.read_text(encoding="utf-8")
    assert len(rubric(project, "--list").splitlines()) == 2
    assert rubric(project, "--id", second.id[:6]) == FULL


def test_people_and_judge_see_the_evidence_that_the_rubric_names(project: Path, tmp_path: Path) -> None:
    with LabelStore.open(project) as store:
        ada = store.annotator("Ada").id
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        shown = desk.current()
    assert shown is not None
    assert (shown.context, shown.reference) == ("some context", "the reference text")
    file = tmp_path / "rubric.md"
    file.write_text(FULL, encoding="utf-8")
    rubric(project, "--set", file)
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        shown = desk.current()
    assert shown is not None
    assert (shown.context, shown.reference) == ("", "the reference text")
    command = ["judge", str(project), "--model", "scripted:reads", "--yes"]
    assert CliRunner().invoke(cli, command, catch_exceptions=False).exit_code == 0
    with RunStore.open(project) as runs:
        (messages, *_) = runs.db.execute("SELECT messages FROM prompts").fetchone()
    assert "the reference text" in messages
    assert "some context" not in messages


def test_a_judge_can_follow_an_older_version(project: Path, tmp_path: Path) -> None:
    file = tmp_path / "rubric.md"
    file.write_text(FULL, encoding="utf-8")
    with LabelStore.open(project) as store:
        first = store.rubric(PAIRS.id)
    rubric(project, "--set", file)
    command = ["judge", str(project), "--model", "scripted:reads", "--rubric", first.id[:6], "--yes"]
    assert CliRunner().invoke(cli, command, catch_exceptions=False).exit_code == 0
    with RunStore.open(project) as runs:
        (run,) = runs.runs(PAIRS.id)
    assert run.rubric_id == first.id


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no criterion"),
        ("# Evidence\nThe context.", "no criterion"),
        ("# Criterion\nx\n# Criterion\ny", "twice"),
        ("# Criteria\nx", "no part of a rubric"),
        ("above\n# Criterion\nx", "above its first heading"),
    ],
)
def test_a_rubric_that_cannot_be_read_is_told_with_the_remedy(text: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        rubric_from_text(PAIRS, text)


def test_two_questions_want_a_choice(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [], criteria=[PAIRS, SINGLES])
    with pytest.raises(UserError, match="--kind"):
        rubric(project)
    assert "good enough" in rubric(project, "--kind", "binary")
