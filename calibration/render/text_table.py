"""A table of plain texts that knows where each of its numbers is explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from calibration.stats.estimate import Estimate
from calibration.wording import REASONS, interval, number, percent

TableName = Literal["", "people", "pass rate", "confusion"]


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of plain texts with its title and header.

    `about` names the paragraph of docs/methods.md that explains the whole table, `row_about` and
    `column_about` those of single rows and columns ("" where there is none). `note` stands below it.
    `name` is what a page knows the table by, whatever its title says.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    about: str = ""
    row_about: tuple[str, ...] = ()
    column_about: tuple[str, ...] = ()
    note: str = ""
    name: TableName = ""


def estimate_cells(estimate: Estimate) -> tuple[str, str, str]:
    """Value, interval and n, or the reason why there is no value."""
    if estimate.value is None:
        why = REASONS[estimate.why_undefined or "not_applicable"]
        return "–", f"undefined: {why}", f"{estimate.n:,}"
    return number(estimate.value), interval(estimate), f"{estimate.n:,}"


def share_cell(estimate: Estimate) -> str:
    """A share as per cent, or a dash."""
    return "–" if estimate.value is None else percent(estimate.value)
