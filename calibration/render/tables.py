"""The report's tables as rows of text, shared by the terminal, Markdown and the pages."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.beside import Cost
from calibration.judging import RunSummary
from calibration.render.human_tables import against_people_table
from calibration.render.text_table import TableName, TextTable, estimate_cells, share_cell
from calibration.render.titles import AGREEMENT, GROUPS, PASS_RATE, TITLES
from calibration.side_by_side import REUSED, costs_of
from calibration.slices import MOST_VALUES
from calibration.types import CriterionReport, JudgeReport, PolicyRow
from calibration.wording import cost_in_words, interval, number, percent
from labels.types import Value

POLICY_COLUMNS = ("", "conventions", "agreement", "kappa", "kappa")


def judges_table(criterion: CriterionReport) -> TextTable:
    """All judges of a criterion side by side."""
    columns = {
        "judge": "",
        "n": "conventions",
        "agreement": "agreement",
        "kappa": "kappa",
        "95 % interval": "kappa",
        "both orders": "consistency",
        "flips": "consistency",
        "left out": "conventions",
        "unanswered": "coverage",
        "per 1,000": "cost",
    }
    rows = tuple(_judge_row(judge) for judge in criterion.judges)
    return TextTable("Judges", tuple(columns), rows, column_about=tuple(columns.values()))


def comparisons_table(criterion: CriterionReport) -> TextTable:
    """Each other judge beside the best one on the same items."""
    rows = tuple(
        (
            f"{versus.best} less {versus.other}",
            f"{versus.agreement.n:,}",
            f"{versus.gained:,}",
            f"{versus.lost:,}",
            *estimate_cells(versus.agreement)[:2],
            *estimate_cells(versus.kappa)[:2],
        )
        for versus in criterion.comparisons
    )
    columns = {
        "judges": "",
        "n": "conventions",
        "first only": "mcnemar_p",
        "second only": "mcnemar_p",
        "agreement": "agreement_difference",
        "95 % interval": "agreement_difference",
        "kappa": "kappa_difference",
        "its interval": "kappa_difference",
    }
    note = (
        "First only: items that only the first judge got right. The first is the judge whose agreement has "
        "the highest lower limit. It was picked for that on these items, which flatters it a little; with "
        "several comparisons each is held to a stricter standard."
    )
    if criterion.optimism is not None:
        note += (
            f" Were all {len(criterion.judges)} equally good, the best kappa of them would still look about "
            f"{number(criterion.optimism)} too good here, by luck."
        )
    return TextTable(
        "The best judge beside each other one, on the same items",
        tuple(columns),
        rows,
        about="holm",
        column_about=tuple(columns.values()),
        note=note,
    )


def runs_table(runs: Sequence[RunSummary]) -> TextTable:
    """Judge runs side by side: what they hold, what is missing and what they cost."""
    header = ("judge", "state", "verdicts", "unanswered", "calls", "cost", "per 1,000", "seconds each")
    masses = [f"{run.judge}: {said}" for run in runs if (said := mass_in_words(run))]
    return TextTable("Runs", header, tuple(map(_run_row, runs)), about="cost", note=" ".join(masses))


def mass_in_words(run: RunSummary) -> str:
    """How much of the tokens' probability fell on scores; empty for a run without such probabilities."""
    if run.valid_mass is None or run.least_mass is None:
        return ""
    average, least = (f"{100 * share:.0f} %" for share in (run.valid_mass, run.least_mass))
    return (
        f"Of the probability of the score tokens {average} fell on 1 to 5 on average, {least} in the worst "
        "answer; below 90 % a weighted score says little."
    )


def estimates_tables(judge: JudgeReport) -> Sequence[TextTable]:
    """Each statistic with its interval and n, or the reason why it is undefined, by groups."""
    tables = []
    for title, names in GROUPS.items():
        shown = tuple(name for name in names if name in judge.estimates)
        rows = tuple((_title(judge, name), *estimate_cells(judge.estimates[name])) for name in shown)
        rate = judge.pass_rate if names is PASS_RATE else None
        name: TableName = "pass rate" if rate else ""
        header = ("statistic", "value", "95 % interval", "n")
        if rows:
            note = rate.sentence if rate else _bands(judge) if names is AGREEMENT else ""
            tables.append(TextTable(title, header, rows, row_about=shown, note=note, name=name))
    return tables


def _bands(judge: JudgeReport) -> str:
    """The conventional words for kappa and its lower limit, with what they are worth."""
    from calibration.stats.agreement import band

    kappa = judge.headline_kappa
    if kappa.value is None or kappa.low is None:
        return ""
    return (
        f"By the words of Landis and Koch a kappa of {number(kappa.value)} is {band(kappa.value)}, its lower "
        f"limit {band(kappa.low)}; the words are a convention and decide nothing."
    )


def slices_table(judge: JudgeReport) -> TextTable:
    """Agreement and kappa by metadata, with what can be said of each slice."""
    rows = tuple(
        (
            f"{part.field} = {part.value or 'not given'}",
            f"{part.n:,} of {part.items:,}",
            share_cell(part.agreement),
            interval(part.agreement),
            number(part.kappa.value),
            interval(part.kappa),
            part.words,
        )
        for part in judge.slices
    )
    return TextTable(
        "By metadata (exploratory)",
        (
            "slice",
            "compared",
            "agreement",
            "95 % interval",
            "kappa",
            "its interval",
            "beside the rest",
        ),
        rows,
        about="slices",
        column_about=("", "slices", "agreement", "agreement", "kappa", "kappa", "benjamini_hochberg"),
        note=f"{_too_many(judge.fields_left_out)}Exploratory: among many slices some look odd by luck. What "
        "is said beside the rest allows for all of them together; look for causes with it, never decide.",
    )


def _too_many(fields: Sequence[str]) -> str:
    if not fields:
        return ""
    return f"Left out, since more than {MOST_VALUES} values make no slices: {', '.join(fields)}. "


def confusion_table(judge: JudgeReport) -> TextTable:
    """Counts of reference labels (rows) by judge (columns)."""
    confusion = judge.confusion
    header = ("experts \\ judge", *(value_in_words(judge, value) for value in confusion.categories))
    rows = tuple(
        (value_in_words(judge, value), *(f"{count:,}" for count in counts))
        for value, counts in zip(confusion.categories, confusion.counts, strict=True)
    )
    return TextTable("Reference labels by judge", header, rows, about="agreement", name="confusion")


def position_table(judge: JudgeReport) -> TextTable:
    """What swapping the order did."""
    position = judge.position
    rows = (
        ("pairs judged in both orders", f"{position.pairs:,}"),
        ("same verdict in both orders", f"{position.consistent:,}"),
        ("flips, first response both times", f"{position.hard_flips_first:,}"),
        ("flips, second response both times", f"{position.hard_flips_second:,}"),
        ("a tie in one order, the first response in the other", f"{position.soft_flips_first:,}"),
        ("a tie in one order, the second response in the other", f"{position.soft_flips_second:,}"),
        ("without a usable verdict in some order", f"{position.unanswered:,}"),
        ("judged in one order only", f"{position.one_order:,}"),
        ("without a majority over the repeats of an order", f"{position.unsettled:,}"),
        ("ties that stand for orders or repeats that disagree", f"{judge.flagged:,}"),
    )
    return TextTable("Order of the two responses", ("what", "count"), rows, about="consistency")


def policies_table(judge: JudgeReport) -> TextTable:
    """Agreement and kappa under each way to treat pairs whose orders disagree."""
    rows = tuple(_policy_row(policy, row) for policy, row in judge.tie_policies.items())
    header = ("when the orders disagree", "n", "agreement", "kappa", "95 % interval")
    return TextTable("Tie policies", header, rows, about="conventions", column_about=POLICY_COLUMNS)


def system_pairs_table(judge: JudgeReport) -> TextTable:
    """Agreement and kappa for each pair of systems."""
    rows = tuple(_policy_row(pair, row) for pair, row in judge.system_pairs.items())
    header = ("systems", "n", "agreement", "kappa", "95 % interval")
    return TextTable("Pairs of systems", header, rows, about="kappa_systems", column_about=POLICY_COLUMNS)


def left_out_table(judge: JudgeReport) -> TextTable:
    """Why items are not in the comparison, with their counts."""
    rows = tuple((reason, f"{count:,}") for reason, count in judge.left_out.items())
    return TextTable("Left out", ("reason", "items"), rows or (("nothing", "0"),), about="conventions")


def judge_tables(judge: JudgeReport) -> Sequence[TextTable]:
    """All tables of one judge, without the empty ones."""
    tables = [*estimates_tables(judge), against_people_table(judge.people)]
    tables += [slices_table(judge)] if judge.slices or judge.fields_left_out else []
    tables += [confusion_table(judge), left_out_table(judge)]
    if judge.criterion.kind == "pairwise":
        tables += [position_table(judge), policies_table(judge)]
    if judge.system_pairs:
        tables.append(system_pairs_table(judge))
    return tables


def value_in_words(judge: JudgeReport, value: Value) -> str:
    """A side with its system where sides are systems, or the value itself."""
    return f"{value} ({judge.sides[value]})" if value in judge.sides else value


def _title(judge: JudgeReport, name: str) -> str:
    title = TITLES.get(name, name)
    if name == "corrected_pass_rate" and judge.pass_rate and judge.pass_rate.sampling == "by_human_label":
        return f"{title}, of items without a label"
    return (
        f"{title}, over sides"
        if name in ("kappa", "kappa_wilson", "weighted_kappa") and judge.arbitrary_sides
        else title
    )


def _judge_row(judge: JudgeReport) -> tuple[str, ...]:
    kappa, same = judge.headline_kappa, judge.position.consistency
    return (
        judge.judge,
        f"{judge.n:,}",
        share_cell(judge.estimates["agreement"]),
        number(kappa.value),
        interval(kappa),
        share_cell(same),
        "–" if same.value is None else percent(judge.position.flip_share),
        f"{sum(judge.left_out.values()):,}",
        f"{judge.unanswered:,} of {judge.judged:,}",
        price(judge.cost),
    )


def price(cost: Cost) -> str:
    """Dollars for 1,000 verdicts that were asked for, and never less than is known."""
    if cost == REUSED:
        return "reused"
    if cost.per_1000 is None:
        return cost.priced
    return f"{'at least ' if cost.priced == 'at least' else ''}${cost.per_1000:.2f}"


def _run_row(run: RunSummary) -> tuple[str, ...]:
    return (
        run.judge,
        run.state,
        f"{run.verdicts:,}",
        f"{sum(run.unanswered.values()):,}",
        f"{run.calls:,}",
        cost_in_words(run.cost, run.unpriced),
        price(costs_of([run])[run.judge]),
        "–" if run.latency is None else f"{run.latency:.2f}",
    )


def _policy_row(name: str, row: PolicyRow) -> tuple[str, ...]:
    return name, f"{row.n:,}", share_cell(row.agreement), number(row.kappa.value), interval(row.kappa)
