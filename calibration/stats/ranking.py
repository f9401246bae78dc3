"""Ranking systems from pairwise labels: win rate for two, Davidson's model with ties for more.

`wins[i][j]` counts how often i beats j; `ties[i][j] = ties[j][i]` how often they tie. Abilities are
logarithms that add up to 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .chance import Floats
from .estimate import Estimate, Reason, undefined
from .intervals import DRAWS, SEED, dirichlet, equal_tailed, sign_test_p

Comparison = tuple[int, int, float]  # first system, second system, 1 first wins, 0 second wins, .5 a tie


@dataclass(frozen=True, slots=True)
class Abilities:
    """Log abilities of shape (systems,) and the tie parameter nu, or why there are none.

    `covariance` (systems, systems) is that of the abilities as they are given, adding up to 0.
    """

    values: Floats | None
    covariance: Floats | None = None
    nu: float | None = None
    log_likelihood: float | None = None
    why_undefined: Reason | None = None
    warnings: tuple[str, ...] = ()

    def relative_to(self, system: int) -> tuple[Floats, Floats | None] | None:
        """Abilities less that of one system, and their standard errors if known; None without abilities."""
        if self.values is None:
            return None
        gaps: Floats = self.values - self.values[system]
        if self.covariance is None:
            return gaps, None
        own, spread = self.covariance[system], np.diag(self.covariance)
        errors: Floats = np.sqrt(np.maximum(0.0, spread + own[system] - 2 * own))
        return gaps, errors

    def outcomes(self, first: int, second: int) -> tuple[float, float, float] | None:
        """The modelled chances that the first wins, that they tie, that the second wins."""
        if self.values is None:
            return None
        one, other = np.exp(self.values[[first, second]] - self.values[[first, second]].mean()).tolist()
        tie = self.nu or 0.0
        total = one + other + tie
        return one / total, tie / total, other / total


@dataclass(frozen=True, slots=True)
class RankInterval:
    """The rank of a system (1 is best) with the interval that item resampling gives."""

    rank: int
    low: int
    high: int


def win_rate(
    wins: int, losses: int, *, ties: int = 0, draws: int = DRAWS, seed: int = SEED, level: float = 0.95
) -> Estimate:
    """(wins + ties / 2) / n with the interval of a Dirichlet(1/2) on win, tie, loss."""
    n = wins + ties + losses
    if not n:
        return undefined("no_items")
    value = (wins + ties / 2) / n
    low, high = equal_tailed(_rates(wins, losses, ties=ties, draws=draws, seed=seed), value, level=level)
    return Estimate(value, low, high, n, method="Dirichlet(1/2)", level=level)


def probability_better(
    wins: int, losses: int, *, ties: int = 0, draws: int = DRAWS, seed: int = SEED
) -> float | None:
    """The posterior probability that the win rate exceeds one half; None without items."""
    if not wins + ties + losses:
        return None
    return float(np.mean(_rates(wins, losses, ties=ties, draws=draws, seed=seed) > 0.5))


def win_p(wins: int, losses: int) -> float | None:
    """The exact sign test of wins against losses; None when there are only ties."""
    return sign_test_p(wins, losses) if wins + losses else None


def davidson_two(wins: int, losses: int, *, ties: int = 0) -> Abilities:
    """Davidson 1970 for two systems, where it fits the shares exactly; `separation` when one never wins."""
    if not wins or not losses:
        return Abilities(None, why_undefined="separation" if wins + ties + losses else "no_items")
    half = log(wins / losses) / 2
    return Abilities(np.array([half, -half]), nu=ties / sqrt(wins * losses))


def bradley_terry(wins: ArrayLike, *, pseudo_wins: float = 0.0) -> Abilities:
    """Abilities of Bradley and Terry 1952 by maximum likelihood; ties are not counted."""
    table = _square(wins)
    return _fitted(
        _with_pseudo(table, np.zeros_like(table), pseudo_wins=pseudo_wins), None, pseudo_wins=pseudo_wins
    )


def davidson(wins: ArrayLike, ties: ArrayLike, *, pseudo_wins: float = 0.0) -> Abilities:
    """Abilities and nu of Davidson 1970: P(i beats j) is p_i / (p_i + p_j + nu sqrt(p_i p_j)).

    `disconnected` unless every system can be reached from every other along wins (Ford 1957);
    `pseudo_wins` adds that many wins each way to every compared pair, with the warning `pseudo_wins`.
    """
    table, drawn = _square(wins), _square(ties)
    if not np.array_equal(drawn, drawn.T):
        raise ValueError("ties are mutual: the table of ties is symmetric")
    return _fitted(_with_pseudo(table, drawn, pseudo_wins=pseudo_wins), drawn, pseudo_wins=pseudo_wins)


def rank_intervals(
    items: Sequence[Sequence[Comparison]],
    systems: int,
    *,
    draws: int = 500,
    seed: int = SEED,
    level: float = 0.95,
    pseudo_wins: float = 0.5,
) -> list[RankInterval] | None:
    """Each system's rank by Davidson's abilities, with percentile limits from resampling items.

    All comparisons of an item are drawn together. None when the systems cannot be ranked at all.
    """
    rng = np.random.default_rng(seed)
    tables = np.array([_tables(item, systems) for item in items]).reshape(-1, 2, systems, systems)
    best = _ranks(tables.sum(axis=0), pseudo_wins)
    if best is None:
        return None
    times = rng.multinomial(len(items), np.full(len(items), 1 / len(items)), size=draws)
    sums = np.einsum("di,iwst->dwst", times, tables)
    ranks = np.array([found for one in sums if (found := _ranks(one, pseudo_wins)) is not None])
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(ranks, tails, axis=0, method="closest_observation")
    return [
        RankInterval(rank, min(rank, int(least)), max(rank, int(most)))
        for rank, least, most in zip(best, low, high, strict=True)
    ]


def _rates(wins: int, losses: int, *, ties: int, draws: int, seed: int) -> Floats:
    win, tie, _ = dirichlet(np.array([wins, ties, losses]) + 0.5, draws=draws, seed=seed)
    rates: Floats = win + tie / 2
    return rates


def _square(table: ArrayLike) -> Floats:
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or (counts < 0).any():
        raise ValueError("wins and ties are square tables of counts, one row and column per system")
    return counts


def _with_pseudo(wins: Floats, ties: Floats, *, pseudo_wins: float) -> Floats:
    compared = wins + wins.T + ties > 0
    return wins + pseudo_wins * compared


def _connected(wins: Floats) -> bool:
    reach = np.eye(len(wins), dtype=np.bool_) | (wins > 0)
    for _ in range(len(wins)):
        reach = reach @ reach
    return bool(reach.all())


def _fitted(wins: Floats, ties: Floats | None, *, pseudo_wins: float) -> Abilities:
    """Maximise the likelihood over the abilities of all systems but the first and, with ties, log nu."""
    if len(wins) < 2 or not _connected(wins):
        return Abilities(None, why_undefined="disconnected" if wins.any() else "no_items")
    systems, with_ties = len(wins), ties is not None and bool(ties.any())
    counts, features = _outcomes(wins, ties if ties is not None and with_ties else np.zeros_like(wins))
    free = features[:, :, 1 : systems + with_ties]
    found, height, information = _newton(counts, free)
    centre = np.eye(systems) - 1 / systems
    full = np.zeros((systems, systems))
    full[1:, 1:] = np.linalg.inv(information)[: systems - 1, : systems - 1]
    return Abilities(
        centre @ np.append(0.0, found[: systems - 1]),
        covariance=centre @ full @ centre,
        nu=float(np.exp(found[-1])) if with_ties else (None if ties is None else 0.0),
        log_likelihood=height,
        warnings=("pseudo_wins",) if pseudo_wins else (),
    )


def _outcomes(wins: Floats, ties: Floats) -> tuple[Floats, Floats]:
    """Each compared pair's counts (pairs, 3) of win, loss, tie, and what each adds to the exponent.

    The features have shape (pairs, 3, systems + 1): the winner's ability, or half of both and log nu. A
    table without any tie has no third outcome.
    """
    first, second = np.nonzero(np.triu(wins + wins.T + ties))
    abilities = np.eye(len(wins) + 1)
    halves = (abilities[first] + abilities[second]) / 2 + abilities[-1]
    counts = np.stack([wins[first, second], wins[second, first], ties[first, second]], axis=1)
    features = np.stack([abilities[first], abilities[second], halves], axis=1)
    outcomes = 3 if ties.any() else 2
    return counts[:, :outcomes], features[:, :outcomes]


def _newton(counts: Floats, features: Floats) -> tuple[Floats, float, Floats]:
    """The parameters that maximise a multinomial logit, its log likelihood and information there."""
    at = np.zeros(features.shape[2])
    height, score, information = _multinomial_logit(counts, features, at=at)
    for _ in range(100):
        step = np.linalg.solve(information, score)
        trial = _multinomial_logit(counts, features, at=at + step)
        while trial[0] < height - 1e-9:
            step = step / 2
            trial = _multinomial_logit(counts, features, at=at + step)
        at, (height, score, information) = at + step, trial
        if np.abs(step).max() < 1e-10:
            break
    return at, height, information


def _multinomial_logit(counts: Floats, features: Floats, *, at: Floats) -> tuple[float, Floats, Floats]:
    """Log likelihood, its gradient and its negative second derivative."""
    exponents = features @ at
    top = exponents.max(axis=1, keepdims=True)
    logs = exponents - top - np.log(np.exp(exponents - top).sum(axis=1, keepdims=True))
    shares, games = np.exp(logs), counts.sum(axis=1)
    means = np.einsum("po,pof->pf", shares, features)
    score = np.einsum("po,pof->f", counts, features) - games @ means
    spread = features - means[:, None, :]
    information = np.einsum("po,pof,pog->fg", games[:, None] * shares, spread, spread)
    return float((counts * logs).sum()), score, information


def _tables(item: Sequence[Comparison], systems: int) -> NDArray[np.float64]:
    tables = np.zeros((2, systems, systems))
    for first, second, score in item:
        if score == 0.5:
            tables[1, first, second] += 1
            tables[1, second, first] += 1
        else:
            winner, loser = (first, second) if score == 1 else (second, first)
            tables[0, winner, loser] += 1
    return tables


def _ranks(tables: Floats, pseudo_wins: float) -> list[int] | None:
    abilities = davidson(tables[0], tables[1], pseudo_wins=pseudo_wins).values
    if abilities is None:
        return None
    return [1 + int((abilities > one + 1e-9).sum()) for one in abilities]
