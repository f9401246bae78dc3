"""Annotators audit: does somebody need help? Speed, own pace, hidden repeats, fatigue, straight-lining, use.

The finding shows the clearest check. *Concern*: a check's sign matters and its test holds after Holm over
annotators and checks; speed has no test, so the lower limit must exceed 10 % below reading time or 25 % below
the own pace. *Watch*: a sign that matters, unproven. *Fine*: no sign that matters, or one that chance
explains. *Unknown*: nobody has 20 labels, or nothing about them can be checked. A flag is a reason to look;
it never leaves labels out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.audits.basis import ALPHA, lacking
from calibration.audits.checks import CHECKS, MIN_LABELS, Check
from calibration.audits.sessions import Session, sessions_of
from calibration.material import Material
from calibration.stats.estimate import Reason
from calibration.stats.multiplicity import holm
from calibration.types import Finding, Weight
from labels.text import counted

SUBJECT = "annotators"


@dataclass(frozen=True, slots=True)
class Checked:
    """A check with the person and the p adjusted over all checks."""

    name: str
    kind: str
    check: Check
    adjusted: float | None

    @property
    def weight(self) -> Weight:
        """How much this one check weighs."""
        if not self.check.matters:
            return "fine"
        if self.check.p is None:
            return "concern" if self.check.sure else "watch"
        if self.adjusted is not None and self.adjusted <= ALPHA:
            return "concern"
        return "watch" if self.check.p <= ALPHA else "fine"


def audit(material: Material, judge: str) -> Finding:
    """Does an annotator show haste, tiredness or one-key answers? The judge does not matter."""
    sessions = sessions_of(material)
    most = max((len(session.labels) for session in sessions), default=0)
    if most < MIN_LABELS:
        need = MIN_LABELS - most
        sentence = (
            f"Nobody has given more than {counted(most, 'blind label')}: needs {need} more by one person."
        )
        reason: Reason = "too_few_items" if most else "no_items"
        return lacking("annotators", SUBJECT, sentence, need=need, reason=reason, n=most)
    checked = _checked(sessions)
    return _finding(checked, people=len(sessions)) if checked else _nothing_to_check(most)


def _nothing_to_check(most: int) -> Finding:
    """Labels from a file by one person have no times, no order of work and nobody to set beside them."""
    sentence = (
        f"Nothing can be checked on {counted(most, 'label')} from a file by one person alone: label in the "
        f"app, which keeps times and gives items again, or ask a second person."
    )
    return lacking("annotators", SUBJECT, sentence, need=0, reason="not_applicable", n=most)


def _checked(sessions: Sequence[Session]) -> list[Checked]:
    """All checks of all sessions that have enough data, the clearest first."""
    draws = max(400, 40 * len(CHECKS) * len(sessions))  # so that the least p can pass Holm
    found = [
        (session.name, kind, check)
        for session in sessions
        for kind, run in CHECKS.items()
        if (check := run(session, draws)) is not None
    ]
    adjusted = holm([check.p for _, _, check in found])
    checked = [Checked(*entry, p) for entry, p in zip(found, adjusted, strict=True)]
    return sorted(checked, key=_order)


def _order(checked: Checked) -> tuple[int, float]:
    weights: tuple[Weight, ...] = ("concern", "watch", "fine", "unknown")
    return weights.index(checked.weight), 1.0 if checked.check.p is None else checked.check.p


def _finding(checked: Sequence[Checked], *, people: int) -> Finding:
    clearest = checked[0]
    weight = clearest.weight
    parts = {f"{one.name}: {one.kind}": one.check.estimate for one in checked}
    return Finding(
        "annotators",
        SUBJECT,
        weight,
        clearest.check.estimate,
        _sentence(checked, weight, people=people),
        _items(checked, weight),
        parts=parts,
    )


def _items(checked: Sequence[Checked], weight: Weight) -> tuple[str, ...]:
    """The items behind the signs of the finding's weight."""
    if weight == "fine":
        return ()
    return tuple(sorted({item_id for one in checked if one.weight == weight for item_id in one.check.items}))


def _sentence(checked: Sequence[Checked], weight: Weight, *, people: int) -> str:
    clearest = checked[0]
    words = f"{clearest.name} {clearest.check.words}"
    if weight == "fine":
        checks = counted(len(checked), "check")
        return (
            f"{checks} on {counted(people, 'annotator')} found nothing beyond chance; for example, {words}."
        )
    others = sum(one.weight == weight for one in checked) - 1
    more = f", with {counted(others, 'more sign')} of this weight" if others else ""
    return f"{words}{more}. This is a reason to look and to talk, not to leave labels out."
