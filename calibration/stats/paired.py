"""Two judges or two rubric versions on the same items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .agreement import cohen_kappa, crosstab
from .chance import Floats, cohen_chance, corrected
from .estimate import Estimate, undefined
from .intervals import DRAWS, SEED, bonett_price, equal_tailed, sign_test_p


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """Items by who is right: both, only the new one (`gained`), only the old one (`lost`), neither."""

    both: int
    gained: int
    lost: int
    neither: int

    @property
    def n(self) -> int:
        """All items."""
        return self.both + self.gained + self.lost + self.neither


def paired_counts(reference: Sequence[str], new: Sequence[str], *, old: Sequence[str]) -> PairedCounts:
    """Count aligned verdicts by who agrees with the reference; ValueError on unequal lengths."""
    right = [(n == r, o == r) for r, n, o in zip(reference, new, old, strict=True)]
    return PairedCounts(
        both=right.count((True, True)),
        gained=right.count((True, False)),
        lost=right.count((False, True)),
        neither=right.count((False, False)),
    )


def agreement_difference(counts: PairedCounts, *, level: float = 0.95) -> Estimate:
    """New agreement less old, with the interval of Bonett and Price 2012."""
    if not counts.n:
        return undefined("no_items")
    value = (counts.gained - counts.lost) / counts.n
    low, high = bonett_price(counts.gained, counts.lost, n=counts.n, level=level)
    warnings = () if counts.gained + counts.lost else ("no_discordant_pairs",)
    return Estimate(
        value,
        min(low, value),
        max(high, value),
        counts.n,
        method="Bonett-Price",
        level=level,
        warnings=warnings,
    )


def mcnemar_p(gained: int, lost: int, *, midp: bool = True) -> float:
    """The two-sided p of McNemar 1947 from the discordant items: mid-p to show, exact to be conservative.

    Without discordant items p is 1.
    """
    return sign_test_p(gained, lost, midp=midp)


def kappa_difference(
    reference: Sequence[str],
    new: Sequence[str],
    *,
    old: Sequence[str],
    categories: Sequence[str],
    draws: int = DRAWS,
    seed: int = SEED,
    level: float = 0.95,
) -> Estimate:
    """New kappa less old kappa, with the percentile interval of a paired item bootstrap.

    Undefined where either kappa is. Judges that never differ carry no interval, and `no_variation`.
    """
    kappas = [
        cohen_kappa(crosstab(reference, verdicts, categories), draws=1).value for verdicts in (new, old)
    ]
    n = len(reference)
    if kappas[0] is None or kappas[1] is None:
        return undefined("expected_agreement_is_1" if n else "no_items", n=n)
    value = kappas[0] - kappas[1]
    if list(new) == list(old):
        return Estimate(value, n=n, why_no_interval="no_discordant_pairs", warnings=("no_variation",))
    sample = _difference_draws((reference, new, old), categories, draws=draws, seed=seed)
    low, high = equal_tailed(sample, value, level=level)
    return Estimate(value, low, high, n, method="paired item bootstrap", level=level)


def _difference_draws(
    triples: tuple[Sequence[str], Sequence[str], Sequence[str]],
    categories: Sequence[str],
    *,
    draws: int,
    seed: int,
) -> Floats:
    """Kappa differences of resampled items; resamples in which a kappa is undefined are left out."""
    place = {category: k for k, category in enumerate(categories)}
    cells = np.array([[place[value] for value in triple] for triple in zip(*triples, strict=True)])
    kinds, times = np.unique(cells, axis=0, return_counts=True)
    resampled = np.random.default_rng(seed).multinomial(len(cells), times / len(cells), size=draws)
    new = _kappas(kinds[:, [0, 1]], resampled, size=len(place))
    old = _kappas(kinds[:, [0, 2]], resampled, size=len(place))
    sample: Floats = new - old
    return sample[~np.isnan(sample)]


def _kappas(kinds: NDArray[np.int64], resampled: NDArray[np.int64], *, size: int) -> Floats:
    tables = np.zeros((size, size, len(resampled)))
    for (row, column), times in zip(kinds, resampled.T, strict=True):
        tables[row, column] += times
    return corrected(tables, np.eye(size), chance=cohen_chance)
