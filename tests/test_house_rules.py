"""The rules of the house that no linter knows, checked over every source file."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("labels/**/*.py"), *ROOT.glob("calibration/**/*.py"), ROOT / "annotate_app.py"])
NAMES = [str(path.relative_to(ROOT)) for path in SOURCES]
ALLOWED = {
    "streamlit": lambda path: "pages" in path.parts or path.name == "annotate_app.py",
    "sqlite_utils": lambda path: path.name in ("schema.py", "store.py", "desk.py"),
    "litellm": lambda path: path.name == "judge.py",
    "xllamacpp": lambda path: path.name == "local.py",
}
SLOW = {"litellm", "xllamacpp", "sklearn", "pandas", "altair", "pyarrow"}


def imports_of(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.split(".")[0], node.col_offset
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.split(".")[0], node.col_offset


def functions_of(path: Path) -> Iterator[tuple[str, int]]:
    """Each function with its number of lines of code, without docstring, comments and blank lines."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            start = node.lineno
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstring = range(first.lineno, (first.end_lineno or first.lineno) + 1)
            else:
                docstring = range(0)
            body = [
                number
                for number in range(start, (node.end_lineno or start) + 1)
                if number not in docstring
                and lines[number - 1].strip()
                and not lines[number - 1].strip().startswith("#")
            ]
            yield node.name, len(body)


@pytest.mark.parametrize("path", SOURCES, ids=NAMES)
def test_a_file_has_at_most_300_lines_and_a_page_80(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    page = path.parent.name == "pages" and not path.name.startswith("_")
    limit = 40 if path.name == "annotate_app.py" else 80 if page else 300
    assert lines <= limit


@pytest.mark.parametrize("path", SOURCES, ids=NAMES)
def test_a_library_is_imported_only_where_it_belongs(path: Path) -> None:
    found = {name for name, _ in imports_of(ast.parse(path.read_text(encoding="utf-8")))}
    wrong = [name for name, allowed in ALLOWED.items() if name in found and not allowed(path)]
    assert wrong == []


@pytest.mark.parametrize("path", SOURCES, ids=NAMES)
def test_slow_libraries_are_imported_inside_functions_only(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    at_module_level = {name for name, column in imports_of(tree) if column == 0}
    assert at_module_level & SLOW == set()


@pytest.mark.parametrize("path", [p for p in SOURCES if "pages" in p.parts], ids=str)
def test_a_page_holds_no_sql(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not any(word in text for word in ("SELECT ", "INSERT ", "UPDATE ", ".execute(", ".query("))


def test_functions_are_short() -> None:
    sizes = [(lines, name, path) for path in SOURCES for name, lines in functions_of(path)]
    lines = sorted(size for size, _, _ in sizes)
    assert len(lines) > 100
    too_long = [f"{path.name}:{name} {size}" for size, name, path in sizes if size > 50]
    assert too_long == []
    assert statistics.median(lines) <= 10
    assert lines[int(0.9 * len(lines))] <= 25
