"""README, --help and CHANGELOG say what the code does."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

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


def test_help_answers_without_importing_anything_slow() -> None:
    code = (
        "import sys; from calibration.cli import main\n"
        "try: main(['--help'])\n"
        "finally: print(sorted({'litellm', 'pandas', 'sklearn', 'streamlit'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Commands:" in done.stdout
    assert done.stdout.strip().endswith("[]")
