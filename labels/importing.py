"""From tables to items and labels: what a row says, and a problem with its place where it says nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from labels.columns import LISTED, SAW, TIES, Words, named
from labels.errors import UserError
from labels.kinds import KINDS
from labels.sides import ItemDraft
from labels.tables import Row, Table
from labels.text import any_text, as_text, clean, key, person, quoted, trimmed, whole
from labels.types import Criterion, Item, KindName, Problem, Response, Saw, Side, Value

DraftT = TypeVar("DraftT")


class RowError(ValueError):
    """Why one row cannot be used; it becomes a problem with the row's place."""


@dataclass(frozen=True, slots=True)
class LabelDraft:
    """A label as a file has it: whose, about which item, and the word that was written."""

    place: str
    line: int
    item: str
    annotator: str
    said: str
    note: str = ""
    skip_reason: str = ""
    saw: Saw = "nothing"


@dataclass(frozen=True, slots=True)
class Lookup:
    """The items that a file may speak of, by their name and by their id, and the criterion of each kind."""

    items: Mapping[str, tuple[Item, ...]]
    criteria: Mapping[KindName, Criterion]

    def find(self, said: str, understands: Callable[[Item], bool]) -> Item:
        """The item of this name; where a pair and a single share it, the one that can be so rated."""
        found = self.items.get(said) or self.items.get(whole(said)) or ()
        fits = [item for item in found if understands(item)] if len(found) > 1 else list(found)
        if not found:
            raise RowError(f"There is no item {quoted(said)} in the project; import its items first.")
        if len(fits) != 1:
            raise RowError(f"{quoted(said)} names {len(found)} items; write the item's own id in its place.")
        return fits[0]


def lookup(items: Iterable[Item], criteria: Mapping[KindName, Criterion]) -> Lookup:
    """Where to find the item that a label or a verdict names."""
    by_name: dict[str, tuple[Item, ...]] = {}
    for item in (item for item in items if item.kind in criteria):
        for name in dict.fromkeys((item.name, item.id)):
            by_name[name] = (*by_name.get(name, ()), item)
    return Lookup(by_name, criteria)


def rows_as(
    table: Table, read: Callable[[Row], DraftT], problems: Sequence[Problem]
) -> tuple[list[DraftT], list[Problem]]:
    """Each row as `read` reads it, and a problem for each row that it cannot use."""
    drafts: list[DraftT] = []
    left_out = list(problems)
    for row in table.rows:
        try:
            drafts.append(read(row))
        except RowError as reason:
            left_out.append(Problem(table.place(row.line), str(reason)))
    return drafts, left_out


def read_items(
    table: Table, mapping: Mapping[str, str], *, kind: KindName | None
) -> tuple[list[ItemDraft], list[Problem]]:
    """The items of a table, each once; without a kind, two responses make a pair and one a single."""
    one_is_there = {"responses", "answer"} & mapping.keys() or {"answer_a", "answer_b"} <= mapping.keys()
    if table.columns and not one_is_there:  # without any columns each line is a problem of its own
        ask = "say which with --map answer=COLUMN, or --map answer_a=COLUMN --map answer_b=COLUMN"
        raise UserError(f"{table.name} has no column for a response; {ask}. {named(table.columns)}")
    drafts, problems = rows_as(table, lambda row: _item(table, row, mapping, kind=kind), table.problems)
    kept: dict[tuple[KindName, str], ItemDraft] = {}
    for draft in drafts:
        first = kept.setdefault((draft.kind, draft.name), draft)
        if first.content != draft.content:
            text = f"The id {quoted(draft.name)} has another text at {first.place}; that one is kept."
            problems.append(Problem(draft.place, text))
    return list(kept.values()), problems


def _item(table: Table, row: Row, mapping: Mapping[str, str], *, kind: KindName | None) -> ItemDraft:
    responses = _responses(table, row, mapping)
    if len({system for system, _ in responses}) < len(responses):
        raise RowError(f"Both responses are by {quoted(responses[0][0])}; a pair needs two systems.")
    for system, _ in responses:
        if key(system) in TIES:
            raise RowError(f"A system is called {quoted(system)}, the word for a tie; rename it in the file.")
    mine: KindName = kind or ("binary" if len(responses) == 1 else "pairwise")
    if len(responses) != KINDS[mine].responses:
        raise RowError(f"{_count(len(responses))}, but a {mine} item has {KINDS[mine].responses}.")
    return ItemDraft(
        place=table.place(row.line),
        line=row.line,
        kind=mine,
        given=clean(row.fields.get(mapping.get("item_id", ""))) or "",
        prompt=_text(table, row, mapping["prompt"]) if "prompt" in mapping else "",
        responses=responses,
        context=any_text(row.fields.get(mapping.get("context", ""))),
        reference=any_text(row.fields.get(mapping.get("reference", ""))),
        group=clean(row.fields.get(mapping.get("group", ""))) or "",
        meta=_meta(row, mapping),
    )


def _count(responses: int) -> str:
    return f"There {'is' if responses == 1 else 'are'} {responses} response{'s' * (responses != 1)}"


def _responses(table: Table, row: Row, mapping: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    nested = row.fields.get(mapping.get("responses", ""))
    if isinstance(nested, Mapping):
        return tuple((system or "unnamed", _usable(table, text, system)) for system, text in nested.items())
    if nested is not None and "answer" not in mapping:
        raise RowError(f"The column {mapping['responses']!r} is no object of systems and their texts.")
    both = {"answer_a", "answer_b"} <= mapping.keys()
    cells = [row.fields.get(mapping.get(name, "")) for name in ("answer_a", "answer_b")]
    if both and ("answer" not in mapping or any(clean(cell) is not None for cell in cells)):
        return tuple(_response(table, row, mapping, suffix=suffix) for suffix in ("_a", "_b"))
    if "answer" not in mapping:
        column = mapping.get("responses", "responses")
        raise RowError(f"The column {column!r} is empty; the item has no response.")
    return (_response(table, row, mapping, suffix=""),)


def _response(table: Table, row: Row, mapping: Mapping[str, str], *, suffix: str) -> tuple[str, str]:
    column = mapping[f"answer{suffix}"]
    if f"model{suffix}" not in mapping:
        return column, _text(table, row, column)
    system = clean(row.fields.get(mapping[f"model{suffix}"]))
    if system is None:
        raise RowError(f"The column {mapping[f'model{suffix}']!r} does not say who wrote the response.")
    return system, _text(table, row, column)


def _text(table: Table, row: Row, column: str) -> str:
    return _usable(table, row.fields.get(column), column)


def _usable(table: Table, value: object, column: str) -> str:
    try:
        text = as_text(value)
    except ValueError as error:
        raise RowError(f"{quoted(column)} {error}; write it in quotation marks.") from error
    if text is None:
        raise RowError(f"The text of {quoted(column)} is missing.")
    if not text and not table.typed:
        raise RowError(
            f'{quoted(column)} is empty; only JSON, as "", tells an empty text from a missing one.'
        )
    return text


def _meta(row: Row, mapping: Mapping[str, str]) -> dict[str, str]:
    """All that no field takes, as text."""
    taken = {column for field, column in mapping.items() if field != "meta"}
    found: dict[str, str] = {}
    for name, value in row.fields.items():
        if name == mapping.get("meta") and isinstance(value, Mapping):
            found |= {str(k): any_text(v) for k, v in value.items()}
        elif name not in taken:
            found[name] = any_text(value)
    return {name: text for name, text in found.items() if text}


def read_labels(table: Table, mapping: Mapping[str, str]) -> tuple[list[LabelDraft], list[Problem]]:
    """The labels of a table as written; without a column of names they are by "annotator 1"."""
    need(table, mapping, ("item_id", "label"))
    return rows_as(table, lambda row: _label(table, row, mapping), table.problems)


def need(table: Table, mapping: Mapping[str, str], fields: Sequence[str]) -> None:
    """UserError when the table has no column for one of the fields."""
    for field in fields if table.columns else ():
        if field not in mapping:
            ask = f"say which with --map {field}=COLUMN"
            raise UserError(f"{table.name} has no column for {field}; {ask}. {named(table.columns)}")


def cell(row: Row, mapping: Mapping[str, str], field: str) -> str:
    """A field that must be there, as `clean`."""
    said = clean(row.fields.get(mapping[field]))
    if said is None:
        raise RowError(f"The {field} is missing (column {mapping[field]!r}).")
    return said


def rater(row: Row, mapping: Mapping[str, str], field: str) -> str:
    """Who rated, from their column; a file without such a column is by one rater."""
    if field not in mapping:
        return f"{field} 1"
    return person(cell(row, mapping, field)) or ""


def _label(table: Table, row: Row, mapping: Mapping[str, str]) -> LabelDraft:
    texts = {f: any_text(row.fields.get(mapping.get(f, ""))) for f in ("note", "skip_reason", "saw")}
    said = "" if texts["skip_reason"] else cell(row, mapping, "label")
    names = (cell(row, mapping, "item_id"), rater(row, mapping, "annotator"))
    seen = SAW.get(key(texts["saw"]))
    if seen is None:
        raise RowError(f"{quoted(texts['saw'])} is not understood as seen; use nothing, verdict or label.")
    return LabelDraft(
        table.place(row.line), row.line, *names, said, texts["note"], texts["skip_reason"], seen
    )


def system_response(item: Item, said: str) -> Response | None:
    """The response by the system of this name, to the letter or else in any case."""
    exact = [r for r in item.responses if r.system == trimmed(said)]
    folded = [r for r in item.responses if r.system.casefold() == trimmed(said).casefold()]
    found = exact or folded
    return found[0] if len(found) == 1 else None


def listed_side(item: Item, said: str) -> Side | None:
    """The side of the response that a word like A, 2 or answer_b means by its place in the file."""
    place = LISTED.get(key(said))
    return next((r.side for r in item.responses if r.listed == place), None)


def resolve_label(item: Item, said: str, *, words: Words) -> Value:
    """What a written label says about the sides; RowError, with the words that are understood, if nothing."""
    value = words.get(key(said)) if item.kind == "binary" else _pairwise_value(item, said)
    if value is None:
        raise RowError(f"The label {quoted(said)} is not understood; {understood(item, words)}.")
    return value


def understood(item: Item, words: Words) -> str:
    """The words that an item's label or vote may be."""
    if item.kind == "binary":
        return f"understood are {', '.join(words)} (--pass WORD and --fail WORD add others)"
    systems = ", ".join(quoted(response.system) for response in item.responses)
    return f"understood are {systems}, tie, and A or B, 1 or 2 for the first or the second response listed"


def item_in_words(item: Item) -> str:
    """Whose response stands on which side."""
    if item.kind == "binary":
        return f"a single response by {item.responses[0].system}"
    return ", ".join(f"{r.side} is {r.system}" for r in sorted(item.responses, key=lambda r: r.side))


def in_words(item: Item, value: Value) -> str:
    """A value with the name of the system that it prefers."""
    return f"{item.response(value).system} is better" if value in ("A", "B") else value


def _pairwise_value(item: Item, said: str) -> Value | None:
    response = system_response(item, said)
    if response is not None:
        return response.side
    return "tie" if key(said) in TIES else listed_side(item, said)
