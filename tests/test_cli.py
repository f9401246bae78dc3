from __future__ import annotations

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
