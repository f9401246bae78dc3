"""All that one criterion's report and audits are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from calibration.types import Verdict
from labels.types import Annotator, Choice, Criterion, Item, Label, Side


@dataclass(frozen=True, slots=True)
class Attempt:
    """One usable answer of a judge, with the day and the model that the provider says it served.

    Attempts with the same item and `first` were asked with the same request.
    """

    judge: str
    item_id: str
    first: Side | None
    choice: Choice
    day: str
    served_model: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """All that one criterion's report is made of; each is itself and no other, so that it has a hash.

    `repeat_labels` are the second labels of hidden repeats, `attempts` the judges' answers with their
    days, `families` the owner's own words for the families of systems and judges; only audits read them.
    `withheld` counts the items of the holdout, which are in none of these.
    """

    criterion: Criterion
    items: Sequence[Item]
    labels: Sequence[Label]
    annotators: Sequence[Annotator]
    verdicts: Sequence[Verdict]
    repeat_labels: Sequence[Label] = ()
    attempts: Sequence[Attempt] = ()
    families: Mapping[str, str] = field(default_factory=dict)
    withheld: int = 0
