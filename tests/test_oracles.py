"""Numbers from independent implementations, each reached through a public function.

The entries are the file named by ORACLES, by default ../shared/oracles.json beside the repository. An adapter
translates names and nothing else. `null` in an entry means that the product has no value.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from math import isclose
from pathlib import Path
from typing import Any

import pytest

from calibration.stats import (
    agreement,
    annotators,
    asymptotic,
    ceiling,
    classification,
    coefficients,
    corrected,
    intervals,
    logistic,
    multiplicity,
    multirater,
    paired,
    planning,
    position,
    ranking,
    reference,
    repeats,
    stratified,
)

FILE = Path(os.environ.get("ORACLES") or Path(__file__).parents[2] / "shared" / "oracles.json")
MANY = 200_000
SLOTS: dict[str, position.Slot | None] = {"A": "first", "B": "second", "C": "tie", "N": None}

Given = Mapping[str, Any]
Got = Mapping[str, Any]


def read_entries() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return entries


def limits(estimate: Any) -> dict[str, Any]:
    return {"value": estimate.value, "lower": estimate.low, "upper": estimate.high}


def ends(interval: tuple[float, float] | None) -> dict[str, Any]:
    low, high = interval or (None, None)
    return {"lower": low, "upper": high}


def triple(estimate: Any) -> list[float | None]:
    return [estimate.value, estimate.low, estimate.high]


def binary(given: Given) -> classification.BinaryCounts:
    return classification.BinaryCounts(tp=given["tp"], fp=given["fp"], fn=given["fn"], tn=given["tn"])


def named_table(one: list[Any], other: list[Any]) -> Any:
    names = [[str(value) for value in values] for values in (one, other)]
    return agreement.crosstab(names[0], names[1], sorted({*names[0], *names[1]}))


def cohen(given: Given) -> Got:
    table = given["table"]
    return {"kappa": agreement.cohen_kappa(table).value, "se_fce": reference.kappa_se(table)}


def cohen_wald(given: Given) -> Got:
    table = given["table"]
    return {"kappa": agreement.cohen_kappa(table).value, **ends(reference.kappa_wald(table))}


def pabak(given: Given) -> Got:
    table = given["table"]
    exact = agreement.bennett_s(table, method="clopper-pearson-plugin")
    chi2, p = reference.mcnemar_chi2(table[0][1], table[1][0]) or (None, None)
    return {
        "kappa": agreement.cohen_kappa(table).value,
        "se_fleiss": reference.kappa_null_se(table),
        "pabak": exact.value,
        "pabak_lower": exact.low,
        "pabak_upper": exact.high,
        "prevalence_index": agreement.prevalence_index(table),
        "bias_index": agreement.bias_index(table),
        "p_o": agreement.raw_agreement(table).value,
        "p_e": agreement.chance_agreement(table),
        "mcnemar_chi2": chi2,
        "mcnemar_p": p,
    }


def weighted(given: Given) -> Got:
    table, weights = given["table"], given["weights"]
    return {
        "kappa": agreement.weighted_kappa(table, weights=weights).value,
        "se": reference.kappa_se(table, weights=weights),
    }


def dirichlet(given: Given) -> Got:
    table = given["table"]
    names = {"q025": 0.025, "q05": 0.05, "median": 0.5, "q95": 0.95, "q975": 0.975}
    found = agreement.kappa_quantiles(table, list(names.values()), draws=MANY) or [None] * len(names)
    return {
        "kappa": agreement.cohen_kappa(table).value,
        **dict(zip(names, found, strict=True)),
        "p_gt_0.6": agreement.probability_above(table, 0.6, draws=MANY),
    }


def plug_in(given: Given) -> Got:
    table = given["table"]
    return {
        **limits(agreement.cohen_kappa(table, method="wilson-plugin")),
        "p_o": agreement.raw_agreement(table).value,
        "p_e": agreement.chance_agreement(table),
    }


def fisher_z(given: Given) -> Got:
    return {**ends(reference.kappa_fisher_z(given["table"])), "se": reference.kappa_se(given["table"])}


def scott_ac1(given: Given) -> Got:
    table = given["table"]
    return {
        "scott_pi": agreement.scott_pi(table).value,
        "ac1": agreement.ac1(table).value,
        "bennett_s": agreement.bennett_s(table).value,
    }


def kappa_raw(given: Given) -> Got:
    return {"kappa": agreement.cohen_kappa(named_table(given["rater1"], given["rater2"])).value}


def two_raters(given: Given) -> Got:
    table = named_table(given["rater1"], given["rater2"])
    return {
        "pi": agreement.scott_pi(table).value,
        "kappa": agreement.cohen_kappa(table).value,
        "s": agreement.bennett_s(table).value,
        "alpha": multirater.krippendorff_alpha([given["rater1"], given["rater2"]]).value,
    }


def fleiss(given: Given) -> Got:
    counts = given.get("counts") or multirater.rating_counts(given["rater_by_item"])
    return {
        "kappa": multirater.fleiss_kappa(counts).value,
        "randolph": multirater.free_marginal_kappa(counts),
    }


def suite(given: Given) -> Got:
    names = {
        "error": "se",
        "low": "lower",
        "high": "upper",
        "observed": "pa",
        "chance": "pe",
        "value": "value",
    }
    return {
        name: found and {names[key]: number for key, number in asdict(found).items()}
        for name, found in coefficients.gwet_suite(given["rater_by_item"]).items()
    }


def classifier_rates(given: Given) -> Got:
    counts = binary(given)
    rates = {
        name: triple(rate(counts, method="Clopper-Pearson")) for name, rate in classification.RATES.items()
    }
    return {**rates, "youden": classification.youden(counts).value}


def classifier_point(given: Given) -> Got:
    human, judge = given["human"], given["judge"]
    counts = classification.binary_counts(human, judge, positive=1)
    measures = {**classification.RATES, **classification.SUMMARIES}
    kappa = agreement.cohen_kappa(named_table(human, judge)).value
    return {**{name: measure(counts).value for name, measure in measures.items()}, "kappa": kappa}


def constant_judge(given: Given) -> Got:
    human, judge = given["human"], given["judge"]
    table, counts = named_table(human, judge), classification.binary_counts(human, judge, positive=1)
    return {
        "kappa": agreement.cohen_kappa(table).value,
        "ac1": agreement.ac1(table).value,
        "brennan_prediger_pabak": agreement.bennett_s(table).value,
        "alpha": multirater.krippendorff_alpha([human, judge]).value,
        "tnr": classification.tnr(counts).value,
        "accuracy": classification.accuracy(counts).value,
    }


def mcnemar(given: Given) -> Got:
    b, c = given["b"], given["c"]
    plain = reference.mcnemar_chi2(b, c) or (None, None)
    with_correction = reference.mcnemar_chi2(b, c, corrected=True) or (None, None)
    return {
        "exact_p": paired.mcnemar_p(b, c, midp=False),
        "midp": paired.mcnemar_p(b, c),
        "chi2": plain[0],
        "chi2_p": plain[1],
        "chi2_cc_p": with_correction[1],
    }


def bonett_price(given: Given) -> Got:
    b, c, n = given["b"], given["c"], given["n"]
    found = paired.agreement_difference(paired.PairedCounts(both=n - b - c, gained=b, lost=c, neither=0))
    return {"diff_observed": found.value, "lower": found.low, "upper": found.high}


def logit(fit: Callable[..., logistic.LogisticFit]) -> Callable[[Given], Got]:
    def adapter(given: Given) -> Got:
        columns = [given[name] for name in ("h", "x") if name in given]
        found = fit([(1, *row) for row in zip(*columns, strict=True)], given["y"])
        return {"coef": found.coefficients.tolist(), "se": found.errors.tolist()}

    return adapter


def bradley_terry(given: Given) -> Got:
    if "wins" in given:
        values = ranking.bradley_terry(given["wins"]).values
        return {"log_ability_centered": None if values is None else values.tolist()}
    names = sorted({name for pair in given["pairs"] for name in pair[:2]})
    wins = [[0] * len(names) for _ in names]
    for one, other, won, lost in given["pairs"]:
        wins[names.index(one)][names.index(other)] = int(won)
        wins[names.index(other)][names.index(one)] = int(lost)
    gaps, errors = ranking.bradley_terry(wins).relative_to(0) or (None, None)
    return {
        "log_ability": gaps is not None and dict(zip(names, gaps.tolist(), strict=True)),
        "se": errors is not None and dict(zip(names, errors.tolist(), strict=True)),
    }


def davidson(given: Given) -> Got:
    found = ranking.davidson(given["wins"], given["ties"])
    gaps, _ = found.relative_to(0) or (None, None)
    return {
        "log_ability": None if gaps is None else gaps.tolist(),
        "nu": found.nu,
        "loglik": found.log_likelihood,
    }


def davidson_two(given: Given) -> Got:
    wins, ties, losses = given["win_a"], given["ties"], given["win_b"]
    found = ranking.davidson_two(wins, losses, ties=ties)
    gaps, _ = found.relative_to(1) or (None, None)
    win, tie, _ = found.outcomes(0, 1) or (None, None, None)
    return {
        "log_ability_diff": None if gaps is None else gaps[0],
        "nu": found.nu,
        "win_rate_a": ranking.win_rate(wins, losses, ties=ties).value,
        "p_a": win,
        "p_tie": tie,
    }


def win_rate(given: Given) -> Got:
    wins, ties, losses = given["win"], given["tie"], given["loss"]
    found = ranking.win_rate(wins, losses, ties=ties, draws=MANY)
    return {
        "win_rate": found.value,
        "lower": found.low,
        "upper": found.high,
        "p_better": ranking.probability_better(wins, losses, ties=ties, draws=MANY),
    }


def position_bias(given: Given) -> Got:
    counts = position.PositionCounts(hard_flips_first=given["primacy"], hard_flips_second=given["recency"])
    share = position.primacy_share(counts)
    return {
        "p_two_sided": position.direction_p(counts, midp=False),
        "primacy_share": share.value,
        "cp_lower": share.low,
        "cp_upper": share.high,
    }


def shi(given: Given) -> Got:
    pairs = [(SLOTS[one], SLOTS[other]) for one, other in given["slot_verdict_pairs"]]
    counts = position.count_pairs(pairs)
    audit = asdict(position.shi_audit(counts))
    return {**audit, "primacy": counts.primacy, "recency": counts.recency}


def conflicts(given: Given) -> Got:
    changed, n = given["conflicts"], given["n"]
    counts = position.PositionCounts(consistent=n - changed, hard_flips_first=changed)
    return {"rate": position.conflict_rate(counts).value}


def human_position(given: Given) -> Got:
    found = annotators.slot_choice(given["first_slot_choices"], given["non_tie"])
    return {"p": found.p, "lower": found.share.low, "upper": found.share.high}


def self_preference(given: Given) -> Got:
    own = given["judge_agrees_self"], given["self_preferred_by_human"]
    other = given["judge_agrees_other"], given["other_preferred_by_human"]
    found = stratified.self_preference(own, other)
    return {
        "diff": found.value,
        "lower": found.low,
        "upper": found.high,
        "fisher_p": stratified.self_preference_p(own, other),
    }


def length_strata(given: Given) -> Got:
    found = stratified.stratified_test(given["strata"])
    return {
        "exact_p": found.exact_p,
        "common_or_mle": reference.conditional_odds_ratio_r(given["strata"]),
        "chi2": found.chi2,
        "chi2_p": found.chi2_p,
        "mh_or": found.mantel_haenszel_odds_ratio,
    }


def rogan_gladen_known(given: Given) -> Got:
    passed, n = given["pos"], given["tested"]
    true = reference.rogan_gladen_known(passed, n, sensitivity=given["se"], specificity=given["sp"])
    return {"apparent": triple(intervals.proportion(passed, n)), "true": list(true)}


def rogan_gladen(given: Given) -> Got:
    labelled, judged = binary(given), corrected.Judged(given["judge_pass"], given["judge_n"])
    value = corrected.rogan_gladen(labelled, judged).value
    return {"theta": value, "theta_clipped": value, "theta_raw": corrected.rogan_gladen_raw(labelled, judged)}


def lang_reiczigel(given: Given) -> Got:
    judged = corrected.Judged(given["judge_pass"], given["judge_n"])
    found = corrected.rogan_gladen(binary(given), judged)
    return {"theta": found.value, "lower": found.low, "upper": found.high}


def judgy(given: Given) -> Got:
    labelled, judged = binary(given), corrected.Judged(given["judge_pass"], given["judge_n"])
    low, high = reference.rogan_gladen_bootstrap(labelled, judged) or (None, None)
    return {"theta": corrected.rogan_gladen(labelled, judged).value, "boot_lower": low, "boot_upper": high}


def ppi(weight: float | None) -> Callable[[Given], Got]:
    def adapter(given: Given) -> Got:
        value, low, high = reference.ppi_mean(
            given["human"],
            given["judge_on_labelled"],
            judged=corrected.Judged(given["judge_unlabelled_pass"], given["judge_unlabelled_n"]),
            weight=given.get("lam", weight),
        )
        return {"theta": value, "lower": low, "upper": high}

    return adapter


def poststratified(given: Given) -> Got:
    labelled = binary(given)
    judged = corrected.Judged(given["judge_pass_unlabelled"], given["judge_n_unlabelled"])
    found = corrected.poststratified(labelled, judged, draws=MANY)
    middle = corrected.poststratified_quantiles(labelled, judged, probabilities=[0.5], draws=MANY)
    return {"point": found.value, "lower": found.low, "upper": found.high, "median": middle and middle[0]}


def unit_sd(given: Given) -> Got:
    kappa, margins = given["kappa"], (given["prevalence"], 1 - given["prevalence"])
    return {
        "sd_unit": asymptotic.kappa_unit_sd(kappa, margins),
        "n_for_halfwidth_0.15": planning.items_for_half_width(kappa, margins, width=0.15),
        "n_for_halfwidth_0.10": planning.items_for_half_width(kappa, margins, width=0.10),
    }


def power(given: Given) -> Got:
    """In R's irr, whose example this is, the first kappa is the true one and the second that of the null."""
    return {
        "n": planning.items_for_test(
            given["kappa0"],
            given["kappa1"],
            margins=given["prevalence"],
            power=given["power"],
            alpha=given["alpha"],
            two_sided=given["sided"] == "two",
        )
    }


def adjusted(adjust: Callable[..., list[float | None]]) -> Callable[[Given], Got]:
    def adapter(given: Given) -> Got:
        found = adjust(given["p"])
        return {"adjusted": found, "reject": multiplicity.rejected(found, given.get("q", 0.05))}

    return adapter


def alt_test(given: Given) -> Got:
    names = {"min_instances_per_human": "min_items", "min_humans_per_instance": "min_annotators"}
    options = {
        names.get(key, key): value for key, value in given.items() if key not in ("humans", "llm", "note")
    }
    found = ceiling.alt_test(given["humans"], given["llm"], **options)
    return {"omega": found.omega, "rho": found.rho, "n_annotators_tested": len(found.tested)}


def alt_test_p(given: Given) -> Got:
    statistic, p = ceiling.alt_test_statistic(given["diff"], given["epsilon"])
    return {"t": statistic, "p": p}


def geval(given: Given) -> Got:
    found = repeats.geval_score(given["scores"], given["probs"])
    return {**asdict(found), "score_renormalised": found.score}


def majority_accuracy(given: Given) -> Got:
    return {"acc": repeats.majority_accuracy([given["p"]], given["k"])}


def dawid_skene(given: Given) -> Got:
    found = reference.dawid_skene_crowd_kit(
        given["raters"], smoothing=given["smoothing"], iterations=given["iterations"]
    )
    assert found.probabilities is not None
    assert found.priors is not None
    return {
        "labels": list(found.labels),
        "prob_class1": found.probabilities[:, 1].tolist(),
        "priors": found.priors.tolist(),
    }


def mtbench(given: Given) -> Got:
    judges = {name for by_rater in given["votes"].values() for name in by_rater} - {"human"}
    found = reference.mtbench_agreement(given["votes"], judge=judges.pop(), setup=given["setup"])
    return {name: list(counts) for name, counts in found.items()}


def kendall(given: Given) -> Got:
    return asdict(annotators.kendall_tau(given["order"], given["agree"]))


def trend(given: Given) -> Got:
    return asdict(annotators.fatigue_trend(given["agree"], given["n"]))


ADAPTERS: dict[str, Callable[[Given], Got]] = {
    "alt_test": alt_test,
    "alt_test_ttest": alt_test_p,
    "alt_test_zero_variance": alt_test_p,
    "benjamini_hochberg": adjusted(multiplicity.benjamini_hochberg),
    "benjamini_yekutieli": adjusted(multiplicity.benjamini_yekutieli),
    "bonett_price95": bonett_price,
    "bradley_terry": bradley_terry,
    "by_reject": adjusted(multiplicity.benjamini_yekutieli),
    "classifier_point": classifier_point,
    "classifier_rates": classifier_rates,
    "clopper_pearson95": lambda given: ends(intervals.clopper_pearson(given["x"], given["n"])),
    "cmh_stratified_length": length_strata,
    "cohen_kappa": cohen,
    "cohen_kappa_raw": kappa_raw,
    "cohen_kappa_wald95": cohen_wald,
    "constant_judge_trap": constant_judge,
    "davidson": davidson,
    "davidson_two_systems": davidson_two,
    "dawid_skene": dawid_skene,
    "fairEval_conflict_rate": conflicts,
    "fatigue_kendall": kendall,
    "fatigue_trend_test": trend,
    "firth_logistic": logit(logistic.firth),
    "firth_logistic_separated": logit(logistic.firth),
    "fleiss_kappa": fleiss,
    "geval_weighted": geval,
    "holm": adjusted(multiplicity.holm),
    "human_position_bias": human_position,
    "irrcac_suite": suite,
    "jeffreys95": lambda given: ends(intervals.jeffreys(given["x"], given["n"])),
    "judgebench_accuracy": lambda given: {
        "accuracy_percent": reference.judgebench_accuracy(given["decisions"], given["labels"])
    },
    "kappa_asymptotic_unit_se": unit_sd,
    "kappa_bootstrap95": lambda given: reference.kappa_bootstrap(given["table"]) or {},
    "kappa_dirichlet_balanced95": dirichlet,
    "kappa_fisher_z95": fisher_z,
    "kappa_max": lambda given: {"kappa_max": agreement.kappa_max(given["table"]).value},
    "kappa_sample_size_power": power,
    "kappa_wilson_plugin95": plug_in,
    "krippendorff_alpha_nominal": lambda given: {
        "alpha": multirater.krippendorff_alpha(given["rater_by_item"]).value
    },
    "landis_koch": lambda given: {"band": agreement.band(given["kappa"])},
    "lang_reiczigel95": lang_reiczigel,
    "logistic_mle": logit(logistic.logistic_mle),
    "majority_vote": lambda given: {"labels": ceiling.consensus(given["raters"])},
    "majority_vote_accuracy": majority_accuracy,
    "mcnemar": mcnemar,
    "mcnemar_exact": lambda given: {"p": paired.mcnemar_p(given["b"], given["c"], midp=False)},
    "mtbench_agreement": mtbench,
    "pabak_bias_prevalence": pabak,
    "pass_rate_poststratified95": poststratified,
    "position_audit_shi": shi,
    "position_bias_exact": position_bias,
    "ppi_mean": ppi(1.0),
    "ppi_plus_plus": ppi(None),
    "qag_score": lambda given: {"score": repeats.qag_score(given["supported"], given["total"])},
    "rogan_gladen": rogan_gladen,
    "rogan_gladen_judgy": judgy,
    "rogan_gladen_known": rogan_gladen_known,
    "scott_ac1_from_table": scott_ac1,
    "scott_pi": two_raters,
    "self_preference_equal_opportunity": self_preference,
    "weighted_kappa": weighted,
    "wilson95": lambda given: ends(intervals.wilson(given["x"], given["n"])),
    "win_rate_dirichlet95": win_rate,
}


def differences(got: Any, expected: Any, *, tolerance: float, where: str = "") -> list[str]:
    """What lies outside the tolerance, by name."""
    if isinstance(expected, Mapping):
        parts = [(key, got[key] if isinstance(got, Mapping) else None) for key in expected]
        pairs = [(f"{where}.{key}", found, expected[key]) for key, found in parts]
    elif isinstance(expected, list | tuple):
        if not isinstance(got, list | tuple) or len(got) != len(expected):
            return [f"{where}: {got} instead of {expected}"]
        pairs = [(f"{where}[{k}]", *both) for k, both in enumerate(zip(got, expected, strict=True))]
    else:
        return [] if same(got, expected, tolerance) else [f"{where}: {got} instead of {expected}"]
    return [line for name, *both in pairs for line in differences(*both, tolerance=tolerance, where=name)]


def same(got: object, expected: object, tolerance: float) -> bool:
    numbers = isinstance(got, int | float) and isinstance(expected, int | float)
    if numbers and not isinstance(expected, bool):
        return isclose(got, expected, rel_tol=0, abs_tol=tolerance)  # type: ignore[arg-type]
    return got == expected


def cases() -> list[Any]:
    """One case per entry; without a file one that is skipped, with no entries one that fails."""
    if not FILE.exists() and "ORACLES" not in os.environ:
        return [pytest.param(None, id="absent", marks=pytest.mark.skip(reason="no file of oracles"))]
    return [pytest.param(entry, id=str(entry["id"])) for entry in read_entries()] or [
        pytest.param(None, id="empty")
    ]


@pytest.mark.parametrize("entry", cases())
def test_the_public_functions_give_the_numbers_of_independent_implementations(
    entry: dict[str, Any] | None,
) -> None:
    assert entry is not None, f"{FILE} has no entries"
    assert entry["method"] in ADAPTERS, f"there is no method {entry['method']} here"
    got = ADAPTERS[entry["method"]](entry["input"])
    assert differences(got, entry["expected"], tolerance=entry["tolerance"]) == []
