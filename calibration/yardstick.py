"""A judge held to how well people agree with one another: leave-one-out difference and the alt-test."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from calibration.audits.basis import points
from calibration.beside import AgainstPeople, Standing
from calibration.compare import FEW_ITEMS
from calibration.humans import Panel
from calibration.stats.ceiling import AltTest, alt_test, ceiling_delta, expected_agreement
from calibration.stats.estimate import Estimate, undefined
from calibration.wording import percent
from labels.text import counted
from labels.types import Value

MARGIN = 0.10  # METHODS 3: how far below people still counts as "as well as people"
AS_WELL = "agrees with your experts as well as they agree with each other"
TESTED = 30  # items that each annotator needs for the alt-test


def against_people(panel: Panel, judged: Mapping[str, Value], *, judge: str) -> AgainstPeople:
    """Whether a judge matches people as well as they match one another; `judged` is by item."""
    verdicts = [judged.get(item_id) for item_id in panel.item_ids]
    delta = ceiling_delta(panel.rows, verdicts) if panel.names else undefined("no_items")
    test = alt_test(panel.rows, verdicts, epsilon=MARGIN, min_items=TESTED)
    standing, need = _standing(delta), _need(delta)
    return AgainstPeople(
        delta=delta,
        margin=MARGIN,
        standing=standing,
        need=need,
        expected=_expected(panel, verdicts),
        alt_test=test,
        sentence=_sentence(judge, delta, standing=standing, need=need),
        alt_sentence=_alt_sentence(test, panel),
    )


def _expected(panel: Panel, verdicts: list[Value | None]) -> Estimate:
    value = expected_agreement(panel.rows, verdicts)
    n = sum(verdict is not None for verdict in verdicts)
    if value is None:
        return undefined("no_items")
    return Estimate(value, n=n, why_no_interval="not_applicable")


def _standing(delta: Estimate) -> Standing:
    if delta.low is None or delta.high is None or delta.n < FEW_ITEMS:
        return "unknown"
    if delta.low > 0:
        return "better"
    if delta.low > -MARGIN:
        return "within"
    return "below" if delta.high < 0 else "open"


def _need(delta: Estimate) -> int | None:
    """About how many more items settle it, if the difference stays: an interval narrows with root n."""
    if delta.value is None or delta.low is None or delta.n < FEW_ITEMS:
        return FEW_ITEMS - delta.n if delta.n else None
    if delta.low > -MARGIN:
        return 0
    room = delta.value + MARGIN
    if room <= 0.01:  # at the margin itself no number of items is enough
        return None
    return max(1, ceil(delta.n * (((delta.value - delta.low) / room) ** 2 - 1)))


def _sentence(judge: str, delta: Estimate, *, standing: Standing, need: int | None) -> str:
    on = f"on {counted(delta.n, 'item')}"
    if standing == "unknown":
        return f"Whether {judge} {AS_WELL} cannot be said{_why(delta)}"
    if standing == "better":
        return f"{judge} matches your experts better than they match each other: {points(delta)}, {on}."
    if standing == "within" and delta.high is not None and delta.high < 0:
        return (
            f"{judge} agrees with your experts nearly as well as they agree with each other: "
            f"{points(delta)}, within the {100 * MARGIN:.0f} points that are allowed, {on}."
        )
    if standing == "within":
        return f"{judge} {AS_WELL}, give or take {100 * MARGIN:.0f} points ({points(delta)}, {on})."
    if standing == "below":
        return (
            f"{judge} agrees with your experts less than they agree with each other: {points(delta)}, {on}."
        )
    more = f" About {counted(need, 'more item')} with two labels would settle it." if need else ""
    return f"It is not shown that {judge} {AS_WELL} ({points(delta)}, {on}).{more}"


def _why(delta: Estimate) -> str:
    """Why a judge cannot be held to people, as the end of a sentence."""
    if delta.why_undefined == "no_items":
        return ": nobody has labelled blind yet."
    if delta.why_undefined == "not_applicable":
        return ": only one person has labelled blind. Let a second person label the same items."
    if delta.why_undefined:
        return ": no item with a verdict has blind labels by two people."
    few = counted(delta.n, "item")
    return f" yet: only {few} with a verdict and two blind labels; {FEW_ITEMS - delta.n} more are needed."


def _alt_sentence(test: AltTest, panel: Panel) -> str:
    if test.omega is None or test.rho is None:
        return (
            f"The alt-test needs a person with {TESTED} items that also have a verdict and another person's "
            "blind label; nobody has as many."
        )
    people = counted(len(test.tested), "annotator")
    wins = round(test.omega * len(test.tested))
    word = "replaceable" if test.replaceable else "not shown to be replaceable"
    pair = " With two annotators only, take it lightly." if len(panel.names) == 2 else ""
    return (
        f"Alt-test: the judge could stand in for {wins} of {people}: {word} at tolerance {test.epsilon:.2f}, "
        f"which is less than being as good. It matched the others at least as well on {percent(test.rho)} of "
        f"the items.{pair}"
    )
