"""The labelling page in a real Chromium."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from browser_tools import Sitting
from builders import PAIRS, SINGLES, label, make_project, pair, single, verdict
from conftest import Serve, Sit

from labels.store import LabelStore
from labels.types import Criterion, Item, Label, Response
from labels.web import visible

pytestmark = pytest.mark.browser

SYSTEMS = ("secretsystemone", "secretsystemtwo")


def labels_of(project: Path, criterion: Criterion = PAIRS) -> list[Label]:
    with LabelStore.open(project) as store:
        return store.labels(criterion.id)


def labelled_presentations(project: Path) -> list[str]:
    with LabelStore.open(project) as store:
        return [str(row["presentation_id"]) for row in store.db.query("SELECT * FROM labels ORDER BY id")]


def drafts_of(project: Path) -> list[str]:
    """The notes that were kept before an answer."""
    with LabelStore.open(project) as store:
        return [str(row["draft_note"]) for row in store.db.query("SELECT * FROM presentations")]


def pairs(count: int) -> list[Item]:
    return [pair(n, SYSTEMS) for n in range(count)]


def with_secrets(path: Path, items: list[Item]) -> Path:
    """A project in which a judge and a colleague have said things that nobody who labels may see."""
    told = {"reasoning": "secretreasoning", "raw": "secretraw"}
    verdicts = [replace(verdict(item, "first", judge="secretjudge"), **told) for item in items]
    labels = [replace(label(item, "secretcolleague", "B"), note="secretnote") for item in items]
    return make_project(path, items, labels, verdicts=verdicts)


def test_ten_pairs_are_labelled_blind_with_keys_alone(tmp_path: Path, serve: Serve, sit: Sit) -> None:
    items = pairs(10)
    project = with_secrets(tmp_path / "p.db", items)
    ada = sit(serve(project))
    said: dict[str, str] = {}
    for number, key in enumerate("1201121021"):
        chosen = {"1": ada.texts[0], "2": ada.texts[1], "0": "tie"}[key]
        said[ada.prompt] = chosen
        ada.press(key)
        if number == 3:
            ada.press("u")
            assert said[ada.prompt] == chosen
            said[ada.prompt] = ada.texts[1]
            ada.press("2")
        if number == 6:
            before = (ada.shown, ada.texts)
            ada.page.reload()
            ada.ready()
            assert (ada.shown, ada.texts) == before
    assert "All done" in ada.page.inner_text("body")
    assert re.fullmatch(r"10 of 10 · saved \d\d:\d\d:\d\d", ada.status)
    labels = [one for one in labels_of(project) if one.source == "app"]
    by_id = {item.id: item for item in items}
    assert len(labels) == 10
    for one in labels:
        item = by_id[one.item_id]
        value = "tie" if one.value == "tie" else item.response(one.value).text  # type: ignore[arg-type]
        assert value == said[item.prompt]
    assert max(Counter(one.first for one in labels).values()) <= 6
    assert all(one.seconds is not None and one.seconds < 60 for one in labels)
    assert_blind(ada)


def assert_blind(sitting: Sitting) -> None:
    """No frame, no address and no part of the page tells who wrote or judged what."""
    wire = b"\n".join(sitting.frames) + "\n".join(sitting.requests).encode()
    page = sitting.page.content().encode()
    assert len(sitting.frames) > 20
    for secret in (*SYSTEMS, "secret", "pair-", "i000", PAIRS.id, "Overview", "Disagreements"):
        assert secret.encode() not in wire
        assert secret.encode() not in page


def test_no_address_opens_the_results_without_the_owners_key(tmp_path: Path, serve: Serve, sit: Sit) -> None:
    items = pairs(6)
    project = with_secrets(tmp_path / "p.db", items)
    ada = sit(serve(project))
    for address in ("label", "overview", "agreement?key=0123456789abcdefghijkl"):
        ada.page.goto(f"{ada.server.url}{address}{'&' if '?' in address else '?'}annotator=Ada")
        ada.ready()
        assert ada.prompt.startswith("question")
        assert ("Page not found" in ada.page.inner_text("body")) == (address != "label")
    assert_blind(ada)


@pytest.mark.parametrize("gap", [30, 100, 300, "held"])
def test_quick_and_held_keys_never_label_what_was_not_seen(
    tmp_path: Path, serve: Serve, sit: Sit, gap: int | str
) -> None:
    project = make_project(tmp_path / "p.db", pairs(40))
    ada = sit(serve(project))
    if gap == "held":
        for _ in range(60):
            ada.page.keyboard.down("1")
            ada.page.wait_for_timeout(33)
        ada.page.keyboard.up("1")
    else:
        for _ in range(20):
            ada.page.keyboard.press("1")
            ada.page.wait_for_timeout(int(gap))
    ada.page.wait_for_timeout(300)
    painted, sent = ada.seen()
    assert sent
    ada.wait_until(lambda: len(labelled_presentations(project)) >= len(sent))
    for shown, at in sent:
        seen_at = painted[shown]
        assert seen_at is not None
        assert at - seen_at > 250
    labelled = labelled_presentations(project)
    assert len(set(labelled)) == len(labelled)
    assert labelled == [shown.split(":")[0] for shown, _ in sent]
    pressed = ada.pressed()[1:]  # the first one gave the name
    pauses = [later - earlier for earlier, later in pairwise(pressed)]
    assert len(pressed) >= 20
    if max(pauses) < 250:  # a busy machine may stretch them into a pace at which keys count
        assert len(labelled) == 1


def test_every_key_counts_whose_item_was_in_view_for_a_moment(tmp_path: Path, serve: Serve, sit: Sit) -> None:
    project = make_project(tmp_path / "p.db", pairs(30))
    ada = sit(serve(project))
    for _ in range(10):
        ada.page.keyboard.press("2")
        ada.page.wait_for_timeout(500)
    ada.ready()
    painted, sent = ada.seen()
    ada.wait_until(lambda: len(labels_of(project)) >= len(sent))
    since = [at for at in painted.values() if at is not None]
    keys = [pressed for pressed in ada.pressed() if pressed > min(since)]
    counting = {max(at for at in keys if at <= sent_at) for _, sent_at in sent}
    refused, wrong = 0.0, []
    for at in keys:
        counted = at in counting
        # What was sent for the item in view makes every further key too quick until the next is painted.
        in_view = max(since_at for since_at in since if since_at <= at)
        busy = any(in_view < sent_at < at for _, sent_at in sent)
        calm = 0.0 if busy else at - max(in_view, refused)
        if (counted and calm < 250) or (not counted and calm > 400):
            wrong.append((at, counted, calm))
        if not counted:
            refused = at
    assert wrong == []
    assert len(sent) >= 2
    assert len(labels_of(project)) == len(sent)


def test_keys_are_dead_while_someone_types_a_note(tmp_path: Path, serve: Serve, sit: Sit) -> None:
    project = make_project(tmp_path / "p.db", pairs(4))
    ada = sit(serve(project))
    before = ada.shown
    ada.page.keyboard.press("n")
    ada.page.keyboard.type("1 2 0 s u n ? r c")
    ada.page.keyboard.press("Escape")
    ada.wait_until(lambda: "1 2 0 s u n ? r c" in drafts_of(project))
    assert (ada.shown, labels_of(project)) == (before, [])
    ada.page.reload()
    ada.ready()
    ada.page.keyboard.press("n")
    assert ada.page.get_by_label("Note", exact=True).input_value() == "1 2 0 s u n ? r c"
    ada.page.keyboard.press("Escape")
    ada.press("1")
    assert labels_of(project)[0].note == "1 2 0 s u n ? r c"
    ada.page.keyboard.press("Control+1")
    ada.press("2")  # what a key before it sent would be stored by now
    assert len(labels_of(project)) == 2


def test_an_answer_right_after_a_note_counts_and_takes_the_note_along(
    tmp_path: Path, serve: Serve, sit: Sit
) -> None:
    project = make_project(tmp_path / "p.db", pairs(4))
    ada = sit(serve(project))
    for note in ("first", "second", ""):
        before = ada.shown
        ada.page.keyboard.press("n")
        ada.page.keyboard.type(note)
        ada.page.keyboard.press("Escape")
        ada.page.keyboard.press("1")
        assert ada.answered_or_told(before) == "answered"
        ada.ready(before)
    assert [label.note for label in labels_of(project)] == ["first", "second", ""]


def test_no_note_about_one_item_lands_at_the_next(tmp_path: Path, serve: Serve, sit: Sit) -> None:
    project = make_project(tmp_path / "p.db", pairs(4))
    ada = sit(serve(project))
    for _ in range(3):
        before = ada.shown
        ada.page.keyboard.press("1")
        ada.page.keyboard.press("n")  # before the next item has come
        ada.page.keyboard.type("xyz")
        ada.page.keyboard.press("Escape")
        ada.ready(before)
        assert ada.page.locator("dialog[open]").count() == 0
    assert [label.note for label in labels_of(project)] == ["", "", ""]
    assert set(drafts_of(project)) == {""}


def test_skip_takes_a_ready_reason_by_key_or_a_free_one_and_undo_takes_it_back(
    tmp_path: Path, serve: Serve, sit: Sit
) -> None:
    project = make_project(tmp_path / "p.db", pairs(3))
    ada = sit(serve(project))
    first, first_prompt = ada.shown, ada.prompt
    ada.page.keyboard.press("s")
    ada.page.keyboard.press("2")
    second = ada.ready(first)
    ada.page.keyboard.press("s")
    ada.page.get_by_label("Another reason").fill("needs a lawyer")
    ada.page.keyboard.press("Enter")
    ada.ready(second)
    assert [label.skip_reason for label in labels_of(project)] == ["The prompt is unclear", "needs a lawyer"]
    ada.press("u")
    ada.press("u")
    assert ada.prompt == first_prompt
    assert labels_of(project) == []
    ada.page.keyboard.press("s")
    ada.page.keyboard.press("Escape")
    ada.press("0")
    assert [label.value for label in labels_of(project)] == ["tie"]


def test_two_windows_of_one_person_double_nothing(tmp_path: Path, serve: Serve, sit: Sit) -> None:
    project = make_project(tmp_path / "p.db", pairs(6))
    server = serve(project)
    one, two = sit(server), sit(server)
    assert one.shown == two.shown
    stale = two.shown
    one.press("1")
    two.press("2")
    assert two.shown == one.shown
    assert "another window" in two.hint
    assert labelled_presentations(project) == [stale.split(":")[0]]
    two.press("1")
    one.press("u")
    assert len(labelled_presentations(project)) == 2
    assert one.shown == two.shown


HOSTILE = {
    "script": "<script>alert(1)</script></div><script>alert(2)</script>",
    "handler": '<img src=x onerror="alert(3)"><svg onload=alert(4)>',
    "pictures": "![x](https://pictures.invalid/a.png) <img src='https://pictures.invalid/b.png'>",
    "styles": "<style>*{background:url(https://pictures.invalid/c.png)}</style><link href=//x.invalid>",
    "markdown": "It costs $5 and $10, $x$, **b**, __init__, :red[x]\n# no\n3. three\n1. one\n\n   \n\tend  ",
    "entities": "&lt;b&gt; &amp;amp; {{ 7*7 }} <!-- c --> ]]> \r\n old line end",
    "arabic": "مرحبا بالعالم (1) abc",
    "hebrew": "שלום עולם, 3 > 2",
    "cjk": "回答は「はい」です。中文句子,没有空格。",
    "override": "safe \u202edesrever\u202c \u2066isolated\u2069 zero\u200bwidth \ufeffmark",
    "emoji": "👨\u200d👩\u200d👧 👍🏽 🇺🇳 é e\u0301",
    "long": "x" * 100_000,
}


def test_hostile_texts_are_shown_to_the_letter(tmp_path: Path, serve: Serve, sit: Sit) -> None:
    items = []
    for name, text in HOSTILE.items():
        responses = (Response("A", "one", text, 0), Response("B", "two", f"[{text}]", 1))
        items.append(Item(name, name, "pairwise", f"{name}: {text}", responses, context=text))
    project = make_project(tmp_path / "p.db", items)
    ada = sit(serve(project), "<b>Ada</b> \u202e $x$")
    assert visible("<b>Ada</b> \u202e $x$") in ada.page.locator(".jc-name").all_text_contents()
    for _ in items:
        name = ada.prompt.split(":")[0]
        shown = visible(HOSTILE[name])
        assert ada.prompt == f"{name}: {shown}"
        assert sorted(ada.texts) == sorted([shown, f"[{shown}]"])
        assert ada.page.locator(".jc-item :is(img, script, svg, style, a, b)").count() == 0
        assert ada.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert ada.page.get_by_role("button", name="First").is_visible()
        ada.press("1")
    assert ada.dialogs == []
    hosts = {
        re.sub(r"^\w+://([^/]*).*", r"\1", url)
        for url in ada.requests
        if not url.startswith(("data:", "blob:"))
    }
    assert hosts == {f"127.0.0.1:{ada.server.port}"}
    assert all(url.startswith(f"blob:{ada.server.url}") for url in ada.requests if url.startswith("blob:"))


def test_the_page_fits_a_phone(tmp_path: Path, serve: Serve, sit: Sit) -> None:
    responses = (Response("A", "one", "word" * 2000, 0), Response("B", "two", "line\n" * 500, 1))
    item = Item("long", "long", "pairwise", "A very long prompt. " * 200, responses)
    project = make_project(tmp_path / "p.db", [item, single(1)], criteria=(PAIRS, SINGLES))
    ada = sit(serve(project), width=390, height=844)
    for place in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
        assert ada.page.evaluate(f"{place}.scrollWidth") <= 390
    first, second = (ada.page.locator(".jc-side").nth(place).bounding_box() for place in (0, 1))
    assert first is not None
    assert second is not None
    assert second["y"] >= first["y"] + first["height"]
    for button in ada.page.locator(".bar button:visible").all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["width"] >= 44
        assert 0 <= box["x"] <= 390 - box["width"]
        assert box["y"] + box["height"] <= 844
    before = ada.shown
    ada.page.get_by_role("button", name="Second").click()
    ada.ready(before)
    assert len(labels_of(project)) == 1


def test_single_responses_pass_or_fail_and_the_choice_of_question_survives_a_reload(
    tmp_path: Path, serve: Serve, sit: Sit
) -> None:
    items = [*pairs(2), single(1), single(2)]
    project = make_project(tmp_path / "p.db", items, criteria=(PAIRS, SINGLES))
    ada = sit(serve(project))
    before = ada.shown
    ada.page.get_by_text("Single responses").click()
    ada.ready(before)
    ada.page.reload()
    ada.ready()
    assert len(ada.texts) == 1
    ada.page.keyboard.press("0")  # no answer here
    ada.press("1")
    ada.press("2")
    assert [label.value for label in labels_of(project, SINGLES)] == ["pass", "fail"]
    assert labels_of(project) == []


def test_where_ties_are_forbidden_there_is_no_tie(tmp_path: Path, serve: Serve, sit: Sit) -> None:
    strict = Criterion(PAIRS.id, "pairwise", PAIRS.question, ties=False)
    project = make_project(tmp_path / "p.db", pairs(2), criteria=(strict,))
    ada = sit(serve(project))
    assert ada.page.get_by_role("button", name="Tie").count() == 0
    ada.page.keyboard.press("0")
    ada.press("1")
    assert len(labels_of(project)) == 1


def test_mouse_tab_key_and_screen_reader_find_everything(tmp_path: Path, serve: Serve, sit: Sit) -> None:
    project = make_project(tmp_path / "p.db", pairs(5))
    ada = sit(serve(project))
    page = ada.page
    for name in ("Prompt", "First response", "Second response"):
        assert page.get_by_role("heading", name=name).count() == 1
        assert page.get_by_role("region", name=name).get_attribute("tabindex") == "0"
    assert page.get_by_role("heading", level=1).inner_text() == PAIRS.question
    names = ("First response is better", "Tie", "Second response is better", "Skip", "Note", "Undo", "Keys")
    assert all(page.get_by_role("button", name=name, exact=True).is_visible() for name in names)
    before = ada.shown
    page.get_by_role("button", name="First").dblclick()
    between = ada.ready(before)
    assert len(labels_of(project)) == 1
    page.get_by_role("button", name="Tie").focus()
    page.keyboard.press("Enter")
    ada.ready(between)
    assert [label.value for label in labels_of(project)][1] == "tie"
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="List of keys")
    assert "Undo the last answer" in keys.inner_text()
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    page.locator("summary", has_text="Rubric").click()
    assert page.locator(".jc-rubric dd").first.inner_text() == PAIRS.question
    ada.press("1")
    assert len(labels_of(project)) == 3
