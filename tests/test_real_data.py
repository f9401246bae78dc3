"""Real labels and verdicts, imported with the command, against the figures in their expected.json."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from calibration.cli import cli

DATA = Path(os.environ.get("CALIBRATION_DATA", Path(__file__).parents[2] / "shared" / "data"))
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the real data are not at {DATA}")
KINDS = {"llmbar": "pairwise", "nq301": "binary", "pandalm": "pairwise"}
TO_THE_DIGIT = 0.5e-4  # the expected figures are rounded to four digits


def calibrate(*arguments: object) -> str:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module", params=sorted(KINDS))
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any, Any]:
    name = request.param
    project = tmp_path_factory.mktemp(name) / "p.db"
    calibrate("new", project, "--kind", KINDS[name], "--question", "Which is better?")
    files = [DATA / name / f"{part}.jsonl" for part in ("items", "labels", "verdicts")]
    options = [
        text for pair in zip(("--items", "--labels", "--verdicts"), files, strict=True) for text in pair
    ]
    calibrate("import", project, *options, "--yes")
    report = json.loads(calibrate("report", project, "--format", "json"))
    expected = json.loads((DATA / name / "expected.json").read_text())
    return name, {judge["judge"]: judge for judge in report["judges"]}, expected


def close(value: float) -> object:
    return pytest.approx(value, abs=TO_THE_DIGIT)


def test_the_report_reproduces_the_figures_of_real_data(case: tuple[str, Any, Any]) -> None:
    name, judges, expected = case
    {"llmbar": check_llmbar, "nq301": check_nq301, "pandalm": check_pandalm}[name](judges, expected)


def check_llmbar(judges: Any, expected: Any) -> None:
    figures = expected["computed"]["ALL_419"]
    assert set(judges) == set(figures)
    assert len(figures) == 7
    for name, figure in figures.items():
        check_llmbar_judge(judges[name], figure)


def check_llmbar_judge(judge: Any, figure: Any) -> None:
    for order in ("forward", "reverse"):
        policy = judge["tie_policies"][f"{order} only"]
        wanted = figure[order]
        assert policy["n"] == wanted["n"]
        assert policy["agreement"] == close(wanted["agreement"])
        assert policy["kappa"] == close(wanted["kappa"])
    audit, position = figure["position_audit"], judge["position"]
    assert position["pairs"] == audit["n_pairs_parsed"]
    assert position["consistent"] == audit["consistent_win"] + audit["consistent_tie"]
    assert position["consistency"] == close(audit["consistency"])
    assert position["hard_flips_first"] == audit["flip_prefers_first"]
    assert position["hard_flips_second"] == audit["flip_prefers_second"]
    assert position["soft_flips_first"] == audit["tie_vs_win_first"]
    assert position["soft_flips_second"] == audit["tie_vs_win_second"]
    assert position["unanswered"] == judge["left_out"].get("unanswered", 0) == audit["unparsed"]
    dropped = judge["tie_policies"]["dropped"]
    assert round(dropped["agreement"] * dropped["n"]) == figure["correct_both_orders"]
    headline = judge["estimates"]["agreement"]
    assert headline["value"] * headline["n"] == pytest.approx(figure["correct_both_orders"])


def check_nq301(judges: Any, expected: Any) -> None:
    for name in ("gpt-4", "text-davinci-003"):
        judge, figure = judges[name], expected["computed"][name]
        assert judge["n"] == figure["n"]
        assert judge["estimates"]["agreement"]["value"] == close(figure["agreement"])
        assert judge["estimates"]["kappa"]["value"] == close(figure["kappa"])
        assert judge["left_out"].get("unanswered", 0) == figure["unparsed"]
        table = [[figure["tp"], figure["fn"]], [figure["fp"], figure["tn"]]]
        assert judge["confusion"]["categories"] == ["pass", "fail"]
        assert judge["confusion"]["counts"] == table


def check_pandalm(judges: Any, expected: Any) -> None:
    figures = expected["computed"]["judge_vs_majority_position"]
    wanted = {
        "gpt-3.5-turbo": (figures["gpt-3.5-turbo (25 unparsed dropped)"], 25),
        "PandaLM-7B": (figures["PandaLM-7B"], 0),
    }
    for name, (figure, unanswered) in wanted.items():
        judge = judges[name]
        assert judge["n"] == figure["n"]
        assert judge["estimates"]["agreement"]["value"] == close(figure["agreement"])
        assert judge["left_out"].get("unanswered", 0) == unanswered
        assert judge["sides"] == "arbitrary"
        assert judge["estimates"]["kappa_systems"]["value"] is not None
        assert judge["estimates"]["kappa"]["value"] != judge["estimates"]["kappa_systems"]["value"]
        assert any(warned.startswith("arbitrary_sides") for warned in judge["warnings"])
        assert len(judge["system_pairs"]) == 10
