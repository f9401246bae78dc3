"""`calibrate rank`: win rates, abilities and ranks of systems, by the experts and by each judge."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from builders import SINGLES, label, make_project, pair, verdict
from click.testing import CliRunner

from calibration.cli import cli
from labels.errors import UserError
from labels.types import Item, Value

# oracles.json, davidson_149 (direct maximum likelihood with scipy): wins, ties and log abilities of three.
WINS = {("one", "two"): (14, 6, 5), ("one", "three"): (18, 4, 3), ("two", "three"): (12, 9, 4)}
ABILITIES = {"one": 0.0, "two": -0.9514369, "three": -1.3725500}


def said_of(counts: dict[tuple[str, str], tuple[int, int, int]]) -> list[tuple[Item, Value]]:
    """Items with the value that was said: how often A won, B won, and a tie, for each pair of systems."""
    number = count()
    values: tuple[Value, ...] = ("A", "B", "tie")
    return [
        (pair(next(number), systems), value)
        for systems, times in counts.items()
        for value, often in zip(values, times, strict=True)
        for _ in range(often)
    ]


def project_of(path: Path, said: list[tuple[Item, Value]]) -> Path:
    return make_project(path, [item for item, _ in said], [label(item, "Ben", value) for item, value in said])


def ranked(project: Path) -> list[dict]:
    result = CliRunner().invoke(cli, ["rank", str(project), "--format", "json"])
    assert result.exception is None, result.exception
    return json.loads(result.output)


def test_abilities_of_three_systems_are_those_of_the_oracle(tmp_path: Path) -> None:
    (experts,) = ranked(project_of(tmp_path / "p.db", said_of(WINS)))
    assert experts["rater"] == "your experts"
    assert experts["items"] == 75
    assert [one["system"] for one in experts["systems"]] == ["one", "two", "three"]
    assert [one["rank"] for one in experts["systems"]] == [1, 2, 3]
    best = experts["systems"][0]
    for one in experts["systems"]:
        assert one["ability"] - best["ability"] == pytest.approx(ABILITIES[one["system"]], abs=1e-4)
    # (14 + 18 + 8 / 2) / 50
    assert best["win_rate"]["value"] == pytest.approx(0.72)
    assert (best["rank_low"], best["rank_high"]) == (1, 1)
    assert experts["systems"][1]["rank_high"] == 3


def test_the_win_rate_of_two_systems_has_the_interval_of_the_oracle(tmp_path: Path) -> None:
    # oracles.json, win_rate_dirichlet95_111: 5 wins, 40 ties, 5 losses give .5 from .437 to .563
    (experts,) = ranked(project_of(tmp_path / "p.db", said_of({("one", "two"): (5, 5, 40)})))
    rate = experts["systems"][0]["win_rate"]
    assert (rate["value"], rate["n"]) == (0.5, 50)
    assert rate["low"] == pytest.approx(0.4367, abs=0.004)
    assert rate["high"] == pytest.approx(0.5633, abs=0.004)
    assert "other items might have put another system first" in experts["sentence"]


def test_a_system_that_always_wins_has_a_rank_and_a_reason_instead_of_an_ability(tmp_path: Path) -> None:
    (experts,) = ranked(project_of(tmp_path / "p.db", said_of({("one", "two"): (12, 0, 0)})))
    best, other = experts["systems"]
    assert (best["system"], best["rank"], other["rank"]) == ("one", 1, 2)
    assert best["ability"] is None
    assert experts["why_unranked"] == "disconnected"
    assert "would hardly have put another first" in experts["sentence"]


def test_ties_alone_rank_nobody(tmp_path: Path) -> None:
    (experts,) = ranked(project_of(tmp_path / "p.db", said_of({("one", "two"): (0, 0, 12)})))
    assert experts["why_unranked"] == "all_ties"
    assert [one["rank"] for one in experts["systems"]] == [None, None]
    assert "all are ties" in experts["sentence"]


def test_a_judge_stands_beside_the_experts_and_its_flips_are_ties(tmp_path: Path) -> None:
    items = [pair(n) for n in range(20)]
    project = make_project(
        tmp_path / "p.db",
        items,
        [label(item, "Ben", "A") for item in items],
        verdicts=[verdict(item, "first", first=side) for item in items for side in ("A", "B")],
    )
    experts, judge = ranked(project)
    assert experts["systems"][0]["system"] == "alpha"
    assert judge["rater"] == "judge"
    assert judge["systems"][0]["win_rate"]["value"] == 0.5
    text = CliRunner().invoke(cli, ["rank", str(project)]).output
    assert "Ranking by your experts" in text
    assert "By judge, alpha wins 50 % of 20 pairs" in " ".join(text.split())


def test_a_pair_of_one_system_with_itself_ranks_nothing(tmp_path: Path) -> None:
    said = said_of({("one", "two"): (6, 4, 0), ("one", "one"): (3, 0, 0)})
    (experts,) = ranked(project_of(tmp_path / "p.db", said))
    assert experts["items"] == 10
    assert experts["systems"][0]["win_rate"]["value"] == pytest.approx(0.6)


def test_a_project_without_pairs_says_what_to_do(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["rank", str(make_project(tmp_path / "p.db", [], criteria=[SINGLES]))])
    assert isinstance(result.exception, UserError)
    assert "calibrate import" in str(result.exception)
