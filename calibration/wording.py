"""Numbers and findings in plain words: one place for what screens, terminal and files say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from calibration.stats.estimate import Estimate
from calibration.types import Position, Warned

Why = TypeVar("Why", bound=str)

REASONS: Mapping[str, str] = {
    "no_items": "there are no items to compare",
    "too_few_items": "there are too few items",
    "expected_agreement_is_1": "both used one and the same category throughout",
    "no_pairable_items": "no item has two ratings",
    "no_expected_disagreement": "all ratings are equal",
    "zero_denominator": "no item is of the kind that it divides by",
    "judge_not_informative": "the judge is no better than a coin",
    "separation": "one side wins always",
    "no_discordant_pairs": "no pair changed with the order",
    "all_ties": "all are ties",
    "disconnected": "not every system was compared with the others",
    "no_valid_verdict": "the judge gave no usable verdict",
    "not_applicable": "it does not apply here",
    "single_run": "there is only one run",
    "contaminated_split": "the holdout was looked at before",
}

UNLIKE = (
    "The judge is compared with the majority of all your experts, they only with one another, which flatters "
    "the judge. The sentence about each judge compares both fairly, each time with the same people."
)
WARNINGS: Mapping[str, str] = {
    "few_items": "Only {n} items were compared: read the counts, not the statistics.",
    "prevalence_paradox": "One answer is rare or dominates, which distorts kappa: read it beside raw "
    "agreement and the other coefficients, and add items of the rare answer.",
    "systematic_leniency": "The judge gives the answers in clearly other proportions than your experts "
    "(orders that disagree count as ties here); see the totals of the table.",
    "polarity": "The judge agrees with your experts far less than chance would. Perhaps pass and fail are "
    "turned round in one of the files: import it again into a new project with --pass 0 (the word that "
    "means pass).",
    "unanswered": "{n} items have no usable verdict, more than 5 % of those judged.",
    "one_order": "{n} items were judged in one order only; their position effect cannot be seen.",
    "arbitrary_sides": "More than two systems were compared, so sides are arbitrary: raw agreement and "
    "kappa over systems do not depend on them, kappa over sides does.",
    "holdout": "{n} items of the holdout are left aside: they are kept for the release.",
    "tuned": "The judge's threshold was chosen on these very labels, which flatters it: expect less on "
    "other items, and let the holdout or new labels decide.",
    "out_of_range": "The judge's errors on the labelled items cannot explain its pass rate on the others, so "
    "they do not carry over: the corrected pass rate was cut off at 0 or 100 % and is not to be relied on.",
    "inclusion": "The items were chosen with different chances: read the kappa that weighs them by these; "
    "the plain one speaks of the chosen items alone.",
    "small_inclusion": "Some item was chosen with a chance below 5 %: the weighted kappa hangs on few items "
    "and decides nothing.",
    "after_reveal": "{n} labels were given after the person had seen a verdict or a colleague's label; "
    "they are left out.",
}


def warning(code: str, n: int = 0) -> Warned:
    """The warning of this code with its sentence."""
    return Warned(code, WARNINGS[code].format(n=f"{n:,}"))


def percent(share: float) -> str:
    """A share as whole per cent, or with one digit where whole ones would say 0 or 100 of a rest."""
    whole = f"{100 * share:.0f}"
    return f"{100 * share:.1f} %" if whole in ("0", "100") and share not in (0.0, 1.0) else f"{whole} %"


def number(value: float | None) -> str:
    """A statistic with two digits, and a dash where there is none."""
    return "–" if value is None else f"{round(value, 2) + 0.0:.2f}"  # never -0.00


def interval(estimate: Estimate) -> str:
    """The limits of an estimate's interval, or nothing where it has none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{number(estimate.low)} to {number(estimate.high)}"


def in_words(estimate: Estimate) -> str:
    """A number with its interval, or the reason why there is none."""
    if estimate.value is None:
        return f"undefined: {REASONS[estimate.why_undefined or 'not_applicable']}"
    limits = interval(estimate)
    return f"{number(estimate.value)} ({limits})" if limits else number(estimate.value)


def sentence_of(judge: str, estimates: Mapping[str, Estimate], *, position: Position) -> str:
    """One sentence or two for a reader without statistics."""
    agreement, kappa = estimates["agreement"], estimates["kappa"]
    if agreement.value is None:
        return f"{judge} cannot be compared with your experts yet: no item has both a label and a verdict."
    text = f"{judge} agrees with your experts on {percent(agreement.value)} of {agreement.n:,} items"
    systems = estimates.get("kappa_systems", kappa)
    over = " over systems" if "kappa_systems" in estimates else ""
    if systems.value is None:
        text += f"; kappa{over} is {in_words(systems)}."
    else:
        text += f"; beyond chance that is a kappa{over} of {in_words(systems)}."
    return f"{text} {_order_sentence(position)}".strip()


def humans_in_words(names: Sequence[str], agreement: Estimate, ceiling: Estimate) -> str:
    """How well people agree with one another, or why that is not known."""
    if not names:
        return "Nobody has labelled blind yet."
    if len(names) == 1:
        return (
            f"Only {names[0]} has labelled blind, so how well your experts agree with one another is not "
            "known, and no ceiling is assumed. Let a second person label the same items."
        )
    if agreement.value is None:
        return "No item has blind labels by two people, so how well they agree is not known."
    shared = f"the {agreement.n:,} items with two labels or more"
    return (
        f"Two of your experts agree on {percent(agreement.value)} of {shared}; beyond chance that is "
        f"{in_words(ceiling)}."
    )


def _order_sentence(position: Position) -> str:
    if not position.pairs:
        return ""
    changed = position.pairs - position.consistent
    if not changed:
        none = f"On none of {position.pairs:,} pairs did it change its mind when the two were swapped."
        return none + _apart(position)
    text = f"When the two responses are swapped it changes its mind on {percent(changed / position.pairs)}"
    first = position.hard_flips_first + position.soft_flips_first
    proven = position.direction_p_exact is not None and position.direction_p_exact <= 0.05
    return f"{text} of {position.pairs:,} pairs, {_towards(first, changed, proven=proven)}.{_apart(position)}"


def _towards(first: int, changed: int, *, proven: bool) -> str:
    """Where the flips went, as a direction only where chance alone would hardly give it."""
    second = changed - first
    if not proven or max(first, second) < 0.65 * changed:
        split = f"{first:,} towards the response shown first and {second:,} towards the second"
        return f"in no clear direction: {split}"
    often = "always" if changed in (first, second) else "mostly"
    return f"{often} towards the response shown {'first' if first > second else 'second'}"


def _apart(position: Position) -> str:
    """The pairs that are not counted because repeats of one order disagree."""
    if not position.unsettled:
        return ""
    return f" {position.unsettled:,} more have no majority over the repeats of an order."


def left_out_in_words(left_out: Mapping[Why, int]) -> str:
    """What is not in the comparison, in one line."""
    if not left_out:
        return "Nothing was left out."
    return "Left out: " + ", ".join(f"{count:,} {reason}" for reason, count in left_out.items()) + "."


def cost_in_words(cost: float | None, unpriced: int) -> str:
    """Dollars that claim no more than is known: an unknown price is never nothing."""
    if cost is None:
        return "price unknown" if unpriced else "–"
    return f"at least ${cost:.4f}" if unpriced else f"${cost:.4f}"
