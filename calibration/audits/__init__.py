"""One file per audit, one `audit()` each: what may be wrong with a judge, or with the labels it is held to.

To add an audit, write its file and put one line into `AUDITS`; the contract tests run over the list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from calibration.audits import (
    annotators,
    coverage,
    drift,
    human_position,
    layout,
    length,
    leniency,
    obedience,
    position,
    repeatability,
    self_preference,
)
from calibration.material import Material
from calibration.types import Finding, Weight
from labels.types import Criterion, KindName

PAIRS: tuple[KindName, ...] = ("pairwise",)
PEOPLE = annotators.SUBJECT  # whom two audits are about, whatever the judge
ALL: tuple[KindName, ...] = ("pairwise", "binary")
_WORST_FIRST: Mapping[Weight, int] = {"concern": 0, "watch": 1, "unknown": 2, "fine": 3}


@dataclass(frozen=True, slots=True)
class Audit:
    """One question about a judge, the function that answers it, and the kinds of item that it suits.

    `measure` is its estimate in a few words, `fair` the value that it has when nothing is wrong. Names of
    estimates that are a factor on the odds begin with "odds".
    """

    title: str
    question: str
    measure: str
    fair: str
    find: Callable[[Material, str], Finding]
    kinds: tuple[KindName, ...]


# Of findings that weigh the same the one whose audit stands first is shown first. Obedience does: who obeys a
# text may look drawn to its length, its layout or its place as well.
AUDITS: Mapping[str, Audit] = {
    "obedience": Audit(
        "Instructions in responses",
        "Does the judge do what a response tells it to?",
        "obeys more than your experts",
        "0 is fair",
        obedience.audit,
        ALL,
    ),
    "position": Audit(
        "Position",
        "Does the judge favour the response that it is shown first or second?",
        "lean to a slot",
        "-1 always first, 0 fair, 1 always second",
        position.audit,
        PAIRS,
    ),
    "length": Audit(
        "Length",
        "Does it favour long responses more than your experts do?",
        "odds for twice the length",
        "odds of 1 are fair, a chance of 0.5",
        length.audit,
        PAIRS,
    ),
    "self_preference": Audit(
        "Own family",
        "Does it favour systems of its own family more than your experts do?",
        "favour for its own family",
        "0 is fair",
        self_preference.audit,
        PAIRS,
    ),
    "format": Audit(
        "Layout",
        "Do lists, headings and bold text win it over?",
        "odds for twice the layout",
        "odds of 1 are fair, a chance of 0.5",
        layout.audit,
        PAIRS,
    ),
    "leniency": Audit(
        "Leniency",
        "Does it give its answers in the same proportions as your experts?",
        "gap between judge and experts",
        "0 is none",
        leniency.audit,
        ALL,
    ),
    "repeatability": Audit(
        "Repeatability",
        "Does it say the same when asked the same again?",
        "same answer when asked again",
        "1 is always",
        repeatability.audit,
        ALL,
    ),
    "coverage": Audit(
        "Coverage",
        "Which items does it leave without a usable verdict?",
        "items without a usable verdict",
        "0 is none",
        coverage.audit,
        ALL,
    ),
    "drift": Audit(
        "Drift",
        "Has the judge behind this name changed over the days?",
        "change over the days",
        "0 is none",
        drift.audit,
        ALL,
    ),
    "human_position": Audit(
        "Experts and order",
        "Do your experts themselves favour the response shown first?",
        "choose the response shown first",
        "0.5 is fair",
        human_position.audit,
        PAIRS,
    ),
    "annotators": Audit(
        "Annotators",
        "Does anybody who labels show haste, tiredness or one-key answers?",
        "the clearest sign",
        "it is one of those below",
        annotators.audit,
        ALL,
    ),
}


@dataclass(frozen=True, slots=True)
class Audited:
    """The findings about one judge on one criterion, the worst first, and the names of the items behind them.

    Where no judge has rated the criterion `judge` is empty and the findings are those about people.
    """

    judge: str
    criterion: Criterion
    findings: tuple[Finding, ...]
    names: Mapping[str, str]


def audited(material: Material, judge: str) -> Audited:
    """The findings about a judge, or about people alone where it is empty; items in the project's order."""
    found = [finding for finding in findings(material, judge) if judge or finding.subject == PEOPLE]
    behind = {item_id for finding in found for item_id in finding.items}
    names = {item.id: item.name for item in material.items if item.id in behind}
    places = {item_id: place for place, item_id in enumerate(names)}
    ordered = [replace(one, items=tuple(sorted(one.items, key=places.__getitem__))) for one in found]
    return Audited(judge, material.criterion, tuple(ordered), names)


def findings(material: Material, judge: str) -> list[Finding]:
    """The findings of all audits that suit the criterion's kind, the worst first."""
    suited = [audit for audit in AUDITS.values() if material.criterion.kind in audit.kinds]
    return sorted((audit.find(material, judge) for audit in suited), key=lambda f: _WORST_FIRST[f.weight])
