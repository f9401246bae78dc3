from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, label, make_project, pair, single

from labels.desk import Answer, Desk
from labels.rubric import make_rubric
from labels.store import LabelStore
from labels.types import BlindItem, Choice


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "p.db", [pair(n) for n in range(40)])


def person(project: Path, name: str = "Ada") -> str:
    with LabelStore.open(project) as store:
        return store.annotator(name).id


def answer_next(project: Path, annotator: str, choice: Choice = "first") -> BlindItem | None:
    with Desk.open(project, PAIRS, annotator_id=annotator) as desk:
        item = desk.current()
        if item is not None:
            assert desk.save(Answer(item.presentation_id, item.revision, "answer", choice))
        return item


def test_an_answer_is_stored_as_the_side_that_stood_in_the_slot(project: Path) -> None:
    ada = person(project)
    for _ in range(12):
        answer_next(project, ada)
    with LabelStore.open(project) as store:
        labels = store.labels(PAIRS.id)
    assert [label.value for label in labels] == [label.first for label in labels]
    assert sorted(str(label.first) for label in labels) == ["A"] * 6 + ["B"] * 6


def test_a_second_save_for_the_same_presentation_writes_nothing(project: Path) -> None:
    ada = person(project)
    item = answer_next(project, ada)
    assert item is not None
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        assert not desk.save(Answer(item.presentation_id, item.revision, "answer", "second"))
        assert desk.progress().done == 1


def test_another_persons_presentation_cannot_be_answered(project: Path) -> None:
    ada, ben = person(project), person(project, "Ben")
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        item = desk.current()
    assert item is not None
    with Desk.open(project, PAIRS, annotator_id=ben) as desk:
        assert not desk.save(Answer(item.presentation_id, item.revision, "answer", "first"))


def test_the_item_in_view_stays_in_the_same_order_until_it_is_answered(project: Path) -> None:
    ada = person(project)
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        first = desk.current()
    with LabelStore.open(project) as store:
        store.add_items([pair(n) for n in range(100, 120)])
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        assert desk.current() == first


def test_undo_brings_back_the_item_with_its_note_and_keeps_every_row(project: Path) -> None:
    ada = person(project)
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        item = desk.current()
        assert item is not None
        desk.keep_note(item.presentation_id, "both are vague")
        desk.save(Answer(item.presentation_id, item.revision, "answer", "first"))
        assert desk.undo()
        again = desk.current()
        assert again is not None
        assert (again.presentation_id, again.texts) == (item.presentation_id, item.texts)
        assert desk.note(item.presentation_id) == "both are vague"
        desk.save(Answer(again.presentation_id, again.revision, "answer", "second"))
    with LabelStore.open(project) as store:
        labels = store.labels(PAIRS.id)
        events = [row["event"] for row in store.db.query("SELECT event FROM labels ORDER BY id")]
    assert [label.note for label in labels] == ["both are vague"]
    assert events == ["answer", "undo", "answer"]


def test_undo_goes_back_one_answer_after_the_other(project: Path) -> None:
    ada = person(project)
    shown = [answer_next(project, ada) for _ in range(3)]
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        assert [desk.undo() for _ in range(4)] == [True, True, True, False]
        first = desk.current()
    assert first is not None
    assert shown[0] is not None
    assert first.presentation_id == shown[0].presentation_id


def test_a_skip_keeps_its_reason_and_counts_as_done(project: Path) -> None:
    ada = person(project)
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        item = desk.current()
        assert item is not None
        desk.save(Answer(item.presentation_id, item.revision, "skip", skip_reason="not my field"))
        assert desk.progress().done == 1
    with LabelStore.open(project) as store:
        skipped = store.labels(PAIRS.id)[0]
    assert (skipped.value, skipped.skip_reason) == (None, "not my field")


def test_after_all_items_nothing_is_left_and_the_repeats_came_mirrored(project: Path) -> None:
    ada, shown = person(project), 0
    while answer_next(project, ada) is not None:
        shown += 1
    assert shown == 43
    with LabelStore.open(project) as store:
        originals = {label.item_id: label for label in store.labels(PAIRS.id)}
        repeats = store.repeat_labels(PAIRS.id)
    assert len(originals) == 40
    assert len(repeats) == 3
    assert all(repeat.first != originals[repeat.item_id].first for repeat in repeats)


def test_an_item_with_an_imported_label_is_not_asked_again(tmp_path: Path) -> None:
    items = [pair(1), pair(2)]
    project = make_project(tmp_path / "p.db", items, [label(items[0], "Ada", "A")])
    shown = answer_next(project, person(project))
    assert shown is not None
    assert shown.prompt == "question 2"
    assert answer_next(project, person(project)) is None


def test_items_labelled_in_a_file_count_as_done(tmp_path: Path) -> None:
    items = [pair(n) for n in range(4)]
    project = make_project(tmp_path / "p.db", items, [label(item, "Ada", "A") for item in items[:3]])
    ada = person(project)
    answer_next(project, ada)
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        assert desk.current() is None
        assert (desk.progress().done, desk.progress().total, desk.progress().skipped) == (4, 4, 0)


def test_a_label_keeps_the_rubric_version_that_was_in_view(project: Path) -> None:
    ada = person(project)
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        item, in_view = desk.current(), desk.store.rubric(PAIRS.id)
        desk.store.add_rubric(make_rubric(PAIRS, ("another text", "", "", "")))
        assert item is not None
        desk.save(Answer(item.presentation_id, item.revision, "answer", "first", rubric_id=in_view.id))
        assert desk.store.labels(PAIRS.id)[0].rubric_id == in_view.id
        assert desk.store.rubric(PAIRS.id).id != in_view.id


def test_a_label_after_a_reveal_says_what_was_seen(project: Path) -> None:
    ada = person(project)
    with LabelStore.open(project) as store:
        store.reveal(ada, PAIRS.id, item_ids=[f"i{n:04}" for n in range(40)], saw="verdict")
    answer_next(project, ada)
    with LabelStore.open(project) as store:
        assert store.labels(PAIRS.id)[0].saw == "verdict"


def test_a_blind_item_holds_texts_and_nothing_that_tells(project: Path) -> None:
    with Desk.open(project, PAIRS, annotator_id=person(project)) as desk:
        shown = repr(desk.current())
    assert "answer" in shown
    assert not any(secret in shown for secret in ("alpha", "beta", "pair-", "i00", PAIRS.id))


def test_a_single_response_passes_or_fails(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [single(1)], criteria=[SINGLES])
    with Desk.open(project, SINGLES, annotator_id=person(project)) as desk:
        item = desk.current()
        assert item is not None
        assert len(item.texts) == 1
        desk.save(Answer(item.presentation_id, item.revision, "answer", "fail"))
    with LabelStore.open(project) as store:
        assert store.labels(SINGLES.id)[0].value == "fail"


def test_two_tabs_that_ask_at_once_are_shown_one_and_the_same_item(project: Path) -> None:
    ada, seen = person(project), []

    def look() -> None:
        with Desk.open(project, PAIRS, annotator_id=ada) as desk:
            seen.append(desk.current())

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len(set(seen)) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE labels SET value = 'B'",
        "DELETE FROM labels",
        "UPDATE presentations SET first = 'B'",
    ],
)
def test_what_a_person_said_and_saw_cannot_be_changed(project: Path, statement: str) -> None:
    answer_next(project, person(project))
    with LabelStore.open(project) as store, pytest.raises(sqlite3.IntegrityError):
        store.db.execute(statement)


def test_a_label_imported_for_the_item_in_view_closes_it_and_the_person_goes_on(project: Path) -> None:
    ada = person(project)
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        item = desk.current()
    assert item is not None
    with LabelStore.open(project) as store:
        (shown,) = [i for i in store.items() if i.prompt == item.prompt]
        store.add_labels([label(shown, "Ada", "tie")])
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        assert not desk.save(Answer(item.presentation_id, item.revision, "answer", "first"))
        following = desk.current()
        assert following is not None
        assert following.presentation_id != item.presentation_id
        assert desk.save(Answer(following.presentation_id, following.revision, "answer", "first"))
        assert (desk.progress().done, desk.progress().labelled) == (2, 2)


def test_a_label_may_be_imported_for_an_item_whose_answer_was_taken_back(project: Path) -> None:
    ada = person(project)
    item = answer_next(project, ada)
    assert item is not None
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        desk.undo()
    with LabelStore.open(project) as store:
        (shown,) = [i for i in store.items() if i.prompt == item.prompt]
        added, against = store.add_labels([label(shown, "Ada", "tie")])
        assert (added.new, against) == (1, [])
        assert [said.value for said in store.labels(PAIRS.id)] == ["tie"]


def test_an_undo_from_a_window_that_shows_another_item_takes_nothing_back(project: Path) -> None:
    ada = person(project)
    first = answer_next(project, ada)
    answer_next(project, ada)
    assert first is not None
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        desk.current()
        assert not desk.undo(first.presentation_id)
        assert desk.progress().done == 2


def test_the_last_page_counts_items_and_not_their_repeats(project: Path) -> None:
    ada = person(project)
    while answer_next(project, ada) is not None:
        pass
    with Desk.open(project, PAIRS, annotator_id=ada) as desk:
        assert (desk.progress().done, desk.progress().labelled, desk.progress().skipped) == (43, 40, 0)
