"""What single audits must tell apart: noise from position, own family from strength, people from judges."""

from __future__ import annotations

from dataclasses import replace

import pytest
from audit_material import JUDGE, Script, material_of

from calibration.audits import (
    annotators,
    coverage,
    drift,
    human_position,
    layout,
    length,
    leniency,
    position,
    repeatability,
    self_preference,
)
from calibration.audits.basis import Scale, more_items, points, weigh
from calibration.audits.exact import leans, shares_differ_p
from calibration.audits.families import FAMILIES, families_of
from calibration.material import Attempt, Material
from calibration.stats.estimate import Estimate, undefined
from calibration.stats.intervals import sign_test_p
from calibration.stats.stratified import fisher_p
from labels.types import Item

BOTH = Scale(neutral=0.0, matters=0.1, harmful=0.2)


@pytest.mark.parametrize(
    ("value", "low", "high", "weight"),
    [
        (0.15, 0.05, 0.25, "concern"),
        (-0.15, -0.25, -0.05, "concern"),
        (0.15, -0.01, 0.31, "watch"),
        (0.05, 0.01, 0.09, "fine"),
        (0.0, -0.19, 0.19, "fine"),
        (0.0, -0.21, 0.19, "unknown"),
        (0.15, -0.30, 0.60, "unknown"),
    ],
)
def test_a_weight_follows_from_point_and_interval(value: float, low: float, high: float, weight: str) -> None:
    assert weigh(Estimate(value, low, high, 100), BOTH) == weight


RUNS = ("one run", "the majority of 3 runs")


def test_a_concern_needs_the_exact_test_where_there_is_one() -> None:
    assert weigh(Estimate(0.15, 0.05, 0.25, 100), BOTH, proven=False) == "watch"


def test_an_estimate_without_value_or_interval_is_unknown() -> None:
    assert weigh(undefined("too_few_items"), BOTH) == "unknown"
    assert weigh(Estimate(0.3, n=5, why_no_interval="too_few_items"), BOTH) == "unknown"


def test_a_one_sided_scale_has_nothing_against_the_other_side() -> None:
    above = replace(BOTH, direction="above")
    below = replace(BOTH, direction="below")
    assert weigh(Estimate(-0.5, -0.6, -0.4, 100), above) == "fine"
    assert weigh(Estimate(-0.5, -0.6, -0.4, 100), below) == "concern"
    assert weigh(Estimate(0.5, 0.4, 0.6, 100), below) == "fine"


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.13, 0.45, "13 to 45 points more"),
        (-0.58, -0.11, "11 to 58 points less"),
        (-0.01, 0.12, "1 point less to 12 more"),
    ],
)
def test_a_difference_is_told_in_points(low: float, high: float, words: str) -> None:
    assert points(Estimate((low + high) / 2, low, high, 50)) == words


def test_half_the_width_needs_four_times_the_items() -> None:
    assert more_items(Estimate(0.0, -0.4, 0.4, 100), BOTH) == 300
    assert more_items(Estimate(0.2, -0.2, 0.6, 100), BOTH) == 300  # so that the interval leaves out 0


@pytest.mark.parametrize(("one", "other"), [(0, 5), (0, 6), (9, 2), (10, 2), (15, 30), (16, 30), (7, 7)])
def test_leaning_is_the_exact_sign_test(one: int, other: int) -> None:
    assert leans(one, other, alpha=0.05) == (sign_test_p(one, other) <= 0.05)


def test_no_discordant_item_leans_nowhere() -> None:
    assert not leans(0, 0, alpha=0.05)


def test_shares_are_compared_exactly_when_few_and_alike_when_many() -> None:
    assert shares_differ_p((3, 20), (12, 25)) == fisher_p([(3, 17), (12, 13)])
    many = shares_differ_p((300, 1000), (340, 1000))
    assert many == pytest.approx(0.055, abs=0.005)  # chi-square by hand: z = .04 / .0209 = 1.92
    assert shares_differ_p((0, 1000), (0, 1000)) == 1.0


# Position


def test_noise_without_direction_is_not_called_a_position_bias() -> None:
    finding = position.audit(material_of(Script(noise=0.5, repeats=3)), JUDGE)
    assert finding.weight != "concern"
    assert "no clear direction" in finding.sentence
    beyond = finding.parts["change beyond the judge's own noise"]
    assert beyond.low is not None
    assert beyond.low <= 0.03


def test_a_judge_that_guesses_without_direction_is_no_concern_in_19_of_20_runs() -> None:
    scripts = (material_of(Script(n=50, noise=0.3, people=1), seed) for seed in range(200))
    assert sum(position.audit(material, JUDGE).weight == "concern" for material in scripts) <= 10


def test_position_is_told_apart_from_noise_where_there_are_repeats() -> None:
    finding = position.audit(material_of(Script(first_slot=0.5, noise=0.1, repeats=3)), JUDGE)
    beyond = finding.parts["change beyond the judge's own noise"]
    assert beyond.low is not None
    assert beyond.low > 0
    assert "beyond the judge's own noise" in finding.sentence


def test_one_run_per_order_says_that_order_and_chance_cannot_be_told_apart() -> None:
    finding = position.audit(material_of(Script(noise=0.7)), JUDGE)
    assert finding.weight == "watch"
    assert "order and chance cannot be told apart" in finding.sentence
    assert finding.parts["change beyond the judge's own noise"].why_undefined == "single_run"


def test_always_second_is_as_bad_as_always_first() -> None:
    fair = material_of(Script(first_slot=0.6))
    turned = [replace(v, first={"A": "B", "B": "A"}[v.first]) for v in fair.verdicts if v.first]
    first, second = position.audit(fair, JUDGE), position.audit(replace(fair, verdicts=turned), JUDGE)
    assert first.weight == second.weight == "concern"
    assert "towards the one shown first" in first.sentence
    assert "towards the one shown second" in second.sentence
    assert first.estimate.value == pytest.approx(-(second.estimate.value or 0))


def test_a_small_sample_is_not_shown_to_be_fair_and_says_what_it_needs() -> None:
    finding = position.audit(material_of(Script(n=24, noise=0.4), 5), JUDGE)
    assert finding.weight == "unknown"
    assert "not shown to be fair" in finding.sentence
    assert f"needs about {finding.need} more pairs" in finding.sentence


def test_the_sentence_has_the_share_its_interval_the_pairs_and_the_direction() -> None:
    sentence = position.audit(material_of(Script(n=120, first_slot=0.5), 3), JUDGE).sentence
    assert sentence.startswith("When the two responses are swapped this judge changes its mind on ")
    assert " of 120 pairs (" in sentence
    assert "always towards the one shown first" in sentence


# Length and layout


def test_experts_who_like_long_answers_do_not_make_the_judge_biased() -> None:
    finding = length.audit(material_of(Script(right=0.95), 7), JUDGE)
    shares = finding.parts
    assert (shares["judge picks the longer"].value or 0) > 0.6
    assert finding.weight != "concern"
    assert "The judge picks the longer" in finding.sentence
    assert "your experts" in finding.sentence


def test_length_has_its_companions_beside_it() -> None:
    finding = length.audit(material_of(Script(longer=0.4)), JUDGE)
    ratio = finding.parts["odds of the longer, within expert labels"]
    assert ratio.value is not None
    assert ratio.value > 1
    assert {"kappa, lengths alike", "kappa, lengths apart"} < set(finding.parts)


def test_the_items_behind_a_length_bias_are_longer_ones_taken_against_the_experts() -> None:
    material = material_of(Script(longer=0.5))
    finding = length.audit(material, JUDGE)
    items = {item.id: item for item in material.items}
    verdicts = {v.item_id: v.value for v in material.verdicts}
    assert len(finding.items) >= 10
    for item_id in finding.items:
        a, b = (len(items[item_id].response(side).text) for side in ("A", "B"))
        assert verdicts[item_id] == ("A" if a > b else "B")


def test_a_judge_that_likes_length_is_not_accused_of_liking_layout() -> None:
    material = material_of(Script(longer=0.6), 3)
    assert length.audit(material, JUDGE).weight == "concern"
    assert layout.audit(material, JUDGE).weight != "concern"


@pytest.mark.parametrize(
    ("text", "lists", "headings", "others"),
    [
        ("plain text - with a dash, 2. and # signs", 0, 0, 0),
        ("- one\n* two\n3. three\n  + four", 4, 0, 0),
        ("# Title\n## Part\n#hashtag", 0, 2, 0),
        ("**bold** and `code` and __strong__", 0, 0, 3),
        ("```\nx = 1\n```\n| a | b |", 0, 0, 3),
        ("**not\nbold**", 0, 0, 0),
    ],
)
def test_markdown_is_counted_by_kind(text: str, lists: int, headings: int, others: int) -> None:
    assert (layout.lists(text), layout.headings(text), layout.other_marks(text)) == (lists, headings, others)
    assert layout.marks(text) == lists + headings + others


# Self-preference


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o-mini", "openai"),
        ("openai/gpt-4.1-2025-04-14", "openai"),
        ("o3-mini", "openai"),
        ("chatgpt-4o-latest", "openai"),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "anthropic"),
        ("meta-llama/Llama-3.1-70B-Instruct", "meta"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mistral"),
        ("models/gemini-1.5-pro", "google"),
        ("Qwen2.5-72B-Instruct-AWQ", "alibaba"),
        ("QwQ-32B", "alibaba"),
        ("amazon.nova-pro-v1:0", "amazon"),
        ("yi-34b-chat", "yi"),
        ("grok-2", "xai"),
        ("phi3:medium", "microsoft"),
    ],
)
def test_a_family_is_known_by_its_prefix(name: str, family: str) -> None:
    assert families_of(name) == {family}


@pytest.mark.parametrize(
    "name", ["", "judge", "yield-1", "novation", "o100", "commander", "support-v1", "my-gpt"]
)
def test_what_the_table_does_not_know_stays_unknown(name: str) -> None:
    assert families_of(name) == frozenset()


def test_every_prefix_of_the_table_is_found() -> None:
    assert len(FAMILIES) >= 20
    assert all(families_of(f"{prefix.upper()}-x") == {family} for prefix, family in FAMILIES.items())


def test_a_distilled_model_belongs_to_both_families() -> None:
    assert families_of("deepseek-ai/DeepSeek-R1-Distill-Llama-70B") == {"deepseek", "meta"}


def test_the_users_word_overrides_the_name() -> None:
    assert families_of("gpt-4o", {"gpt-4o": "House"}) == {"house"}
    assert families_of("support-v1", {"support-v1": "openai, meta"}) == {"openai", "meta"}


def test_a_stronger_own_model_is_no_bias() -> None:
    """Experts prefer the judge's family on most pairs, and the judge follows them in both groups alike."""
    material = material_of(Script(n=400))
    better = {label.item_id for label in material.labels if label.value == "B" and label.item_id > "i00250"}
    kept = replace(
        material,
        items=[item for item in material.items if item.id not in better],
        labels=[label for label in material.labels if label.item_id not in better],
        verdicts=[verdict for verdict in material.verdicts if verdict.item_id not in better],
    )
    assert self_preference.audit(kept, JUDGE).weight != "concern"


@pytest.mark.parametrize("judge", ["house-judge", "gemini-pro"])
def test_without_an_own_response_self_preference_does_not_apply(judge: str) -> None:
    material = material_of(Script())
    material = replace(material, verdicts=[replace(v, judge=judge) for v in material.verdicts])
    finding = self_preference.audit(material, judge)
    assert finding.estimate.why_undefined == "not_applicable"
    assert finding.need == 20


def test_families_can_be_given() -> None:
    material = material_of(Script(own=0.5))
    material = replace(material, verdicts=[replace(v, judge="house-judge") for v in material.verdicts])
    families = {"house-judge": "us", "gpt-4o-mini": "us"}
    assert self_preference.audit(material, "house-judge", families=families).weight == "concern"


def test_few_pairs_of_one_group_say_how_many_more() -> None:
    material = material_of(Script(n=40))
    kept = [label for label in material.labels if label.value != "A" or label.item_id < "i00010"]
    finding = self_preference.audit(replace(material, labels=kept), JUDGE)
    assert finding.weight == "unknown"
    assert 0 < finding.need < 10
    assert f"needs {finding.need} more, at least 10 of each" in finding.sentence


# Leniency, repeatability, coverage, drift


def test_a_lenient_judge_of_pairs_says_tie_too_often() -> None:
    finding = leniency.audit(material_of(Script(lenient=0.35)), JUDGE)
    assert finding.weight == "concern"
    assert "answers a tie on" in finding.sentence
    assert (finding.estimate.low or 0) > 0


def test_order_conflicts_are_not_counted_as_ties_that_the_judge_said() -> None:
    finding = leniency.audit(material_of(Script(first_slot=0.5)), JUDGE)
    assert finding.weight != "concern"


def test_a_strict_judge_is_a_concern_too_and_has_its_rates_beside_it() -> None:
    material = material_of(Script(kind="binary"))
    strict = [
        replace(v, value="fail", choice="fail") if v.item_id > "i00120" else v for v in material.verdicts
    ]
    finding = leniency.audit(replace(material, verdicts=strict), JUDGE)
    assert finding.weight == "concern"
    assert (finding.estimate.high or 0) < 0
    assert set(finding.parts) >= {"passes what the experts pass", "fails what the experts fail"}


def test_with_many_systems_only_ties_are_compared() -> None:
    material = material_of(Script())
    mixed = [renamed(item, f"system {int(item.id[1:]) % 3}") for item in material.items]
    finding = leniency.audit(replace(material, items=mixed), JUDGE)
    assert "answers a tie on" in finding.sentence


def renamed(item: Item, system: str) -> Item:
    first, second = item.responses
    return replace(item, responses=(replace(first, system=system), second))


def test_repeats_of_both_orders_count_each_item_once() -> None:
    finding = repeatability.audit(material_of(Script(n=50, repeats=3)), JUDGE)
    assert finding.estimate.n == 50
    assert finding.estimate.value == 1.0
    assert finding.weight == "fine"
    assert {"side A first", "side B first"} < set(finding.parts)


def test_lengths_that_hardly_differ_are_not_judged() -> None:
    """All responses within two characters of 40: an odds ratio for twice the length would mean nothing."""
    material = material_of(Script(n=80))
    texts = ["x" * (39 + n % 3) for n in range(160)]
    items = [
        replace(
            item, responses=tuple(replace(r, text=texts[2 * k + c]) for c, r in enumerate(item.responses))
        )
        for k, item in enumerate(material.items)
    ]
    finding = length.audit(replace(material, items=items), JUDGE)
    assert (finding.weight, finding.estimate.value, finding.need) == ("unknown", None, 10)
    assert "too alike in length" in finding.sentence


def test_repeats_show_what_majorities_reach_with_the_labels() -> None:
    """A judge that says something at random in half of its runs: two of three runs drown the noise."""
    finding = repeatability.audit(material_of(Script(n=200, right=1.0, noise=0.4, repeats=3)), JUDGE)
    one, three = (finding.parts[f"kappa with the labels, {name}"] for name in RUNS)
    assert one.n == three.n >= 190
    assert (three.value or 0) > (one.value or 0) + 0.05
    assert "Kappa (agreement with your experts beyond chance) is " in finding.sentence


def test_repeats_without_labels_show_no_kappa() -> None:
    material = replace(material_of(Script(n=50, repeats=3)), labels=[])
    assert set(repeatability.audit(material, JUDGE).parts) == {"side A first", "side B first"}


def test_one_run_cannot_tell_stability() -> None:
    finding = repeatability.audit(material_of(Script()), JUDGE)
    assert finding.estimate.why_undefined == "single_run"
    assert finding.need == 35


def test_unanswered_items_have_their_reason_and_the_worst_case() -> None:
    finding = coverage.audit(material_of(Script(silent=0.1)), JUDGE)
    assert "mostly refusals" in finding.sentence
    best, worst = (
        finding.parts["agreement on answered items"],
        finding.parts["agreement if all unanswered were wrong"],
    )
    assert best.value is not None
    assert worst.value is not None
    assert worst.value < best.value
    assert finding.parts["refusals"].value == finding.estimate.value


def test_refusals_that_cluster_are_found_where_they_cluster() -> None:
    finding = coverage.audit(material_of(Script(silent_slice=0.2)), JUDGE)
    assert "They cluster in topic = code" in finding.sentence
    assert finding.parts["unanswered in topic = code"].n == 50
    assert finding.weight in ("watch", "concern")


def test_refusals_at_random_do_not_cluster() -> None:
    found = [coverage.audit(material_of(Script(n=100, silent=0.1), seed), JUDGE) for seed in range(40)]
    assert sum("cluster" in finding.sentence for finding in found) <= 4


def test_one_answer_a_day_calls_no_noise_a_drift() -> None:
    finding = drift.audit(material_of(Script(attempts=1, noise=0.4)), JUDGE)
    assert finding.weight == "watch"
    assert finding.parts["change beyond the judge's own noise"].why_undefined == "single_run"


def test_changes_in_one_direction_are_a_drift_even_without_repeats() -> None:
    finding = drift.audit(material_of(Script(kind="binary", attempts=1, drift=0.4)), JUDGE)
    assert finding.weight == "concern"
    assert "The served model went from model-0 to model-1" in finding.sentence


def test_one_day_alone_asks_for_another() -> None:
    attempts = [Attempt(JUDGE, f"i{k}", "A", "first", "2026-01-01", "m") for k in range(50)]
    finding = drift.audit(replace(material_of(Script(n=50)), attempts=attempts), JUDGE)
    assert finding.estimate.why_undefined == "single_run"
    assert finding.need == 20


def test_attempts_of_another_judge_do_not_count() -> None:
    material = material_of(Script(attempts=2, drift=0.5))
    others = [replace(attempt, judge="another") for attempt in material.attempts]
    assert drift.audit(replace(material, attempts=others), JUDGE).weight == "unknown"


# People


def test_labels_without_stored_or_with_fixed_orders_are_not_audited_for_position() -> None:
    material = material_of(Script())
    for first in (None, "A"):
        labels = [replace(label, first=first) for label in material.labels]
        finding = human_position.audit(replace(material, labels=labels), JUDGE)
        assert finding.estimate.why_undefined == "not_applicable"
        assert finding.need == 20


def test_31_of_50_choices_of_the_first_slot_prove_nothing() -> None:
    """METHODS 10: the exact p is .119."""
    material = material_of(Script(n=50, people=1))
    labels = [
        replace(label, value=("A" if (k % 2 == 0) == (k < 31) else "B"), first="A" if k % 2 == 0 else "B")
        for k, label in enumerate(material.labels)
    ]
    finding = human_position.audit(replace(material, labels=labels), JUDGE)
    assert finding.estimate.value == 31 / 50
    assert finding.weight == "watch"


def test_one_annotator_who_is_off_is_named() -> None:
    material = material_of(Script(n=200))
    labels = [
        replace(label, value=label.first)
        if label.annotator_id == "p1" and label.item_id < "i00080"
        else label
        for label in material.labels
    ]
    finding = human_position.audit(replace(material, labels=labels), JUDGE)
    assert finding.sentence.endswith("Person 1 stands out alone.")
    assert finding.weight in ("watch", "concern")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (Script(hasty=True), "faster than one can read them"),
        (Script(tired=True, n=400), "in the first half of"),
        (Script(one_key=True), "times in a row"),
        (Script(ties=True), "said tie on"),
        (Script(forgetful=True, n=400), "repeated the own label"),
    ],
    ids=["hasty", "tired", "one key", "ties", "forgetful"],
)
def test_each_sign_of_an_annotator_is_found_and_named(script: Script, words: str) -> None:
    finding = annotators.audit(material_of(script, 1), JUDGE)
    assert finding.weight == "concern", finding.sentence
    assert finding.sentence.startswith("Person 0")
    assert words in finding.sentence
    assert "not to leave labels out" in finding.sentence
    assert finding.items


def test_a_single_annotator_is_measured_against_reading_time_and_own_repeats() -> None:
    alone = material_of(Script(people=1, forgetful=True, n=300))
    finding = annotators.audit(alone, JUDGE)
    assert finding.weight == "concern"
    assert "repeated the own label" in finding.sentence


def test_imported_labels_have_no_order_of_work() -> None:
    material = material_of(Script(one_key=True, tired=True))
    imported = [replace(label, source="import") for label in material.labels]
    finding = annotators.audit(replace(material, labels=imported), JUDGE)
    assert not any("fatigue" in name or "in a row" in name for name in finding.parts)


def test_labels_after_a_reveal_are_not_held_against_anybody() -> None:
    material = material_of(Script(ties=True))
    revealed = [
        replace(label, saw="verdict") if label.annotator_id == "p0" else label for label in material.labels
    ]
    finding = annotators.audit(replace(material, labels=revealed), JUDGE)
    assert not any(name.startswith("Person 0") for name in finding.parts)


def test_fewer_than_20_labels_say_how_many_more() -> None:
    finding = annotators.audit(material_of(Script(n=12)), JUDGE)
    assert (finding.weight, finding.need) == ("unknown", 8)
    assert "needs 8 more" in finding.sentence


def test_a_material_is_itself_and_no_other() -> None:
    one, other = material_of(Script(n=5)), material_of(Script(n=5))
    assert one != other
    assert isinstance(hash(one), int)
    assert isinstance(one, Material)
