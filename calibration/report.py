"""From items, labels and verdicts to the one AgreementReport that everything draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from calibration.agreement import (
    confusion_of,
    estimates_of,
    kappa_by_inclusion,
    kappa_over_systems,
    kappa_warning_codes,
    policy_row,
    system_count,
    system_pairs,
)
from calibration.audits.position import position_of
from calibration.beside import Cost, PassRate
from calibration.compare import (
    FEW_ITEMS,
    POLICIES,
    UNANSWERED_LIMIT,
    Rated,
    Reference,
    compare,
    judged_value,
    rate_items,
    reference_labels,
)
from calibration.humans import Named, Panel, humans_of, names_of_values, panel_of, repeat_agreements
from calibration.material import Material
from calibration.rates import classifier_estimates, counts_of, how_drawn, pass_rate_of
from calibration.side_by_side import NO_COST, comparisons_with_best, optimism_of
from calibration.slices import fields_left_out, slices_of
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
from calibration.yardstick import against_people
from labels.types import Value

__all__ = ["Extras", "Material", "criterion_report", "judge_report"]


@dataclass(frozen=True, slots=True)
class Extras:
    """What a report takes from the project beyond labels and verdicts.

    `sampling` is how the labelled items were chosen, as the project states it; "" where it does not.
    `tuned` names the judges whose threshold was chosen on the labels that they are compared with.
    """

    sampling: str = ""
    costs: Mapping[str, Cost] | None = None
    tuned: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Basis:
    """What all judges of a criterion are held to."""

    material: Material
    reference: Reference
    panel: Panel
    named: Named
    extras: Extras


def criterion_report(material: Material, extras: Extras | None = None) -> CriterionReport:
    """What people said about a criterion and how each judge compares with it."""
    basis = _basis(material, extras or Extras())
    by_judge: dict[str, list[Verdict]] = {}
    for verdict in material.verdicts:
        by_judge.setdefault(verdict.judge, []).append(verdict)
    names = {annotator.id: annotator.name for annotator in material.annotators}
    said = Counter(names[label.annotator_id] for label in material.labels if label.value is not None)
    skipped = Counter(names[label.annotator_id] for label in material.labels if label.value is None)
    compared = [_compared(basis, judge, rate_items(verdicts)) for judge, verdicts in by_judge.items()]
    judges = tuple(judge_report(basis, judge=one) for one in compared)
    agreements = {judge.judge: judge.estimates["agreement"] for judge in judges}
    return CriterionReport(
        criterion=material.criterion,
        items=len(material.items),
        labelled=len(basis.reference.values),
        annotators=dict(said),
        skipped=dict(skipped),
        judges=judges,
        humans=humans_of(basis.panel, basis.named, repeats=repeat_agreements(material)),
        comparisons=comparisons_with_best([one.headline for one in compared], agreements, named=basis.named),
        optimism=optimism_of(judges),
    )


@dataclass(frozen=True, slots=True)
class Compared:
    """One judge's verdicts, settled, and beside the reference labels under each tie policy."""

    judge: str
    rated: Mapping[str, Rated]
    by_policy: Mapping[TiePolicy, Comparison]

    @property
    def headline(self) -> Comparison:
        """The comparison in which orders that disagree are a flagged tie."""
        return self.by_policy["inconsistent as tie"]


def judge_report(basis: Basis, *, judge: Compared) -> JudgeReport:
    """How far one judge agrees with the reference labels of a criterion."""
    material, headline, rated = basis.material, judge.headline, judge.rated
    pairwise = material.criterion.kind == "pairwise"
    position = position_of(rated)
    arbitrary = system_count(material.criterion, material.items) > 2
    estimates, pass_rate = _estimates(basis, judge, position=position)
    values = {item_id: value for item_id, item in rated.items() if (value := judged_value(item))}
    return JudgeReport(
        judge=judge.judge,
        criterion=material.criterion,
        items=len(material.items),
        n=headline.n,
        left_out={reason: len(ids) for reason, ids in headline.left_out.items()},
        estimates=estimates,
        confusion=confusion_of(headline),
        position=position,
        tie_policies=_policies(judge.by_policy),
        system_pairs=_pairs(headline, material, arbitrary=arbitrary),
        sides=_sides(material, arbitrary=arbitrary),
        arbitrary_sides=arbitrary and pairwise,
        flagged=sum(pair.flagged for pair in headline.pairs),
        warnings=_warnings(headline, basis, position=position, estimates=estimates),
        sentence=sentence_of(judge.judge, estimates, position=position),
        judged=len(rated),
        unanswered=sum(item.unanswered > 0 for item in rated.values()),
        people=against_people(basis.panel, values, judge=judge.judge),
        pass_rate=pass_rate,
        slices=slices_of(headline, material.items, named=basis.named),
        fields_left_out=fields_left_out(material.items),
        cost=(basis.extras.costs or {}).get(judge.judge, NO_COST),
    )


def _basis(material: Material, extras: Extras) -> Basis:
    over = material.criterion.kind == "pairwise" and system_count(material.criterion, material.items) > 2
    return Basis(
        material=material,
        reference=reference_labels(material.labels, [item.id for item in material.items]),
        panel=panel_of(material),
        named=names_of_values({item.id: item for item in material.items}, over_systems=over),
        extras=extras,
    )


def _compared(basis: Basis, judge: str, rated: Mapping[str, Rated]) -> Compared:
    criterion, reference = basis.material.criterion, basis.reference
    return Compared(
        judge,
        rated,
        {p: compare(criterion, reference, judge=judge, rated=rated, policy=p) for p in POLICIES},
    )


def _estimates(
    basis: Basis, judge: Compared, *, position: Position
) -> tuple[dict[str, Estimate], PassRate | None]:
    """Every estimate that suits the kind, and for single responses the pass rate."""
    material, estimates = basis.material, estimates_of(judge.headline)
    items = {item.id: item for item in material.items}
    if (weighted := kappa_by_inclusion(judge.headline, items)) is not None:
        estimates["kappa_by_inclusion"] = weighted
    if material.criterion.kind == "pairwise":
        arbitrary = system_count(material.criterion, material.items) > 2
        estimates |= _over_systems(judge.headline, material, arbitrary=arbitrary)
        return estimates | {"consistency": position.consistency, "preference": position.preference}, None
    counts = counts_of(judge.headline)
    drawn = how_drawn(basis.extras.sampling, material.labels)
    rate = pass_rate_of(counts, judge.rated, basis.reference, drawn=drawn)
    rates = {"pass_rate": rate.judge, "corrected_pass_rate": rate.corrected, "human_only": rate.human}
    return estimates | classifier_estimates(counts) | rates, rate


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
    headline: Comparison, basis: Basis, *, position: Position, estimates: Mapping[str, Estimate]
) -> tuple[Warned, ...]:
    material = basis.material
    revealed = sum(label.saw != "nothing" for label in material.labels)
    arbitrary = system_count(material.criterion, material.items) > 2
    unanswered = len(headline.left_out.get("unanswered", ()))
    weighted = estimates.get("kappa_by_inclusion")
    corrected = estimates.get("corrected_pass_rate", estimates["agreement"])
    raised: list[tuple[str, bool, int]] = [
        ("few_items", headline.n < FEW_ITEMS, headline.n),
        *((code, True, headline.n) for code in kappa_warning_codes(headline)),
        ("polarity", _below_chance(headline, estimates["kappa_wilson"]), headline.n),
        ("unanswered", unanswered > UNANSWERED_LIMIT * (headline.n + unanswered), unanswered),
        ("one_order", material.criterion.kind == "pairwise" and position.one_order > 0, position.one_order),
        ("arbitrary_sides", material.criterion.kind == "pairwise" and arbitrary, 0),
        ("after_reveal", revealed > 0, revealed),
        ("inclusion", weighted is not None, headline.n),
        *((code, True, headline.n) for code in (weighted.warnings if weighted else ())),
        ("out_of_range", "out_of_range" in corrected.warnings, headline.n),
        ("tuned", headline.judge in basis.extras.tuned, 0),
        ("holdout", material.withheld > 0, material.withheld),
    ]
    return tuple(warning(code, count) for code, holds, count in raised if holds)


def _below_chance(headline: Comparison, kappa: Estimate) -> bool:
    """Agreement far below chance: the usual cause is that pass and fail are turned round in a file."""
    binary = headline.criterion.kind == "binary"
    return binary and headline.n >= FEW_ITEMS and kappa.high is not None and kappa.high < 0
