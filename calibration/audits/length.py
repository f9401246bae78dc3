"""Length audit: does length move the judge beyond what the experts' preference explains?

The estimate is the odds ratio of being chosen for each doubling of a response's length at equal expert
label (Firth), 1 when length does not count. *Concern*: its interval lies away from 1 and it is at least 1.5
or at most 1 / 1.5. *Watch*: that size, not proven. *Fine*: the interval lies between 1/2 and 2. *Unknown*:
wider, below 20 pairs, 10 unequal ones or 8 of the judge's rarer choice. The raw share of longer choices is
told beside the experts' and never decides.

It cannot show: where better responses are longer and labels are noisy, a judge that is better than the labels
looks drawn to length, because the labels leave part of the quality unexplained.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from calibration.audits.basis import by_id, compared, lacking, more_items, share, weigh
from calibration.audits.exact import MAX_EXACT
from calibration.audits.modelled import ODDS, is_blind, logged, moved, shortage, times
from calibration.material import Material
from calibration.stats.agreement import cohen_kappa, crosstab
from calibration.stats.estimate import Estimate, undefined
from calibration.stats.length import MIN_UNEQUAL, length_effect, length_strata, longer_shares
from calibration.types import Finding, Pair
from calibration.wording import percent
from labels.kinds import KINDS
from labels.text import counted
from labels.types import Item

ALIKE = 0.2  # METHODS 5: lengths within this log ratio count as matched


def audit(material: Material, judge: str) -> Finding:
    """Does the judge favour long or short responses more than the experts do?"""
    if material.criterion.kind != "pairwise":
        sentence = "Single responses are not chosen over one another: 0 pairs to compare by length."
        return lacking("length", judge, sentence, need=0, reason="not_applicable")
    pairs = compared(material, judge).pairs
    items = by_id(material)
    ratios = [length_ratio(items[pair.item_id]) for pair in pairs]
    need = shortage(pairs, ratios)
    if need:
        sentence = (
            f"{counted(len(pairs), 'labelled pair')} cannot show yet whether length counts: needs at least "
            f"{need} more, of unequal length and with choices for both sides."
        )
        return lacking("length", judge, sentence, need=need, n=len(pairs))
    return _finding(judge, pairs, ratios)


def length_ratio(item: Item) -> float:
    """ln((characters of A + 1) / (characters of B + 1))."""
    return log((len(item.response("A").text) + 1) / (len(item.response("B").text) + 1))


def _finding(judge: str, pairs: Sequence[Pair], ratios: Sequence[float]) -> Finding:
    human, verdicts = [pair.reference for pair in pairs], [pair.judge for pair in pairs]
    effect = length_effect(human, verdicts, log_ratio=ratios).odds_ratio
    if is_blind(effect):
        sentence = (
            f"The responses of these {counted(len(pairs), 'pair')} are too alike in length to show whether "
            f"that counts: needs at least {MIN_UNEQUAL} more pairs of clearly unequal length."
        )
        return lacking("length", judge, sentence, need=MIN_UNEQUAL, n=len(pairs))
    weight = weigh(logged(effect), ODDS)
    need = more_items(logged(effect), ODDS) if weight == "unknown" else 0
    shares = longer_shares(human, verdicts, log_ratio=ratios)
    sentence = (
        f"At the same expert label, a response twice as long has {times(effect)} of being chosen, over "
        f"{counted(len(pairs), 'pair')}{_more(need)}. {_raw(shares.judge, shares.human)}"
    )
    parts = {"judge picks the longer": shares.judge, "experts pick the longer": shares.human}
    parts |= _strata(pairs, ratios) | _matched(pairs, ratios)
    return Finding(
        "length", judge, weight, effect, sentence, moved(pairs, ratios, effect=effect), need, parts
    )


def _more(need: int) -> str:
    return f"; needs about {need} more to be sure either way" if need else ""


def _raw(judge: Estimate, human: Estimate) -> str:
    if judge.value is None or human.value is None:
        return "The judge or your experts chose no side on pairs of unequal length."
    return f"The judge picks the longer {percent(judge.value)}, your experts {share(human)}."


def _strata(pairs: Sequence[Pair], ratios: Sequence[float]) -> dict[str, Estimate]:
    """The companion without a model: the common odds ratio of longer and chosen within expert labels."""
    name = "odds of the longer, within expert labels"
    if len(pairs) > MAX_EXACT:
        return {}
    test = length_strata([p.reference for p in pairs], [p.judge for p in pairs], log_ratio=ratios)
    if test.conditional_odds_ratio is None:
        return {name: undefined(test.why_undefined or "separation", n=test.n)}
    return {
        name: Estimate(test.conditional_odds_ratio, n=test.n, why_no_interval="not_applicable", method="CMH")
    }


def _matched(pairs: Sequence[Pair], ratios: Sequence[float]) -> dict[str, Estimate]:
    """Kappa where lengths are alike beside kappa where they are not."""
    alike = [pair for pair, ratio in zip(pairs, ratios, strict=True) if abs(ratio) < ALIKE]
    apart = [pair for pair, ratio in zip(pairs, ratios, strict=True) if abs(ratio) >= ALIKE]
    return {"kappa, lengths alike": _kappa(alike), "kappa, lengths apart": _kappa(apart)}


def _kappa(pairs: Sequence[Pair]) -> Estimate:
    values = KINDS["pairwise"].values
    return cohen_kappa(crosstab([p.reference for p in pairs], [p.judge for p in pairs], values))
