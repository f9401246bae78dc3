"""The intervals hold the truth as often as the methods' specification says; the study takes minutes.

`make coverage-study` runs the slow part and writes docs/coverage.md; the other tests read what it wrote.
"""

from __future__ import annotations

import re

import coverage_study as study
import pytest
from coverage_study import Cell, Required

GROUPS = [*study.REQUIRED.items()]
NAMES = [f"{interval}, n = {n}" for interval, n in study.REQUIRED]
every_interval = pytest.mark.parametrize(("key", "required"), GROUPS, ids=NAMES)


@pytest.fixture(scope="module")
def cells(request: pytest.FixtureRequest) -> list[Cell]:
    """All cells, simulated anew and kept; only when the marker was asked for by name."""
    if "coverage_study" not in request.config.getoption("-m"):
        pytest.skip("the study takes minutes: pytest -m coverage_study")
    found = study.all_cells()
    study.KEPT.write_text(study.rendered(found), encoding="utf-8")
    return found


@pytest.mark.coverage_study
@every_interval
def test_the_worst_setting_reaches_the_required_coverage(cells, key, required) -> None:
    group = study.grouped(cells)[key]
    low = [cell for cell in group if cell.coverage < study.least_coverage(required, cell.replicates)]
    assert low == []


@pytest.mark.coverage_study
@every_interval
def test_the_worst_setting_stays_within_the_allowed_false_pass(cells, key, required) -> None:
    group = study.grouped(cells)[key]
    high = [cell for cell in group if cell.false_pass > study.largest_false_pass(required, cell.replicates)]
    assert high == []


@pytest.mark.coverage_study
def test_every_interval_of_the_specification_was_studied(cells) -> None:
    assert set(study.grouped(cells)) == set(study.REQUIRED)


def kept_rows(columns: int) -> list[list[str]]:
    """The rows of the table with that many columns in docs/coverage.md, without its header."""
    lines = study.KEPT.read_text(encoding="utf-8").splitlines()
    rows = [[part.strip() for part in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in rows if len(row) == columns and re.match(r"\d", row[1])]


def share(text: str) -> float:
    return float(text.rstrip("%")) / 100


@every_interval
def test_the_kept_results_reach_what_is_required(key, required) -> None:
    rows = [row for row in kept_rows(9) if (row[0], int(row[1])) == key]
    assert len(rows) == 1
    replicates = 0 if key[0].startswith("rate") else study.REPLICATES
    rounding = 0.0005
    assert share(rows[0][4]) >= study.least_coverage(required, replicates) - rounding
    assert share(rows[0][6]) <= study.largest_false_pass(required, replicates) + rounding


def test_the_kept_results_hold_every_simulated_setting() -> None:
    kappa = 2 * len(study.MARGINS) * len(study.SIZES) * len(study.TRUTHS)
    pass_rate = 2 * len(study.SIZES) * 2 * 3 * len(study.JUDGES)
    alpha = len(study.ALPHA_MARGINS) * 2 * len(study.SIZES) * len(study.TRUTHS)
    rows = kept_rows(7)
    assert len(rows) == kappa + pass_rate + alpha
    assert len({(row[0], row[1], row[2]) for row in rows}) == len(rows)


def test_the_bounds_by_hand() -> None:
    # 3 root(.932 * .068 / 4000) = .01194, and .0005 for the printed figure
    assert study.least_coverage(Required(0.932), 4000) == pytest.approx(0.932 - 0.0005 - 0.01194, abs=1e-5)
    assert study.least_coverage(Required(0.932), 0) == pytest.approx(0.9315)
    assert study.largest_false_pass(Required(0.9), 4000) == 1


def test_a_rate_is_summed_exactly() -> None:
    # Clopper-Pearson at n = 5, p = .5: 0 of 5 gives at most .522, so every outcome's interval holds .5
    cells = {(cell.interval, cell.n, cell.setting): cell for cell in study.rate_cells()}
    cell = cells["rate, Clopper-Pearson", 5, "share 0.500"]
    assert (cell.coverage, cell.false_pass) == (pytest.approx(1), 0)
    # Wilson: 0 of 5 gives at most .434, so 0 and 5 of 5 miss, each with chance 1/32
    cell = cells["rate, Wilson", 5, "share 0.500"]
    assert (cell.coverage, cell.false_pass) == (pytest.approx(30 / 32), pytest.approx(1 / 32))


def test_a_setting_gives_the_same_cell_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "REPLICATES", 20)
    monkeypatch.setattr(study, "DRAWS", 50)
    assert next(study.kappa_cells()) == next(study.kappa_cells())
    assert next(study.pass_rate_cells()) == next(study.pass_rate_cells())
    assert next(study.alpha_cells()) == next(study.alpha_cells())
