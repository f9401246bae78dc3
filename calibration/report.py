"""From items, labels and verdicts to the one AgreementReport that everything draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from calibration.agreement import (
    confusion_of,
    estimates_of,
    kappa_over_systems,
    kappa_warning_codes,
    policy_row,
    system_count,
    system_pairs,
)
from calibration.audits.position import position_of
from calibration.compare import POLICIES, Rated, Reference, compare, rate_items, reference_labels
from calibration.material import Material
from calibration.stats.estimate import Estimate
from calibration.types import (
    Comparison,
    CriterionReport,
    JudgeReport,
    PolicyRow,
    Position,
    TiePolicy,
    Verdict,
    Warned,
)
from calibration.wording import sentence_of, warning
from labels.types import Value

__all__ = ["Material", "criterion_report", "judge_report"]

UNANSWERED_LIMIT = 0.05  # METHODS 4: above this share a gate would be INVALID
FEW_ITEMS = 10  # METHODS 0: below this, counts and never a verdict


def criterion_report(material: Material) -> CriterionReport:
    """What people said about a criterion and how each judge compares with it."""
    reference = reference_labels(material.labels, [item.id for item in material.items])
    by_judge: dict[str, list[Verdict]] = {}
    for verdict in material.verdicts:
        by_judge.setdefault(verdict.judge, []).append(verdict)
    names = {annotator.id: annotator.name for annotator in material.annotators}
    said = Counter(names[label.annotator_id] for label in material.labels if label.value is not None)
    skipped = Counter(names[label.annotator_id] for label in material.labels if label.value is None)
    judges = tuple(
        judge_report(material, reference, judge=judge, rated=rate_items(verdicts))
        for judge, verdicts in by_judge.items()
    )
    return CriterionReport(
        material.criterion, len(material.items), len(reference.values), dict(said), dict(skipped), judges
    )


def judge_report(
    material: Material, reference: Reference, *, judge: str, rated: Mapping[str, Rated]
) -> JudgeReport:
    """How far one judge agrees with the reference labels of a criterion."""
    comparisons = {
        policy: compare(material.criterion, reference, judge=judge, rated=rated, policy=policy)
        for policy in POLICIES
    }
    headline = comparisons["inconsistent as tie"]
    position = position_of(rated)
    arbitrary = system_count(material.criterion, material.items) > 2
    order = {"consistency": position.consistency, "preference": position.preference}
    systems = _over_systems(headline, material, arbitrary=arbitrary)
    estimates = estimates_of(headline) | systems
    estimates |= order if material.criterion.kind == "pairwise" else {}
    return JudgeReport(
        judge=judge,
        criterion=material.criterion,
        items=len(material.items),
        n=headline.n,
        left_out={reason: len(ids) for reason, ids in headline.left_out.items()},
        estimates=estimates,
        confusion=confusion_of(headline),
        position=position,
        tie_policies=_policies(comparisons),
        system_pairs=_pairs(headline, material, arbitrary=arbitrary),
        sides=_sides(material, arbitrary=arbitrary),
        arbitrary_sides=arbitrary and material.criterion.kind == "pairwise",
        flagged=sum(pair.flagged for pair in headline.pairs),
        warnings=_warnings(headline, material, position=position, kappa=estimates["kappa_wilson"]),
        sentence=sentence_of(judge, estimates, position=position),
    )


def _policies(comparisons: Mapping[TiePolicy, Comparison]) -> dict[TiePolicy, PolicyRow]:
    pairwise = comparisons["dropped"].criterion.kind == "pairwise"
    return {policy: policy_row(comparison) for policy, comparison in comparisons.items() if pairwise}


def _over_systems(headline: Comparison, material: Material, *, arbitrary: bool) -> dict[str, Estimate]:
    if not arbitrary or material.criterion.kind != "pairwise":
        return {}
    return {"kappa_systems": kappa_over_systems(headline, {item.id: item for item in material.items})}


def _pairs(headline: Comparison, material: Material, *, arbitrary: bool) -> dict[str, PolicyRow]:
    if not arbitrary or material.criterion.kind != "pairwise":
        return {}
    return system_pairs(headline, {item.id: item for item in material.items})


def _sides(material: Material, *, arbitrary: bool) -> dict[Value, str]:
    """The systems that the sides stand for, where they do."""
    if material.criterion.kind != "pairwise" or arbitrary or not material.items:
        return {}
    return {response.side: response.system for response in material.items[0].responses}


def _warnings(
    headline: Comparison, material: Material, *, position: Position, kappa: Estimate
) -> tuple[Warned, ...]:
    revealed = sum(label.saw != "nothing" for label in material.labels)
    arbitrary = system_count(material.criterion, material.items) > 2
    unanswered = len(headline.left_out.get("unanswered", ()))
    raised: list[tuple[str, bool, int]] = [
        ("few_items", headline.n < FEW_ITEMS, headline.n),
        *((code, True, headline.n) for code in kappa_warning_codes(headline)),
        ("polarity", _below_chance(headline, kappa), headline.n),
        ("unanswered", unanswered > UNANSWERED_LIMIT * (headline.n + unanswered), unanswered),
        ("one_order", material.criterion.kind == "pairwise" and position.one_order > 0, position.one_order),
        ("arbitrary_sides", material.criterion.kind == "pairwise" and arbitrary, 0),
        ("after_reveal", revealed > 0, revealed),
    ]
    return tuple(warning(code, count) for code, holds, count in raised if holds)


def _below_chance(headline: Comparison, kappa: Estimate) -> bool:
    """Agreement far below chance: the usual cause is that pass and fail are turned round in a file."""
    binary = headline.criterion.kind == "binary"
    return binary and headline.n >= FEW_ITEMS and kappa.high is not None and kappa.high < 0
