"""People as the yardstick, through real projects: their own agreement, and a judge held to it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, label, make_project, pair, single, verdict
from click.testing import CliRunner

from calibration.cli import cli
from calibration.load import load_material, load_report
from calibration.render import RENDERERS, render
from calibration.report import criterion_report
from calibration.types import CriterionReport
from labels.types import Choice, Value

DATA = Path(os.environ.get("CALIBRATION_DATA", Path(__file__).parents[2] / "shared" / "data"))
TO_THE_DIGIT = 0.5e-4  # the expected figures are rounded to four digits
CHOICES: dict[Value, Choice] = {"A": "first", "B": "second", "tie": "tie"}


def pairs_report(path: Path, said: list[str], judge: str = "") -> CriterionReport:
    """`said` holds one word for each annotator with a letter for each item, "." where missing."""
    items = [pair(n) for n in range(len(said[0]))]
    values: dict[str, Value] = {"A": "A", "B": "B", "t": "tie"}
    labels = [
        label(item, name, values[letter])
        for name, word in zip(("Ada", "Ben", "Chi"), said, strict=False)
        for item, letter in zip(items, word, strict=True)
        if letter != "."
    ]
    verdicts = [verdict(item, CHOICES[values[letter]]) for item, letter in zip(items, judge, strict=False)]
    return load_report(make_project(path, items, labels, verdicts=verdicts)).criteria[0]


def test_two_people_by_hand(tmp_path: Path) -> None:
    """AA, AB, BB, AA: agree 3/4; chance 3/4 x 2/4 + 1/4 x 2/4 = 1/2; kappa (3/4 - 1/2) / (1/2) = 1/2."""
    humans = pairs_report(tmp_path / "p.db", ["AABA", "ABBA"]).humans
    assert humans.names == ("Ada", "Ben")
    assert humans.agreement.value == 0.75
    assert (humans.ceiling.value, humans.ceiling_by) == (0.5, "kappa")
    (only,) = humans.pairs
    assert (only.first, only.second, only.kappa.n) == ("Ada", "Ben", 4)
    assert humans.no_consensus == 1


def test_a_missing_label_makes_alpha_the_ceiling(tmp_path: Path) -> None:
    humans = pairs_report(tmp_path / "p.db", ["AABAB", "ABBA."]).humans
    assert (humans.ceiling_by, humans.ceiling) == ("krippendorff_alpha", humans.alpha)
    assert humans.items == 4


def test_with_one_person_no_ceiling_is_assumed_and_the_reason_is_said(tmp_path: Path) -> None:
    report = pairs_report(tmp_path / "p.db", ["AABA"], judge="AABA")
    assert (report.humans.ceiling.value, report.humans.ceiling.why_undefined) == (None, "not_applicable")
    assert "Only Ada has labelled blind" in report.humans.sentence
    people = report.judges[0].people
    assert (people.delta.value, people.standing) == (None, "unknown")
    assert "only one person has labelled blind" in people.sentence


def test_labels_after_a_reveal_are_no_human_ceiling(tmp_path: Path) -> None:
    items = [pair(n) for n in range(12)]
    blind = [label(item, "Ada", "A") for item in items]
    seen = [replace(label(item, "Ben", "A"), saw="verdict") for item in items]
    project = make_project(tmp_path / "p.db", items, blind + seen)
    assert load_report(project).criteria[0].humans.names == ("Ada",)


def test_the_difference_to_people_by_hand(tmp_path: Path) -> None:
    """A A B with judge A: 2/3 less 2/6 is 1/3; A A A with judge B: 0 less 1 is -1; six of each: -1/3."""
    said = ["A" * 12, "A" * 12, "B" * 6 + "A" * 6]
    people = pairs_report(tmp_path / "p.db", said, judge="A" * 6 + "B" * 6).judges[0].people
    assert people.delta.value == pytest.approx(-1 / 3)
    assert people.delta.n == 12
    assert people.expected.value == pytest.approx((2 / 3 * 6 + 0) / 12)


@pytest.mark.parametrize(
    ("n", "judge", "standing", "words"),
    [
        (200, "A", "within", "as well as they agree with each other"),
        (40, "B", "below", "less than they agree with each other"),
        (12, "A", "open", "It is not shown that judge agrees"),
        (5, "A", "unknown", "5 more are needed"),
    ],
)
def test_what_can_be_said_of_a_judge_follows_the_interval(
    tmp_path: Path, n: int, judge: str, standing: str, words: str
) -> None:
    people = pairs_report(tmp_path / "p.db", ["A" * n, "A" * n, "A" * n], judge=judge * n).judges[0].people
    assert people.standing == standing
    assert words in people.sentence


def test_a_judge_that_people_disagree_about_less_than_each_other_is_better(tmp_path: Path) -> None:
    said = ["AAB" * 30, "ABA" * 30, "BAA" * 30]
    people = pairs_report(tmp_path / "p.db", said, judge="A" * 90).judges[0].people
    assert people.delta.value == pytest.approx(1 / 3)  # each item is A A B with judge A
    assert people.standing == "better"
    assert "better than they match each other" in people.sentence


def test_the_alt_test_needs_thirty_items_and_says_so(tmp_path: Path) -> None:
    people = pairs_report(tmp_path / "p.db", ["A" * 29] * 3, judge="A" * 29).judges[0].people
    assert (people.alt_test.omega, people.alt_test.why_undefined) == (None, "too_few_items")
    assert "nobody has as many" in people.alt_sentence


def test_the_alt_test_speaks_of_replacing_and_not_of_being_as_good(tmp_path: Path) -> None:
    people = pairs_report(tmp_path / "p.db", ["A" * 30] * 3, judge="A" * 30).judges[0].people
    assert (people.alt_test.omega, people.alt_test.replaceable) == (1, True)
    assert "less than being as good" in people.alt_sentence
    two = pairs_report(tmp_path / "q.db", ["A" * 30] * 2, judge="A" * 30).judges[0].people
    assert "With two annotators only" in two.alt_sentence


@pytest.mark.parametrize(("people", "n", "asked"), [(3, 99, False), (2, 120, False), (3, 100, True)])
def test_the_model_of_the_annotators_is_asked_only_under_its_conditions(
    tmp_path: Path, people: int, n: int, asked: bool
) -> None:
    word = ("AB" * n)[:n]
    diagnosis = pairs_report(tmp_path / "p.db", [word] * people).humans.diagnosis
    assert (diagnosis.why_undefined is None) == asked
    assert (diagnosis.items, diagnosis.differs) == ((n, ()) if asked else (0, ()))


def test_more_people_than_a_table_holds_are_counted(tmp_path: Path) -> None:
    items = [single(n) for n in range(3)]
    labels = [label(item, f"person {k:02}", "pass") for k in range(12) for item in items]
    project = make_project(tmp_path / "p.db", items, labels, criteria=[SINGLES])
    humans = load_report(project).criteria[0].humans
    assert (len(humans.pairs), humans.pairs_left_out) == (45, 66 - 45)
    assert "21 pairs of people" in render(load_report(project), "markdown")


@pytest.mark.parametrize("form", RENDERERS)
def test_each_form_holds_the_human_side(tmp_path: Path, form: str) -> None:
    said = ["AB" * 20, "AB" * 19 + "BA", "AB" * 20]
    pairs_report(tmp_path / "p.db", said, judge="AB" * 20)
    text = render(load_report(tmp_path / "p.db"), form)
    assert "Ada and Ben" in text if form != "json" else json.loads(text)["criteria"][0]["humans"]["pairs"]
    assert "as well as they agree with each other" in text


@pytest.fixture(scope="module")
def real_reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CriterionReport]:
    """The reports of two real data sets, imported with the command."""
    if not DATA.is_dir():
        pytest.skip(f"the real data are not at {DATA}")
    reports = {}
    for name, kind in (("pandalm", "pairwise"), ("nq301", "binary")):
        project = tmp_path_factory.mktemp(name) / "p.db"
        files = [str(DATA / name / f"{part}.jsonl") for part in ("items", "labels", "verdicts")]
        named = zip(("--items", "--labels", "--verdicts"), files, strict=True)
        options = [text for option in named for text in option]
        for arguments in (
            ["new", str(project), "--kind", kind, "--question", "Q?"],
            ["import", str(project), *options, "--yes"],
        ):
            result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
            assert result.exit_code == 0, result.output
        reports[name] = load_report(project).criteria[0]
    return reports


def close(value: float) -> object:
    return pytest.approx(value, abs=TO_THE_DIGIT * 1.0001)


@pytest.mark.parametrize(("name", "part"), [("pandalm", "human_human_by_identity"), ("nq301", "multi_rater")])
def test_the_people_of_real_data_agree_as_their_source_says(
    real_reports: dict[str, CriterionReport], name: str, part: str
) -> None:
    humans = real_reports[name].humans
    wanted = json.loads((DATA / name / "expected.json").read_text())["computed"][part]
    assert humans.items == wanted["items_with_2plus"]
    assert humans.alpha.value == close(wanted["krippendorff_alpha_nominal"])
    assert humans.agreement.value == close(wanted["pairwise_observed_agreement"])
    assert humans.ceiling_by == "krippendorff_alpha"
    found = {f"{pair.first}|{pair.second}": pair for pair in humans.pairs}
    assert found.keys() == wanted["pairwise_cohen"].keys()
    for key, figure in wanted["pairwise_cohen"].items():
        assert found[key].agreement.n == figure["n"]
        assert found[key].agreement.value == close(figure["agreement"])
        assert found[key].kappa.value == close(figure["kappa"])


def test_the_judges_of_real_data_classify_as_their_source_says(
    real_reports: dict[str, CriterionReport],
) -> None:
    judges = {judge.judge: judge for judge in real_reports["nq301"].judges}
    wanted = json.loads((DATA / "nq301" / "expected.json").read_text())["computed"]
    names = {"tpr": "tpr", "tnr": "tnr", "ppv": "precision", "f1": "f1"}
    names |= {"balanced_accuracy": "balanced_accuracy", "pass_rate": "judge_pass_rate"}
    names |= {"human_only": "human_pass_rate", "corrected_pass_rate": "rogan_gladen_corrected_pass_rate"}
    for judge in ("gpt-4", "text-davinci-003"):
        for ours, theirs in names.items():
            assert judges[judge].estimates[ours].value == close(wanted[judge][theirs]), (judge, ours)


def test_hidden_repeats_show_how_far_a_person_agrees_with_themselves(tmp_path: Path) -> None:
    pairs_report(tmp_path / "p.db", ["AAAAAAAAAAAA"])
    material = load_material(tmp_path / "p.db", PAIRS)
    again = [replace(one, value="A" if n < 9 else "B") for n, one in enumerate(material.labels)]
    report = criterion_report(replace(material, repeat_labels=again))
    assert report.humans.repeats["Ada"].value == pytest.approx(9 / 12)
    assert report.humans.repeats["Ada"].low is not None
