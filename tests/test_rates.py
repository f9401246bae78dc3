"""The judge as a classifier, and the pass rate behind many verdicts, by hand through real projects."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from builders import SINGLES, label, make_project, single, verdict

import calibration.pages
from calibration.load import load_material, load_report
from calibration.rates import how_drawn
from calibration.render import RENDERERS, render
from calibration.render.tables import judge_tables
from calibration.report import criterion_report
from calibration.types import JudgeReport
from labels.types import Value

LABELLED = [("pass", "pass")] * 6 + [("fail", "pass")] * 2 + [("pass", "fail")] + [("fail", "fail")] * 3


def report_of(path: Path, sampling: str = "", *, unlabelled: int = 8) -> JudgeReport:
    """tp 6, fp 2, fn 1, tn 3; of 8 items without a label the judge passes 6."""
    items = [single(n) for n in range(12 + unlabelled)]
    people: list[Value] = ["pass" if said == "pass" else "fail" for said, _ in LABELLED]
    labels = [label(item, "Ada", value) for item, value in zip(items, people, strict=False)]
    judged = [judge for _, judge in LABELLED] + ["pass"] * 6 + ["fail"] * 2
    verdicts = [
        verdict(item, "pass" if value == "pass" else "fail", first=None)
        for item, value in zip(items, judged, strict=False)
    ]
    settings = {"calibration_sampling": sampling} if sampling else {}
    project = make_project(path, items, labels, verdicts=verdicts, criteria=[SINGLES], settings=settings)
    return load_report(project).judges[0]


def test_the_classifier_by_hand(tmp_path: Path) -> None:
    estimates = report_of(tmp_path / "p.db").estimates
    expected = {
        "tpr": 6 / 7,
        "tnr": 3 / 5,
        "ppv": 6 / 8,
        "npv": 3 / 4,
        "f1": 12 / 15,
        "f1_fail": 6 / 9,
        "balanced_accuracy": (6 / 7 + 3 / 5) / 2,
        "mcc": (6 * 3 - 2 * 1) / (8 * 7 * 5 * 4) ** 0.5,
        "pass_rate": 14 / 20,
        "human_only": 7 / 12,
    }
    assert {name: estimates[name].value for name in expected} == pytest.approx(expected)
    assert all(estimates[name].low is not None for name in expected)


@pytest.mark.parametrize("sampling", ["random", "by_judge_verdict"])
def test_items_drawn_at_random_or_by_verdict_are_weighted_by_all_verdicts(
    tmp_path: Path, sampling: str
) -> None:
    """q = 14/20, PPV = 3/4, 1 - NPV = 1/4: .7 x .75 + .3 x .25 = .6."""
    judge = report_of(tmp_path / "p.db", sampling)
    assert judge.estimates["corrected_pass_rate"].value == pytest.approx(0.6)
    assert judge.pass_rate is not None
    assert (judge.pass_rate.sampling, judge.pass_rate.stated) == (sampling, True)
    assert "people would pass 60 %" in judge.pass_rate.sentence
    assert "the 12 labelled items alone give 58 %" in judge.pass_rate.sentence


def test_items_chosen_by_their_label_are_corrected_by_the_error_rates(tmp_path: Path) -> None:
    """q = 6/8 on the rest, TPR 6/7, TNR 3/5: (.75 + .6 - 1) / (6/7 + .6 - 1) = .765625."""
    judge = report_of(tmp_path / "p.db", "by_human_label")
    assert judge.estimates["corrected_pass_rate"].value == pytest.approx(0.765625)
    assert judge.pass_rate is not None
    assert "people would pass 77 %" in judge.pass_rate.sentence
    assert "of the judged items without a label" in judge.pass_rate.sentence
    assert "all judged items" not in judge.pass_rate.sentence
    text = render(load_report(tmp_path / "p.db"), "markdown")
    assert "judge and labels together, of items without a label" in text
    data = json.loads(render(load_report(tmp_path / "p.db"), "json"))
    assert data["judges"][0]["pass_rate"]["corrected_is_of"] == "the judged items without a label"


@pytest.mark.parametrize("sampling", ["by_judge_verdict", "by_human_label", "other"])
def test_labels_that_were_not_drawn_at_random_are_not_set_beside_the_corrected_rate(
    tmp_path: Path, sampling: str
) -> None:
    rate = report_of(tmp_path / "p.db", sampling).pass_rate
    assert rate is not None
    assert rate.worth is None
    assert "would hold for other items only if these had been drawn at random" in rate.sentence
    assert "worth" not in rate.sentence


def test_items_drawn_at_random_need_no_such_warning(tmp_path: Path) -> None:
    rate = report_of(tmp_path / "p.db", "random").pass_rate
    assert rate is not None
    assert rate.worth is not None
    assert "would hold for other items only" not in rate.sentence


def test_a_choice_by_label_is_said_where_all_judged_items_have_labels(tmp_path: Path) -> None:
    rate = report_of(tmp_path / "p.db", "by_human_label", unlabelled=0).pass_rate
    assert rate is not None
    assert "says nothing of other items" in rate.sentence


def test_what_is_only_taken_to_be_random_is_said_to_be_taken_so_and_where_to_say_otherwise(
    tmp_path: Path,
) -> None:
    report_of(tmp_path / "p.db")
    material = load_material(tmp_path / "p.db", SINGLES)
    in_app = replace(material, labels=[replace(one, source="app") for one in material.labels])
    rate = criterion_report(in_app).judges[0].pass_rate
    assert rate is not None
    assert "It is taken that the labelled items were drawn at random" in rate.sentence
    assert "all labels were given in the app" in rate.sentence
    assert "Agreement page" in rate.sentence
    assert rate.worth is not None


def test_tables_that_a_page_treats_apart_are_known_by_name_whatever_their_titles(tmp_path: Path) -> None:
    judge = report_of(tmp_path / "p.db")
    tables = {table.name: table for table in judge_tables(judge) if table.name}
    assert set(tables) == {"people", "pass rate", "confusion"}
    assert "cannot be corrected" in tables["pass rate"].note
    assert ".title ==" not in (Path(calibration.pages.__file__).parent / "agreement.py").read_text()


def test_where_nobody_says_how_items_were_chosen_nothing_is_corrected(tmp_path: Path) -> None:
    judge = report_of(tmp_path / "p.db")
    corrected = judge.estimates["corrected_pass_rate"]
    assert (corrected.value, corrected.why_undefined) == (None, "not_applicable")
    assert judge.pass_rate is not None
    assert judge.pass_rate.worth is None
    assert "State it on the Agreement page" in judge.pass_rate.sentence


def test_where_all_judged_items_have_labels_there_is_nothing_to_state(tmp_path: Path) -> None:
    judge = report_of(tmp_path / "p.db", unlabelled=0)
    assert judge.pass_rate is not None
    assert "Every judged item has a label" in judge.pass_rate.sentence
    assert judge.estimates["corrected_pass_rate"].value == pytest.approx(7 / 12)


def test_labels_given_in_the_app_count_as_drawn_at_random_unless_the_project_says_otherwise(
    tmp_path: Path,
) -> None:
    report_of(tmp_path / "p.db")
    labels = load_material(tmp_path / "p.db", SINGLES).labels
    in_app = [replace(one, source="app") for one in labels]
    assert (how_drawn("", in_app).sampling, how_drawn("", in_app).stated) == ("random", False)
    assert how_drawn("", [*in_app, labels[0]]).sampling == "other"
    assert how_drawn("by_human_label", in_app).sampling == "by_human_label"


def test_the_report_prints_the_labels_alone_and_the_worth_beside_the_corrected_rate(tmp_path: Path) -> None:
    judge = report_of(tmp_path / "p.db", "random")
    assert judge.pass_rate is not None
    text = render(load_report(tmp_path / "p.db"), "terminal")
    assert "Pass rate by the labels alone" in text
    # Wilson of 7/12 is .320 to .807 and the draws give .342 to .816: 12 x ((.487 / .474)^2 - 1) = .67
    assert judge.pass_rate.worth == pytest.approx(0.67, abs=0.1)
    assert "The judge adds nothing to the labels here." in text


def test_a_rate_without_any_item_to_divide_by_has_its_reason(tmp_path: Path) -> None:
    items = [single(n) for n in range(4)]
    labels = [label(item, "Ada", "pass") for item in items]
    verdicts = [verdict(item, "pass", first=None) for item in items]
    project = make_project(tmp_path / "p.db", items, labels, verdicts=verdicts, criteria=[SINGLES])
    estimates = load_report(project).judges[0].estimates
    for name in ("tnr", "npv", "f1_fail", "balanced_accuracy", "mcc"):
        assert (estimates[name].value, estimates[name].why_undefined) == (None, "zero_denominator"), name


def test_errors_that_cannot_explain_the_pass_rate_are_said_in_every_form(tmp_path: Path) -> None:
    """By hand: (.95 + .9 - 1) / (.8 + .9 - 1) = 1.21, which no pass rate is (METHODS 2.1)."""
    items = [single(n) for n in range(140)]
    people: list[Value] = ["pass"] * 20 + ["fail"] * 20
    labels = [label(item, "Ada", value) for item, value in zip(items, people, strict=False)]
    judged = ["pass"] * 16 + ["fail"] * 4 + ["fail"] * 18 + ["pass"] * 2 + ["pass"] * 95 + ["fail"] * 5
    verdicts = [
        verdict(item, "pass" if value == "pass" else "fail", first=None)
        for item, value in zip(items, judged, strict=True)
    ]
    settings = {"calibration_sampling": "by_human_label"}
    path = tmp_path / "p.db"
    make_project(path, items, labels, verdicts=verdicts, criteria=[SINGLES], settings=settings)
    judge = json.loads(render(load_report(path), "json"))["judges"][0]
    assert judge["estimates"]["corrected_pass_rate"]["warnings"] == ["out_of_range"]
    assert any(said.startswith("out_of_range: ") for said in judge["warnings"])
    for form in RENDERERS:
        text = " ".join(render(load_report(path), form).split())
        assert "do not rely on the corrected pass rate" in text
        assert "people would pass" not in text
