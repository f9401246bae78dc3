"""Judges side by side: who is better on the same items, and what 1,000 verdicts cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builders import SINGLES, label, make_project, single, verdict

from calibration.judging import RunSummary
from calibration.load import load_report
from calibration.render import RENDERERS, render
from calibration.render.tables import comparisons_table, judges_table, price, runs_table
from calibration.side_by_side import costs_of
from calibration.types import CriterionReport

RUN = RunSummary(
    id="j1",
    judge="one",
    model="m",
    state="done",
    verdicts=500,
    unanswered={},
    calls=500,
    cost=1.0,
    unpriced=0,
    latency=None,
    served=(),
    left_out=(),
    started_at="",
    rubric_id="",
)


def report_of(path: Path, right: dict[str, str]) -> CriterionReport:
    """For each judge a letter for each item: y right, n wrong, . not judged."""
    length = max(map(len, right.values()))
    items = [single(n) for n in range(length)]
    labels = [label(item, "Ada", "pass" if n % 2 else "fail") for n, item in enumerate(items)]
    verdicts = [
        verdict(item, "pass" if (n % 2 == 1) == (letter == "y") else "fail", first=None, judge=judge)
        for judge, word in right.items()
        for n, (item, letter) in enumerate(zip(items, word, strict=False))
        if letter != "."
    ]
    project = make_project(path, items, labels, verdicts=verdicts, criteria=[SINGLES])
    return load_report(project).criteria[0]


def test_a_clear_difference_by_hand(tmp_path: Path) -> None:
    """Right on 40 of 40 against 25 of 40: gained 15, lost 0, difference 15/40."""
    (versus,) = report_of(tmp_path / "p.db", {"weak": "y" * 25 + "n" * 15, "strong": "y" * 40}).comparisons
    assert (versus.best, versus.other, versus.gained, versus.lost) == ("strong", "weak", 15, 0)
    assert versus.agreement.value == pytest.approx(15 / 40)
    assert versus.p == pytest.approx(0.5**15)  # of 15 to 0: exact 2/2^15, of which mid-p takes half off
    assert versus.proven
    assert versus.sentence.startswith("strong is better than weak:")


def test_a_small_difference_is_not_shown(tmp_path: Path) -> None:
    (versus,) = report_of(
        tmp_path / "p.db", {"one": "y" * 32 + "n" * 8, "two": "y" * 30 + "n" * 10}
    ).comparisons
    assert not versus.proven
    assert versus.sentence.startswith("one is not shown to be better than two:")
    assert "points" in versus.sentence


def test_kappa_differs_by_hand(tmp_path: Path) -> None:
    """Balanced labels, errors in both classes alike: kappa 1 less (.5 - .5) / .5 = 1."""
    (versus,) = report_of(tmp_path / "p.db", {"one": "y" * 40, "two": "yynn" * 10}).comparisons
    assert versus.kappa.value == pytest.approx(1.0)


def test_judges_without_enough_common_items_are_not_compared(tmp_path: Path) -> None:
    (versus,) = report_of(
        tmp_path / "p.db", {"one": "y" * 14 + "." * 8, "two": "." * 8 + "y" * 14}
    ).comparisons
    assert (versus.agreement.n, versus.p, versus.proven) == (6, None, False)
    assert "6 items in common: 4 more are needed" in versus.sentence


def test_several_comparisons_are_held_to_a_stricter_standard(tmp_path: Path) -> None:
    words = {"best": "y" * 40, **{f"j{k}": "y" * 34 + "n" * 6 for k in range(3)}}
    comparisons = report_of(tmp_path / "p.db", words).comparisons
    assert len(comparisons) == 3
    for versus in comparisons:
        assert versus.p == pytest.approx(0.5**6)  # .0156, on its own below .05
        assert versus.adjusted_p == pytest.approx(3 * 0.5**6)  # Holm over three


def test_one_judge_has_nobody_to_be_compared_with(tmp_path: Path) -> None:
    assert report_of(tmp_path / "p.db", {"one": "y" * 12}).comparisons == ()


@pytest.mark.parametrize("form", RENDERERS)
def test_each_form_says_who_is_better(tmp_path: Path, form: str) -> None:
    report_of(tmp_path / "p.db", {"weak": "y" * 25 + "n" * 15, "strong": "y" * 40})
    assert "strong is better than weak" in render(load_report(tmp_path / "p.db"), form)


@pytest.mark.parametrize(
    ("runs", "per_1000", "priced"),
    [
        ([RUN], 2.0, "known"),
        ([RUN, replace(RUN, id="j2", cost=3.0)], 4.0, "known"),
        ([replace(RUN, cost=None, unpriced=500)], None, "unknown"),
        ([replace(RUN, unpriced=10)], 2.0, "at least"),
        ([replace(RUN, state="imported", cost=None, calls=0)], None, "none"),
        ([replace(RUN, verdicts=0, cost=None, calls=0)], None, "none"),
        ([replace(RUN, calls=100)], 10.0, "known"),  # 400 of the 500 were used again: 1 dollar for 100
        ([RUN, replace(RUN, id="j2", cost=None, calls=0)], 2.0, "known"),
    ],
)
def test_the_cost_of_a_thousand_verdicts_claims_no_more_than_is_known(
    runs: list[RunSummary], per_1000: float | None, priced: str
) -> None:
    cost = costs_of(runs)["one"]
    assert (cost.per_1000, cost.priced) == (per_1000, priced)


def test_a_judge_that_only_used_stored_answers_again_is_neither_imported_nor_free() -> None:
    reused = replace(RUN, cost=None, calls=0)
    assert price(costs_of([reused])["one"]) == "reused"
    assert runs_table([reused]).rows[0][6] == "reused"
    assert price(costs_of([replace(reused, state="imported")])["one"]) == "none"
    assert runs_table([replace(RUN, calls=100)]).rows[0][6] == "$10.00"


def test_the_table_of_judges_has_unanswered_items_and_no_cost_for_imported_verdicts(tmp_path: Path) -> None:
    items = [single(n) for n in range(4)]
    verdicts = [verdict(item, "pass" if n else None, first=None) for n, item in enumerate(items)]
    project = make_project(tmp_path / "p.db", items, verdicts=verdicts, criteria=[SINGLES])
    table = judges_table(load_report(project).criteria[0])
    row = dict(zip(table.header, table.rows[0], strict=True))
    assert (row["unanswered"], row["per 1,000"], row["flips"]) == ("1 of 4", "none", "–")


def test_the_luck_of_the_best_of_several_judges_is_said(tmp_path: Path) -> None:
    """METHODS 7: the largest of two normal errors lies .56 standard deviations above their mean."""
    report = report_of(tmp_path / "p.db", {"one": "y" * 40 + "n" * 10, "two": "y" * 38 + "n" * 12})
    kappa = report.judges[0].estimates["kappa"]
    assert kappa.n == 50
    assert report.optimism is not None
    assert report.optimism == pytest.approx(0.564 * (1 - 0.6**2) ** 0.5 / 50**0.5, rel=0.1)
    assert "would still look about 0.06 too good" in comparisons_table(report).note


def test_one_judge_is_no_choice(tmp_path: Path) -> None:
    assert report_of(tmp_path / "p.db", {"one": "y" * 50}).optimism is None
