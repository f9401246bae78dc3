"""Published examples of agreement, and the people of two real data sets, through the public functions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from calibration.stats.agreement import ac1, chance_agreement, cohen_kappa, crosstab, raw_agreement, scott_pi
from calibration.stats.coefficients import gwet_suite
from calibration.stats.multirater import (
    fleiss_kappa,
    krippendorff_alpha,
    mean_pairwise_agreement,
    pairwise_matrix,
    rating_counts,
)
from calibration.stats.reference import kappa_se, kappa_wald

DATA = Path(os.environ.get("CALIBRATION_DATA", Path(__file__).parents[2] / "shared" / "data"))
TEXTBOOK = DATA / "irr_textbook"
pytestmark = pytest.mark.skipif(not TEXTBOOK.is_dir(), reason=f"the textbook data are not at {TEXTBOOK}")
FOUR_DIGITS, FIVE_DIGITS = 0.5e-4, 0.5e-5
IRRCAC = {
    "fleiss": "fleiss",
    "gwet": "gwet_ac1",
    "krippendorff": "krippendorff",
    "conger": "conger",
    "bp": "brennan_prediger",
}

Ratings = dict[str, list[str | None]]  # by annotator, over all items in one order


def read_cases() -> list[dict[str, Any]]:
    file = TEXTBOOK / "expected.json"
    if not file.is_file():
        return []
    cases: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["cases"]
    return cases


CASES = read_cases()
by_name = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])


def ratings_of(file: Path, value: Callable[[str, str], str] = lambda _, label: label) -> Ratings:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    given = {(row["annotator"], row["item_id"]): value(row["item_id"], row["label"]) for row in rows}
    items = list(dict.fromkeys(row["item_id"] for row in rows))
    annotators = sorted({row["annotator"] for row in rows})
    return {name: [given.get((name, item)) for item in items] for name in annotators}


def expected_of(name: str) -> Any:
    return json.loads((DATA / name / "expected.json").read_text(encoding="utf-8"))["computed"]


def table_of(ratings: Ratings) -> Any:
    one, other = ratings.values()
    both = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    return crosstab([a for a, _ in both], [b for _, b in both], sorted({x for pair in both for x in pair}))


def fleiss(ratings: Ratings) -> float | None:
    return fleiss_kappa(rating_counts(list(ratings.values()))).value


def matches(value: float | None, wanted: float | None, tolerance: float = FOUR_DIGITS) -> bool:
    """Equal to the digits given; no value is wanted where the source has null or NaN."""
    if wanted is None or isnan(wanted):
        return value is None
    return value == pytest.approx(wanted, abs=tolerance * 1.0001)


def check_raters(ratings: Ratings, figures: Mapping[str, Any]) -> None:
    """Every figure that a data set gives of several raters together."""
    lists = list(ratings.values())
    counts = rating_counts(lists)
    found = {
        "annotators": len(ratings),
        "items": len(lists[0]),
        "items_with_2plus": int((counts.sum(axis=1) >= 2).sum()),
        "categories": sorted({x for rater in lists for x in rater if x is not None}),
    }
    assert found == {name: figures[name] for name in found}
    assert matches(krippendorff_alpha(lists).value, figures["krippendorff_alpha_nominal"])
    assert matches(mean_pairwise_agreement(lists).value, figures["pairwise_observed_agreement"])
    assert matches(gwet_suite(lists)["gwet_ac1"].value, figures["gwet_ac1"])
    if "fleiss_kappa" in figures:
        assert matches(fleiss(ratings), figures["fleiss_kappa"])
    if "pairwise_cohen" in figures:
        check_pairs(ratings, figures["pairwise_cohen"])


def check_pairs(ratings: Ratings, figures: Mapping[str, Mapping[str, float]]) -> None:
    names = list(ratings)
    pairs = {
        f"{names[pair.first]}|{names[pair.second]}": pair
        for pair in pairwise_matrix(list(ratings.values()), draws=50)
    }
    assert set(pairs) == set(figures)
    for name, wanted in figures.items():
        assert pairs[name].kappa.n == wanted["n"], name
        assert matches(pairs[name].agreement.value, wanted["agreement"]), name
        assert matches(pairs[name].kappa.value, wanted["kappa"]), name


def check_irrcac(ratings: Sequence[Sequence[str | None]], figures: Mapping[str, Any]) -> None:
    suite = gwet_suite(ratings)
    for theirs, ours in IRRCAC.items():
        wanted, found = figures[theirs], suite[ours]
        assert found is not None
        numbers = (found.value, found.error, found.observed, found.chance, found.low, found.high)
        expected = (wanted["value"], wanted["se"], wanted["pa"], wanted["pe"], *wanted["ci"])
        assert numbers == pytest.approx(expected, abs=FIVE_DIGITS * 1.0001), theirs


def check_two(ratings: Ratings, figures: Mapping[str, Any]) -> None:
    table = table_of(ratings)
    wald = kappa_wald(table) or (None, None)
    assert raw_agreement(table).n == figures["n"]
    assert matches(raw_agreement(table).value, figures["agreement"])
    assert matches(cohen_kappa(table).value, figures["kappa"])
    assert matches(cohen_kappa(table).value, figures["kappa_exact"], 1e-12)
    assert matches(kappa_se(table), figures["kappa_se_statsmodels"], 1e-12)
    assert all(matches(*ends, 1e-9) for ends in zip(wald, figures["kappa_ci"], strict=True))
    assert matches(scott_pi(table).value, figures["scott_pi"])
    assert matches(ac1(table).value, figures["gwet_ac1"])
    assert matches(krippendorff_alpha(list(ratings.values())).value, figures["kripp_alpha"])


def published_of(ratings: Ratings) -> dict[str, Callable[[], float | None]]:
    """How each published figure is computed."""
    lists = list(ratings.values())
    return {
        "fleiss_kappa": lambda: fleiss(ratings),
        "alpha_nominal": lambda: krippendorff_alpha(lists).value,
        "gwet_ac1": lambda: (
            gwet_suite(lists)["gwet_ac1"].value if len(lists) > 2 else ac1(table_of(ratings)).value
        ),
        "percent_agreement": lambda: mean_pairwise_agreement(lists).value,
        "fleiss_kappa_missing_aware": lambda: gwet_suite(lists)["fleiss"].value,
        "kappa": lambda: cohen_kappa(table_of(ratings)).value,
        "po": lambda: raw_agreement(table_of(ratings)).value,
        "pe": lambda: chance_agreement(table_of(ratings)),
    }


NOT_OURS = {"note", "alpha_interval", "alpha_ordinal", "alpha_ratio"}  # alpha is nominal here


def test_the_textbook_holds_its_twelve_cases() -> None:
    assert len(CASES) == 12
    assert all((TEXTBOOK / case["file"]).is_file() for case in CASES)


@by_name
def test_the_computed_figures_of_the_textbook_reproduce_to_their_digits(case) -> None:
    ratings, computed = ratings_of(TEXTBOOK / case["file"]), case["computed"]
    assert len(ratings) == case["raters"]
    if len(ratings) == 2:
        check_two(ratings, computed)
    else:
        check_raters(ratings, computed["mine"])
        check_irrcac(list(ratings.values()), computed["irrCAC"])


@by_name
def test_the_published_figures_of_the_textbook_reproduce_to_their_digits(case) -> None:
    exact = json.loads(json.dumps(case["published"]), parse_float=Decimal)
    found = published_of(ratings_of(TEXTBOOK / case["file"]))
    for name, wanted in exact.items():
        if name in NOT_OURS:
            continue
        if isinstance(wanted, str):
            assert wanted.startswith("undefined")
            assert found[name]() is None
        else:
            half_a_digit = 0.5 * 10.0 ** wanted.as_tuple().exponent
            assert matches(found[name](), float(wanted), half_a_digit), name


def test_two_raters_of_four_categories_give_the_coefficients_of_another_tool() -> None:
    case = next(case for case in CASES if case["name"] == "gwet_4x4_diagnosis")
    ratings, wanted = ratings_of(TEXTBOOK / case["file"]), case["computed"]["irrCAC"]
    table, suite = table_of(ratings), gwet_suite(list(ratings.values()))
    assert matches(cohen_kappa(table).value, wanted["cohen"], FIVE_DIGITS)
    assert matches(scott_pi(table).value, wanted["scott"], FIVE_DIGITS)
    assert matches(suite["krippendorff"].value, wanted["krippendorff"], FIVE_DIGITS)
    assert matches(suite["brennan_prediger"].value, wanted["bp"], FIVE_DIGITS)
    assert matches(ac1(table).value, wanted["gwet"], FIVE_DIGITS)


@pytest.mark.skipif(not (DATA / "pandalm").is_dir(), reason=f"pandalm is not at {DATA}")
def test_the_people_of_pandalm_agree_as_published_by_system_and_by_slot() -> None:
    file, expected = DATA / "pandalm" / "labels.jsonl", expected_of("pandalm")
    lines = (DATA / "pandalm" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    first = {item["id"]: next(iter(item["responses"])) for item in map(json.loads, lines)}

    def slot(item: str, label: str) -> str:
        return "0" if label == "tie" else "1" if label == first[item] else "2"

    by_slot = ratings_of(file, slot)
    check_raters(ratings_of(file), expected["human_human_by_identity"])
    check_raters(by_slot, expected["multi_by_position_1_2_0"])
    check_pairs(by_slot, expected["human_human_by_position_1_2_0"])
    unanimous = [len(set(labels)) == 1 for labels in zip(*by_slot.values(), strict=True)]
    assert sum(unanimous) == expected["unanimous_items"]


@pytest.mark.skipif(not (DATA / "nq301").is_dir(), reason=f"nq301 is not at {DATA}")
def test_the_people_of_nq301_agree_as_computed_with_their_gaps() -> None:
    ratings, expected = ratings_of(DATA / "nq301" / "labels.jsonl"), expected_of("nq301")
    check_raters(ratings, expected["multi_rater"])
    two = {name: ratings[name] for name in ("annotator1", "annotator2")}
    check_pairs(two, {"annotator1|annotator2": expected["annotator1_vs_2"]})
