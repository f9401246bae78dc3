"""Files as tables: JSONL, JSON, CSV, TSV and Parquet, told apart by content and suffix; READERS."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from labels.errors import UserError
from labels.text import flaw_of, is_missing, parse_json, trimmed, unescaped
from labels.types import Problem

DELIMITERS = (",", ";", "\t")
_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json"}
_NEWLINE = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the line (or entry) it starts at, and its fields as the file has them."""

    line: int
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Table:
    """A file's rows and what was left out; `typed` tells an empty text from a missing one."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    problems: tuple[Problem, ...] = ()
    unit: Literal["line", "entry"] = "line"
    typed: bool = True

    def place(self, line: int) -> str:
        """Where a row stands, in words."""
        return f"{self.name}, {self.unit} {line}"


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read but not yet understood."""

    name: str
    suffix: str
    data: bytes
    text: str


def read_table(path: Path | str) -> Table:
    """The rows of a file; UserError when it cannot be read as a whole, problems for single rows."""
    try:
        data = (path := Path(path)).read_bytes()
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror}.") from error
    suffix = path.suffix.lower()
    if data.startswith(b"PAR1") or suffix == ".parquet":
        return READERS["parquet"](Source(path.name, suffix, data, ""))
    source = Source(path.name, suffix, data, _decoded(path.name, data))
    return READERS[_format(source)](source)


def _decoded(name: str, data: bytes) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        # Bytes that are no UTF-8 become lone surrogates, which cost their row and no other.
        text = data.decode(encoding, "surrogateescape")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{name} is broken {encoding} at byte {error.start + 1}; save it as UTF-8."
        ) from error
    if not text.strip():
        raise UserError(f"{name} is empty.")
    if 4 * text.count("\0") > len(text):
        raise UserError(f"{name} is no text in UTF-8 (it is full of NUL characters); save it as UTF-8.")
    return text


def _format(source: Source) -> str:
    start = source.text.lstrip()
    looks_like_json = start[0] in "[{"
    lines = [line for line in _NEWLINE.split(start) if line.strip()]
    if looks_like_json and _is_json(start):
        alone = start[0] == "{" and len(lines) == 1 and _SUFFIXES.get(source.suffix) == "jsonl"
        return "jsonl" if alone else "json"
    if start[0] == "{" and any(_is_json(line) for line in lines[:20]):
        return "jsonl"
    return _SUFFIXES.get(source.suffix, "json" if looks_like_json else "csv")


def _is_json(text: str) -> bool:
    try:
        value = parse_json(text)
    except ValueError:
        return False
    return isinstance(value, dict | list)


def _table(source: Source, rows: Iterable[tuple[int, object]], *, unit: Literal["line", "entry"]) -> Table:
    """A table of JSON values, each an object or the text of what is wrong with it."""
    good: list[Row] = []
    problems: list[Problem] = []
    for line, value in rows:
        flaw = flaw_of(value) if isinstance(value, dict) else str(value)
        if flaw:
            problems.append(Problem(f"{source.name}, {unit} {line}", f"The {unit} {flaw}."))
        elif isinstance(value, dict):
            good.append(Row(line, value))
    columns = tuple(dict.fromkeys(name for row in good for name in row.fields))
    return Table(source.name, columns, tuple(good), tuple(problems), unit=unit)


def _read_jsonl(source: Source) -> Table:
    lines = enumerate(_NEWLINE.split(source.text), start=1)
    return _table(source, ((n, _object(line)) for n, line in lines if line.strip()), unit="line")


def _object(line: str) -> object:
    try:
        value = parse_json(line)
    except ValueError as error:
        return str(error)
    return value if isinstance(value, dict) else "is no JSON object"


def _read_json(source: Source) -> Table:
    try:
        value = parse_json(source.text)
    except ValueError as error:
        raise UserError(f"{source.name} {error}; mend it or write one object to a line (.jsonl).") from error
    rows = value if isinstance(value, list) else _only_list(source.name, value)
    objects = (entry if isinstance(entry, dict) else "is no JSON object" for entry in rows)
    return _table(source, enumerate(objects, start=1), unit="entry")


def _only_list(name: str, value: object) -> Sequence[object]:
    """The one list of objects that a JSON object holds; the object itself where it holds none."""
    if not isinstance(value, dict):
        raise UserError(f"{name} holds neither a list of objects nor an object.")
    lists = {k: v for k, v in value.items() if isinstance(v, list) and v and isinstance(v[0], dict)}
    if len(lists) > 1:
        raise UserError(f"{name} holds several lists of objects ({', '.join(lists)}); keep one to a file.")
    return next(iter(lists.values()), [value])


@dataclass(frozen=True, slots=True)
class _Record:
    line: int
    cells: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A delimited text read in one way: its header, its records, and how many do not fit."""

    header: tuple[str, ...]
    records: tuple[_Record, ...]

    @property
    def misfits(self) -> int:
        return sum(len(record.cells) != len(self.header) for record in self.records)


def _records(lines: Sequence[str], delimiter: str, *, quoting: bool) -> Iterator[_Record]:
    """The records of delimited lines; a quotation mark out of place costs its own line only."""
    start = 0
    style: Literal[0, 3] = csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE
    while start < len(lines):
        rest = map(lines.__getitem__, range(start, len(lines)))
        reader = csv.reader(rest, delimiter=delimiter, strict=True, quoting=style)
        try:
            base = start
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield _Record(start + 1, tuple(cells))
                start = base + reader.line_num
        except csv.Error:
            yield _Record(start + 1, error="has a quotation mark that is not closed as CSV has it")
            start += 1


def _reading(lines: Sequence[str], delimiter: str, *, quoting: bool, most: int | None = None) -> _Reading:
    records = tuple(islice(_records(lines, delimiter, quoting=quoting), most))
    return _Reading(records[0].cells if records else (), records[1:])


def _delimiter(lines: Sequence[str]) -> str:
    def fit(delimiter: str) -> tuple[bool, float, int]:
        reading = _reading(lines, delimiter, quoting=True, most=100)
        width = len(reading.header)
        return width > 1, -reading.misfits / max(1, len(reading.records)), width

    return max(DELIMITERS, key=fit)


def _best_reading(lines: Sequence[str], delimiter: str) -> _Reading:
    """With quoting as CSV has it, or without where only then the widths fit the header."""
    quoted = _reading(lines, delimiter, quoting=True)
    plain = _reading(lines, delimiter, quoting=False)
    # In a TSV two stray quotes may swallow whole lines and still fit: more rows is then the truth.
    swallowed = delimiter == "\t" and len(plain.records) > len(quoted.records)
    if plain.misfits < quoted.misfits or (plain.misfits == quoted.misfits and swallowed):
        same_width = len(plain.header) == len(quoted.header)
        return _Reading(quoted.header if same_width else plain.header, plain.records)
    return quoted


@contextmanager
def _long_fields() -> Iterator[None]:
    """The csv module refuses fields over 131,072 characters unless told otherwise."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _read_delimited(source: Source) -> Table:
    lines = list(io.StringIO(source.text, newline=""))
    with _long_fields():
        reading = _best_reading(lines, _delimiter(lines))
    columns = _header(source.name, reading.header)
    _check_widths(source.name, reading)
    good: list[Row] = []
    problems: list[Problem] = []
    for record in reading.records:
        fields = dict(zip(columns, map(unescaped, record.cells), strict=False))
        flaw = record.error or _misfit(record, len(columns)) or flaw_of(fields)
        if flaw:
            problems.append(Problem(f"{source.name}, line {record.line}", f"The line {flaw}."))
        else:
            good.append(Row(record.line, fields))
    return Table(source.name, columns, tuple(good), tuple(problems), typed=False)


def _header(name: str, cells: Sequence[str]) -> tuple[str, ...]:
    columns = tuple(trimmed(cell) or f"column {n}" for n, cell in enumerate(cells, start=1))
    if not columns or (flaw := flaw_of(dict.fromkeys(columns))):
        raise UserError(f"The header of {name} {flaw if columns else 'cannot be read'}.")
    _check_columns(name, columns)
    return columns


def _check_columns(name: str, columns: Sequence[str]) -> None:
    twice = [column for column in dict.fromkeys(columns) if columns.count(column) > 1]
    if twice:
        raise UserError(f"The header of {name} names {', '.join(map(repr, twice))} twice; rename one.")


def _misfit(record: _Record, width: int) -> str:
    have = len(record.cells)
    return "" if have == width else f"has {have} fields where the header names {width}"


def _check_widths(name: str, reading: _Reading) -> None:
    """One clear error where every row has the same wrong width: the columns would be shifted."""
    widths = {len(record.cells) for record in reading.records}
    have = widths.pop() if len(widths) == 1 else None
    if have and have != len(reading.header):
        shifted = f"names {len(reading.header)} columns, but every row has {have} fields; mend one of them"
        raise UserError(f"The header of {name} {shifted}.")


def _read_parquet(source: Source) -> Table:
    import pandas as pd

    try:
        frame = pd.read_parquet(io.BytesIO(source.data), dtype_backend="pyarrow")
    except (OSError, ValueError, NotImplementedError, KeyError, TypeError) as error:
        raise UserError(f"{source.name} cannot be read as Parquet: {str(error)[:200]}") from error
    columns = [trimmed(str(column)) for column in frame.columns]
    _check_columns(source.name, columns)
    cells = [[_plain(cell) for cell in frame.iloc[:, k].tolist()] for k in range(len(columns))]
    rows = enumerate((dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)), start=1)
    return _table(source, rows, unit="entry")


def _plain(cell: object) -> object:
    """A cell without pandas' NA; a struct has a key for each name in the file, used in this row or not."""
    if isinstance(cell, dict):
        return {trimmed(str(k)): v for k, v in cell.items() if not is_missing(v)}
    return None if is_missing(cell) else cell


READERS: Mapping[str, Callable[[Source], Table]] = {
    "jsonl": _read_jsonl,
    "json": _read_json,
    "csv": _read_delimited,
    "tsv": _read_delimited,
    "parquet": _read_parquet,
}
