from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, label, make_project, pair, single, verdict

from calibration.load import load_report
from calibration.render import RENDERERS, render
from labels.types import Choice, Value


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """12 pairs: the judge agrees on 6, contradicts on 3, flips on 2, and is silent in one order of 1."""
    items = [pair(n) for n in range(12)]
    values: list[Value] = ["A", "B"] * 6
    labels = [label(item, "Ada", value) for item, value in zip(items, values, strict=True)]
    verdicts = []
    for number, (item, value) in enumerate(zip(items, values, strict=True)):
        same: dict[str, Choice] = {"A": "first", "B": "second"}
        forward, reverse = same[value], same["B" if value == "A" else "A"]
        if number in (6, 7, 8):
            forward, reverse = reverse, forward
        if number in (9, 10):
            forward = reverse = "first"
        verdicts.append(verdict(item, forward, first="A"))
        verdicts.append(verdict(item, None if number == 11 else reverse, first="B"))
    return make_project(tmp_path / "p.db", items, labels, verdicts=verdicts)


def test_the_json_report_has_all_that_programs_need(project: Path) -> None:
    judge = json.loads(render(load_report(project), "json"))["judges"][0]
    assert judge["judge"] == "judge"
    assert (judge["n"], judge["left_out"]) == (11, {"unanswered": 1})
    assert judge["estimates"]["agreement"]["value"] == pytest.approx(6 / 11)
    for estimate in judge["estimates"].values():
        assert {"value", "low", "high", "n", "why_undefined"} <= set(estimate)
    assert judge["position"] == judge["position"] | {
        "pairs": 11,
        "consistent": 9,
        "consistency": pytest.approx(9 / 11),
        "hard_flips_first": 2,
        "hard_flips_second": 0,
        "soft_flips_first": 0,
        "soft_flips_second": 0,
        "unanswered": 1,
    }
    assert {name: row["n"] for name, row in judge["tie_policies"].items()} == {
        "inconsistent as tie": 11,
        "dropped": 9,
        "forward only": 12,
        "reverse only": 11,
    }
    assert judge["tie_policies"]["dropped"]["agreement"] == pytest.approx(6 / 9)
    assert sum(map(sum, judge["confusion"]["counts"])) == 11


def test_kappa_by_hand(project: Path) -> None:
    """Experts: 6 A, 5 B. Judge: A 4, B 5, ties 2; agree 6/11; chance (6x4 + 5x5)/121 = 49/121."""
    judge = load_report(project).judges[0]
    counts = dict(zip(judge.confusion.categories, judge.confusion.counts, strict=True))
    assert counts == {"A": (3, 1, 2), "tie": (0, 0, 0), "B": (1, 1, 3)}
    chance = (6 * 4 + 5 * 5) / 121
    assert judge.estimates["kappa"].value == pytest.approx((6 / 11 - chance) / (1 - chance))
    assert judge.estimates["kappa"].low is not None
    assert judge.estimates["kappa_wilson"].value == judge.estimates["kappa"].value


def test_the_items_behind_each_cell_are_those_counted(project: Path) -> None:
    confusion = load_report(project).judges[0].confusion
    for row, counts in zip(confusion.categories, confusion.counts, strict=True):
        assert tuple(len(confusion.items[row, column]) for column in confusion.categories) == counts


def test_items_compared_and_left_out_add_up_to_all_items(project: Path) -> None:
    judge = load_report(project).judges[0]
    assert judge.n + sum(judge.left_out.values()) == judge.items == 12


@pytest.mark.parametrize("form", RENDERERS)
def test_each_form_says_the_same_numbers(project: Path, form: str) -> None:
    text = render(load_report(project), form)
    assert "11" in text
    assert ("0.5454" if form == "json" else "55 %") in text


def test_with_more_than_two_systems_the_report_tells_kappa_over_sides_from_kappa_over_systems(
    tmp_path: Path,
) -> None:
    names = [("a", "b"), ("b", "c"), ("c", "a")] * 8
    items = [pair(n, systems) for n, systems in enumerate(names)]
    labels = [label(item, "Ada", "A" if n % 3 else "B") for n, item in enumerate(items)]
    verdicts = [verdict(item, "first" if n % 4 else "second") for n, item in enumerate(items)]
    judge = load_report(make_project(tmp_path / "p.db", items, labels, verdicts=verdicts)).judges[0]
    assert judge.arbitrary_sides
    assert judge.sides == {}
    assert set(judge.system_pairs) == {"a / b", "a / c", "b / c"}
    assert sum(row.n for row in judge.system_pairs.values()) == judge.n == 24
    assert judge.estimates["kappa_systems"].value != judge.estimates["kappa"].value
    assert "arbitrary_sides" in [warned.code for warned in judge.warnings]


def test_a_system_paired_with_itself_has_a_row_like_any_other(tmp_path: Path) -> None:
    items = [pair(n, systems) for n, systems in enumerate([("a", "a"), ("a", "b"), ("b", "c")] * 4)]
    labels = [label(item, "Ada", "A") for item in items]
    verdicts = [verdict(item, "first" if n % 2 else "tie") for n, item in enumerate(items)]
    judge = load_report(make_project(tmp_path / "p.db", items, labels, verdicts=verdicts)).judges[0]
    assert judge.system_pairs["a / a"].agreement.value == 0.5
    assert sum(row.n for row in judge.system_pairs.values()) == 12


def test_items_chosen_on_purpose_weigh_by_their_chance(tmp_path: Path) -> None:
    """By hand: 4 agreements weigh 10 each, 2 of 4 unsure items agree and weigh 2 each: .91 of the weight."""
    items = [replace(pair(n), meta={"inclusion_probability": "0.1" if n < 4 else "0.5"}) for n in range(8)]
    labels = [label(item, "Ada", "A" if n % 2 else "B") for n, item in enumerate(items)]
    verdicts = [verdict(item, "first" if n % 2 or n in (4, 6) else "second") for n, item in enumerate(items)]
    judge = load_report(make_project(tmp_path / "p.db", items, labels, verdicts=verdicts)).judges[0]
    # p_o = 44 / 48; reference half A; judge A 28 / 48: p_e = 1/2 by the even reference
    assert judge.estimates["kappa_by_inclusion"].value == pytest.approx((44 / 48 - 0.5) / 0.5)
    assert judge.estimates["kappa"].value == pytest.approx((6 / 8 - 0.5) / 0.5)
    assert "inclusion" in [warned.code for warned in judge.warnings]


def test_one_item_without_a_chance_leaves_the_weights_away(tmp_path: Path) -> None:
    items = [replace(pair(n), meta={"inclusion_probability": "0.02"} if n else {}) for n in range(8)]
    labels = [label(item, "Ada", "A") for item in items]
    verdicts = [verdict(item, "first") for item in items]
    judge = load_report(make_project(tmp_path / "p.db", items, labels, verdicts=verdicts)).judges[0]
    assert "kappa_by_inclusion" not in judge.estimates


def test_a_tiny_chance_is_warned_of(tmp_path: Path) -> None:
    items = [replace(pair(n), meta={"inclusion_probability": "0.02"}) for n in range(8)]
    labels = [label(item, "Ada", "A" if n % 2 else "B") for n, item in enumerate(items)]
    verdicts = [verdict(item, "first") for item in items]
    judge = load_report(make_project(tmp_path / "p.db", items, labels, verdicts=verdicts)).judges[0]
    assert "small_inclusion" in [warned.code for warned in judge.warnings]


def test_a_system_called_tie_is_not_taken_for_a_tie(tmp_path: Path) -> None:
    items = [pair(n, systems) for n, systems in enumerate([("tie", "b"), ("b", "c")] * 6)]
    labels = [label(item, "Ada", "A") for item in items]
    verdicts = [verdict(item, "tie") for item in items]
    judge = load_report(make_project(tmp_path / "p.db", items, labels, verdicts=verdicts)).judges[0]
    assert judge.estimates["agreement"].value == 0
    assert judge.estimates["kappa_systems"].value == pytest.approx(0)


def test_turned_round_labels_are_noticed(tmp_path: Path) -> None:
    items = [single(n) for n in range(20)]
    labels = [label(item, "Ada", "pass" if n % 2 else "fail") for n, item in enumerate(items)]
    verdicts = [verdict(item, "fail" if n % 2 else "pass", first=None) for n, item in enumerate(items)]
    project = make_project(tmp_path / "p.db", items, labels, verdicts=verdicts, criteria=[SINGLES])
    judge = load_report(project).judges[0]
    assert judge.estimates["kappa"].value == pytest.approx(-1)
    assert "polarity" in [warned.code for warned in judge.warnings]


def test_one_category_throughout_is_undefined_with_a_reason_everywhere(tmp_path: Path) -> None:
    items = [single(n) for n in range(12)]
    labels = [label(item, "Ada", "pass") for item in items]
    verdicts = [verdict(item, "pass", first=None) for item in items]
    project = make_project(tmp_path / "p.db", items, labels, verdicts=verdicts, criteria=[SINGLES])
    report = load_report(project)
    kappa = report.judges[0].estimates["kappa"]
    assert (kappa.value, kappa.why_undefined) == (None, "expected_agreement_is_1")
    assert report.judges[0].estimates["agreement"].value == 1
    assert "one and the same category" in render(report, "markdown")


@pytest.mark.parametrize("form", RENDERERS)
def test_a_project_without_anything_still_has_a_report(tmp_path: Path, form: str) -> None:
    project = make_project(tmp_path / "p.db", [], criteria=[PAIRS, SINGLES])
    assert PAIRS.question in render(load_report(project), form)


@pytest.mark.parametrize("form", RENDERERS)
def test_a_judge_without_any_label_to_compare_with_has_reasons_not_numbers(tmp_path: Path, form: str) -> None:
    verdicts = [verdict(pair(1), "first"), verdict(pair(2), None)]
    project = make_project(tmp_path / "p.db", [pair(1), pair(2)], verdicts=verdicts)
    judge = load_report(project).judges[0]
    assert judge.estimates["kappa"].why_undefined == "no_items"
    assert judge.left_out == {"unlabelled": 2}
    assert "judge" in render(load_report(project), form)


HOSTILE = "[red]x[/red] | *b* <script>alert(1)</script> $5 `c`"


def test_names_are_shown_to_the_letter_in_every_form(tmp_path: Path) -> None:
    verdicts = [verdict(pair(n), "first", judge=HOSTILE) for n in range(3)]
    project = make_project(tmp_path / "p.db", [pair(n) for n in range(3)], verdicts=verdicts)
    report = load_report(project)
    assert json.loads(render(report, "json"))["judges"][0]["judge"] == HOSTILE
    assert "[red]x[/red] | *b*" in render(report, "terminal")
    assert "<script>" not in render(report, "markdown").replace("\\<script\\>", "")


def test_no_column_of_the_terminal_report_is_lost_for_want_of_room(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = render(load_report(project), "terminal")
    for heading in ("judge", "agreement", "kappa", "95 % interval", "both orders", "left out"):
        assert heading in text


STEERING = "\x1b[2J\x1b]0;t\x07\u202ejudge :fire:"


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_marks_that_steer_a_terminal_or_turn_text_round_are_written_out(tmp_path: Path, form: str) -> None:
    verdicts = [verdict(pair(n), "first", judge=STEERING) for n in range(3)]
    project = make_project(tmp_path / "p.db", [pair(n) for n in range(3)], verdicts=verdicts)
    text = render(load_report(project), form)
    assert not set(text) & {"\x1b", "\x07", "\u202e"}
    assert "⟨U+202E⟩" in text
    assert "fire" in text
    assert "🔥" not in text


def test_system_names_with_commas_are_shown_whole(tmp_path: Path) -> None:
    items = [pair(n, ("gpt, t = 0", "gpt, t = 1")) for n in range(3)]
    verdicts = [verdict(item, "first") for item in items]
    project = make_project(tmp_path / "p.db", items, verdicts=verdicts)
    assert dict(load_report(project).judges[0].sides) == {"A": "gpt, t = 0", "B": "gpt, t = 1"}
    assert "A (gpt, t = 0)" in render(load_report(project), "terminal")


def test_kappa_that_rare_answers_distort_has_its_companions_beside_it(tmp_path: Path) -> None:
    """45 pass and 5 fail, a judge that always says pass: the numbers of oracle constant_judge_trap."""
    items = [single(n) for n in range(50)]
    labels = [label(item, "Ada", "fail" if n < 5 else "pass") for n, item in enumerate(items)]
    verdicts = [verdict(item, "pass", first=None) for item in items]
    project = make_project(tmp_path / "p.db", items, labels, verdicts=verdicts, criteria=[SINGLES])
    judge = load_report(project).judges[0]
    values = {name: judge.estimates[name].value for name in ("kappa", "pabak", "ac1", "tnr", "tpr")}
    expected = {"kappa": 0.0, "pabak": 0.8, "ac1": 0.8895027624, "tnr": 0.0, "tpr": 1.0}
    assert values == pytest.approx(expected)
    assert "prevalence_paradox" in [warned.code for warned in judge.warnings]


def test_the_report_names_its_seed_and_the_conventional_words(project: Path) -> None:
    report = load_report(project)
    data = json.loads(render(report, "json"))
    assert (data["seed"], data["draws"]) == (0, 20_000)
    kappa = report.judges[0].estimates["kappa"]
    assert kappa.low is not None
    assert kappa.low < 0
    assert 0.2 < (kappa.value or 0) < 0.4  # Landis and Koch: poor, fair
    assert "a kappa of 0.24 is fair, its lower limit poor" in render(report, "markdown")
