"""Agreement by metadata: which fields are slices, what is said of each, and what is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builders import SINGLES, label, make_project, single, verdict

from calibration.beside import Slice
from calibration.load import load_report
from calibration.render import RENDERERS, render
from calibration.render.tables import slices_table


def report_slices(path: Path, groups: dict[str, tuple[int, int]], field: str = "topic") -> dict[str, Slice]:
    """`groups` holds for each value of the field how many items it has and on how many the judge is right."""
    items, labels, verdicts = [], [], []
    for value, (n, right) in groups.items():
        for k in range(n):
            item = single(len(items))
            item = replace(item, meta={field: value} if value else {})
            expert = "pass" if k % 2 else "fail"
            wrong = "fail" if expert == "pass" else "pass"
            items.append(item)
            labels.append(label(item, "Ada", "pass" if expert == "pass" else "fail"))
            said = expert if k < right else wrong
            verdicts.append(verdict(item, "pass" if said == "pass" else "fail", first=None))
    project = make_project(path, items, labels, verdicts=verdicts, criteria=[SINGLES])
    return {part.value: part for part in load_report(project).judges[0].slices}


def test_a_slice_where_the_judge_fails_stands_out(tmp_path: Path) -> None:
    slices = report_slices(tmp_path / "p.db", {"law": (20, 5), "sport": (20, 20), "food": (20, 19)})
    assert {value: part.agreement.value for value, part in slices.items()} == {
        "law": 5 / 20,
        "sport": 1.0,
        "food": 19 / 20,
    }
    assert slices["law"].words == "lower than elsewhere"
    assert slices["sport"].words == "higher than elsewhere"
    assert slices["sport"].kappa.value == 1


def test_kappa_of_a_slice_by_hand(tmp_path: Path) -> None:
    """Experts 10 pass, 10 fail; right on the first 16, wrong on 2 of each: .8 less chance .5 over .5 = .6."""
    slices = report_slices(tmp_path / "p.db", {"law": (20, 16), "food": (20, 20)})
    assert slices["law"].kappa.value == pytest.approx(0.6)


def test_p_values_are_adjusted_over_all_slices(tmp_path: Path) -> None:
    """Two slices of one field have the same p, so Benjamini and Hochberg leave it: p x 2 / 2."""
    slices = report_slices(tmp_path / "p.db", {"law": (10, 6), "food": (10, 10)})
    # Fisher's exact p of 6 of 10 against 10 of 10, two-sided: 2 x C(10, 4) / C(20, 4) = 420 / 4845
    assert slices["law"].adjusted_p == pytest.approx(420 / 4845)
    assert slices["law"].words == "not shown to differ"


def test_a_small_slice_says_how_many_more_items_it_needs_and_nothing_else(tmp_path: Path) -> None:
    slices = report_slices(tmp_path / "p.db", {"law": (4, 0), "food": (30, 30)})
    assert (slices["law"].need, slices["law"].adjusted_p) == (6, None)
    assert slices["law"].words == "6 more items needed"


def test_items_without_the_field_are_a_slice_of_their_own(tmp_path: Path) -> None:
    slices = report_slices(tmp_path / "p.db", {"law": (12, 12), "": (12, 12)})
    assert slices[""].n == 12
    assert "topic = not given" in render(load_report(tmp_path / "p.db"), "markdown")


@pytest.mark.parametrize("values", [1, 13])
def test_a_field_with_one_value_or_more_than_twelve_is_no_slice(tmp_path: Path, values: int) -> None:
    assert report_slices(tmp_path / "p.db", {f"v{k}": (2, 2) for k in range(values)}) == {}


@pytest.mark.parametrize("form", RENDERERS)
def test_slices_are_called_exploratory(tmp_path: Path, form: str) -> None:
    report_slices(tmp_path / "p.db", {"law": (20, 5), "food": (20, 20)})
    assert "exploratory" in render(load_report(tmp_path / "p.db"), form).lower()


def test_a_field_with_too_many_values_is_named_but_not_one_that_names_each_item(tmp_path: Path) -> None:
    items = [
        replace(single(n), meta={"topic": f"t{n % 13}", "url": f"u{n}", "half": f"{n % 2}"})
        for n in range(40)
    ]
    labels = [label(item, "Ada", "pass" if n % 3 else "fail") for n, item in enumerate(items)]
    verdicts = [verdict(item, "pass", first=None) for item in items]
    project = make_project(tmp_path / "p.db", items, labels, verdicts=verdicts, criteria=[SINGLES])
    report = load_report(project)
    assert report.judges[0].fields_left_out == ("topic (13 values)",)
    assert {part.field for part in report.judges[0].slices} == {"half"}
    assert "more than 12 values make no slices: topic" in slices_table(report.judges[0]).note
    assert "make no slices" in " ".join(render(report, "markdown").split())
