"""README, --help and CHANGELOG say what the code does."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from builders import label, make_project, pair, verdict

from calibration.cli import cli
from calibration.render import RENDERERS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"calibrate (\w+)((?: +(?:--[\w-]+|\S+))*)", README)


@pytest.mark.parametrize("name", cli.commands)
def test_every_command_has_help_and_stands_in_readme_and_changelog(name: str) -> None:
    assert cli.commands[name].help
    assert f"`calibrate {name}" in README
    assert f"`calibrate {name}" in CHANGELOG


def test_every_command_and_option_in_the_readme_exists() -> None:
    assert len(COMMANDS) > 8
    for name, rest in COMMANDS:
        command = cli.commands[name]
        options = {
            text for parameter in command.params for text in (*parameter.opts, *parameter.secondary_opts)
        }
        assert set(re.findall(r"(--[a-z-]+)", rest.split("`")[0])) <= options


def test_every_option_has_help() -> None:
    for command in cli.commands.values():
        for parameter in command.params:
            assert not isinstance(parameter, click.Option) or parameter.help


def test_every_format_of_the_report_stands_in_the_readme() -> None:
    for name in set(RENDERERS) - {"terminal"}:
        assert f"--format {name}" in README


def test_the_python_examples_of_the_readme_are_true() -> None:
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert result.attempted >= 5
    assert result.failed == 0


def test_every_file_that_the_docs_link_to_exists() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(links) >= 6
    missing = [link for link in links if not (ROOT / link).exists()]
    assert missing == []


def test_every_make_target_in_the_readme_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"`?make ([a-z]+)`", README)):
        assert f"\n{target}:" in makefile


def test_a_source_release_holds_what_make_needs() -> None:
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    needed = re.findall(r"(?:tests/find_browser\.py|pyproject\.toml|constraints\.txt)", makefile)
    held = {*targets["targets"]["sdist"]["include"], "pyproject.toml"}  # pyproject.toml is in every one
    assert {"Makefile", *(name.split("/")[0] for name in needed)} <= held


def test_constraints_are_exact_versions_without_addresses() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 50
    assert all(re.fullmatch(r"[\w.\[\]-]+==[\w.+!]+", line) for line in lines)
    assert not re.search(r"^litellm==1\.82\.[78]$", "\n".join(lines), re.MULTILINE)


@pytest.mark.parametrize("module", ["calibration.cli", "calibration", "labels.types", "calibration.types"])
def test_nothing_slow_is_imported_before_it_is_needed(module: str) -> None:
    slow = "{'litellm', 'pandas', 'sklearn', 'scipy', 'numpy', 'streamlit', 'sqlite_utils', 'altair', 'rich'}"
    code = f"import sys, {module}; print(sorted({slow} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def imported_by(*arguments: object) -> tuple[str, str]:
    """What a command prints, and which slow libraries were imported when it ended."""
    code = (
        "import sys; from calibration.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print(sorted({'litellm', 'pandas', 'sklearn', 'streamlit'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    output, _, last = done.stdout.rstrip().rpartition("\n")
    return output, last


def test_help_answers_without_importing_anything_slow() -> None:
    output, slow = imported_by("--help")
    assert "Commands:" in output
    assert slow == "[]"


def test_the_status_of_a_project_is_told_without_importing_anything_slow(tmp_path: Path) -> None:
    items = [pair(1), pair(2)]
    project = make_project(
        tmp_path / "p.db", items, [label(items[0], "Ada", "A")], verdicts=[verdict(items[0], "first")]
    )
    output, slow = imported_by("status", project)
    assert "annotator Ada: 1 label, 0 skipped" in output
    assert "judge judge: 1 verdict, 0 unanswered" in output
    assert slow == "[]"


HIDDEN = """
import importlib.util, sys, threading
before, found, stop = list(sys.meta_path), set(), threading.Event()
def others():
    while True:
        try:
            found.add(importlib.util.find_spec("pandas") is not None)
        except ImportError as error:
            found.add(str(error))
        if stop.is_set():
            break
other = threading.Thread(target=others)
other.start()
import labels.schema
stop.set()
other.join()
print(found, "sqlite_utils" in sys.modules, "pandas" in sys.modules)
print([finder for finder in before if finder not in sys.meta_path])
print([finder for finder in sys.meta_path if type(finder).__module__.startswith("labels")])
import pandas
print(pandas.DataFrame({"a": [1]}).shape)
"""


def test_pandas_is_hidden_from_one_import_in_one_thread_and_from_nothing_else() -> None:
    done = subprocess.run([sys.executable, "-c", HIDDEN], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["{True} True False", "[]", "[]", "(1, 1)"]


def test_pandas_stays_where_it_is_imported_already() -> None:
    code = "import pandas, labels.schema, sqlite_utils.db; print(sqlite_utils.db.pd is pandas)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
