"""The checks of the annotators audit, each on one person: a number, a p where a test exists, and words.

`matters` says whether the number is large enough, in the harmful direction, to be a sign at all; only then
does its test count with its own p, else with p = 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from calibration.audits.basis import points
from calibration.audits.exact import shares_differ_p
from calibration.audits.human_position import slot_of
from calibration.audits.sessions import Session
from calibration.compare import majority
from calibration.stats.annotators import (
    WORDS_PER_SECOND,
    below_reading_floor,
    category_use_p,
    fatigue_quarters,
    longest_run,
    repeat_agreement,
)
from calibration.stats.estimate import Estimate
from calibration.stats.intervals import newcombe
from calibration.wording import percent
from labels.text import counted
from labels.types import Label, Value

MIN_LABELS = 20
MIN_REPEATS = 10
MAX_FAST = 0.10  # hasty answers, which even the lower limit must exceed
# With three people a third of the times are the item's median, so fair ones reach 20 % (measured).
MAX_OWN_PACE = 0.25
MIN_RUN = 10
MAX_SEQUENCE = 2000  # the permutation null of longer sessions takes too long
REQUIRED_REPEATS = 0.80  # where nobody else labelled; METHODS 10 asks as much on gold items
MATTERS = 0.10
USE_MATTERS = 0.15


@dataclass(frozen=True, slots=True)
class Check:
    """One check of one annotator; `sure` stands in for a test where the check has none."""

    estimate: Estimate
    matters: bool
    p: float | None
    words: str
    sure: bool = False
    items: tuple[str, ...] = ()


def reading_time(session: Session, draws: int) -> Check | None:
    """Answers in less time than the texts take to read; sure when even the lower limit is above 10 %."""
    seconds = [label.seconds for label in session.labels]
    fast = below_reading_floor(seconds, session.words)
    words = f"answered {_share(fast)} of {counted(fast.n, 'timed item')} faster than one can read them"
    items = tuple(
        label.item_id
        for label, count in zip(session.labels, session.words, strict=True)
        if label.seconds is not None and label.seconds * WORDS_PER_SECOND < count
    )
    if fast.value is None or fast.n < MIN_LABELS:
        return None
    sure = fast.low is not None and fast.low > MAX_FAST
    return Check(fast, fast.value > MAX_FAST, None, words, sure, items)


def own_pace(session: Session, draws: int) -> Check | None:
    """Answers far faster than the own pace; sure when even the lower limit is above 25 %."""
    fast = session.far_faster
    if fast.value is None or fast.n < MIN_LABELS:
        return None
    words = f"answered {_share(fast)} of {counted(fast.n, 'timed item')} far faster than the own pace"
    sure = fast.low is not None and fast.low > MAX_OWN_PACE
    return Check(fast, fast.value > MAX_OWN_PACE, None, words, sure)


def hidden_repeats(session: Session, draws: int) -> Check | None:
    """The own label on items that came twice, against how often two people agree."""
    pairs = session.repeats.values()
    same = repeat_agreement([one for one, _ in pairs], [other for _, other in pairs])
    if same.value is None or same.n < MIN_REPEATS:
        return None
    equal, all_pairs = session.said.agreeing_pairs
    words = f"repeated the own label on {_share(same)} of {counted(same.n, 'hidden repeat')}"
    items = tuple(item_id for item_id, (one, other) in session.repeats.items() if one != other)
    if not all_pairs:
        sure = same.high is not None and same.high < REQUIRED_REPEATS
        return Check(same, same.value < REQUIRED_REPEATS, None, words, sure, items)
    matters = same.value <= equal / all_pairs - MATTERS
    p = shares_differ_p((same.n - len(items), same.n), (equal, all_pairs)) if matters else 1.0
    words += f", while two people agree on {percent(equal / all_pairs)}"
    return Check(same, matters, p, words, items=items)


def fatigue(session: Session, draws: int) -> Check | None:
    """Agreement with the others' majority, falling over the quarters of the session."""
    labels = _in_order(session)
    agreements = _agreements(session, labels)
    right = [agrees for agrees in agreements if agrees is not None]
    trend = fatigue_quarters(right)
    if trend.why_undefined == "too_few_items":
        return None
    half = len(right) // 2
    early, late = (sum(right[:half]), half), (sum(right[half:]), len(right) - half)
    fall = _difference(late, early)
    words = (
        f"agreed with the others on {percent(early[0] / early[1])} in the first half of "
        f"{counted(fall.n, 'label')} and on {percent(late[0] / late[1])} in the second"
    )
    behind = [label.item_id for label, agrees in zip(labels, agreements, strict=True) if agrees is False]
    matters = (fall.value or 0) <= -MATTERS
    p = trend.p if matters and trend.p is not None else 1.0
    return Check(fall, matters, p, words, items=tuple(behind))


def in_a_row(session: Session, draws: int) -> Check | None:
    """The longest run of one slot (or answer, where orders are not known) against random orders."""
    labels = _in_order(session)[:MAX_SEQUENCE]
    if len(labels) < MIN_LABELS:
        return None
    slots = [slot_of(label) for label in labels]
    said = [label.value for label in labels] if None in slots else slots
    run = longest_run(said, draws=0)
    matters = run.length >= MIN_RUN
    p = longest_run(said, draws=draws).p if matters else run.p
    length = Estimate(run.length, n=len(said), why_no_interval="not_applicable")
    words = f"gave one answer {run.length:,} times in a row among {counted(len(said), 'label')}"
    return Check(length, matters, p, words, items=_longest(labels, said))


def use_of_answers(session: Session, draws: int) -> Check | None:
    """How often a tie (for single responses: pass) is said, against the others."""
    own = Counter(label.value for label in session.labels)
    others = session.said.total.copy()
    others.subtract(value for value in own.elements() if value is not None)
    if own.total() < MIN_LABELS or others.total() < MIN_LABELS:
        return None
    answer: Value = "pass" if "pass" in session.said.total or "fail" in session.said.total else "tie"
    mine, theirs = ((said[answer], said.total()) for said in (own, others))
    more = replace(_difference(mine, theirs), n=mine[1])
    matters = abs(more.value or 0) >= USE_MATTERS
    counts = [(said, n - said) for said, n in (mine, theirs)]
    p = category_use_p(counts[0], counts[1], draws=max(draws, 2000)) if matters else 1.0
    words = (
        f"said {answer} on {percent(mine[0] / mine[1])} of {counted(mine[1], 'label')}, the others on "
        f"{percent(theirs[0] / theirs[1])} ({points(more)})"
    )
    items = tuple(label.item_id for label in session.labels if label.value == answer)
    return Check(more, matters, p, words, items=items)


CHECKS: dict[str, Callable[[Session, int], Check | None]] = {
    "reading time": reading_time,
    "own pace": own_pace,
    "hidden repeats": hidden_repeats,
    "fatigue": fatigue,
    "one answer in a row": in_a_row,
    "use of answers": use_of_answers,
}


def _longest(labels: Sequence[Label], said: Sequence[str | None]) -> tuple[str, ...]:
    """The items of the longest run of one answer."""
    runs = [list(run) for _, run in groupby(zip(said, labels, strict=True), key=lambda pair: pair[0])]
    return tuple(label.item_id for _, label in max(runs, key=len))


def _in_order(session: Session) -> list[Label]:
    """The labels whose order of work is known: imported ones stand as their file has them."""
    return [label for label in session.labels if label.source == "app"]


def _agreements(session: Session, labels: Sequence[Label]) -> list[bool | None]:
    """Per label whether it is what most others say; None where they say nothing or do not agree."""
    found: list[bool | None] = []
    for label in labels:
        others = session.said.by_item[label.item_id].copy()
        others.subtract([label.value] if label.value else [])
        most = majority(others.elements()) if others.total() else None
        found.append(None if most is None else most == label.value)
    return found


def _difference(one: tuple[int, int], other: tuple[int, int]) -> Estimate:
    """The first share less the second, each (count, n); n is that of the first and second together."""
    low, high = newcombe(one, other)
    return Estimate(one[0] / one[1] - other[0] / other[1], low, high, one[1] + other[1], method="Newcombe")


def _share(estimate: Estimate) -> str:
    return percent(estimate.value or 0)
