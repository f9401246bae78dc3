"""What the scores of a run come to, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibration.wording import REASONS, percent

if TYPE_CHECKING:
    from calibration.ordering import Prepared


def support_in_words(prepared: Prepared) -> str:
    """The mean share of questions that are answered with yes, over items, with its interval."""
    from calibration.stats.repeats import qag_macro
    from calibration.store import RunStore
    from calibration.ways import questions_of

    total = len(questions_of(prepared.run.settings.get("questions", "")))
    with RunStore.open(prepared.order.project) as store:
        sums = store.scores(prepared.run.id)
    found = qag_macro([(round(score * total), total * times) for score, times in sums])
    if found.value is None:
        return f"The share of yes is undefined: {REASONS[found.why_undefined or 'no_items']}."
    known = found.low is not None and found.high is not None
    limits = f", 95 % interval {percent(found.low or 0.0)} to {percent(found.high or 0.0)}" if known else ""
    return f"On average {percent(found.value)} of the questions are answered with yes{limits}."
