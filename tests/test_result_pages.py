"""The result pages over a real project: what they show, and what looking at them leaves in the ledger."""

from __future__ import annotations

import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from builders import PAIRS, SINGLES, label, make_project, pair, single, verdict
from streamlit.testing.v1 import AppTest

import calibration.pages
from calibration import launch
from calibration.explained import paragraphs
from calibration.store import RunStore
from labels.store import LabelStore
from labels.web import owner_key

APP = Path(__file__).parent.parent / "annotate_app.py"
RESULTS = Path(calibration.pages.__file__).parent
COMPARED = ("overview", "agreement", "disagreements")
NAMES = (*COMPARED, "judge")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    items, singles = [pair(n) for n in range(12)], [single(n) for n in range(12)]
    labels = [label(item, "Ben", "A" if n % 2 else "B") for n, item in enumerate(items)]
    labels += [label(item, "Ben", "pass" if n % 3 else "fail") for n, item in enumerate(singles)]
    verdicts = [verdict(item, "first", first=side) for item in items[:10] for side in ("A", "B")]
    verdicts += [
        verdict(item, "second" if side == "B" else "first", first=side)
        for item in items[10:]
        for side in ("A", "B")
    ]
    verdicts += [verdict(item, "pass", first=None, judge="$lenient$ **judge**") for item in singles]
    return make_project(
        tmp_path / "p.db", items + singles, labels, verdicts=verdicts, criteria=[PAIRS, SINGLES]
    )


@pytest.fixture
def app(project: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("JUDGE_CALIBRATION_PROJECT", str(project))
    with LabelStore.open(project) as store:
        key = owner_key(store.setting("salt"))
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.query_params["key"] = key
    return at.run()


def html_of(at: AppTest) -> str:
    return "\n".join(element.proto.body for element in at.get("html"))


def opened(at: AppTest, name: str) -> AppTest:
    at.switch_page(str(RESULTS / f"{name}.py")).run()
    assert not at.exception
    return at


@pytest.mark.parametrize("name", NAMES)
def test_each_page_shows_the_project_without_an_error(app: AppTest, name: str) -> None:
    shown = opened(app, name)
    assert shown.title[0].value.lower() == name
    assert PAIRS.question in html_of(shown)


def test_the_overview_says_in_one_sentence_what_each_judge_is_worth(app: AppTest) -> None:
    text = html_of(app)
    assert "agrees with your experts on" in text
    assert "always towards the response shown first" in text
    assert "$lenient$ **judge**" in text
    assert all("lenient" not in element.value for element in app.markdown)


def test_the_cells_of_the_table_hold_the_counts_of_the_report(app: AppTest) -> None:
    at = opened(app, "agreement")
    counts = {button.key: button.label for button in at.button if button.key.startswith("cell-")}
    assert counts["cell-A-tie"] == "5"
    assert counts["cell-A-A"] == "1"
    assert counts["cell-B-A"] == "1"
    assert sum(map(int, counts.values())) == 12


def test_a_cell_opens_the_items_behind_it_with_all_that_was_said(app: AppTest) -> None:
    at = opened(app, "agreement")
    at.button(key="cell-B-A").click().run()
    at = opened(at, "disagreements")
    text = html_of(at)
    assert "pair-10" in text
    assert text.count("Experts") == 1
    assert "alpha" in text
    assert "short answer 10" in text
    assert "A shown first" in text
    assert "B shown first" in text


def test_who_also_labels_has_seen_the_verdicts_and_the_ledger_says_so(app: AppTest, project: Path) -> None:
    with LabelStore.open(project) as store:
        ada = store.annotator("Ada")
    app.query_params["annotator"] = "Ada"
    app.run()
    opened(app, "disagreements")
    with LabelStore.open(project) as store:
        rows = list(store.db.query("SELECT * FROM reveals"))
    assert len(rows) == 20
    assert {(row["annotator_id"], row["saw"]) for row in rows} == {(ada.id, "verdict"), (ada.id, "label")}


def test_a_page_that_was_drawn_shows_what_has_arrived_since(app: AppTest, project: Path) -> None:
    assert "12 with a reference label" in html_of(app)
    with LabelStore.open(project) as store:
        store.add_items([pair(50)])
        store.add_labels([label(pair(50), "Ben", "A")])
    assert "13 with a reference label" in html_of(app.run())


def test_a_project_without_verdicts_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(tmp_path / "empty.db", [pair(1)])
    monkeypatch.setenv("JUDGE_CALIBRATION_PROJECT", str(project))
    with LabelStore.open(project) as store:
        key = owner_key(store.setting("salt"))
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.query_params["key"] = key
    for name in COMPARED:
        at.run()
        assert "judge" in opened(at, name).info[0].value


def test_a_run_started_on_the_judge_page_shows_its_progress_and_ends(app: AppTest, project: Path) -> None:
    at = opened(app, "judge")
    at.button[0].click().run()
    assert not at.exception
    deadline = time.monotonic() + 60
    while "Done." not in launch.said(project):
        assert time.monotonic() < deadline, launch.said(project)
        time.sleep(0.2)
    text = html_of(at.run())
    assert "scripted:reads" in text
    assert "Done. 6 asked" in text
    with RunStore.open(project) as runs:
        summary = [run for run in runs.runs(PAIRS.id) if run.model == "scripted:reads"]
    assert [(run.state, run.verdicts) for run in summary] == [("done", 6)]


def test_the_judge_page_shows_the_whole_prompt_without_any_name_that_tells(app: AppTest) -> None:
    at = opened(app, "judge")
    at.toggle[0].set_value(True).run()
    text = html_of(at)
    assert "short answer 0" in text
    assert not any(secret in text.split("Runs")[0] for secret in ("alpha", "beta", "pair-0"))


class Linked(HTMLParser):
    """The tables and figures of a page: which cells and captions lead to the Methods page, and where."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.tables: list[dict[str, list[list[tuple[str, bool]]]]] = []
        self.figures: list[bool] = []
        self.cell: list[object] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "table":
            self.tables.append({"caption": [], "rows": []})
        elif tag in ("tr", "caption"):
            self.tables[-1]["rows" if tag == "tr" else "caption"].append([])
        if tag in ("th", "td", "caption"):
            self.cell = ["", False, tag]
        if values.get("class") == "jc-figure":
            self.figures.append(False)
        if tag == "a" and values.get("class") == "jc-about":
            address = urlsplit(str(values["href"]))
            assert address.path == "methods"
            self.names.append(parse_qs(address.query)["about"][0])
            if self.cell is not None:
                self.cell[1] = True
            elif self.figures:
                self.figures[-1] = True

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell[0] = str(self.cell[0]) + data

    def handle_endtag(self, tag: str) -> None:
        if self.cell is not None and tag == self.cell[2]:
            part = "caption" if tag == "caption" else "rows"
            self.tables[-1][part][-1].append((str(self.cell[0]), bool(self.cell[1])))
            self.cell = None


def unexplained(table: dict[str, list[list[tuple[str, bool]]]]) -> list[str]:
    """The cells with a digit that neither caption, column nor row leads to the Methods page for."""
    if any(linked for caption in table["caption"] for _, linked in caption):
        return []
    head, *rows = table["rows"]
    return [
        text
        for (_, row_linked), *cells in rows
        for (text, _), (_, column_linked) in zip(cells, head[1:], strict=True)
        if any(map(str.isdigit, text)) and not row_linked and not column_linked
    ]


def test_the_check_of_links_finds_a_number_without_one() -> None:
    page = Linked()
    page.feed("<table><caption>T</caption><tr><th>a</th><th>b</th></tr><tr><td>x</td><td>1</td></tr></table>")
    assert unexplained(page.tables[0]) == ["1"]


@pytest.mark.parametrize("kind", ["pairwise", "binary"])
@pytest.mark.parametrize("name", ["overview", "agreement"])
def test_every_number_on_a_page_leads_to_its_paragraph(app: AppTest, name: str, kind: str) -> None:
    app.session_state["kind"] = kind
    at = opened(app, name)
    page = Linked()
    page.feed(html_of(at))
    assert page.tables
    assert [cell for table in page.tables for cell in unexplained(table)] == []
    assert page.figures == [True] * len(page.figures)
    assert set(page.names) <= set(paragraphs())
    assert not at.metric


def test_a_link_to_a_paragraph_keeps_the_owners_key(app: AppTest) -> None:
    key = app.query_params["key"]
    assert f"key={key[0] if isinstance(key, list) else key}#kappa" in html_of(app)


def test_the_methods_page_shows_the_paragraph_that_was_asked_for_first(app: AppTest) -> None:
    app.switch_page(str(RESULTS / "methods.py"))
    app.query_params["about"] = "kappa"
    at = app.run()
    assert not at.exception
    first = next(element.proto.body for element in at.get("html") if "Cannot show" in element.proto.body)
    assert "<h3>kappa</h3>" in first
    assert first.count("<h3>") == 1


def test_the_methods_page_explains_everything_with_an_anchor_each(app: AppTest) -> None:
    at = opened(app, "methods")
    text = html_of(at)
    assert all(f'<section id="{name}">' in text for name in paragraphs())
    assert "[coverage.md]" not in text
    assert all("Formula" not in element.value for element in at.markdown)
    at.selectbox[0].select("mcc").run()
    first = next(element.proto.body for element in at.get("html") if "Cannot show" in element.proto.body)
    assert "<h3>mcc</h3>" in first


def test_the_overview_says_why_no_ceiling_can_be_drawn_with_one_person(app: AppTest) -> None:
    text = html_of(app)
    assert "Only Ben has labelled blind" in text
    assert "Let a second person label the same items" in text
    assert "Blue band" not in text


def test_with_two_people_the_ceiling_is_drawn_and_the_judge_is_held_to_it(
    app: AppTest, project: Path
) -> None:
    with LabelStore.open(project) as store:
        store.add_labels([label(pair(n), "Ada", "A" if n % 2 else "B") for n in range(12)])
        store.add_labels([label(single(n), "Ada", "pass" if n % 3 else "fail") for n in range(12)])
    text = html_of(app.run())
    assert "Blue band and stroke: your experts among themselves" in text
    assert "agrees with your experts less than they agree with each other" in text
    assert "Each pair of annotators" in html_of(opened(app, "agreement"))


def test_how_items_were_chosen_is_asked_once_and_changes_the_pass_rate(app: AppTest, project: Path) -> None:
    with LabelStore.open(project) as store:
        store.add_items([single(n) for n in range(12, 20)])
    with RunStore.open(project) as runs:
        judge = "$lenient$ **judge**"
        more = [verdict(single(n), "pass", first=None, judge=judge) for n in range(12, 20)]
        runs.add_verdicts(more, "test")
    app.session_state["kind"] = "binary"
    at = opened(app.run(), "agreement")
    assert "How the labelled items were chosen is not stated" in html_of(at)
    at.selectbox[1].select("random").run()
    assert not at.exception
    assert "As stated, the labelled items were drawn at random" in html_of(at)
    with LabelStore.open(project) as store:
        assert store.setting("calibration_sampling") == "random"
