"""From written labels to sides: each person's label once per item, contradictions as problems."""

from __future__ import annotations

from collections.abc import Sequence

from labels.columns import Words
from labels.importing import LabelDraft, Lookup, RowError, in_words, resolve_label
from labels.text import quoted
from labels.types import ImportedLabel, Item, Problem


def resolve_labels(
    drafts: Sequence[LabelDraft], items: Lookup, *, words: Words
) -> tuple[dict[ImportedLabel, str], list[Problem]]:
    """Labels with their places, each person's once per item; contradictions are problems."""
    kept: dict[tuple[str, str], tuple[LabelDraft, ImportedLabel]] = {}
    problems: list[Problem] = []
    for draft in drafts:
        try:
            label = _resolved(draft, items, words=words)
            first, same = kept.setdefault((label.item_id, label.annotator), (draft, label))
            if same.value != label.value:
                raise RowError(_contradiction(draft, first))
        except RowError as reason:
            problems.append(Problem(draft.place, str(reason)))
    return {label: draft.place for draft, label in kept.values()}, problems


def label_in_words(item: Item, label: ImportedLabel) -> str:
    """What a label says about its item, in the names of the systems."""
    return in_words(item, label.value) if label.value else "skipped"


def _contradiction(draft: LabelDraft, first: LabelDraft) -> str:
    said = f"{draft.annotator} says {quoted(draft.said)} of {quoted(draft.item)} here"
    return f"{said} but {quoted(first.said)} at {first.place}; the first is kept."


def _resolved(draft: LabelDraft, items: Lookup, *, words: Words) -> ImportedLabel:
    if draft.skip_reason:
        item = items.find(draft.item, lambda _: True)
        skipped = (items.criteria[item.kind].id, item.id, draft.annotator, None)
        return ImportedLabel(*skipped, draft.note, skip_reason=draft.skip_reason, saw=draft.saw)
    item = items.find(draft.item, lambda item: _understands(item, draft.said, words))
    value = resolve_label(item, draft.said, words=words)
    criterion = items.criteria[item.kind]
    if value == "tie" and not criterion.ties:
        raise RowError("The label is a tie, but this project's question allows none.")
    return ImportedLabel(criterion.id, item.id, draft.annotator, value, draft.note, saw=draft.saw)


def _understands(item: Item, said: str, words: Words) -> bool:
    try:
        resolve_label(item, said, words=words)
    except RowError:
        return False
    return True
