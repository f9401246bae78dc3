"""What stands beside a judge's headline, for programs: people, pass rates, slices, costs, other judges."""

from __future__ import annotations

from calibration.beside import AgainstPeople, Cost, Humans, PassRate, PeoplePair, Slice, Versus
from calibration.rates import OF_WHICH
from calibration.render.estimate_json import estimate_data
from calibration.side_by_side import REUSED
from calibration.types import JudgeReport


def humans_data(humans: Humans) -> dict[str, object]:
    """How well annotators agree with one another."""
    diagnosis = humans.diagnosis
    return {
        "annotators": list(humans.names),
        "items_with_two_labels": humans.items,
        "agreement": estimate_data(humans.agreement),
        "krippendorff_alpha": estimate_data(humans.alpha),
        "ceiling": estimate_data(humans.ceiling),
        "ceiling_by": humans.ceiling_by,
        "pairs": [_pair(pair) for pair in humans.pairs],
        "pairs_left_out": humans.pairs_left_out,
        "no_consensus": humans.no_consensus,
        "repeats": {name: estimate_data(estimate) for name, estimate in humans.repeats.items()},
        "dawid_skene": {
            "items": diagnosis.items,
            "differs_from_majority": len(diagnosis.differs),
            "believed_right": dict(diagnosis.right or {}),
            "why_undefined": diagnosis.why_undefined,
        },
        "sentence": humans.sentence,
    }


def comparison_data(versus: Versus) -> dict[str, object]:
    """Another judge beside the best one; estimates are the best one's less the other's."""
    return {
        "best": versus.best,
        "other": versus.other,
        "n": versus.agreement.n,
        "only_best_right": versus.gained,
        "only_other_right": versus.lost,
        "agreement_difference": estimate_data(versus.agreement),
        "kappa_difference": estimate_data(versus.kappa),
        "mcnemar_midp": versus.p,
        "mcnemar_midp_holm": versus.adjusted_p,
        "proven": versus.proven,
        "sentence": versus.sentence,
    }


def judge_data(judge: JudgeReport) -> dict[str, object]:
    """The parts of a judge's report that stand beside its headline."""
    return {
        "judged": judge.judged,
        "unanswered": judge.unanswered,
        "people": _people(judge.people),
        "pass_rate": None if judge.pass_rate is None else _pass_rate(judge.pass_rate),
        "slices": [_slice(part) for part in judge.slices],
        "fields_left_out": list(judge.fields_left_out),
        "cost": _cost(judge.cost),
    }


def _cost(cost: Cost) -> dict[str, object]:
    if cost == REUSED:
        return {"per_1000_verdicts": None, "priced": "reused"}
    return {"per_1000_verdicts": cost.per_1000, "priced": cost.priced}


def _pair(pair: PeoplePair) -> dict[str, object]:
    return {
        "first": pair.first,
        "second": pair.second,
        "n": pair.agreement.n,
        "agreement": estimate_data(pair.agreement),
        "kappa": estimate_data(pair.kappa),
    }


def _people(people: AgainstPeople) -> dict[str, object]:
    test = people.alt_test
    return {
        "delta": estimate_data(people.delta),
        "margin": people.margin,
        "standing": people.standing,
        "need": people.need,
        "expected_agreement": estimate_data(people.expected),
        "alt_test": {
            "epsilon": test.epsilon,
            "omega": test.omega,
            "rho": test.rho,
            "tested": len(test.tested),
            "replaceable": test.replaceable,
            "why_undefined": test.why_undefined,
            "warnings": list(test.warnings),
        },
        "sentence": people.sentence,
        "alt_test_sentence": people.alt_sentence,
    }


def _pass_rate(rate: PassRate) -> dict[str, object]:
    return {
        "calibration_sampling": rate.sampling,
        "sampling_is_stated": rate.stated,
        "corrected_is_of": OF_WHICH.get(rate.sampling),
        "worth_labels": rate.worth,
        "sentence": rate.sentence,
    }


def _slice(part: Slice) -> dict[str, object]:
    return {
        "field": part.field,
        "value": part.value,
        "items": part.items,
        "n": part.n,
        "agreement": estimate_data(part.agreement),
        "kappa": estimate_data(part.kappa),
        "p_adjusted": part.adjusted_p,
        "need": part.need,
        "words": part.words,
        "exploratory": True,
    }
