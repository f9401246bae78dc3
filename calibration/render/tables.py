"""The report's tables as rows of text, shared by the terminal, Markdown and the pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.agreement import STATISTICS
from calibration.judging import RunSummary
from calibration.stats.estimate import Estimate
from calibration.types import CriterionReport, JudgeReport, PolicyRow
from calibration.wording import REASONS, cost_in_words, interval, number, percent
from labels.types import Value

TITLES = {name: statistic.title for name, statistic in STATISTICS.items()} | {
    "kappa_systems": "Kappa over winning systems and tie",
    "consistency": "Same verdict in both orders",
    "preference": "Lean of the flips: -1 all to the first response, +1 all to the second",
    "pabak": "Agreement if all answers were equally common (PABAK)",
    "ac1": "Agreement beyond chance after Gwet (AC1)",
    "tpr": "Passes found: of what experts pass, the judge passes",
    "tnr": "Fails found: of what experts fail, the judge fails",
}


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of plain texts with its title and header."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def judges_table(criterion: CriterionReport) -> TextTable:
    """All judges of a criterion side by side."""
    header = ("judge", "n", "agreement", "kappa", "95 % interval", "both orders", "left out")
    return TextTable("Judges", header, tuple(_judge_row(judge) for judge in criterion.judges))


def runs_table(runs: Sequence[RunSummary]) -> TextTable:
    """Judge runs side by side: what they hold, what is missing and what they cost."""
    header = ("judge", "state", "verdicts", "unanswered", "calls", "cost", "per 1,000", "seconds each")
    return TextTable("Runs", header, tuple(_run_row(run) for run in runs))


def estimates_table(judge: JudgeReport) -> TextTable:
    """Each statistic with its interval and n, or the reason why it is undefined."""
    rows = tuple(_estimate_row(_title(judge, name), e) for name, e in judge.estimates.items())
    return TextTable("Estimates", ("statistic", "value", "95 % interval", "n"), rows)


def confusion_table(judge: JudgeReport) -> TextTable:
    """Counts of reference labels (rows) by judge (columns)."""
    confusion = judge.confusion
    header = ("experts \\ judge", *(value_in_words(judge, value) for value in confusion.categories))
    rows = tuple(
        (value_in_words(judge, value), *(f"{count:,}" for count in counts))
        for value, counts in zip(confusion.categories, confusion.counts, strict=True)
    )
    return TextTable("Reference labels by judge", header, rows)


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
        ("ties that stand for orders or repeats that disagree", f"{judge.flagged:,}"),
    )
    return TextTable("Order of the two responses", ("what", "count"), rows)


def policies_table(judge: JudgeReport) -> TextTable:
    """Agreement and kappa under each way to treat pairs whose orders disagree."""
    rows = tuple(_policy_row(policy, row) for policy, row in judge.tie_policies.items())
    header = ("when the orders disagree", "n", "agreement", "kappa", "95 % interval")
    return TextTable("Tie policies", header, rows)


def system_pairs_table(judge: JudgeReport) -> TextTable:
    """Agreement and kappa for each pair of systems."""
    rows = tuple(_policy_row(pair, row) for pair, row in judge.system_pairs.items())
    return TextTable("Pairs of systems", ("systems", "n", "agreement", "kappa", "95 % interval"), rows)


def left_out_table(judge: JudgeReport) -> TextTable:
    """Why items are not in the comparison, with their counts."""
    rows = tuple((reason, f"{count:,}") for reason, count in judge.left_out.items())
    return TextTable("Left out", ("reason", "items"), rows or (("nothing", "0"),))


def judge_tables(judge: JudgeReport) -> Sequence[TextTable]:
    """All tables of one judge, without the empty ones."""
    tables = [estimates_table(judge), confusion_table(judge), left_out_table(judge)]
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
    return (
        f"{title}, over sides"
        if name in ("kappa", "kappa_wilson", "weighted_kappa") and judge.arbitrary_sides
        else title
    )


def _estimate_row(title: str, estimate: Estimate) -> tuple[str, ...]:
    if estimate.value is None:
        why = REASONS[estimate.why_undefined or "not_applicable"]
        return title, "–", f"undefined: {why}", f"{estimate.n:,}"
    return title, number(estimate.value), interval(estimate), f"{estimate.n:,}"


def _judge_row(judge: JudgeReport) -> tuple[str, ...]:
    agreement, kappa = judge.estimates["agreement"], judge.estimates["kappa"]
    same = judge.position.consistency.value
    return (
        judge.judge,
        f"{judge.n:,}",
        "–" if agreement.value is None else percent(agreement.value),
        number(kappa.value),
        interval(kappa),
        "–" if same is None else percent(same),
        f"{sum(judge.left_out.values()):,}",
    )


def _run_row(run: RunSummary) -> tuple[str, ...]:
    return (
        run.judge,
        run.state,
        f"{run.verdicts:,}",
        f"{sum(run.unanswered.values()):,}",
        f"{run.calls:,}",
        cost_in_words(run.cost, run.unpriced),
        "–" if run.cost is None or not run.verdicts else f"${1000 * run.cost / run.verdicts:.2f}",
        "–" if run.latency is None else f"{run.latency:.2f}",
    )


def _policy_row(name: str, row: PolicyRow) -> tuple[str, ...]:
    agreement = "–" if row.agreement.value is None else percent(row.agreement.value)
    return name, f"{row.n:,}", agreement, number(row.kappa.value), interval(row.kappa)
