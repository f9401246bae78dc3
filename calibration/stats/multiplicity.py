"""Many p-values at once: Holm for flags, Benjamini-Hochberg for slices, Benjamini-Yekutieli for the alt-test.

Adjusted p-values keep the order of the input. None (no test was possible) stays None and is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

PValues = Sequence[float | None]


def holm(p_values: PValues) -> list[float | None]:
    """Adjusted p-values of Holm 1979: the chance of any false flag is controlled."""
    return _adjusted(p_values, _step_down)


def benjamini_hochberg(p_values: PValues) -> list[float | None]:
    """Adjusted p-values of Benjamini and Hochberg 1995: the share of false flags is controlled."""
    return _adjusted(p_values, lambda ordered: _step_up(ordered, penalty=1.0))


def benjamini_yekutieli(p_values: PValues) -> list[float | None]:
    """Adjusted p-values of Benjamini and Yekutieli 2001, which hold under any dependence."""
    return _adjusted(
        p_values, lambda ordered: _step_up(ordered, penalty=sum(1 / k for k in range(1, len(ordered) + 1)))
    )


def rejected(adjusted: PValues, q: float) -> list[bool]:
    """Which tests are rejected at `q`; a test that was not possible is not."""
    return [p is not None and p <= q for p in adjusted]


def _adjusted(p_values: PValues, adjust: Callable[[list[float]], list[float]]) -> list[float | None]:
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    if any(not 0 <= p <= 1 for p, _ in known):
        raise ValueError("a p-value lies between 0 and 1")
    result: list[float | None] = [None] * len(p_values)
    for (_, place), p in zip(known, adjust([p for p, _ in known]), strict=True):
        result[place] = min(1.0, p)
    return result


def _step_down(ordered: list[float]) -> list[float]:
    return list(accumulate((p * (len(ordered) - k) for k, p in enumerate(ordered)), max))


def _step_up(ordered: list[float], *, penalty: float) -> list[float]:
    m = len(ordered)
    scaled = [p * (m / rank * penalty) for rank, p in enumerate(ordered, start=1)]
    return list(accumulate(reversed(scaled), min))[::-1]
