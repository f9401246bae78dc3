"""One file per audit, one `audit()` each: what may be wrong with a judge, or with the labels it is held to.

To add an audit, write its file and put one line into `AUDITS`; the contract tests run over the list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from calibration.audits import (
    annotators,
    coverage,
    drift,
    human_position,
    layout,
    length,
    leniency,
    position,
    repeatability,
    self_preference,
)
from calibration.material import Material
from calibration.types import Finding, Weight
from labels.types import KindName

PAIRS: tuple[KindName, ...] = ("pairwise",)
ALL: tuple[KindName, ...] = ("pairwise", "binary")
_WORST_FIRST: Mapping[Weight, int] = {"concern": 0, "watch": 1, "unknown": 2, "fine": 3}


@dataclass(frozen=True, slots=True)
class Audit:
    """One question about a judge, the function that answers it, and the kinds of item that it suits."""

    title: str
    question: str
    find: Callable[[Material, str], Finding]
    kinds: tuple[KindName, ...]


AUDITS: Mapping[str, Audit] = {
    "position": Audit(
        "Position",
        "Does the judge favour the response that it is shown first or second?",
        position.audit,
        PAIRS,
    ),
    "length": Audit(
        "Length", "Does it favour long responses more than your experts do?", length.audit, PAIRS
    ),
    "self_preference": Audit(
        "Own family",
        "Does it favour systems of its own family more than your experts do?",
        self_preference.audit,
        PAIRS,
    ),
    "format": Audit("Layout", "Do lists, headings and bold text win it over?", layout.audit, PAIRS),
    "leniency": Audit(
        "Leniency", "Does it give its answers in the same proportions as your experts?", leniency.audit, ALL
    ),
    "repeatability": Audit(
        "Repeatability", "Does it say the same when asked the same again?", repeatability.audit, ALL
    ),
    "coverage": Audit("Coverage", "Which items does it leave without a usable verdict?", coverage.audit, ALL),
    "drift": Audit("Drift", "Has the judge behind this name changed over the days?", drift.audit, ALL),
    "human_position": Audit(
        "Experts and order",
        "Do your experts themselves favour the response shown first?",
        human_position.audit,
        PAIRS,
    ),
    "annotators": Audit(
        "Annotators",
        "Does anybody who labels show haste, tiredness or one-key answers?",
        annotators.audit,
        ALL,
    ),
}


def findings(material: Material, judge: str) -> list[Finding]:
    """The findings of all audits that suit the criterion's kind, the worst first."""
    suited = [audit for audit in AUDITS.values() if material.criterion.kind in audit.kinds]
    return sorted((audit.find(material, judge) for audit in suited), key=lambda f: _WORST_FIRST[f.weight])
