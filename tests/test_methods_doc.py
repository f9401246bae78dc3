"""docs/methods.md explains every number, and explains nothing that does not exist."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest

import calibration.stats
from calibration.agreement import STATISTICS
from calibration.audits import AUDITS
from calibration.explained import PLACES, anchor, methods_text, paragraphs
from calibration.render.titles import GROUPS, TITLES
from calibration.stats.estimate import Reason

TEXT = (Path(__file__).parent.parent / "docs" / "methods.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (.+)\n((?:(?!##).*\n?)*)", TEXT, re.MULTILINE))
REASONS = "Reason codes"
EXPLAINED = {name: text for name, text in SECTIONS.items() if name != REASONS}
PARTS = ("Answers", "Formula", "Interval", "Undefined", "Source", "Cannot show")
HELPERS = {"z_quantile", "t_quantile", "undefined", "Interval", "Estimate"}


def public_functions() -> dict[str, object]:
    """Every public function of the statistics, by name."""
    found: dict[str, object] = {"pabak": calibration.stats}
    for module in pkgutil.iter_modules(calibration.stats.__path__, "calibration.stats."):
        if module.name.endswith(".chance"):  # the parts that coefficients are made of
            continue
        namespace = vars(importlib.import_module(module.name))
        found |= {
            name: thing
            for name, thing in namespace.items()
            if inspect.isfunction(thing) and thing.__module__ == module.name and not name.startswith("_")
        }
    return found


NUMBERS = sorted({*STATISTICS, *TITLES, *AUDITS})


def test_there_is_something_to_explain() -> None:
    assert len(STATISTICS) >= 4
    assert len(AUDITS) >= 10
    assert len(public_functions()) > 100
    assert len(get_args(Reason)) >= 15


@pytest.mark.parametrize("name", NUMBERS)
def test_every_statistic_title_and_audit_has_a_paragraph_under_its_name(name: str) -> None:
    assert name in EXPLAINED


@pytest.mark.parametrize("name", sorted(public_functions().keys() - HELPERS))
def test_every_public_function_of_the_statistics_is_a_heading_or_is_named_in_a_paragraph(name: str) -> None:
    assert name in EXPLAINED or f"`{name}`" in TEXT


@pytest.mark.parametrize("name", sorted(EXPLAINED))
def test_every_heading_names_something_that_exists(name: str) -> None:
    assert name in {*NUMBERS, *public_functions()}


@pytest.mark.parametrize("name", sorted(EXPLAINED))
def test_every_paragraph_says_all_six_things_in_order(name: str) -> None:
    labels = re.findall(r"\*\*([^*:]+):\*\*", " ".join(EXPLAINED[name].split()))
    assert tuple(labels) == PARTS


def test_every_reason_code_is_explained_and_no_other() -> None:
    explained = re.findall(r"^\* `(\w+)`: ", SECTIONS[REASONS], re.MULTILINE)
    assert sorted(explained) == sorted(get_args(Reason))


def test_every_anchor_is_unique() -> None:
    headings = re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    anchors = [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]
    assert sorted(set(anchors)) == sorted(anchors)


def test_every_name_in_code_font_that_looks_like_a_function_exists() -> None:
    known = {*NUMBERS, *public_functions(), *get_args(Reason), *HELPERS}
    codes = set(re.findall(r"warnings? `(\w+)`", " ".join(TEXT.split())))
    fields = {"n_missing", "t_ii", "t_ij", "r_i", "c_j", "t_12", "t_21", "pseudo_wins", "low_valid_mass"}
    fields |= {"inclusion_probability"}
    named = {name for name in re.findall(r"`(\w+_\w+)`", TEXT) if name.islower()}
    assert named - known - codes - fields == set()


def test_every_link_leads_to_a_file() -> None:
    docs = Path(__file__).parent.parent / "docs"
    links = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    assert [link for link in links if not (docs / link).exists()] == []


def test_the_methods_page_has_every_heading_by_the_anchor_that_links_use() -> None:
    assert methods_text() == TEXT
    assert {name for name, one in paragraphs().items() if one.level == 3} == set(map(anchor, SECTIONS))
    assert "conventions" in paragraphs()
    assert all(anchor(name) == name for name in NUMBERS)


def test_links_to_other_files_become_their_words_on_the_page() -> None:
    assert not any("](" in paragraph.text for paragraph in paragraphs().values())


def test_a_wheel_carries_the_methods_where_the_page_looks_for_them() -> None:
    root = Path(__file__).parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included["docs/methods.md"] == str(PLACES[0].relative_to(root))


def test_every_estimate_that_a_report_groups_has_a_title() -> None:
    assert {name for names in GROUPS.values() for name in names} <= set(TITLES)
