"""What a run may cost: shown before, kept while it runs, and never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import PAIRS, make_project, pair
from click.testing import CliRunner, Result
from fake_server import FakeServer, fake_server

from calibration.cli import cli
from calibration.store import RunStore
from labels.errors import UserError

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
MILLION = 1_000_000  # tokens of a prompt, as the server counts them


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "p.db", [pair(n) for n in range(10)])


def judge(project: Path, server: FakeServer, *more: object, answer: str | None = None) -> Result:
    command = ["judge", str(project), "--api-base", server.api_base, "--concurrency", "1"]
    return CliRunner().invoke(cli, [*command, *map(str, more)], input=answer, catch_exceptions=False)


def test_a_budget_stops_the_run_cleanly_and_the_same_command_goes_on(project: Path) -> None:
    with fake_server(counts=MILLION, served="gpt-4o-mini") as server:
        order = ("--model", "openai/gpt-4o-mini", "--yes", "--budget", 0.5)
        first = judge(project, server, *order)
        asked = server.count()
        judge(project, server, *order)
        again = server.count()
    assert "Stopped at the budget" in first.output
    with RunStore.open(project) as runs:
        (run,) = runs.runs(PAIRS.id)
    each = (run.cost or 0.0) / run.calls
    assert 0.15 <= each < 0.2  # the public price of gpt-4o-mini is $0.15 for a million tokens in
    assert 0.5 - each <= asked * each < 0.5 + each
    assert (run.state, run.verdicts, run.calls) == ("stopped", again, again)
    assert asked < again < 20


def test_without_a_known_price_no_budget_is_pretended(project: Path) -> None:
    with fake_server() as server:
        with pytest.raises(UserError, match="price of openai/house-judge is unknown"):
            judge(project, server, "--model", "openai/house-judge", "--yes", "--budget", 2)
        assert server.count() == 0
        result = judge(project, server, "--model", "openai/house-judge", "--yes")
    assert "price unknown" in result.output


def test_a_large_run_asks_for_a_yes_and_a_no_asks_nobody(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(n) for n in range(101)])
    with fake_server() as server:
        result = judge(project, server, "--model", "openai/house-judge", answer="n\n")
        assert result.exit_code == 1
        assert "202 calls" in result.output
        assert "Go on?" in result.output
        assert server.count() == 0


def test_the_first_wave_keeps_the_budget_too(project: Path) -> None:
    """All 20 requests could be under way at once; what they are foreseen to cost lets only a few begin."""
    with fake_server(served="gpt-4o", latency=0.05) as server:
        order = ("--model", "openai/gpt-4o", "--yes", "--budget", 0.01, "--concurrency", 64)
        result = judge(project, server, *order)
        count = server.count()
    with RunStore.open(project) as runs:
        (run,) = runs.runs(PAIRS.id)
    assert "Stopped at the budget" in result.output
    assert 0 < count < 20
    assert 0 < (run.cost or 0.0) <= 0.01


@pytest.mark.parametrize("option", ["--budget", "--rpm", "--tpm", "--timeout"])
@pytest.mark.parametrize("number", ["nan", "0", "-1", "inf"])
def test_a_number_that_limits_nothing_is_refused_before_anything_is_asked(
    project: Path, option: str, number: str
) -> None:
    with fake_server() as server:
        result = judge(project, server, "--model", "openai/house-judge", "--yes", option, number)
        assert server.count() == 0
    assert result.exit_code == 2
    assert option in result.output
