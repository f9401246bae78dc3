"""`calibrate rank`: win rates, abilities and ranks of systems, by the experts and by each judge."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, label, make_project, pair, verdict
from click.testing import CliRunner
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from calibration.cli import cli
from calibration.material import Material
from calibration.standings import standings_of
from labels.errors import UserError
from labels.types import Annotator, Item, Label, Value

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
    assert [one["why_no_rank"] for one in experts["systems"]] == ["all_ties", "all_ties"]
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
    assert "By judge, no system can be put first: all are ties." in " ".join(text.split())


def test_a_pair_of_one_system_with_itself_ranks_nothing(tmp_path: Path) -> None:
    said = said_of({("one", "two"): (6, 4, 0), ("one", "one"): (3, 0, 0)})
    (experts,) = ranked(project_of(tmp_path / "p.db", said))
    assert experts["items"] == 10
    assert experts["systems"][0]["win_rate"]["value"] == pytest.approx(0.6)


def test_below_ten_pairs_there_are_counts_and_no_verdict(tmp_path: Path) -> None:
    (experts,) = ranked(project_of(tmp_path / "p.db", said_of({("one", "two"): (4, 0, 0)})))
    assert "100 % of 4 pairs" in experts["sentence"]
    assert "Too few to say who is first" in experts["sentence"]
    assert "6 more are needed" in experts["sentence"]
    assert "other items" not in experts["sentence"]
    for one in experts["systems"]:
        assert (one["rank_low"], one["rank_high"], one["why_no_limits"]) == (None, None, "too_few_items")


def test_one_system_with_few_pairs_leaves_the_order_of_all_open(tmp_path: Path) -> None:
    counts = {("one", "two"): (18, 2, 0), ("one", "three"): (2, 1, 0)}
    (experts,) = ranked(project_of(tmp_path / "p.db", said_of(counts)))
    assert "three has 3 pairs, 7 more are needed" in experts["sentence"]
    assert {one["why_no_limits"] for one in experts["systems"]} == {"too_few_items"}


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 90), st.integers(0, 90), st.integers(0, 30))
@example(85, 64, 0)  # a rate of 57 %, from 49 to 65 %
def test_of_two_systems_the_ranks_and_the_sentence_say_what_the_win_rate_says(
    wins: int, losses: int, ties: int
) -> None:
    assume(wins + losses and wins + losses + ties >= 10)
    said = said_of({("one", "two"): (wins, losses, ties)})
    labels = [Label(n, PAIRS.id, item.id, "a", value) for n, (item, value) in enumerate(said)]
    people = [Annotator("a", "Ada")]
    (experts,) = standings_of(Material(PAIRS, [item for item, _ in said], labels, people, ()))
    for one in experts.systems:
        low, high = one.win_rate.low, one.win_rate.high
        assert low is not None
        assert high is not None
        assert (one.rank_low, one.rank_high) == (2 if high < 0.5 else 1, 1 if low > 0.5 else 2)
    sure = (experts.systems[0].win_rate.low or 0) > 0.5
    assert ("would hardly have put another first" in experts.sentence) == sure


def test_pairs_that_rank_nothing_are_counted_by_reason_and_their_systems_are_listed(tmp_path: Path) -> None:
    said = said_of({("one", "two"): (9, 3, 0), ("one", "one"): (2, 0, 0)})
    open_pairs = [pair(100, ("one", "two")), pair(101, ("three", "four"))]
    split = pair(102, ("one", "two"))
    items = [item for item, _ in said]
    project = make_project(
        tmp_path / "p.db",
        [*items, *open_pairs, split],
        [*(label(i, "Ben", v) for i, v in said), label(split, "Ada", "A"), label(split, "Ben", "B")],
        verdicts=[
            *(verdict(item, "first") for item in items),
            verdict(open_pairs[0], None),
        ],
    )
    experts, judge = ranked(project)
    assert experts["left_out"] == {"unlabelled": 2, "no consensus": 1, "one system on both sides": 2}
    assert judge["left_out"] == {"unanswered": 1, "not judged": 2, "one system on both sides": 2}
    for standings in (experts, judge):
        assert standings["items"] + sum(standings["left_out"].values()) == len(items) + 3
        rows = {one["system"]: one for one in standings["systems"]}
        assert rows.keys() == {"one", "two", "three", "four"}
        assert (rows["three"]["rank"], rows["three"]["why_no_rank"]) == (None, "no_items")
        assert rows["one"]["rank"] == 1
    text = CliRunner().invoke(cli, ["rank", str(project)]).output
    assert "Left out: 2 unlabelled, 1 no consensus, 2 one system on both sides." in text


def test_a_label_after_a_reveal_is_counted_as_left_out(tmp_path: Path) -> None:
    said = said_of({("one", "two"): (9, 3, 0)})
    labels = [Label(n, PAIRS.id, item.id, "a", value) for n, (item, value) in enumerate(said)]
    labels[0] = replace(labels[0], saw="verdict")
    labels[1] = replace(labels[1], value=None)
    material = Material(PAIRS, [item for item, _ in said], labels, [Annotator("a", "Ada")], (), withheld=7)
    (experts,) = standings_of(material)
    assert experts.items == 10
    assert experts.left_out == {"labelled after a reveal": 1, "skipped": 1, "of the holdout": 7}


def test_systems_that_never_met_have_no_rank_and_each_row_says_why(tmp_path: Path) -> None:
    counts = {("one", "two"): (10, 4, 0), ("three", "four"): (8, 6, 0)}
    project = project_of(tmp_path / "p.db", said_of(counts))
    (experts,) = ranked(project)
    assert [one["rank"] for one in experts["systems"]] == [None] * 4
    assert {one["why_no_rank"] for one in experts["systems"]} == {"disconnected"}
    text = CliRunner().invoke(cli, ["rank", str(project)]).output
    assert text.count("unknown: not every system was compared with the others") == 4


def test_a_name_is_printed_to_the_letter(tmp_path: Path) -> None:
    items = [pair(n, ("[b]one[/b]", "two")) for n in range(12)]
    verdicts = [verdict(item, "first", judge="[red]judge[/red]") for item in items]
    project = make_project(tmp_path / "p.db", items, verdicts=verdicts)
    text = CliRunner().invoke(cli, ["rank", str(project)]).output
    assert "Ranking by [red]judge[/red]" in text
    assert "[b]one[/b]" in text


def test_a_project_without_pairs_says_what_to_do(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["rank", str(make_project(tmp_path / "p.db", [], criteria=[SINGLES]))])
    assert isinstance(result.exception, UserError)
    assert "calibrate import" in str(result.exception)


def orders_of(path: Path, systems: int) -> list[dict]:
    """Each system beats all later ones by the experts; the judge turns the last two round."""
    names = [f"s{n}" for n in range(systems)]
    pairs = [(one, other) for n, one in enumerate(names) for other in names[n + 1 :]]
    items = [pair(n, names) for n, names in enumerate(pairs)]
    labels = [label(item, "Ben", "A") for item in items]
    verdicts = [
        verdict(item, "first" if names != pairs[-1] else "second")
        for item, names in zip(items, pairs, strict=True)
    ]
    return ranked(make_project(path, items, labels, verdicts=verdicts))


def test_from_six_systems_on_the_order_of_a_judge_is_held_to_that_of_the_experts(tmp_path: Path) -> None:
    """One of 15 pairs of systems is turned round: tau is 13 / 15; scipy's exact p is 12 / 720."""
    experts, judge = orders_of(tmp_path / "p.db", 6)
    assert experts["order_agreement"] is None
    assert judge["order_agreement"] == pytest.approx(13 / 15)
    assert "goes with that of your experts by 0.87" in judge["sentence"]
    assert "about 2 times in 100" in judge["sentence"]


def test_below_six_systems_the_tables_speak_for_themselves(tmp_path: Path) -> None:
    _, judge = orders_of(tmp_path / "p.db", 5)
    assert judge["order_agreement"] is None
    assert "Kendall" not in judge["sentence"]
