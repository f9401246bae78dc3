"""Reading files as tables: every format, and every way in which files of the world are broken."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labels.errors import UserError
from labels.tables import READERS, Table, read_table
from labels.text import any_text, as_text, clean, is_missing, key, person, quoted

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def cells(table: Table) -> list[dict[str, object]]:
    return [dict(row.fields) for row in table.rows]


def reasons(table: Table) -> list[str]:
    return [f"{problem.place}: {problem.text}" for problem in table.problems]


HEADER = "item_id,prompt,answer\n"
ROWS = [{"id": "1", "a": "x"}, {"id": "2", "a": "y"}]
SAME = {
    "rows.jsonl": '{"id":"1","a":"x"}\n{"id":"2","a":"y"}\n',
    "rows.json": '[{"id":"1","a":"x"},\n {"id":"2","a":"y"}]',
    "wrapped.json": '{"version": 2, "rows": [{"id":"1","a":"x"},{"id":"2","a":"y"}], "tags": ["q"]}',
    "rows.csv": "id,a\n1,x\n2,y\n",
    "semicolon.csv": "id;a\n1;x\n2;y\n",
    "tab.csv": "id\ta\n1\tx\n2\ty\n",
    "rows.tsv": "id\ta\n1\tx\n2\ty\n",
    "no_end.csv": "id,a\n1,x\n2,y",
    "windows.csv": "id,a\r\n1,x\r\n2,y\r\n",
    "old_mac.csv": "id,a\r1,x\r2,y\r",
    "windows.jsonl": '{"id":"1","a":"x"}\r\n\r\n{"id":"2","a":"y"}\r\n',
    "blank_lines.csv": "\nid,a\n\n1,x\n , \n2,y\n\n",
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_rows_come_from_every_format(name: str, write: Write) -> None:
    table = read_table(write(name, SAME[name]))
    assert cells(table) == ROWS
    assert table.columns == ("id", "a")
    assert table.problems == ()


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_byte_order_mark_is_no_part_of_the_text(name: str, encoding: str, write: Write) -> None:
    mark = "\ufeff" if encoding.endswith(("le", "be")) else ""
    assert cells(read_table(write(name, (mark + SAME[name]).encode(encoding)))) == ROWS


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("lines.csv", SAME["rows.jsonl"]),
        ("lines.json", SAME["rows.jsonl"]),
        ("lines", SAME["rows.jsonl"]),
        ("list.jsonl", SAME["rows.json"]),
        ("list.csv", SAME["rows.json"]),
        ("table.txt", SAME["rows.csv"]),
        ("table", SAME["rows.tsv"]),
    ],
)
def test_the_content_tells_the_format_where_the_suffix_is_wrong(
    name: str, content: str, write: Write
) -> None:
    assert cells(read_table(write(name, content))) == ROWS


def test_a_csv_whose_header_begins_with_a_bracket_is_still_a_csv(write: Write) -> None:
    assert cells(read_table(write("a.csv", "[id],a\n1,x\n"))) == [{"[id]": "1", "a": "x"}]


def test_one_object_on_one_line_is_one_row(write: Write) -> None:
    text = '{"id":"1","tags":[{"k":"v"}]}'
    assert cells(read_table(write("one.jsonl", text))) == [{"id": "1", "tags": [{"k": "v"}]}]
    assert cells(read_table(write("one.json", '{"id":"1"}'))) == [{"id": "1"}]


def test_parquet_keeps_whole_numbers_texts_structs_and_missing_cells(tmp_path: Path) -> None:
    import pandas as pd

    path = tmp_path / "items.parquet"
    columns = {
        "id": pd.array([2**60 + 1, None], dtype="Int64"),
        "text": ["NaN", None],
        "responses": [{"a": "x", "b": "y"}, {"c": "z"}],
        "order": [["a", "b"], None],
    }
    pd.DataFrame(columns).to_parquet(path)
    table = read_table(path)
    first, second = cells(table)
    assert first == {"id": 2**60 + 1, "text": "NaN", "responses": {"a": "x", "b": "y"}, "order": ["a", "b"]}
    assert second == {"id": None, "text": None, "responses": {"c": "z"}, "order": None}
    assert table.place(table.rows[1].line) == "items.parquet, entry 2"
    assert cells(read_table(path.rename(tmp_path / "items.csv"))) == [first, second]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1 and then something else PAR1", b"id,a\n1,x\n"])
def test_a_broken_parquet_file_is_an_error_of_the_user(content: bytes, write: Write) -> None:
    with pytest.raises(UserError, match=r"broken\.parquet cannot be read as Parquet"):
        read_table(write("broken.parquet", content))


def test_a_broken_json_line_is_a_problem_with_its_number_and_nothing_else_is_lost(write: Write) -> None:
    lines = ['{"id":1}', '{"id":2', "[3]", '{"id":4,"id":5}', "", '{"id":6}']
    table = read_table(write("a.jsonl", "\n".join(lines)))
    assert cells(table) == [{"id": 1}, {"id": 6}]
    assert [row.line for row in table.rows] == [1, 6]
    assert reasons(table) == [
        "a.jsonl, line 2: The line is not valid JSON (Expecting ',' delimiter at column 8).",
        "a.jsonl, line 3: The line is no JSON object.",
        "a.jsonl, line 4: The line has the key 'id' twice.",
    ]


def test_a_file_whose_first_line_is_broken_is_read_on(write: Write) -> None:
    for name in ("a.jsonl", "a.json", "a"):
        table = read_table(write(name, '{"id":1,\n{"id":2}\n{"id":3}'))
        assert cells(table) == [{"id": 2}, {"id": 3}]
        assert len(table.problems) == 1


def test_a_unicode_line_separator_does_not_end_a_json_line(write: Write) -> None:
    table = read_table(write("a.jsonl", '{"id":"1\u2028\u0085"}\n{"id":"2"}\n'))
    assert cells(table) == [{"id": "1\u2028\u0085"}, {"id": "2"}]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[1, 2", r"line|column"),
        ('[{"a": 1},\n {"a": }]', r"line 2, column 8"),
        ("3", r"neither a list of objects nor an object"),
        ('{"a": [{"x": 1}], "b": [{"x": 1}]}', r"several lists of objects \(a, b\)"),
        ('[{"a": 1, "a": 2}]', r"the key 'a' twice"),
    ],
)
def test_a_broken_json_file_says_where_and_what_to_do(content: str, reason: str, write: Write) -> None:
    with pytest.raises(UserError, match=reason):
        read_table(write("a.json", content))


def test_an_entry_that_is_no_object_is_a_problem_with_its_number(write: Write) -> None:
    table = read_table(write("a.json", '[{"id": 1}, 2, {"id": 3}]'))
    assert cells(table) == [{"id": 1}, {"id": 3}]
    assert reasons(table) == ["a.json, entry 2: The entry is no JSON object."]


@pytest.mark.parametrize("depth", [60, 900, 200_000])
def test_a_deeply_nested_value_costs_its_own_line_only(depth: int, write: Write) -> None:
    deep = '{"id": "1", "x": ' + "[" * depth + "]" * depth + "}"
    table = read_table(write("a.jsonl", deep + '\n{"id": "2"}\n'))
    assert cells(table) == [{"id": "2"}]
    assert "nested" in reasons(table)[0]
    with pytest.raises(UserError, match=r"nested|not valid") if depth > 900 else _no_error():
        read_table(write("b.json", "[" + deep + "]"))


class _no_error:  # noqa: N801 - stands where pytest.raises stands
    def __enter__(self) -> None:
        return None

    def __exit__(self, *args: object) -> None:
        return None


def test_a_number_of_ten_thousand_digits_is_a_problem_not_a_crash(write: Write) -> None:
    table = read_table(write("a.jsonl", '{"id": ' + "9" * 10_000 + '}\n{"id": 2}\n'))
    assert cells(table) == [{"id": 2}]
    assert len(table.problems) == 1


def test_a_field_of_a_million_characters_is_read_whole(write: Write) -> None:
    text = "x" * 1_000_000
    limit = csv.field_size_limit()
    assert cells(read_table(write("a.csv", f"id,a\n1,{text}\n"))) == [{"id": "1", "a": text}]
    assert csv.field_size_limit() == limit


def test_a_row_of_the_wrong_width_is_a_problem_with_its_line(write: Write) -> None:
    table = read_table(write("a.csv", HEADER + '1,p,"two\nlines"\n2,p\n3,p,a,b\n4,p,a\n'))
    assert [row.line for row in table.rows] == [2, 6]
    assert reasons(table) == [
        "a.csv, line 4: The line has 2 fields where the header names 3.",
        "a.csv, line 5: The line has 4 fields where the header names 3.",
    ]


def test_a_header_with_a_name_too_many_is_one_clear_error(write: Write) -> None:
    text = "id,prompt,model,answer_a,answer_b\n" + "1,p,a,b\n" * 30
    with pytest.raises(UserError, match="names 5 columns, but every row has 4 fields"):
        read_table(write("a.csv", text))


def test_equal_names_in_the_header_are_an_error(write: Write) -> None:
    with pytest.raises(UserError, match="names 'a' twice"):
        read_table(write("a.csv", "id,a, a \n1,2,3\n"))


def test_a_column_without_a_name_gets_its_number(write: Write) -> None:
    assert read_table(write("a.csv", ",id,a\n0,1,x\n")).columns == ("column 1", "id", "a")


def test_a_semicolon_file_may_hold_commas_and_a_comma_file_semicolons(write: Write) -> None:
    assert cells(read_table(write("a.csv", "id;p\n1;a, b, c\n2;d, e\n")))[0] == {"id": "1", "p": "a, b, c"}
    assert cells(read_table(write("b.csv", "id,p\n1,a; b; c\n2,d; e\n")))[0] == {"id": "1", "p": "a; b; c"}


def test_quoted_fields_keep_line_ends_quotes_and_delimiters(write: Write) -> None:
    text = HEADER + '1,"a ""b"", c","x\r\ny\rz\n"\n2, b ,c\n'
    first, second = cells(read_table(write("a.csv", text)))
    assert first == {"item_id": "1", "prompt": 'a "b", c', "answer": "x\r\ny\rz\n"}
    assert second == {"item_id": "2", "prompt": " b ", "answer": "c"}


def test_stray_quotes_in_a_tsv_are_letters_and_swallow_no_line(write: Write) -> None:
    lines = [
        '"id"\tp\ta',
        '1\t"Hello he said\tx',
        '2\tend"\ty',
        '3\t5" pipe\tz',
        '4\t"so" what\tw',
        "5\tp\tq",
    ]
    table = read_table(write("a.tsv", "\n".join(lines)))
    assert table.columns == ("id", "p", "a")
    assert [row.fields["p"] for row in table.rows] == ['"Hello he said', 'end"', '5" pipe', '"so" what', "p"]
    assert table.problems == ()


def test_quotes_that_open_and_close_in_different_tsv_lines_swallow_no_line(write: Write) -> None:
    table = read_table(write("a.tsv", 'id\tp\n1\t"open\n2\tclose"\n3\tx\n'))
    assert [row.fields["p"] for row in table.rows] == ['"open', 'close"', "x"]


def test_an_unclosed_quote_in_a_csv_costs_its_own_line_only(write: Write) -> None:
    good = '{0},"a, b","c, d"\n'
    text = HEADER + good.format(1) + '2,"open,x\n' + "".join(map(good.format, range(3, 9))) + '9,"end,x\n'
    table = read_table(write("a.csv", text))
    assert [row.line for row in table.rows] == [2, 4, 5, 6, 7, 8, 9]
    assert [problem.place for problem in table.problems] == ["a.csv, line 3", "a.csv, line 10"]
    assert "quotation mark" in table.problems[0].text


def test_bytes_that_are_no_utf8_cost_their_own_line_only(write: Write) -> None:
    table = read_table(write("a.csv", b"id,a\n1,caf\xe9\n2,caf\xc3\xa9\n"))
    assert cells(table) == [{"id": "2", "a": "café"}]
    assert reasons(table) == [
        "a.csv, line 2: The line holds bytes or characters that are not valid UTF-8; save the file as UTF-8."
    ]
    assert len(read_table(write("a.jsonl", b'{"id":"\xe9"}\n{"id":"\\ud800"}\n{"id":"1"}')).problems) == 2
    with pytest.raises(UserError, match="header"):
        read_table(write("b.csv", b"id,caf\xe9\n1,x\n"))


def test_a_nul_character_costs_its_own_line_only(write: Write) -> None:
    assert len(read_table(write("a.csv", "id,a\n1,x\0y\n2,z\n")).problems) == 1
    table = read_table(write("a.jsonl", '{"id":"1","m":{"\\u0000":1}}\n{"id":"2"}'))
    assert cells(table) == [{"id": "2"}]
    assert "NUL" in reasons(table)[0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        ("id,a\n1,x\n".encode("utf-16-le"), "NUL"),
        (b"\xff\xfei\x00d", "broken utf-16 at byte"),
        (b"\xff\xfei\x00d\x00,", "broken utf-16 at byte"),
        (b'"id,a\n', "cannot be read"),
    ],
)
def test_a_file_that_is_no_table_is_one_clear_error(content: bytes, reason: str, write: Write) -> None:
    with pytest.raises(UserError, match=reason):
        read_table(write("a.csv", content))


def test_a_missing_file_and_a_folder_are_errors_of_the_user(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(UserError, match="Cannot read"):
            read_table(path)


def test_the_apostrophe_that_guards_a_formula_is_taken_off_again(write: Write) -> None:
    table = read_table(write("a.csv", "id,a\n1,'=SUM(A1)\n2,'quoted'\n3,''-x\n"))
    assert [row.fields["a"] for row in table.rows] == ["=SUM(A1)", "'quoted'", "'-x"]


ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
LETTERS = ANY_TEXT.filter(lambda text: not (text.startswith("'") and text.lstrip("'")[:1] in {*"=+-@"}))


@settings(max_examples=40)
@given(st.lists(st.tuples(LETTERS, LETTERS), min_size=1), st.sampled_from(",;"), st.booleans())
def test_what_the_csv_module_writes_comes_back_to_the_letter(
    rows: list[tuple[str, str]], delimiter: str, quote_all: bool
) -> None:
    stream = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting)
    written = [(str(n), *row) for n, row in enumerate(rows)]
    writer.writerows([("item_id", "prompt", "answer"), *written])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        path.write_bytes(stream.getvalue().encode())
        table = read_table(path)
    assert [tuple(row.fields.values()) for row in table.rows] == written
    assert table.problems == ()


@settings(max_examples=40)
@given(st.lists(st.dictionaries(ANY_TEXT.map(lambda t: "k" + t.strip()), ANY_TEXT, min_size=1), min_size=1))
def test_what_json_writes_comes_back_to_the_letter(rows: list[dict[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        table = read_table(path)
    wanted = [list(row.values()) for row in rows]
    assert [list(row.fields.values()) for row in table.rows] == wanted or table.problems


PIECES = st.lists(
    st.sampled_from(
        [
            b'"',
            b",",
            b"\t",
            b";",
            b"\n",
            b"\r",
            b"{",
            b"}",
            b"[",
            b'{"a":1}',
            b"\0",
            b"\xff\xfe",
            b"x",
            b"PAR1",
        ]
    )
).map(b"".join)


@given(
    st.one_of(st.binary(), PIECES),
    st.sampled_from([".csv", ".tsv", ".json", ".jsonl", ".parquet", ".txt", ""]),
)
def test_no_bytes_crash_the_reader_and_reading_twice_gives_the_same(data: bytes, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a{suffix}")
        path.write_bytes(data)
        assert _outcome(path) == _outcome(path)


def _outcome(path: Path) -> str:
    try:
        table = read_table(path)
    except UserError as error:
        return str(error)
    numbers = [row.line for row in table.rows]
    assert numbers == sorted(set(numbers))
    return repr(table)


def test_every_reader_is_listed() -> None:
    assert set(READERS) == {"jsonl", "json", "csv", "tsv", "parquet"}


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (1, "1"),
        (1.0, "1"),
        ("1", "1"),
        (0.5, "0.5"),
        (True, "true"),
        (False, "false"),
        ("  a b\u00a0\n", "a b"),
        ("cafe\u0301", "café"),
        ("\ufeffa", "a"),
        (None, None),
        (float("nan"), None),
        ("", None),
        (" NaN ", None),
        ("None", None),
        ("NULL", None),
        ("n/a", None),
        ("<NA>", None),
        ("nano", "nano"),
    ],
)
def test_ids_and_labels_are_compared_as_text_should_be(value: object, wanted: str | None) -> None:
    assert clean(value) == wanted


def test_missing_values_of_pandas_are_missing() -> None:
    import pandas as pd

    assert clean(pd.NA) is None
    assert is_missing(pd.NaT)
    assert as_text(pd.NA) is None
    assert any_text(pd.NA) == ""


@given(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none()))
def test_cleaning_twice_is_cleaning_once(value: object) -> None:
    once = clean(value)
    assert clean(once) == once
    assert person(person(value)) == person(value)


@given(st.text())
def test_a_text_is_kept_to_the_letter(text: str) -> None:
    assert as_text(text) == text
    assert any_text(text) == text


@pytest.mark.parametrize("value", [True, 3, 0.5, [1], {"a": 1}])
def test_what_is_no_text_is_not_made_one(value: object) -> None:
    with pytest.raises(ValueError, match="where a text is expected"):
        as_text(value)


def test_words_are_folded_for_look_up() -> None:
    same = ["Answer A", "answer_a", "answerA", "ANSWER-A", "Answer (A)", "answer__a "]
    assert {key(word) for word in same} == {"answer_a"}
    assert [key(w) for w in ("-1", "- 1", "-1.0", "+1")] == ["-1", "-_1", "-1", "+1"]
    assert [key(w) for w in ("[[A]]", "Yes.", "1.0", "output1", "item ID", "1.5")] == [
        "a",
        "yes",
        "1",
        "output_1",
        "item_id",
        "1.5",
    ]


def test_a_quoted_text_stays_on_one_line() -> None:
    assert quoted("a\n\x1b[2J") == r"'a\n\x1b[2J'"
    assert len(quoted("x" * 1000)) == 62
