"""Conversations of several turns become one text, for people and judge alike."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from calibration.cli import cli
from labels.store import LabelStore
from labels.turns import SPEAKERS, conversation

speakers = st.sampled_from(sorted(SPEAKERS))
anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.tuples(speakers, st.text()), min_size=2, max_size=6))
def test_every_turn_is_there_to_the_letter_and_in_order(turns: list[tuple[str, str]]) -> None:
    text = conversation([{"role": role, "content": content} for role, content in turns])
    assert text is not None
    place = 0
    for role, content in turns:
        place = text.index(f"{SPEAKERS[role]}:\n{content}", place) + 1


@given(anything)
def test_whatever_is_no_conversation_is_left_alone(value: object) -> None:
    text = conversation(value)
    assert text is None or isinstance(value, list)


def test_a_single_turn_of_the_assistant_is_its_text_alone() -> None:
    assert conversation([{"role": "assistant", "content": "Because."}]) == "Because."
    assert conversation([{"from": "human", "value": "Why?"}]) == "User:\nWhy?"


def test_content_in_parts_is_taken_when_all_are_texts() -> None:
    parts = [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]
    assert conversation([{"role": "user", "content": parts}]) == "User:\none two"
    picture = [*parts, {"type": "image_url", "image_url": {"url": "x"}}]
    assert conversation([{"role": "user", "content": picture}]) is None


def test_an_import_takes_conversations_as_prompts_and_responses(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    answers = {"a": "x", "b": [{"role": "assistant", "content": "y"}]}
    item = {"id": "c1", "prompt": [*turns, {"role": "user", "content": "Why?"}], "responses": answers}
    file, project = tmp_path / "items.jsonl", tmp_path / "p.db"
    file.write_text(json.dumps(item), encoding="utf-8")
    for command in (["new", project], ["import", project, "--items", file, "--yes"]):
        result = CliRunner().invoke(cli, [str(part) for part in command], catch_exceptions=False)
        assert result.exit_code == 0, result.output
    with LabelStore.open(project) as store:
        (kept,) = store.items()
    assert kept.prompt == "User:\nHi\n\nAssistant:\nHello\n\nUser:\nWhy?"
    assert [response.text for response in kept.responses] == ["x", "y"]
