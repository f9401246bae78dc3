"""Standings: which system is better, by the experts' labels and by each judge, with what luck allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from calibration.compare import judged_value, rate_items, reference_labels
from calibration.material import Material
from calibration.render.tables import TextTable
from calibration.stats.estimate import Estimate, Reason
from calibration.types import Verdict
from calibration.wording import REASONS, interval, number, percent
from labels.text import counted
from labels.types import Item, Side, Value

EXPERTS = "your experts"
SCORES: Mapping[Value, float] = {"A": 1.0, "tie": 0.5, "B": 0.0}


@dataclass(frozen=True, slots=True)
class Standing:
    """One system: its win rate, and where it stands with the limits that drawing other items gives.

    `ability` is Davidson's log ability, which counts how strong the opponents were; 0 is the mean.
    """

    system: str
    win_rate: Estimate
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    ability: float | None = None


@dataclass(frozen=True, slots=True)
class Standings:
    """All systems as one rater ranks them, the best first; `why_unranked` where they cannot be ranked."""

    rater: str
    items: int
    systems: tuple[Standing, ...]
    sentence: str
    why_unranked: Reason | None = None


Said = Mapping[str, Value]
Game = tuple[str, str, float]


def standings_of(material: Material) -> tuple[Standings, ...]:
    """The systems of a pairwise criterion as the experts and as each judge rank them."""
    items = {item.id: item for item in material.items}
    by_judge: dict[str, list[Verdict]] = {}
    for verdict in material.verdicts:
        by_judge.setdefault(verdict.judge, []).append(verdict)
    reference = reference_labels(material.labels, items)
    raters: dict[str, Said] = {EXPERTS: reference.values} if reference.values else {}
    raters |= {judge: _settled(verdicts) for judge, verdicts in by_judge.items()}
    games = {rater: _games(said, items) for rater, said in raters.items()}
    return tuple(_standings(rater, played) for rater, played in games.items() if played)


def standings_table(standings: Standings) -> TextTable:
    """Systems, the best first, with win rate and rank."""
    rows = [
        (
            one.system,
            f"{one.win_rate.n:,}",
            "–" if one.win_rate.value is None else percent(one.win_rate.value),
            interval(one.win_rate),
            "–" if one.rank is None else f"{one.rank}",
            "–" if one.rank_low is None else f"{one.rank_low} to {one.rank_high}",
            number(one.ability),
        )
        for one in standings.systems
    ]
    header = ("system", "pairs", "win rate", "95 % interval", "rank", "rank may be", "ability")
    return TextTable(f"Ranking by {standings.rater}", header, tuple(rows))


def _settled(verdicts: Sequence[Verdict]) -> Said:
    """A judge's value of each item; orders that disagree are a tie, as in the report."""
    rated = rate_items(verdicts)
    return {item_id: value for item_id, one in rated.items() if (value := judged_value(one)) is not None}


def _games(said: Said, items: Mapping[str, Item]) -> list[Game]:
    """Who met whom, and the first one's score; a pair of one system with itself ranks nothing."""
    games = [(_system(items[name], "A"), _system(items[name], "B"), SCORES[v]) for name, v in said.items()]
    return [game for game in games if game[0] != game[1]]


def _standings(rater: str, games: Sequence[Game]) -> Standings:
    names = sorted({system for first, second, _ in games for system in (first, second)})
    why, systems = _ranked(games, [Standing(name, _win_rate(name, games)) for name in names])
    systems.sort(key=lambda one: (one.rank or 0, -(one.win_rate.value or 0.0)))
    return Standings(rater, len(games), tuple(systems), _sentence(rater, systems, why), why)


def _system(item: Item, side: Side) -> str:
    return item.response(side).system


def _ranked(games: Sequence[Game], systems: list[Standing]) -> tuple[Reason | None, list[Standing]]:
    """The systems with Davidson's abilities, and ranks with the limits of resampled items, where known."""
    import numpy as np

    from calibration.stats.ranking import davidson, rank_intervals

    place = {one.system: number for number, one in enumerate(systems)}
    wins, ties = np.zeros((len(place),) * 2), np.zeros((len(place),) * 2)
    for first, second, score in games:
        i, j = place[first], place[second]
        wins[i, j] += score == 1
        wins[j, i] += score == 0
        ties[[i, j], [j, i]] += score == 0.5
    if not wins.any():
        return "all_ties", systems
    fitted = davidson(wins, ties)
    if fitted.values is not None:
        pairs = zip(systems, fitted.values.tolist(), strict=True)
        systems = [replace(one, ability=ability) for one, ability in pairs]
    compared = [[(place[first], place[second], score)] for first, second, score in games]
    ranks = rank_intervals(compared, len(place)) or []
    if ranks:
        systems = [
            replace(one, rank=found.rank, rank_low=found.low, rank_high=found.high)
            for one, found in zip(systems, ranks, strict=True)
        ]
    return fitted.why_undefined, systems


def _win_rate(name: str, games: Sequence[Game]) -> Estimate:
    """Wins and half the ties of a system, over all its pairs."""
    from calibration.stats.ranking import win_rate

    scores = [
        score if first == name else 1 - score for first, second, score in games if name in (first, second)
    ]
    return win_rate(scores.count(1.0), scores.count(0.0), ties=scores.count(0.5))


def _sentence(rater: str, systems: Sequence[Standing], why: Reason | None) -> str:
    """Who leads, and whether other items might have said otherwise."""
    first, pairs = systems[0], counted(systems[0].win_rate.n, "pair")
    rate = first.win_rate
    limits = f"{percent(rate.low or 0.0)} to {percent(rate.high or 0.0)}"
    share = f"{percent(rate.value or 0.0)} of {pairs} ({limits}; a tie is half a win)"
    two = len(systems) == 2
    sure = (rate.low or 0.0) > 0.5 if two else first.rank_high == 1
    ending = (
        "and other items would hardly have put another first"
        if sure
        else "but other items might have put another system first"
    )
    note = f" Abilities are not given: {REASONS[why]}." if why else ""
    return f"By {rater}, {first.system} wins {share}, {ending}.{note}"
