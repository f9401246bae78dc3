"""Human position audit: do the annotators themselves favour the response that they were shown first?

The estimate is the share of choices for the slot shown first among blind labels that are no tie, with the
exact binomial interval; 1/2 is fair. The order is drawn anew for each presentation, so every choice counts.
*Concern*: the interval lies away from 1/2 and the share is off by at least 10 points. *Watch*: 10 points
not proven, or one annotator alone is off (Bonferroni). *Fine*: the interval lies within 15 points. *Unknown*:
wider, or below 20 choices. Without stored, evenly drawn orders it does not apply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from calibration.audits.basis import ALPHA, Scale, lacking, more_items, share, weigh
from calibration.audits.exact import leans
from calibration.material import Material
from calibration.stats.estimate import Reason
from calibration.stats.intervals import proportion
from calibration.types import Finding
from labels.kinds import KINDS
from labels.present import Order
from labels.text import counted
from labels.types import Choice, Label

MIN_CHOICES = 20
SCALE = Scale(neutral=0.5, matters=0.10, harmful=0.15)
NOT_RANDOM = 1e-4  # orders as uneven as this were not drawn by a coin
SUBJECT = "annotators"


def audit(material: Material, judge: str) -> Finding:
    """Do people pull to the first slot? The judge does not matter."""
    if material.criterion.kind != "pairwise":
        sentence = "Single responses have no order: 0 choices between slots."
        return lacking("human_position", SUBJECT, sentence, need=0, reason="not_applicable")
    blind = [label for label in material.labels if label.saw == "nothing" and label.value is not None]
    known = [label for label in blind if label.first is not None]
    if blind and not (known and _randomised(known)):
        sentence = (
            f"The order in which responses were shown is not stored, or was not drawn evenly, for the "
            f"{counted(len(blind), 'label')}: use the app to label, which draws and stores it, for "
            f"{MIN_CHOICES} choices at least."
        )
        why: Reason = "not_applicable"
        return lacking("human_position", SUBJECT, sentence, need=MIN_CHOICES, reason=why, n=len(blind))
    return _finding(material, [label for label in known if label.value != "tie"])


def slot_of(label: Label) -> Choice | None:
    """The slot that a label chose, None where its order is not known or it has no value."""
    if label.first is None or label.value is None:
        return None
    return KINDS["pairwise"].slot(Order(label.first), label.value)


def _randomised(labels: Sequence[Label]) -> bool:
    firsts = Counter(label.first for label in labels)
    return not leans(firsts["A"], firsts["B"], alpha=NOT_RANDOM)


def _finding(material: Material, labels: Sequence[Label]) -> Finding:
    first = [label for label in labels if slot_of(label) == "first"]
    if len(labels) < MIN_CHOICES:
        need = MIN_CHOICES - len(labels)
        sentence = f"Only {counted(len(labels), 'choice')} between two slots: needs {need} more."
        reason: Reason = "too_few_items" if labels else "all_ties" if material.labels else "no_items"
        return lacking("human_position", SUBJECT, sentence, need=need, reason=reason, n=len(labels))
    pull = proportion(len(first), len(labels), method="Clopper-Pearson")
    people = _people(material, labels)
    flagged = [name for name, choices in people.items() if _is_off(*choices, people=len(people))]
    weight = weigh(pull, SCALE)
    if flagged and weight in ("fine", "unknown"):
        weight = "watch"
    need = more_items(pull, SCALE) if weight == "unknown" else 0
    tail = f"; needs about {need} more choices to call that even" if need else ""
    stand = "stands out alone" if len(flagged) == 1 else "stand out, each alone"
    names = f" {' and '.join(flagged)} {stand}." if flagged else ""
    sentence = (
        f"Your experts chose the response shown first in {share(pull)} of {counted(pull.n, 'choice')}, where "
        f"half would be even{tail}.{names}"
    )
    parts = {name: proportion(*choices, method="Clopper-Pearson") for name, choices in people.items()}
    behind = tuple(sorted({label.item_id for label in first}))
    return Finding("human_position", SUBJECT, weight, pull, sentence, behind, need, parts)


def _people(material: Material, labels: Sequence[Label]) -> dict[str, tuple[int, int]]:
    """For each annotator: choices of the first slot, and all choices."""
    choices = Counter(label.annotator_id for label in labels)
    firsts = Counter(label.annotator_id for label in labels if slot_of(label) == "first")
    return {
        annotator.name: (firsts[annotator.id], choices[annotator.id])
        for annotator in material.annotators
        if choices[annotator.id]
    }


def _is_off(first: int, choices: int, *, people: int) -> bool:
    """Whether one person is off half by a size that matters, beyond chance over all people (Bonferroni)."""
    far = abs(first / choices - 0.5) >= SCALE.matters
    return far and leans(first, choices - first, alpha=ALPHA / people)
