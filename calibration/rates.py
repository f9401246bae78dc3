"""Single responses: the judge as a classifier, and the pass rate behind many verdicts (METHODS.md 2, 2.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from calibration.agreement import table_of
from calibration.audits.basis import share
from calibration.beside import PassRate
from calibration.compare import Rated, Reference, judged_value
from calibration.stats.estimate import Estimate
from calibration.types import Comparison
from labels.text import counted
from labels.types import Label

if TYPE_CHECKING:
    from calibration.stats.classification import BinaryCounts
    from calibration.stats.corrected import Sampling


@dataclass(frozen=True, slots=True)
class Drawn:
    """How the labelled items were drawn; `stated` is False where nobody said and it is inferred."""

    sampling: Sampling
    stated: bool = True


OF_WHICH: Mapping[Sampling, str] = {
    "random": "all judged items",
    "by_judge_verdict": "all judged items",
    "by_human_label": "the judged items without a label",
}
ONLY_AT_RANDOM = ", which would hold for other items only if these had been drawn at random"
ONLY_THESE = " of them, which says nothing of other items, since these were not drawn at random"
HOW_DRAWN: Mapping[Sampling, str] = {
    "random": "the labelled items were drawn at random",
    "by_judge_verdict": "the labelled items were chosen by the judge's verdict",
    "by_human_label": "the labelled items were chosen by their label",
    "other": "the labelled items were chosen in another way",
}


def how_drawn(stated: str, labels: Sequence[Label]) -> Drawn:
    """What the project says; else random where all labels were given in the app, which deals at random."""
    from calibration.stats.corrected import Sampling

    for sampling in get_args(Sampling):
        if stated == sampling:
            return Drawn(sampling)
    dealt = bool(labels) and all(label.source == "app" for label in labels)
    return Drawn("random" if dealt else "other", stated=False)


def counts_of(comparison: Comparison) -> BinaryCounts:
    """The four cells with pass as the positive class."""
    from calibration.stats.classification import BinaryCounts

    (tp, fn), (fp, tn) = table_of(comparison).tolist()
    return BinaryCounts(tp=tp, fp=fp, fn=fn, tn=tn)


def classifier_estimates(counts: BinaryCounts) -> dict[str, Estimate]:
    """The judge as a classifier of the reference labels, for both classes."""
    from calibration.stats import classification as stats

    return {
        "tpr": stats.tpr(counts),
        "tnr": stats.tnr(counts),
        "ppv": stats.ppv(counts),
        "npv": stats.npv(counts),
        "f1": stats.f1(counts),
        "f1_fail": stats.f1(counts.other_class()),
        "balanced_accuracy": stats.balanced_accuracy(counts),
        "mcc": stats.mcc(counts),
    }


def pass_rate_of(
    counts: BinaryCounts, rated: Mapping[str, Rated], reference: Reference, *, drawn: Drawn
) -> PassRate:
    """The judge's pass rate over all judged items, and what the labels make of it.

    Only where items were drawn at random do labels and correction speak of the same items, so that the
    labels which the judge is worth can be counted.
    """
    from calibration.stats import corrected as stats
    from calibration.stats.intervals import proportion

    values = {item_id: judged_value(item) for item_id, item in rated.items()}
    given = [value for value in values.values() if value is not None]
    rest = [v for item_id, v in values.items() if v is not None and item_id not in reference.values]
    drawn = drawn if rest or drawn.stated or not counts.n else Drawn("random", stated=False)
    judged = stats.Judged(rest.count("pass"), len(rest))
    human = stats.human_only(counts)
    both = stats.corrected_pass_rate(counts, judged, sampling=drawn.sampling)
    worth = stats.worth_labels(human, both) if rest and drawn.sampling == "random" else None
    return PassRate(
        sampling=drawn.sampling,
        stated=drawn.stated,
        judge=proportion(given.count("pass"), len(given)),
        human=human,
        corrected=both,
        worth=worth,
        sentence=_sentence(human, both, worth=worth, drawn=drawn) if rest else _all_labelled(human, drawn),
    )


def _sentence(human: Estimate, both: Estimate, *, worth: float | None, drawn: Drawn) -> str:
    if not human.n:
        return "No item has both a label and a verdict, so the pass rate cannot be corrected."
    alone = f"the {counted(human.n, 'labelled item')} alone give {share(human)}"
    if drawn.sampling != "random":
        alone += ONLY_AT_RANDOM
    if drawn.sampling == "other":
        how = _how(drawn) if drawn.stated else "How the labelled items were chosen is not stated"
        state = "" if drawn.stated else " State it on the Agreement page."
        return f"{how}, so the pass rate cannot be corrected; {alone}.{state}"
    if both.value is None:
        return f"{_how(drawn)}: the corrected pass rate is undefined; {alone}."
    if "out_of_range" in both.warnings:
        return (
            f"{_how(drawn)}, but the judge's errors there cannot explain how much it passes of "
            f"{OF_WHICH[drawn.sampling]}, so they do not carry over: do not rely on the corrected pass rate "
            f"(cut off at {100 * both.value:.0f} %); {alone}."
        )
    return (
        f"{_how(drawn)}: people would pass {share(both)} of {OF_WHICH[drawn.sampling]}; {alone}. "
        f"{_worth(worth)}"
    ).strip()


def _how(drawn: Drawn) -> str:
    """How items were drawn, and where nobody said so, why it is taken so and where to say otherwise."""
    if drawn.stated:
        return f"As stated, {HOW_DRAWN[drawn.sampling]}"
    return (
        f"It is taken that {HOW_DRAWN[drawn.sampling]}, since all labels were given in the app and nobody "
        "has said otherwise (to do so: Agreement page, “How were the items chosen that people labelled?”)"
    )


def _all_labelled(human: Estimate, drawn: Drawn) -> str:
    if not human.n:
        return "No item has both a label and a verdict, so there is no pass rate to correct."
    chosen = "" if drawn.sampling == "random" else ONLY_THESE
    return f"Every judged item has a label, so the labels alone say it: people pass {share(human)}{chosen}."


def _worth(worth: float | None) -> str:
    if worth is None:
        return ""
    if worth < 1:
        return "The judge adds nothing to the labels here."
    return f"The judge is worth about {counted(round(worth), 'extra label')}."
