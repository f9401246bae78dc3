"""The Planning page: sliders move, sentences follow, and no extreme ends in a traceback or a NaN."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, label, make_project, pair, single, verdict
from streamlit.testing.v1 import AppTest

import calibration.pages
from calibration.explained import paragraphs
from calibration.planning import _curve, plan_of
from labels.store import LabelStore
from labels.web import owner_key

APP = Path(__file__).parent.parent / "annotate_app.py"
PAGES = Path(calibration.pages.__file__).parent


def opened(project: Path, monkeypatch: pytest.MonkeyPatch, name: str = "planning") -> AppTest:
    monkeypatch.setenv("JUDGE_CALIBRATION_PROJECT", str(project))
    with LabelStore.open(project) as store:
        key = owner_key(store.setting("salt"))
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.query_params["key"] = key
    at.run()
    at.switch_page(str(PAGES / f"{name}.py")).run()
    assert not at.exception
    return at


@pytest.fixture
def compared(tmp_path: Path) -> Path:
    """Forty single responses; the judge says what the expert says on 34 of them."""
    items = [single(n) for n in range(40)]
    says = ["pass" if n % 5 else "fail" for n in range(40)]
    labels = [label(item, "Ben", value) for item, value in zip(items, says, strict=True)]
    turned = {"pass": "fail", "fail": "pass"}
    verdicts = [
        verdict(item, turned[value] if n < 6 else value, first=None)
        for n, (item, value) in enumerate(zip(items, says, strict=True))
    ]
    return make_project(tmp_path / "p.db", items, labels, verdicts=verdicts, criteria=[SINGLES])


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    return make_project(tmp_path / "empty.db", [pair(1)], criteria=[PAIRS])


def moved(at: AppTest, **wanted: float) -> AppTest:
    """Move the sliders whose label begins with these words."""
    for word, value in wanted.items():
        slider = next(one for one in at.slider if one.label.lower().startswith(word))
        slider.set_value(value)
    return at.run()


def html_of(at: AppTest) -> str:
    return "\n".join(element.proto.body for element in at.get("html"))


def test_the_sliders_start_where_a_judge_stands(compared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened(compared, monkeypatch)
    assert [slider.value for slider in at.slider] == [40, 85, 80, 0.4]
    text = html_of(at)
    assert "judge on “Is this response good enough?”: kappa" in text
    assert "With 40 labels you can show raw agreement" in text


def test_without_a_comparison_the_page_plans_from_usual_values(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = opened(empty, monkeypatch)
    assert "No judge has been compared" in at.info[0].value
    assert "With 50 labels you can show raw agreement to about ± 10 points" in html_of(at)


def test_a_slider_changes_the_sentences_and_both_tables(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = moved(opened(empty, monkeypatch), labels=50, expected=90, share=50, floor=0.6)
    # METHODS.md section 9, even margins, kappa .8: P(pass .6) at n = 50 is .40; 110 items for 80 %
    assert "a true kappa of 0.80" in html_of(at)
    before = html_of(at)
    at = moved(at, labels=200)
    after = html_of(at)
    assert "With 200 labels" in after
    assert "after 100 and after 200 labels" in after
    assert before != after
    assert len(at.get("vega_lite_chart") or at.get("arrow_vega_lite_chart")) == 1


def test_extremes_give_a_sentence_or_a_reason(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened(empty, monkeypatch)
    said = []
    for labels, share, agreement in product((10, 500), (50, 99), (0, 50, 98, 100)):
        at = moved(at, labels=labels, expected=agreement, share=share, floor=0.95)
        text = html_of(at)
        assert not at.exception
        assert f"With {labels} labels you can show" in text
        assert "nan" not in text.lower()
        assert "None" not in text
        said.append("Nothing can be said about kappa" in text)
    # With 99 % of one answer for both, two raters agree on at least 98 %; with 50 % on any share.
    assert said == [False, False, False, False, True, True, False, False] * 2


def test_only_what_a_slider_changes_is_computed_anew(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan_of.cache_clear()
    _curve.cache_clear()
    at = moved(opened(empty, monkeypatch), expected=91)
    plans, curves = plan_of.cache_info().misses, _curve.cache_info().misses
    at = moved(at, labels=130)
    assert "With 130 labels" in html_of(at)
    assert (plan_of.cache_info().misses, _curve.cache_info().misses) == (plans + 1, curves)
    at = moved(moved(at, labels=50), labels=130)
    assert plan_of.cache_info().misses == plans + 1


def linked(text: str) -> set[str]:
    """The paragraphs of the Methods page that a page leads to."""
    return set(re.findall(r"methods\?about=(\w+)", text))


def test_every_number_of_the_page_leads_to_its_paragraph(
    compared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = opened(compared, monkeypatch)
    wanted = {"kappa", "items_for_power", "pass_probability", "obrien_fleming_z"}
    assert wanted <= linked(html_of(at))
    assert linked(html_of(at)) <= set(paragraphs())
    tables = html_of(at).split("<table")[1:]
    assert len(tables) == 2
    assert all("<caption><a " in table for table in tables)


@pytest.mark.parametrize("name", ["overview", "agreement"])
@pytest.mark.parametrize("people", [1, 2])
def test_a_chart_with_a_band_of_people_says_that_it_flatters_the_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, people: int
) -> None:
    items = [single(n) for n in range(20)]
    names = ["Ada", "Ben"][:people]
    labels = [label(i, who, "pass" if n % 2 else "fail") for who in names for n, i in enumerate(items)]
    verdicts = [verdict(i, "pass" if n % 3 else "fail", first=None) for n, i in enumerate(items)]
    project = make_project(tmp_path / "p.db", items, labels, verdicts=verdicts, criteria=[SINGLES])
    text = html_of(opened(project, monkeypatch, name))
    assert ("Blue band" in text) == (people == 2)
    assert ("which flatters the judge" in text) == (people == 2)
    assert people == 1 or "ceiling_delta" in linked(text)


def test_a_text_of_the_project_is_shown_to_the_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [single(n) for n in range(12)]
    labels = [label(item, "Ben", "pass" if n % 2 else "fail") for n, item in enumerate(items)]
    name = "<b>$x$ **judge**</b>"
    verdicts = [verdict(item, "pass", first=None, judge=name) for item in items]
    project = make_project(tmp_path / "p.db", items, labels, verdicts=verdicts, criteria=[SINGLES])
    at = opened(project, monkeypatch)
    assert "<b>" not in html_of(at)
    assert "**judge**" in html_of(at)
    assert all("judge**" not in element.value for element in at.markdown)
