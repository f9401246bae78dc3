from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, label, make_project, pair, single, verdict
from click.testing import CliRunner, Result

from calibration.cli import cli, main
from calibration.load import load_report
from calibration.render import render
from labels.store import LabelStore


def calibrate(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    pairs, singles = [pair(n) for n in range(12)], [single(n) for n in range(12)]
    labels = [label(item, name, "A") for item in pairs[:11] for name in ("Ada", "Ben")]
    labels += [label(item, "Ada", "pass" if n % 3 else "fail") for n, item in enumerate(singles)]
    verdicts = [verdict(item, "first", first=side) for item in pairs for side in ("A", "B")]
    verdicts += [verdict(item, "pass" if n % 2 else None, first=None) for n, item in enumerate(singles)]
    return make_project(
        tmp_path / "p.db", pairs + singles, labels, verdicts=verdicts, criteria=[PAIRS, SINGLES]
    )


def test_new_makes_a_project_and_says_what_comes_next(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    result = calibrate("new", path, "--kind", "binary", "--question", "Is it right?", "--no-ties")
    assert result.exit_code == 0
    assert f"calibrate import {path}" in result.output
    with LabelStore.open(path) as store:
        criterion = store.criteria()[0]
    assert (criterion.kind, criterion.question, criterion.ties) == ("binary", "Is it right?", False)


def test_status_counts_items_labels_and_verdicts(project: Path) -> None:
    output = calibrate("status", project).output
    assert "12 items" in output
    assert "annotator Ben: 11 labels, 0 skipped" in output
    assert "judge judge: 12 verdicts, 6 unanswered" in output
    assert f"next: calibrate report {project}" in output


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_an_export_can_be_imported_again_and_gives_the_same_report(
    project: Path, tmp_path: Path, form: str
) -> None:
    out, again = tmp_path / "out", tmp_path / "again.db"
    assert calibrate("export", project, out, "--format", form).exit_code == 0
    LabelStore.create(again, [PAIRS, SINGLES])
    for kind in ("pairwise", "binary"):
        files = {part: out / f"{kind}.{part}.{form}" for part in ("items", "labels", "verdicts")}
        arguments = [text for part, path in files.items() for text in (f"--{part}", path)]
        result = calibrate("import", again, *arguments, "--yes")
        assert result.exit_code == 0, result.output
    before, after = (json.loads(render(load_report(path), "json")) for path in (project, again))
    assert after["judges"] == before["judges"]
    assert after["criteria"] == before["criteria"]


def test_the_report_can_be_written_to_a_file(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.md"
    assert "Wrote" in calibrate("report", project, "--format", "markdown", "--output", out).output
    assert out.read_text().startswith("# Judge report")


@pytest.mark.parametrize("command", ["status", "report", "export", "app", "import"])
def test_a_missing_project_is_one_sentence_with_the_remedy_and_exit_code_2(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "missing.db")
    more = {"export": [str(tmp_path / "out")], "import": ["--items", __file__]}.get(command, [])
    with pytest.raises(SystemExit) as stop:
        main([command, missing, *more])
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert error.startswith("Error: There is no project at")
    assert "calibrate new" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "missing.db").exists()


def test_making_a_project_over_a_file_is_refused_and_the_file_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "thesis.db"
    path.write_text("years of work")
    with pytest.raises(SystemExit):
        main(["new", str(path)])
    assert "exists already" in capsys.readouterr().err
    assert path.read_text() == "years of work"


def test_demo_makes_a_synthetic_project_with_an_inconsistent_judge(tmp_path: Path) -> None:
    path = tmp_path / "demo.db"
    assert calibrate("demo", path, "--no-app").exit_code == 0
    report = load_report(path)
    assert report.synthetic
    assert [criterion.items for criterion in report.criteria] == [40, 40]
    assert [len(criterion.annotators) for criterion in report.criteria] == [2, 2]
    judges = {(judge.judge, judge.criterion.kind): judge for judge in report.judges}
    first = judges["scripted:first-slot", "pairwise"]
    assert first.position.consistency.value == 0
    assert first.position.hard_flips_first == 40
    longer = judges["scripted:longer", "pairwise"]
    assert longer.position.consistency.value == 1
    assert longer.n > 30
    assert "synthetic" in render(report, "terminal")


def test_an_export_keeps_skips_and_what_a_person_had_seen(tmp_path: Path) -> None:
    items = [pair(n) for n in range(6)]
    labels = [label(item, "Ada", "A") for item in items[:2]]
    labels += [dataclasses.replace(label(items[2], "Ada", "B"), saw="verdict")]
    labels += [dataclasses.replace(label(items[3], "Ada", "B"), value=None, skip_reason="not my field")]
    verdicts = [verdict(item, "first") for item in items]
    project = make_project(tmp_path / "p.db", items, labels, verdicts=verdicts)
    out, again = tmp_path / "out", tmp_path / "again.db"
    calibrate("export", project, out, "--format", "csv")
    LabelStore.create(again, [PAIRS])
    files = [
        text
        for part in ("items", "labels", "verdicts")
        for text in (f"--{part}", out / f"pairwise.{part}.csv")
    ]
    assert calibrate("import", again, *files, "--yes").exit_code == 0
    before, after = load_report(project).judges[0], load_report(again).judges[0]
    assert dict(before.left_out) == {"labelled after a reveal": 1, "skipped": 1, "unlabelled": 2}
    assert after.left_out == before.left_out
    assert after.n == before.n == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "P", "--output", "P"],
        ["report", "P", "--output", "OTHER"],
        ["import", "P", "--items", "F", "--problems", "P", "--yes"],
        ["import", "P", "--items", "F", "--problems", "F", "--yes"],
    ],
)
def test_no_output_overwrites_a_project_or_a_file_in_use(
    project: Path, tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    other = make_project(tmp_path / "other.db", [pair(1)])
    source = tmp_path / "items.jsonl"
    source.write_text('{"id": "1", "prompt": "p", "responses": {"a": "x", "b": "y"}}\nbroken\n')
    names = {"P": str(project), "OTHER": str(other), "F": str(source)}
    before = source.read_bytes()
    with pytest.raises(SystemExit) as stop:
        main([names.get(argument, argument) for argument in arguments])
    assert stop.value.code == 2
    assert "choose another file" in capsys.readouterr().err
    assert source.read_bytes() == before
    assert calibrate("status", project).exit_code == 0
    assert calibrate("status", other).exit_code == 0


def test_an_output_that_cannot_be_written_is_one_sentence(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for target in (tmp_path / "no" / "such.md", tmp_path):
        with pytest.raises(SystemExit):
            main(["report", str(project), "--output", str(target)])
        assert capsys.readouterr().err.startswith(f"Error: Cannot write {target}")


def test_a_project_cannot_be_made_where_nothing_can_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["new", "/proc/p.db"])
    assert stop.value.code == 2
    assert "cannot be opened" in capsys.readouterr().err


def test_a_blank_question_is_the_usual_question(tmp_path: Path) -> None:
    calibrate("new", tmp_path / "p.db", "--question", "  ")
    with LabelStore.open(tmp_path / "p.db") as store:
        assert store.criteria()[0].question == "Which response is better?"


def test_the_help_of_export_says_what_is_not_written() -> None:
    assert "hidden repeats" in " ".join(calibrate("export", "--help").output.split())


def test_one_of_something_is_not_called_several(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(1)], [label(pair(1), "Ada", "A")])
    said = calibrate("status", project).output + calibrate("export", project, tmp_path / "out").output
    assert "1 item\n" in said
    assert "1 label," in said
    assert "labels.jsonl: 1 row\n" in said
