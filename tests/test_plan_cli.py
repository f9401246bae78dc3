"""`calibrate plan`: the sentences in the terminal, the numbers as JSON, and mistakes in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import SINGLES, label, make_project, pair, single, verdict
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.cli import cli
from calibration.outlook import outlook_of
from calibration.plan_words import plan_as_json, sentences_of
from calibration.planning import MOST_LABELS, Wish, plan_of
from labels.errors import UserError
from labels.types import Value


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["plan", *arguments])
    assert result.exception is None, result.exception
    return " ".join(result.output.split())


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["plan", *arguments])
    assert isinstance(result.exception, UserError)
    return str(result.exception)


def project_of(path: Path, *, items: int, wrong: int, judge: str = "judge") -> Path:
    """Single responses, half of them passes; the judge is wrong on the first `wrong`."""
    singles = [single(n) for n in range(items)]
    says = ["pass" if n % 2 else "fail" for n in range(items)]
    turned = {"pass": "fail", "fail": "pass"}
    return make_project(
        path,
        singles,
        [label(item, "Ben", value) for item, value in zip(singles, says, strict=True)],
        verdicts=[
            verdict(item, turned[value] if n < wrong else value, first=None, judge=judge)
            for n, (item, value) in enumerate(zip(singles, says, strict=True))
        ],
        criteria=[SINGLES],
    )


def test_the_terminal_says_what_labels_can_show() -> None:
    text = run("--labels", "50", "--agreement", ".9", "--prevalence", ".5", "--floor", ".6")
    # Wilson 1927 at 45 of 50: .786 to .957 (R prop.test without correction)
    assert "raw agreement to about ± 9 points: 90 % would be shown as 79 % to 96 %" in text
    assert "a true kappa of 0.80" in text
    assert "after 25 and after 50 labels" in text


@pytest.mark.parametrize(
    ("agreement", "share", "labels", "chance", "half"),
    [
        # METHODS.md section 9: P(pass .6) at n = 50 for true kappa .7, .8, .9; 14: width / 2 at 50/50
        (0.85, 0.5, 50, 0.10, None),
        (0.90, 0.5, 50, 0.40, 0.17),
        (0.95, 0.5, 50, 0.88, None),
        (0.964, 0.9, 50, 0.12, 0.28),
    ],
)
def test_the_plan_follows_the_tables_of_the_simulations(
    agreement: float, share: float, labels: int, chance: float, half: float | None
) -> None:
    plan = plan_of(Wish(labels=labels, agreement=agreement, share=share, floor=0.6))
    assert plan.decided == pytest.approx(chance, abs=0.03)
    if half is not None:
        assert (plan.shown.high - plan.shown.low) / 2 == pytest.approx(half, abs=0.025)


@pytest.mark.parametrize(
    ("agreement", "share", "floor", "needed"),
    [
        # METHODS.md section 9, items for 80 % power: rows 50/50, 70/30 and 90/10
        (0.90, 0.5, 0.6, 110),
        (0.925, 0.5, 0.6, 70),
        (0.85, 0.5, 0.4, 70),
        (0.916, 0.7, 0.6, 140),
        (0.964, 0.9, 0.4, 100),
    ],
)
def test_the_labels_that_a_gate_needs_are_those_of_the_table(
    agreement: float, share: float, floor: float, needed: int
) -> None:
    found = plan_of(Wish(agreement=agreement, share=share, floor=floor)).needed
    assert found == pytest.approx(needed, abs=10)


def test_a_kappa_near_the_floor_needs_more_labels_than_anybody_gives() -> None:
    # METHODS.md section 9: a true .70 needs more than 300 for a floor of .6; at the floor none suffice
    assert plan_of(Wish(agreement=0.85, share=0.5, floor=0.6)).needed > 300
    at_floor = plan_of(Wish(agreement=0.80, share=0.5, floor=0.6))
    assert at_floor.needed is None
    assert "more than 1,000 labels" in " ".join(sentences_of(at_floor))


def test_two_planned_looks_cost_what_o_brien_and_fleming_say() -> None:
    # Jennison and Turnbull 2000, table 2.3: C = 1.977 for 2 looks, so (1.977 / 1.960)^2 = 1.018
    text = run("--labels", "80")
    assert "after 40 and after 80 labels, costs about 2 % more labels" in text
    assert "99.5 %" in text


def test_either_share_of_two_answers_says_the_same() -> None:
    assert run("--prevalence", ".3") == run("--prevalence", ".7")


def test_a_project_gives_the_start_and_hears_how_many_labels_are_missing(tmp_path: Path) -> None:
    project = project_of(tmp_path / "p.db", items=40, wrong=4)
    text = run(str(project), "--floor", ".6")
    assert "judge on “Is this response good enough?”: kappa 0.80" in text
    assert "With 40 labels" in text
    data = json.loads(run(str(project), "--floor", ".6", "--format", "json"))
    # METHODS.md section 9: 110 items in all at kappa .80 against .6
    assert data["judges"][0]["more"] == pytest.approx(70, abs=10)
    assert data["wish"]["agreement"] == pytest.approx(0.9)


def test_an_open_gate_says_how_likely_the_floor_is_cleared(tmp_path: Path) -> None:
    found = outlook(project_of(tmp_path / "p.db", items=40, wrong=8), "--floor", "0.6")
    assert found["verdict"] is None
    assert 0.3 < found["chance_above_floor"] < 0.7
    assert "the chance that it lies above the floor is " in found["sentence"]


def test_a_judge_that_is_decided_needs_no_more_labels(tmp_path: Path) -> None:
    good = run(str(project_of(tmp_path / "good.db", items=60, wrong=1)))
    assert "no more labels are needed" in good
    bad = run(str(project_of(tmp_path / "bad.db", items=60, wrong=30)))
    assert "more labels would not help" in bad


def outlook(project: Path, *options: str) -> dict:
    return json.loads(run(str(project), *options, "--format", "json"))["judges"][0]


def test_below_ten_items_there_is_no_verdict_and_no_number(tmp_path: Path) -> None:
    """Eight items without a mistake: the lower limit clears .30, which is no reason to pass a judge."""
    project = project_of(tmp_path / "p.db", items=8, wrong=0)
    said = outlook(project, "--floor", ".3")
    assert said["kappa"]["low"] > 0.3
    assert (said["verdict"], said["why_no_verdict"]) == (None, "few_items")
    assert (said["more"], said["why_no_number"]) == (None, "no_verdict")
    assert "2 more labels first" in said["sentence"]
    assert "no more labels are needed" not in said["sentence"]


@pytest.mark.parametrize(("items", "need"), [(12, 18), (29, 1)])
def test_below_thirty_items_a_gate_is_never_decided(tmp_path: Path, items: int, need: int) -> None:
    """METHODS 12: 30 items, and 10 of each class."""
    said = outlook(project_of(tmp_path / "p.db", items=items, wrong=0), "--floor", ".3")
    assert said["kappa"]["low"] > 0.3
    assert (said["verdict"], said["why_no_verdict"]) == (None, "below_minimum")
    assert f"{need} more label" in said["sentence"]
    assert "no more labels are needed" not in said["sentence"]


def test_from_thirty_items_on_a_gate_may_be_decided(tmp_path: Path) -> None:
    said = outlook(project_of(tmp_path / "p.db", items=30, wrong=0), "--floor", ".3")
    assert said["verdict"] == "PASS"


def test_a_rare_class_leaves_a_gate_open(tmp_path: Path) -> None:
    items = [single(n) for n in range(40)]
    values: list[Value] = ["pass" if n < 36 else "fail" for n in range(40)]
    labels = [label(item, "Ada", value) for item, value in zip(items, values, strict=True)]
    verdicts = [
        verdict(item, "pass" if value == "pass" else "fail", first=None)
        for item, value in zip(items, values, strict=True)
    ]
    project = make_project(tmp_path / "p.db", items, labels, verdicts=verdicts, criteria=[SINGLES])
    said = outlook(project, "--floor", ".3")
    assert (said["verdict"], said["why_no_verdict"]) == (None, "below_minimum")
    assert "6 more labels first, at least" in said["sentence"]


@pytest.mark.parametrize(("unanswered", "verdict_given"), [(3, "PASS"), (4, None)])
def test_above_five_per_cent_unanswered_there_is_no_verdict(
    tmp_path: Path, unanswered: int, verdict_given: str | None
) -> None:
    """3 of 63 is 4.8 %, 4 of 64 is 6.3 %."""
    items = [single(n) for n in range(60 + unanswered)]
    says = ["pass" if n % 2 else "fail" for n in range(len(items))]
    project = make_project(
        tmp_path / "p.db",
        items,
        [label(item, "Ben", value) for item, value in zip(items, says, strict=True)],
        verdicts=[
            verdict(item, value if n < 60 else None, first=None)
            for n, (item, value) in enumerate(zip(items, says, strict=True))
        ],
        criteria=[SINGLES],
    )
    said = outlook(project)
    assert said["verdict"] == verdict_given
    assert ("no usable verdict, more than 5 %" in said["sentence"]) == (verdict_given is None)


def test_where_only_one_of_the_two_intervals_clears_the_floor_the_sentence_says_so(tmp_path: Path) -> None:
    """Kappa .80 of 40 even items: Wilson of 36/40 is .769 to .960 (R), so (.769 - .5) / .5 = .539."""
    project = project_of(tmp_path / "p.db", items=40, wrong=4)
    low = outlook(project)["kappa"]["low"]
    assert outlook(project)["cross_check"]["low"] == pytest.approx(0.539, abs=0.002)
    between = f"{(low + 0.539) / 2:.4f}"
    assert outlook(project, "--floor", between)["intervals_disagree"]
    assert "the two ways of computing disagree" in outlook(project, "--floor", between)["sentence"]
    assert not outlook(project, "--floor", ".3")["intervals_disagree"]
    assert "disagree" not in outlook(project, "--floor", ".3")["sentence"]


def test_with_more_than_two_systems_the_headline_kappa_is_shown_and_no_number_of_another_table(
    tmp_path: Path,
) -> None:
    from calibration.load import load_report

    meetings = [("one", "two"), ("one", "three"), ("two", "three")]
    items = [pair(n, meetings[n % 3]) for n in range(60)]
    choices = ["first" if n % 5 else "second" for n in range(60)]
    project = make_project(
        tmp_path / "p.db",
        items,
        [label(item, "Ben", "A" if n % 4 else "B") for n, item in enumerate(items)],
        verdicts=[verdict(item, choice) for item, choice in zip(items, choices, strict=True)],
    )
    judge = load_report(project).judges[0]
    said = outlook(project)
    assert said["kappa"]["value"] == judge.estimates["kappa_systems"].value
    assert said["kappa"]["value"] != judge.estimates["kappa"].value
    assert (said["verdict"], said["why_no_verdict"]) == (None, "many_systems")
    assert (said["more"], said["why_no_number"]) == (None, "no_verdict")
    assert not said["intervals_disagree"]
    assert "kappa over winning systems" in said["sentence"]
    wish = json.loads(run(str(project), "--format", "json"))["wish"]
    assert (wish["agreement"], wish["share"]) == (0.65, 0.6)  # 39 of 60; the usual share, none of sides


@pytest.mark.parametrize("floor", ["0", "0.01"])
def test_a_kappa_below_a_floor_of_chance_gets_a_reason_and_not_a_number(tmp_path: Path, floor: str) -> None:
    """Right on 8 of 20 even items: kappa (.4 - .5) / .5 = -.2, with limits on both sides of 0."""
    said = outlook(project_of(tmp_path / "p.db", items=20, wrong=12), "--floor", floor)
    assert said["kappa"]["value"] == pytest.approx(-0.2)
    assert (said["verdict"], said["more"], said["why_no_number"]) == (None, None, "below_chance")
    assert "No number of labels can be given" in said["sentence"]
    assert "1,000" not in said["sentence"]


def test_a_kappa_below_chance_is_not_said_to_be_the_kappa_that_the_number_is_for(tmp_path: Path) -> None:
    said = outlook(project_of(tmp_path / "p.db", items=10, wrong=6), "--floor", ".3")
    assert said["kappa"]["value"] == pytest.approx(-0.2)
    assert said["more"] > 0
    assert "If kappa truly is 0.00" in said["sentence"]


def test_a_project_without_a_comparison_plans_from_usual_values(tmp_path: Path) -> None:
    assert "With 50 labels" in run(str(make_project(tmp_path / "p.db", [pair(1)])))


def test_a_judge_of_one_answer_on_one_kind_of_item_gives_a_reason(tmp_path: Path) -> None:
    items = [single(n) for n in range(12)]
    project = make_project(
        tmp_path / "p.db",
        items,
        [label(item, "Ben", "pass") for item in items],
        verdicts=[verdict(item, "pass", first=None) for item in items],
        criteria=[SINGLES],
    )
    assert "kappa is undefined (both used one and the same category throughout)" in run(str(project))


def test_mistakes_name_the_number_and_what_to_give(tmp_path: Path) -> None:
    assert "from 10 to 1000" in refused("--labels", "5")
    assert "from 0.00 to 1.00" in refused("--agreement", "nan")
    assert "from 0.50 to 0.99" in refused("--prevalence", "1")
    assert "from 0.33 to 0.99" in refused("--answers", "3", "--prevalence", ".2")
    assert "from 0.00 to 0.95" in refused("--floor", "1")
    assert "needs a project" in refused("--judge", "x")
    project = project_of(tmp_path / "p.db", items=12, wrong=1)
    assert "Judges: judge." in refused(str(project), "--judge", "x")


def test_another_judge_can_be_the_start(tmp_path: Path) -> None:
    from calibration.store import RunStore

    project = project_of(tmp_path / "p.db", items=20, wrong=2)
    with RunStore.open(project) as runs:
        runs.add_verdicts([verdict(single(n), "pass", first=None, judge="other") for n in range(12)], "test")
    assert "With 20 labels" in run(str(project))
    assert "With 12 labels" in run(str(project), "--judge", "other")


@settings(max_examples=20, deadline=None)
@given(
    st.integers(10, MOST_LABELS),
    st.floats(0, 1),
    st.floats(0.5, 0.99),
    st.floats(0, 0.95),
    st.integers(2, 3),
)
def test_every_wish_has_sentences_and_json_without_nan(
    labels: int, agreement: float, share: float, floor: float, answers: int
) -> None:
    plan = plan_of(Wish(labels, agreement, share, floor, answers))
    text = " ".join(sentences_of(plan))
    assert "nan" not in text.lower()
    assert "None" not in text
    assert json.loads(plan_as_json(plan, []))["wish"]["labels"] == labels


def test_a_limit_near_the_floor_is_decided_with_ten_times_the_draws(tmp_path: Path) -> None:
    """The table ((16, 5), (2, 20)): 20,000 draws put the limit at .4002, two million at .3976."""
    items = [single(n) for n in range(43)]
    both = [("pass", "pass")] * 16 + [("pass", "fail")] * 5 + [("fail", "pass")] * 2 + [("fail", "fail")] * 20
    project = make_project(
        tmp_path / "p.db",
        items,
        [label(item, "Ben", said) for item, (said, _) in zip(items, both, strict=True)],
        verdicts=[verdict(item, said, first=None) for item, (_, said) in zip(items, both, strict=True)],
        criteria=[SINGLES],
    )
    data = json.loads(run(str(project), "--floor", ".4", "--format", "json"))["judges"][0]
    assert data["verdict"] is None
    assert data["kappa"]["method"] == "balanced Dirichlet, 200,000 draws"
    assert data["kappa"]["low"] == pytest.approx(0.3976, abs=0.0015)


def test_an_outlook_far_from_the_floor_uses_the_usual_draws(tmp_path: Path) -> None:
    from calibration.load import load_report
    from calibration.outlook import starts_of

    start = starts_of(load_report(project_of(tmp_path / "p.db", items=40, wrong=4)))[0]
    assert outlook_of(start, 0.4).kappa.method == "balanced Dirichlet"
