"""The Planning page: sliders move, sentences follow, and no extreme ends in a traceback or a NaN."""

from __future__ import annotations

import time
from itertools import product
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, label, make_project, pair, single, verdict
from streamlit.testing.v1 import AppTest

import calibration.pages
from labels.store import LabelStore
from labels.web import owner_key

APP = Path(__file__).parent.parent / "annotate_app.py"
PAGE = str(Path(calibration.pages.__file__).parent / "planning.py")


def opened(project: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("JUDGE_CALIBRATION_PROJECT", str(project))
    with LabelStore.open(project) as store:
        key = owner_key(store.setting("salt"))
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.query_params["key"] = key
    at.run()
    at.switch_page(PAGE).run()
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


def test_a_slider_answers_at_once(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened(empty, monkeypatch)
    taken = []
    for agreement in (91, 92, 93, 94, 95):
        start = time.process_time()
        moved(at, expected=agreement)
        taken.append(time.process_time() - start)
    assert sorted(taken)[2] < 1.0, taken


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
