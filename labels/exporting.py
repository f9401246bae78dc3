"""Writers by format: rows of plain values to a file; WRITERS."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from labels.kinds import KINDS
from labels.types import Annotator, Item, Label

Row = Mapping[str, object]


def item_rows(items: Sequence[Item]) -> list[Row]:
    """Items in the project's own normal form, responses in the order of the imported file."""
    return [_item_row(item) for item in items]


def label_rows(labels: Sequence[Label], items: Mapping[str, Item], people: Sequence[Annotator]) -> list[Row]:
    """Labels with the order in which the item was shown, the note, and what the person had seen."""
    names = {person.id: person.name for person in people}
    return [_label_row(label, items[label.item_id], names[label.annotator_id]) for label in labels]


def said_of(item: Item, value: str | None) -> str | None:
    """A value as files say it: the winning system's name, or tie, pass or fail as they are."""
    return item.response(value).system if value in ("A", "B") else value  # type: ignore[arg-type]


def write_jsonl(rows: Sequence[Row], path: Path) -> None:
    """One JSON object to a line."""
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """A table with a header; a cell that a spreadsheet would take for a formula gets an apostrophe."""
    flat = [_flat(row) for row in rows]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, columns, restval="")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in flat)


def write_parquet(rows: Sequence[Row], path: Path) -> None:
    """A Parquet table, for other tools of analysis."""
    import pandas as pd

    pd.DataFrame([_flat(row) for row in rows]).to_parquet(path, index=False)


WRITERS: Mapping[str, Callable[[Sequence[Row], Path], None]] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "parquet": write_parquet,
}


def _item_row(item: Item) -> Row:
    listed = sorted(item.responses, key=lambda response: response.listed)
    row: dict[str, object] = {"id": item.name, "prompt": item.prompt}
    row["responses"] = {response.system: response.text for response in listed}
    texts = {"context": item.context, "reference": item.reference, "group": item.group}
    row |= {name: text for name, text in texts.items() if text}
    return row | ({"meta": dict(item.meta)} if item.meta else {})


def _label_row(label: Label, item: Item, annotator: str) -> Row:
    pairwise = KINDS[item.kind].responses == 2
    row: dict[str, object] = {"item_id": item.name, "annotator": annotator}
    row["label"] = said_of(item, label.value)
    if pairwise:
        row["shown_first"] = said_of(item, label.first)
    return row | {
        "skip_reason": label.skip_reason,
        "note": label.note,
        "saw": label.saw,
        "seconds": label.seconds,
        "rubric_version": label.rubric_id,
        "created_at": label.at,
        "source": label.source,
    }


def _flat(row: Row) -> dict[str, object]:
    """Nested values spread over columns: responses as answer_a, model_a and so on, meta by its names."""
    flat = {name: value for name, value in row.items() if name not in ("responses", "meta", "order")}
    responses = row.get("responses")
    if isinstance(responses, dict):
        suffixes = ("_a", "_b") if len(responses) == 2 else ("",)
        for suffix, (system, text) in zip(suffixes, responses.items(), strict=True):
            flat |= {f"answer{suffix}": text, f"model{suffix}": system}
    order = row.get("order")
    if isinstance(order, list):
        flat["order"] = json.dumps(order, ensure_ascii=False)
    meta = row.get("meta")
    named = dict(meta) if isinstance(meta, dict) else {}
    return flat | {f"meta_{name}" if name in flat else name: value for name, value in named.items()}


def _cell(value: object) -> object:
    dangerous = isinstance(value, str) and value.lstrip("'")[:1] in ("=", "+", "-", "@")
    return f"'{value}" if dangerous and value else value
