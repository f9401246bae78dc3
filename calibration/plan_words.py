"""A plan in sentences for people without statistics, in tables, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from calibration.compare import FEW_ITEMS
from calibration.outlook import MINIMUM, MINIMUM_OF_EACH, Obstacle, Outlook
from calibration.planning import MOST_LABELS, POWER, Plan, extra_for_looks
from calibration.render.text_table import TextTable
from calibration.stats.estimate import Estimate
from calibration.wording import REASONS, interval, number, percent
from labels.text import counted

FEW_OF_AN_ANSWER = 10  # below that, kappa swings with each one of them
MANY = f"more than {MOST_LABELS:,} labels"
NO_VERDICT: Mapping[Obstacle, str] = {
    "few_items": f"Below {FEW_ITEMS} items nothing is decided and no number is given: {{need}} first.",
    "below_minimum": f"A gate needs {MINIMUM} items, and {MINIMUM_OF_EACH} of each of two answers: {{need}} "
    "first, at least.",
    "unanswered": "On {unanswered} more it gave no usable verdict, more than 5 % of those asked: mend that "
    "before any gate is decided.",
    "many_systems": "More than two systems were compared, so this is kappa over winning systems. The plan "
    "counts sides, which are arbitrary here, so it gives no verdict and no number of labels, and it starts "
    "from a usual share of the commonest answer.",
}
RANDOM = (
    "All this holds for items that are drawn at random. Items chosen because the judge is unsure of them "
    "show what to mend in the rubric, but they make kappa look worse than it is: keep them out of the gate."
)


def sentences_of(plan: Plan) -> tuple[str, ...]:
    """What the plan says, one thought to a sentence or two."""
    if plan.kappa is None:
        return _raw(plan), _impossible(plan)
    said = [_premise(plan), _widths(plan), _gate(plan), _passing(plan), _needed(plan), _looks(plan)]
    return (*said, *_rare(plan), RANDOM)


def tables_of(plan: Plan) -> tuple[TextTable, ...]:
    """The numbers behind the chart, and the two looks."""
    if plan.kappa is None:
        return ()
    return curve_table(plan), looks_table(plan)


def curve_table(plan: Plan) -> TextTable:
    """What each number of labels shows."""
    header = ("labels", "kappa shown as", "passes" if plan.passes else "fails")
    rows = [(f"{one.labels:,}", interval(one.kappa), _chance(one.decided)) for one in plan.curve]
    about = ("", "kappa", "pass_probability")
    return TextTable(
        "Labels and what they show", header, tuple(rows), about="items_for_power", column_about=about
    )


def looks_table(plan: Plan) -> TextTable:
    """Two planned looks and the level that each must meet."""
    rows = [
        (f"{look.labels:,}", f"{100 * look.level:.1f} %", interval(look.kappa), _clears(look.kappa, plan))
        for look in plan.looks
    ]
    return TextTable(
        "Two looks, written down before",
        ("labels", "level", "kappa", "decides"),
        tuple(rows),
        about="obrien_fleming_z",
        column_about=("", "obrien_fleming_z", "kappa", "obrien_fleming_z"),
    )


def verb(plan: Plan) -> str:
    """What the gate should do with this judge, as the heading of a chance."""
    return f"chance to {'pass' if plan.passes else 'fail'}"


def outlook_in_words(outlook: Outlook) -> str:
    """What the gate says of a judge now, and what it lacks."""
    kappa, name = outlook.kappa, f"{outlook.start.judge} on “{outlook.start.question}”"
    if kappa.value is None:
        why = REASONS[kappa.why_undefined or "not_applicable"]
        return f"{name}: kappa is undefined ({why}), so no number of labels can be given."
    stands = f"{name}: kappa {number(kappa.value)} ({interval(kappa)}) over {counted(kappa.n, 'item')}"
    if outlook.obstacle == "below_minimum":
        need = counted(outlook.lacking, "more label")
        least = NO_VERDICT["below_minimum"].format(need=need)
        return f"{stands}. {least}{'' if outlook.side else f' {_decision(outlook)}{_odds(outlook)}'}"
    if outlook.obstacle:
        unanswered = counted(outlook.start.unanswered, "item")
        need = counted(max(0, FEW_ITEMS - kappa.n), "more label")
        return f"{stands}. {NO_VERDICT[outlook.obstacle].format(need=need, unanswered=unanswered)}"
    return f"{stands}. {_decision(outlook)}{_odds(outlook)}{_cross_check(outlook)}"


def _decision(outlook: Outlook) -> str:
    """What the gate says, or what it lacks."""
    floor, value = number(outlook.floor), outlook.kappa.value or 0.0
    if outlook.verdict == "PASS":
        return f"The lower limit has reached the floor of {floor}: no more labels are needed."
    if outlook.verdict == "FAIL":
        return f"The upper limit lies below the floor of {floor}: more labels would not help."
    if outlook.why_no_number == "below_chance":
        return (
            f"It is worse than chance and lies below the floor of {floor}, though not surely. No number of "
            "labels can be given: look first whether two answers are turned round in a file."
        )
    if outlook.more is None:
        return f"So near to the floor of {floor}, {MANY} would be needed to decide."
    if not outlook.more:
        return "A judge like that would mostly be decided by now; a few more labels may do."
    about = f"about {counted(outlook.more, 'more label')} would decide it with {percent(POWER)} chance"
    return f"The floor of {floor} lies within. If kappa truly is {number(max(0.0, value))}, {about}."


def _odds(outlook: Outlook) -> str:
    """How likely kappa lies above the floor, where the gate is open."""
    if outlook.verdict or outlook.above is None:
        return ""
    return (
        f" As far as these labels tell, the chance that it lies above the floor is {_chance(outlook.above)}."
    )


def _cross_check(outlook: Outlook) -> str:
    """A warning where only one of the two intervals clears the floor."""
    if not outlook.disagree:
        return ""
    says = "does not clear" if outlook.verdict == "PASS" else "clears"
    return (
        f" The cross-check interval ({interval(outlook.check)}) {says} the floor, so the two ways of "
        "computing disagree; gates go by the first."
    )


def plan_as_json(plan: Plan, outlooks: Sequence[Outlook]) -> str:
    """The plan's numbers and sentences for programs; what is not known is null."""
    data = asdict(plan) | {
        "sentences": sentences_of(plan),
        "judges": [
            {
                "judge": one.start.judge,
                "question": one.start.question,
                "kappa": asdict(one.kappa),
                "verdict": one.verdict or None,
                "why_no_verdict": one.obstacle or None,
                "more": one.more,
                "why_no_number": one.why_no_number or None,
                "chance_above_floor": one.above,
                "cross_check": asdict(one.check),
                "intervals_disagree": one.disagree,
                "sentence": outlook_in_words(one),
            }
            for one in outlooks
        ],
    }
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)


def _premise(plan: Plan) -> str:
    wish = plan.wish
    return (
        f"Suppose judge and experts truly agree on {percent(wish.agreement)} of all items, and the commonest "
        f"of {wish.answers} answers makes up {percent(wish.share)}. Chance alone would give "
        f"{percent(wish.chance)}; beyond chance that is a true kappa of {number(plan.kappa)}."
    )


def _raw(plan: Plan) -> str:
    wish, shown = plan.wish, plan.agreement
    low, high = percent(shown.low or 0.0), percent(shown.high or 0.0)
    return (
        f"With {wish.labels:,} labels you can show raw agreement to about ± {_points(shown)}: "
        f"{percent(wish.agreement)} would be shown as {low} to {high}."
    )


def _widths(plan: Plan) -> str:
    shown = plan.shown
    if shown.value is None:
        return f"{_raw(plan)} Kappa would be undefined: {REASONS[shown.why_undefined or 'not_applicable']}."
    return (
        f"{_raw(plan)} Kappa you can show to about ± {_half(shown):.2f}: {number(shown.value)} would be "
        f"shown as {interval(shown)}."
    )


def _gate(plan: Plan) -> str:
    wish, floor = plan.wish, number(plan.wish.floor)
    if plan.passes:
        return (
            f"The chance that {wish.labels:,} labels then prove a kappa of at least {floor} is "
            f"{_chance(plan.decided)}."
        )
    return (
        f"Such a judge does not reach the floor of {floor} and should not pass. The chance that "
        f"{wish.labels:,} labels prove that is {_chance(plan.decided)}."
    )


def _passing(plan: Plan) -> str:
    wish, floor = plan.wish, number(plan.wish.floor)
    if plan.passing is None:
        return (
            f"With {wish.labels:,} labels not even a judge that always agrees has {percent(POWER)} chance to "
            f"clear a floor of {floor}."
        )
    return (
        f"To clear a floor of {floor} with {percent(POWER)} chance, {wish.labels:,} labels need a true kappa "
        f"of {number(plan.passing)} or more."
    )


def _needed(plan: Plan) -> str:
    if plan.needed is None:
        return (
            f"A true kappa of {number(plan.kappa)} against a floor of {number(plan.wish.floor)} takes {MANY} "
            f"to decide with {percent(POWER)} chance."
        )
    least = f" A gate asks for {MINIMUM} items in any case." if plan.needed < MINIMUM else ""
    return (
        f"A true kappa of {number(plan.kappa)} against a floor of {number(plan.wish.floor)} takes about "
        f"{plan.needed:,} labels to decide with {percent(POWER)} chance.{least}"
    )


def _looks(plan: Plan) -> str:
    first, last = plan.looks
    return (
        f"Looking twice, after {first.labels:,} and after {last.labels:,} labels, costs about "
        f"{percent(extra_for_looks(plan))} more labels if both looks are written down before: the first may "
        f"decide only by an interval at {100 * first.level:.1f} %, the last by one at "
        f"{100 * last.level:.1f} %. Looking whenever you like about doubles the risk of passing a bad judge."
    )


def _rare(plan: Plan) -> tuple[str, ...]:
    """A warning where some answer will be rare; METHODS 1 asks for ten items of each."""
    expected = min(plan.wish.margins) * plan.wish.labels
    if expected >= FEW_OF_AN_ANSWER:
        return ()
    few = "fewer than one item" if expected < 0.95 else f"about {counted(round(expected), 'item')}"
    return (
        f"Expect {few} with the rarest answer. Below {FEW_OF_AN_ANSWER} of them kappa swings with each one: "
        "add items on which that answer is likely, drawn at random among such items.",
    )


def _impossible(plan: Plan) -> str:
    wish = plan.wish
    return (
        f"Nothing can be said about kappa: where the commonest of {wish.answers} answers makes up "
        f"{percent(wish.share)} for judge and experts alike, two raters cannot agree on as few as "
        f"{percent(wish.agreement)}. Choose a higher agreement or a lower share."
    )


def _half(estimate: Estimate) -> float:
    """Half the width of an interval."""
    return ((estimate.high or 0.0) - (estimate.low or 0.0)) / 2


def _points(share: Estimate) -> str:
    return counted(round(100 * _half(share)), "point")


def _chance(share: float) -> str:
    """A chance from a thousand simulated sets of labels, which never shows that something is certain."""
    whole = percent(round(share, 2))
    return {"0 %": "under 1 %", "100 %": "over 99 %"}.get(whole, whole)


def _clears(kappa: Estimate, plan: Plan) -> str:
    if kappa.low is not None and kappa.low >= plan.wish.floor:
        return "pass"
    return "fail" if kappa.high is not None and kappa.high < plan.wish.floor else "not yet"
