"""Planning: what a number of labels can show, how many a gate needs, and what a second look costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from calibration.stats.estimate import Estimate, undefined
from labels.errors import UserError

LABELS, MOST_LABELS = (10, 500), 1000
POWER = 0.8
SIZES = (10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500)
MOST_COMMON = 0.99
DRAWS = 5_000  # a plan is read to two digits
NONE = undefined("not_applicable")
GAP = 0.02  # a kappa this near to the floor is not told from it by any number of labels that people give


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person chooses: labels, the agreement expected, the share of the commonest answer, a floor.

    `answers` is how many answers there are; those that are not the commonest share the rest evenly.
    """

    labels: int = 50
    agreement: float = 0.85
    share: float = 0.6
    floor: float = 0.4
    answers: int = 2

    def __post_init__(self) -> None:
        if not LABELS[0] <= self.labels <= MOST_LABELS:
            raise UserError(
                f"{self.labels} labels cannot be planned: choose from {LABELS[0]} to {MOST_LABELS}."
            )
        _check("The agreement", self.agreement, low=0.0, high=1.0)
        _check("The floor", self.floor, low=0.0, high=0.95)
        least = int(100 / self.answers) / 100
        _check(
            f"The share of the commonest of {self.answers} answers", self.share, low=least, high=MOST_COMMON
        )

    @property
    def margins(self) -> tuple[float, ...]:
        """The share of each answer, for judge and experts alike."""
        share = max(self.share, 1 / self.answers)
        return (share, *[(1 - share) / (self.answers - 1)] * (self.answers - 1))

    @property
    def chance(self) -> float:
        """The agreement that chance alone gives."""
        return sum(share**2 for share in self.margins)


@dataclass(frozen=True, slots=True)
class Chance:
    """With so many labels: kappa as it would be shown, and the chance that the gate is decided."""

    labels: int
    kappa: Estimate
    decided: float


@dataclass(frozen=True, slots=True)
class Look:
    """One planned look: after how many labels, the level of its interval, kappa as it would be shown."""

    labels: int
    level: float
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class Plan:
    """What a wish comes to; `kappa` is None where no two raters can be like that, and the rest is empty.

    `decided` is the chance that the gate says what is true: pass where the true kappa lies above the floor,
    fail where it lies below. `passing` is the smallest true kappa that passes with 80 % chance, `needed` the
    labels that decide this one with 80 % chance (None: more than 1,000). `looks` are two looks, planned.
    """

    wish: Wish
    kappa: float | None
    agreement: Estimate
    shown: Estimate = NONE
    decided: float = 0.0
    passing: float | None = None
    needed: int | None = None
    curve: tuple[Chance, ...] = ()
    looks: tuple[Look, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether the true kappa lies above the floor."""
        return self.kappa is not None and self.kappa > self.wish.floor


@lru_cache(maxsize=64)
def plan_of(wish: Wish) -> Plan:
    """All that a wish comes to."""
    from calibration.stats.intervals import proportion
    from calibration.stats.planning import items_for_power, passing_kappa

    agreement = proportion(wish.agreement * wish.labels, wish.labels)
    kappa = _kappa_of(wish)
    if kappa is None:
        return Plan(wish, None, agreement)
    resolvable = abs(kappa - wish.floor) >= GAP
    return Plan(
        wish=wish,
        kappa=kappa,
        agreement=agreement,
        shown=_shown(kappa, wish, labels=wish.labels),
        decided=_decided(kappa, wish, labels=wish.labels),
        passing=passing_kappa(wish.floor, margins=wish.margins, items=wish.labels, power=POWER),
        needed=items_for_power(kappa, wish.floor, margins=wish.margins, power=POWER) if resolvable else None,
        curve=_curve(kappa, replace(wish, labels=LABELS[0])),
        looks=_looks(kappa, wish),
    )


def extra_for_looks(plan: Plan) -> float:
    """By what share two planned looks raise the number of labels, against one look at the end."""
    from calibration.stats.intervals import z_quantile

    return (z_quantile(plan.looks[-1].level) / z_quantile(0.95)) ** 2 - 1


def _check(name: str, value: float, *, low: float, high: float) -> None:
    if not low <= value <= high:  # so that not-a-number is refused too
        raise UserError(f"{name} is {value:g}: give a number from {low:.2f} to {high:.2f}.")


def _kappa_of(wish: Wish) -> float | None:
    """The true kappa of two raters with these margins and this agreement; None where there are no such."""
    from calibration.stats.asymptotic import shares_at

    kappa = (wish.agreement - wish.chance) / (1 - wish.chance)
    try:
        shares_at(kappa, wish.margins)
    except ValueError:
        return None
    return min(1.0, kappa)


def _shown(kappa: float, wish: Wish, *, labels: int, level: float = 0.95) -> Estimate:
    """Kappa as a report would show it if the labels came out exactly as expected."""
    from calibration.stats.agreement import cohen_kappa
    from calibration.stats.asymptotic import shares_at

    return cohen_kappa(labels * shares_at(kappa, wish.margins), draws=DRAWS, level=level)


@lru_cache(maxsize=64)
def _curve(kappa: float, wish: Wish) -> tuple[Chance, ...]:
    """The chart's points, which do not depend on the wish's own number of labels."""
    return tuple(
        Chance(size, _shown(kappa, wish, labels=size), _decided(kappa, wish, labels=size)) for size in SIZES
    )


def _decided(kappa: float, wish: Wish, *, labels: int) -> float:
    from calibration.stats.planning import fail_probability, pass_probability

    chance = pass_probability if kappa > wish.floor else fail_probability
    return chance(kappa, wish.floor, margins=wish.margins, items=labels)


def _looks(kappa: float, wish: Wish) -> tuple[Look, ...]:
    from calibration.stats.planning import look_level, obrien_fleming_z

    sizes = (wish.labels // 2, wish.labels)
    levels = [look_level(z) for z in obrien_fleming_z(sizes)]
    return tuple(
        Look(size, level, _shown(kappa, wish, labels=size, level=level))
        for size, level in zip(sizes, levels, strict=True)
    )
