"""Standings: which system is better, by the experts' labels and by each judge, with what luck allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from calibration.compare import FEW_ITEMS, judged_value, rate_items, reference_labels
from calibration.material import Material
from calibration.render.text_table import TextTable
from calibration.stats.estimate import Estimate, Reason
from calibration.types import LeftOut, Verdict
from calibration.wording import REASONS, interval, left_out_in_words, number, percent
from labels.text import counted
from labels.types import Item, Side, Value

EXPERTS = "your experts"
FEW_SYSTEMS = 6  # METHODS 11: below that the tables say more than their agreement
SCORES: Mapping[Value, float] = {"A": 1.0, "tie": 0.5, "B": 0.0}
NotCounted = LeftOut | Literal["one system on both sides", "of the holdout"]


@dataclass(frozen=True, slots=True)
class Standing:
    """One system: its win rate, and where it stands with the limits that drawing other items gives.

    `ability` is Davidson's log ability, which counts how strong the opponents were; 0 is the mean. A rank
    or its limits may be missing, each for its reason.
    """

    system: str
    win_rate: Estimate
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    ability: float | None = None
    why_no_rank: Reason | None = None
    why_no_limits: Reason | None = None


@dataclass(frozen=True, slots=True)
class Standings:
    """All systems as one rater ranks them, the best first.

    `items` counts the pairs that rank them, `left_out` all others by their reason; `why_unranked` says why
    there are no abilities; `order_agreement` is Kendall's tau with the experts' order, from six systems on.
    """

    rater: str
    items: int
    left_out: Mapping[NotCounted, int]
    systems: tuple[Standing, ...]
    sentence: str
    why_unranked: Reason | None = None
    order_agreement: float | None = None


@dataclass(frozen=True, slots=True)
class _Said:
    """What a rater says of each pair, and why it says nothing of the others."""

    values: Mapping[str, Value]
    missing: Mapping[str, LeftOut]


Game = tuple[str, str, float]


def standings_of(material: Material) -> tuple[Standings, ...]:
    """The systems of a pairwise criterion as the experts and as each judge rank them."""
    by_judge: dict[str, list[Verdict]] = {}
    for verdict in material.verdicts:
        by_judge.setdefault(verdict.judge, []).append(verdict)
    reference = reference_labels(material.labels, [item.id for item in material.items])
    raters = {EXPERTS: _Said(reference.values, reference.missing)} if material.labels else {}
    raters |= {judge: _settled(verdicts, material.items) for judge, verdicts in by_judge.items()}
    found = [_standings(rater, said, material) for rater, said in raters.items()]
    if not found or found[0].rater != EXPERTS:
        return tuple(found)
    return (found[0], *(_beside(one, found[0]) for one in found[1:]))


def standings_table(standings: Standings) -> TextTable:
    """Systems, the best first, with win rate and rank."""
    columns = {
        "system": "",
        "pairs": "conventions",
        "win rate": "win_rate",
        "95 % interval": "win_rate",
        "rank": "rank_intervals",
        "rank may be": "rank_intervals",
        "ability": "davidson",
    }
    return TextTable(
        f"Ranking by {standings.rater}",
        tuple(columns),
        tuple(map(_row, standings.systems)),
        column_about=tuple(columns.values()),
        note=left_out_in_words(standings.left_out),
    )


def _beside(judge: Standings, experts: Standings) -> Standings:
    """A judge's standings with how far their order is that of the experts; from six systems on."""
    from calibration.stats.annotators import kendall_tau

    theirs = {one.system: one.win_rate.value for one in experts.systems if one.win_rate.value is not None}
    both = [
        (one.win_rate.value, theirs[one.system])
        for one in judge.systems
        if one.win_rate.value is not None and one.system in theirs
    ]
    if len(both) < FEW_SYSTEMS:
        return judge
    found = kendall_tau([mine for mine, _ in both], [other for _, other in both], exact=True)
    if found.tau is None or found.p is None:
        return judge
    luck = "under 1 time" if found.p < 0.01 else counted(round(100 * found.p), "time")
    sentence = (
        f" Its order of the {len(both)} systems goes with that of {EXPERTS} by {number(found.tau)} "
        "(Kendall's tau: 1 the same, 0 unrelated, -1 turned round); unrelated orders go as far together, or "
        f"against each other, about {luck} in 100."
    )
    return replace(judge, sentence=judge.sentence + sentence, order_agreement=found.tau)


def _row(one: Standing) -> tuple[str, ...]:
    why = one.why_no_rank or one.why_no_limits
    return (
        one.system,
        f"{one.win_rate.n:,}",
        "–" if one.win_rate.value is None else percent(one.win_rate.value),
        interval(one.win_rate),
        "–" if one.rank is None else f"{one.rank}",
        f"unknown: {REASONS[why]}" if why else f"{one.rank_low} to {one.rank_high}",
        number(one.ability),
    )


def _settled(verdicts: Sequence[Verdict], items: Sequence[Item]) -> _Said:
    """A judge's value of each item; orders that disagree are a tie, as in the report."""
    rated = rate_items(verdicts)
    values: dict[str, Value] = {}
    missing: dict[str, LeftOut] = {}
    for item in items:
        one = rated.get(item.id)
        value = None if one is None else judged_value(one)
        if value is not None:
            values[item.id] = value
        elif one is None:
            missing[item.id] = "not judged"
        else:
            missing[item.id] = "unanswered" if one.unanswered else "unsettled"
    return _Said(values, missing)


def _standings(rater: str, said: _Said, material: Material) -> Standings:
    items = {item.id: item for item in material.items}
    games = _games(said.values, items)
    left_out: Counter[NotCounted] = Counter(said.missing.values())
    left_out["one system on both sides"] = len(said.values) - len(games)
    left_out["of the holdout"] = material.withheld
    names = sorted({_system(item, side) for item in items.values() for side in ("A", "B")})
    met = {system for first, second, _ in games for system in (first, second)}
    rates = [Standing(name, _win_rate(name, games)) for name in names]
    why, systems = _ranked(games, [one for one in rates if one.system in met])
    systems += [replace(one, why_no_rank="no_items") for one in rates if one.system not in met]
    systems.sort(key=lambda one: (not one.win_rate.n, one.rank or 0, -(one.win_rate.value or 0.0)))
    counts = {reason: count for reason, count in left_out.items() if count}
    return Standings(rater, len(games), counts, tuple(systems), _sentence(rater, systems, why), why)


def _games(values: Mapping[str, Value], items: Mapping[str, Item]) -> list[Game]:
    """Who met whom, and the first one's score; a pair of one system with itself ranks nothing."""
    games = [(_system(items[name], "A"), _system(items[name], "B"), SCORES[v]) for name, v in values.items()]
    return [game for game in games if game[0] != game[1]]


def _system(item: Item, side: Side) -> str:
    return item.response(side).system


def _ranked(games: Sequence[Game], systems: list[Standing]) -> tuple[Reason | None, list[Standing]]:
    """The systems with Davidson's abilities and their ranks, each where it is known."""
    import numpy as np

    from calibration.stats.ranking import davidson

    place = {one.system: number for number, one in enumerate(systems)}
    wins, ties = np.zeros((len(place),) * 2), np.zeros((len(place),) * 2)
    for first, second, score in games:
        i, j = place[first], place[second]
        wins[i, j] += score == 1
        wins[j, i] += score == 0
        ties[[i, j], [j, i]] += score == 0.5
    if not wins.any():
        why: Reason = "all_ties" if games else "no_items"
        return why, [replace(one, why_no_rank=why) for one in systems]
    fitted = davidson(wins, ties)
    if fitted.values is not None:
        pairs = zip(systems, fitted.values.tolist(), strict=True)
        systems = [replace(one, ability=ability) for one, ability in pairs]
    return fitted.why_undefined, _with_ranks(games, systems, place)


def _with_ranks(games: Sequence[Game], systems: list[Standing], place: Mapping[str, int]) -> list[Standing]:
    """The ranks, and their limits where every system was in ten pairs."""
    from calibration.stats.ranking import rank_intervals

    if len(systems) == 2:
        ranks = [_rank_of_two(one.win_rate) for one in systems]
    else:
        compared = [[(place[first], place[second], score)] for first, second, score in games]
        found = rank_intervals(compared, len(place))
        if found is None:
            return [replace(one, why_no_rank="disconnected") for one in systems]
        ranks = [(one.rank, one.low, one.high) for one in found]
    few = min(one.win_rate.n for one in systems) < FEW_ITEMS
    return [
        replace(one, rank=rank, why_no_limits="too_few_items")
        if few
        else replace(one, rank=rank, rank_low=low, rank_high=high)
        for one, (rank, low, high) in zip(systems, ranks, strict=True)
    ]


def _rank_of_two(rate: Estimate) -> tuple[int, int, int]:
    """Rank and limits by the win rate alone: open where its interval holds one half, so that both agree."""
    value, low, high = rate.value or 0.0, rate.low or 0.0, 1.0 if rate.high is None else rate.high
    return 1 if value >= 0.5 else 2, 2 if high < 0.5 else 1, 1 if low > 0.5 else 2


def _win_rate(name: str, games: Sequence[Game]) -> Estimate:
    """Wins and half the ties of a system, over all its pairs."""
    from calibration.stats.ranking import win_rate

    scores = [
        score if first == name else 1 - score for first, second, score in games if name in (first, second)
    ]
    return win_rate(scores.count(1.0), scores.count(0.0), ties=scores.count(0.5))


def _sentence(rater: str, systems: Sequence[Standing], why: Reason | None) -> str:
    """Who leads, and whether other items might have said otherwise."""
    ranked = [one for one in systems if one.rank is not None]
    if not ranked:
        why = systems[0].why_no_rank or why or "no_items"
        return f"By {rater}, no system can be put first: {REASONS[why]}."
    first, rate = ranked[0], ranked[0].win_rate
    limits = f"{percent(rate.low or 0.0)} to {percent(rate.high or 0.0)}"
    shown = f"{percent(rate.value or 0.0)} of {counted(rate.n, 'pair')} ({limits}; a tie is half a win)"
    note = f" Abilities are not given: {REASONS[why]}." if why else ""
    return f"By {rater}, {first.system} wins {shown}{_ending(first, ranked)}.{note}"


def _ending(first: Standing, ranked: Sequence[Standing]) -> str:
    """How sure the first place is; below ten pairs of any system nothing is said."""
    rarest = min(ranked, key=lambda one: one.win_rate.n)
    if first.rank_high is None:
        few, need = counted(rarest.win_rate.n, "pair"), FEW_ITEMS - rarest.win_rate.n
        return f". Too few to say who is first: {rarest.system} has {few}, {need} more are needed"
    if first.rank_high == 1:
        return ", and other items would hardly have put another first"
    return ", but other items might have put another system first"
