"""Tables of the human side: people among themselves, and a judge held to that."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.beside import AgainstPeople, Humans
from calibration.render.text_table import TextTable, estimate_cells, share_cell
from calibration.render.titles import TITLES
from calibration.wording import REASONS, interval, number, percent

ESTIMATE = ("what", "value", "95 % interval", "n")


def human_tables(humans: Humans) -> Sequence[TextTable]:
    """All tables about the annotators; none where fewer than two have labelled."""
    if len(humans.names) < 2:
        return [repeats_table(humans)] if humans.repeats else []
    tables = [humans_table(humans), people_pairs_table(humans)]
    return [*tables, repeats_table(humans)] if humans.repeats else tables


def humans_table(humans: Humans) -> TextTable:
    """Agreement of the annotators with one another."""
    numbers = {"mean_pairwise_agreement": humans.agreement, "krippendorff_alpha": humans.alpha}
    if humans.ceiling_by == "kappa":  # else alpha is the ceiling
        numbers["ceiling"] = humans.ceiling
    rows = [(TITLES[name], *estimate_cells(estimate)) for name, estimate in numbers.items()]
    rows.append((TITLES["consensus"], f"{humans.no_consensus:,}", "", f"{humans.items:,}"))
    diagnosis = humans.diagnosis
    if diagnosis.why_undefined:
        why = "not computed: it needs 100 items and 3 annotators"
        rows.append((TITLES["dawid_skene"], "–", why, f"{humans.items:,}"))
    else:
        rows.append(
            (
                TITLES["dawid_skene"],
                f"{len(diagnosis.differs):,}",
                "a diagnostic only",
                f"{diagnosis.items:,}",
            )
        )
    about = (*numbers, "consensus", "dawid_skene")
    return TextTable("Your experts among themselves", ESTIMATE, tuple(rows), row_about=about)


def people_pairs_table(humans: Humans) -> TextTable:
    """Agreement and kappa of each pair of annotators, with their common items."""
    rows = tuple(
        (
            f"{pair.first} and {pair.second}",
            f"{pair.agreement.n:,}",
            share_cell(pair.agreement),
            interval(pair.agreement),
            number(pair.kappa.value),
            interval(pair.kappa) or (REASONS[pair.kappa.why_undefined] if pair.kappa.why_undefined else ""),
        )
        for pair in humans.pairs
    )
    more = f"{humans.pairs_left_out:,} pairs of people with fewer labels are not shown."
    return TextTable(
        "Each pair of annotators",
        ("annotators", "common items", "agreement", "95 % interval", "kappa", "95 % interval"),
        rows,
        about="pairwise_matrix",
        column_about=("", "pairwise_matrix", "agreement", "agreement", "kappa", "kappa"),
        note=more if humans.pairs_left_out else "",
    )


def repeats_table(humans: Humans) -> TextTable:
    """How often each annotator gave the same label again; no judge can be expected to reach more."""
    rows = tuple((name, *estimate_cells(estimate)) for name, estimate in humans.repeats.items())
    header = ("annotator", "same label", "95 % interval", "repeats")
    return TextTable("When an item came again, hidden", header, rows, about="repeat_agreement")


def against_people_table(people: AgainstPeople) -> TextTable:
    """A judge held to how well people agree with one another."""
    test = people.alt_test
    rows = [
        (TITLES["ceiling_delta"], *estimate_cells(people.delta)),
        (TITLES["expected_agreement"], *estimate_cells(people.expected)),
    ]
    if test.omega is None:
        rows.append((TITLES["alt_test"], "–", "nobody has 30 items for it", ""))
    else:
        share = f"{round(test.omega * len(test.tested)):,} of {len(test.tested):,}"
        verdict = "replaceable" if test.replaceable else "not shown to be replaceable"
        rows.append((TITLES["alt_test"], share, f"{verdict} at tolerance {percent(test.epsilon)}", ""))
    about = ("ceiling_delta", "expected_agreement", "alt_test")
    return TextTable("The judge beside people", ESTIMATE, tuple(rows), row_about=about, name="people")
