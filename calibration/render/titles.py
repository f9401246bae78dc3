"""What each number is called for people; each name is also a heading of docs/methods.md."""

from __future__ import annotations

import re
from collections.abc import Mapping

from calibration.agreement import STATISTICS
from calibration.beside import Humans
from calibration.stats.estimate import Estimate

TITLES: Mapping[str, str] = {name: statistic.title for name, statistic in STATISTICS.items()} | {
    "kappa_systems": "Kappa over winning systems and tie",
    "kappa_by_inclusion": "Kappa, items weighted by how they were chosen",
    "consistency": "Same verdict in both orders",
    "preference": "Lean of the flips: -1 all to the first response, +1 all to the second",
    "kappa_max": "Largest kappa that these proportions of answers allow",
    "kappa_of_max": "Kappa as a share of that largest kappa",
    "pabak": "Agreement if all answers were equally common (PABAK)",
    "ac1": "Agreement beyond chance after Gwet (AC1)",
    "prevalence_index": "Lean of the agreements: 1 all pass, -1 all fail",
    "bias_index": "Passes of your experts less those of the judge, as a share",
    "tpr": "Passes found: of what experts pass, the judge passes",
    "tnr": "Fails found: of what experts fail, the judge fails",
    "ppv": "Passes right: of what the judge passes, experts pass",
    "npv": "Fails right: of what the judge fails, experts fail",
    "f1": "F1 of pass (passes found and passes right in one number)",
    "f1_fail": "F1 of fail (fails found and fails right in one number)",
    "balanced_accuracy": "Mean of passes found and fails found",
    "mcc": "Correlation of judge and experts (MCC): 0 none, 1 full",
    "pass_rate": "Pass rate by the judge alone, over all judged items",
    "corrected_pass_rate": "Pass rate that people would give, judge and labels together",
    "human_only": "Pass rate by the labels alone",
    "worth_labels": "Further labels that the judge is worth",
    "mean_pairwise_agreement": "Two of your experts agree",
    "krippendorff_alpha": "Experts among themselves, beyond chance (Krippendorff's alpha)",
    "ceiling": "Human ceiling: agreement of people beyond chance",
    "pairwise_matrix": "Each pair of annotators",
    "repeat_agreement": "Same label when an item came again",
    "consensus": "Items without a majority",
    "dawid_skene": "Items where a model of the annotators believes another value than the majority",
    "ceiling_delta": "Judge matches people less what people match one another (0: as well)",
    "expected_agreement": "Judge matches one annotator drawn at random",
    "alt_test": "Annotators that the judge could stand in for (alt-test)",
    "slices": "Agreement by metadata",
    "benjamini_hochberg": "Adjusted over all slices",
    "agreement_difference": "Difference of agreement on the same items",
    "kappa_difference": "Difference of kappa on the same items",
    "cost": "Dollars for 1,000 verdicts",
}
AGREEMENT = (
    "agreement",
    "kappa",
    "kappa_wilson",
    "weighted_kappa",
    "kappa_systems",
    "kappa_by_inclusion",
    "consistency",
    "preference",
)
BESIDE_KAPPA = ("kappa_max", "kappa_of_max", "pabak", "ac1", "prevalence_index", "bias_index")
CLASSIFIER = ("tpr", "tnr", "ppv", "npv", "f1", "f1_fail", "balanced_accuracy", "mcc")
PASS_RATE = ("pass_rate", "human_only", "corrected_pass_rate")
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Estimates": AGREEMENT,
    "Beside kappa, since its answers are rare or lopsided": BESIDE_KAPPA,
    "The judge as a classifier of your experts' labels": CLASSIFIER,
    "Pass rate": PASS_RATE,
}
PLOTTED = (*AGREEMENT, *CLASSIFIER)


def short_title(name: str) -> str:
    """A title without what stands in brackets or after a colon, for a chart."""
    return re.split(r" \(|: ", TITLES.get(name, name))[0]


def plotted(estimates: Mapping[str, Estimate]) -> list[tuple[str, float, float, float]]:
    """Estimates that have an interval, as name, value and limits for one axis."""
    return [
        (short_title(name), e.value, e.low, e.high)
        for name in PLOTTED
        if (e := estimates.get(name)) and e.value is not None and e.low is not None and e.high is not None
    ]


def people_beside(humans: Humans) -> dict[str, Estimate]:
    """What people reach among themselves, for the rows of a chart that can be held to it."""
    return {short_title("agreement"): humans.agreement, short_title("kappa"): humans.ceiling}
