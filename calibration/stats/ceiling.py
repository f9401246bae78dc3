"""How well do people agree with one another, and does the judge reach that? Consensus, ceiling, alt-test.

Ratings come as one sequence per annotator, all of the same items in the same order; None is missing.
The judge's verdicts are one more such sequence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

import numpy as np

from .estimate import Estimate, Reason, undefined
from .intervals import t_quantile
from .multiplicity import benjamini_yekutieli, rejected
from .multirater import Ratings

Verdicts = Sequence[Hashable | None]


@dataclass(frozen=True, slots=True)
class AltTest:
    """Whether the judge may stand in for an annotator at tolerance `epsilon` (Calderon et al. 2025).

    `omega` is the winning rate, `rho` the average advantage probability; both None when nobody was tested.
    `p_values` belong to the annotators in `tested`, given by their place in the ratings.
    """

    epsilon: float
    omega: float | None
    rho: float | None
    tested: tuple[int, ...]
    p_values: tuple[float, ...]
    replaceable: bool | None
    why_undefined: Reason | None = None
    warnings: tuple[str, ...] = ()


def consensus(ratings: Ratings) -> list[Hashable | None]:
    """The value of more than half of the ratings of each item, else None: no consensus."""
    return [_majority(_of_item(ratings, item)) for item in range(_items(ratings))]


def vote_shares(ratings: Ratings) -> list[dict[Hashable, float]]:
    """Each item's ratings as shares of each value; empty without ratings."""
    votes = [_of_item(ratings, item) for item in range(_items(ratings))]
    return [{value: times / len(item) for value, times in Counter(item).items()} for item in votes]


def expected_agreement(ratings: Ratings, judge: Verdicts) -> float | None:
    """The judge's mean agreement with a person drawn at random from each item's annotators."""
    shares = [
        share.get(verdict, 0.0)
        for share, verdict in zip(vote_shares(ratings), judge, strict=True)
        if share and verdict is not None
    ]
    return fmean(shares) if shares else None


def ceiling_delta(ratings: Ratings, judge: Verdicts, *, level: float = 0.95) -> Estimate:
    """How much better the judge matches the other annotators than each left-out annotator does.

    0 is as good as the people, below 0 worse. Items need a verdict and two ratings. Interval: Student's t
    after appending two items at the extremes that can occur (METHODS.md section 3).
    """
    items = [
        (votes, verdict)
        for votes, verdict in zip(map(_counted, _transposed(ratings)), judge, strict=True)
        if verdict is not None and votes.total() >= 2
    ]
    missing = len(judge) - len(items)
    if not items:
        reason: Reason = "no_pairable_items" if len(ratings) > 1 else "not_applicable"
        if len(ratings) > 1 and judge and all(verdict is None for verdict in judge):
            reason = "no_valid_verdict"
        return undefined(reason, n_missing=missing)
    deltas = [_delta(votes, verdict) for votes, verdict in items]
    value = fmean(deltas)
    widened = np.array([*deltas, -1.0, _largest_delta(items)])
    n = len(widened)
    half = t_quantile(level, n - 1) * float(widened.std(ddof=1)) / sqrt(n)
    low, high = float(widened.mean()) - half, float(widened.mean()) + half
    return Estimate(
        value,
        min(low, value),
        max(high, value),
        len(items),
        method="t with two extreme items",
        level=level,
        n_missing=missing,
    )


def alt_test(
    ratings: Ratings,
    judge: Verdicts,
    *,
    epsilon: float = 0.1,
    q: float = 0.05,
    min_items: int = 30,
    min_annotators: int = 2,
) -> AltTest:
    """The alternative annotator test of Calderon, Reichart and Dror 2025.

    Annotators with fewer than `min_items` usable items are not tested but stay in the reference. With
    nobody to test omega is None, `too_few_items`.
    """
    usable = [
        item
        for item, verdict in enumerate(judge)
        if verdict is not None and len(_of_item(ratings, item)) >= min_annotators
    ]
    wins = {
        person: [
            _wins(ratings, judge, person=person, item=item)
            for item in usable
            if ratings[person][item] is not None
        ]
        for person in range(len(ratings))
    }
    tested = tuple(person for person, results in wins.items() if len(results) >= max(1, min_items))
    warnings = ("two_annotators",) if len(ratings) == 2 else ()
    if not tested:
        return AltTest(epsilon, None, None, (), (), None, "too_few_items", warnings)
    differences = [[human - machine for machine, human in wins[person]] for person in tested]
    p_values = [_p_or_one(alt_test_statistic(difference, epsilon)[1]) for difference in differences]
    omega = fmean(rejected(benjamini_yekutieli(p_values), q))
    rho = fmean(fmean(machine for machine, _ in wins[person]) for person in tested)
    return AltTest(epsilon, omega, rho, tested, tuple(p_values), omega >= 0.5, warnings=warnings)


def alt_test_statistic(differences: Sequence[float], epsilon: float) -> tuple[float | None, float | None]:
    """Student's t and its one-sided p that the mean of (human wins - judge wins) is below `epsilon`.

    When all differences are equal there is no t, and p is 0 below `epsilon`, 1 above it, None (0/0) at it.
    """
    values = np.asarray(differences, dtype=np.float64)
    if not values.size:
        return None, None
    gap = float(values.mean()) - epsilon
    if np.ptp(values) == 0:
        return None, (None if gap == 0 else float(gap > 0))
    from scipy.special import stdtr

    statistic = gap / (float(values.std(ddof=1)) / sqrt(values.size))
    return statistic, float(stdtr(values.size - 1, statistic))


def _items(ratings: Ratings) -> int:
    lengths = {len(person) for person in ratings}
    if len(lengths) > 1:
        raise ValueError("every annotator has one entry per item, None where missing")
    return lengths.pop() if lengths else 0


def _of_item(ratings: Ratings, item: int) -> list[Hashable]:
    return [value for person in ratings if (value := person[item]) is not None]


def _transposed(ratings: Ratings) -> list[list[Hashable]]:
    return [_of_item(ratings, item) for item in range(_items(ratings))]


def _counted(votes: list[Hashable]) -> Counter[Hashable]:
    return Counter(votes)


def _majority(votes: list[Hashable]) -> Hashable | None:
    if not votes:
        return None
    value, times = Counter(votes).most_common(1)[0]
    return value if 2 * times > len(votes) else None


def _delta(votes: Counter[Hashable], verdict: Hashable) -> float:
    """Mean over annotators: share of the others that the judge matches, less what the annotator does."""
    m = votes.total()
    matched = votes[verdict] / m  # each other annotator is left in equally often
    return matched - sum(times * (times - 1) for times in votes.values()) / (m * (m - 1))


def _largest_delta(items: Sequence[tuple[Counter[Hashable], Hashable]]) -> float:
    """The largest delta that items with these numbers of annotators and categories can have."""
    categories = max(2, len({value for votes, verdict in items for value in (*votes, verdict)}))
    sizes = {votes.total() for votes, _ in items}
    return max(
        _delta(_spread(m, with_judge, categories=categories), 0)
        for m in sizes
        for with_judge in range(1, m + 1)
    )


def _spread(votes: int, with_judge: int, *, categories: int) -> Counter[Hashable]:
    """`with_judge` votes for category 0 and the others spread as evenly as can be over the rest."""
    others, rest = votes - with_judge, categories - 1
    even = {k + 1: (others + rest - 1 - k) // rest for k in range(rest)}
    return Counter({0: with_judge} | even)


def _wins(ratings: Ratings, judge: Verdicts, *, person: int, item: int) -> tuple[int, int]:
    """Whether the judge, and whether the person, match the others on the item at least as well."""
    others = [
        value
        for other, labels in enumerate(ratings)
        if other != person and (value := labels[item]) is not None
    ]
    machine, human = (
        sum(label == other for other in others) for label in (judge[item], ratings[person][item])
    )
    return int(machine >= human), int(human >= machine)


def _p_or_one(p: float | None) -> float:
    return 1.0 if p is None else p
