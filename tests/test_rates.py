"""The judge as a classifier, and the pass rate behind many verdicts, by hand through real projects."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builders import SINGLES, label, make_project, single, verdict

from calibration.load import load_material, load_report
from calibration.rates import how_drawn
from calibration.render import render
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
    worth = judge.pass_rate.worth
    assert worth is not None
    assert ("worth about" in text) == (worth >= 1)


def test_a_rate_without_any_item_to_divide_by_has_its_reason(tmp_path: Path) -> None:
    items = [single(n) for n in range(4)]
    labels = [label(item, "Ada", "pass") for item in items]
    verdicts = [verdict(item, "pass", first=None) for item in items]
    project = make_project(tmp_path / "p.db", items, labels, verdicts=verdicts, criteria=[SINGLES])
    estimates = load_report(project).judges[0].estimates
    for name in ("tnr", "npv", "f1_fail", "balanced_accuracy", "mcc"):
        assert (estimates[name].value, estimates[name].why_undefined) == (None, "zero_denominator"), name
