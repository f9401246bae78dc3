"""A number with its interval and n, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Reason = Literal[
    "no_items",
    "too_few_items",
    "expected_agreement_is_1",
    "no_pairable_items",
    "no_expected_disagreement",
    "zero_denominator",
    "judge_not_informative",
    "separation",
    "no_discordant_pairs",
    "all_ties",
    "disconnected",
    "no_valid_verdict",
    "not_applicable",
    "single_run",
    "contaminated_split",
]


@dataclass(frozen=True, slots=True)
class Estimate:
    """One statistic: `value` is None exactly when `why_undefined` says why.

    `low` and `high` are the limits of the two-sided interval at `level`; both are None when there
    is no interval, and `why_no_interval` then says why. `n` counts items.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    why_undefined: Reason | None = None
    method: str = ""
    level: float = 0.95
    n_missing: int = 0
    why_no_interval: Reason | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.value is None) != (self.why_undefined is not None):
            raise ValueError("an estimate has either a value or the reason why it has none")


def undefined(reason: Reason, *, n: int = 0, n_missing: int = 0) -> Estimate:
    """An estimate without a value, and why."""
    return Estimate(None, n=n, why_undefined=reason, n_missing=n_missing)
