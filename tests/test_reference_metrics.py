"""The reference judge: metrics against hand calculations, and a threshold that knows that it was chosen."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import product
from math import comb, exp, factorial, prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from calibration import reference_metrics
from calibration.reference_metrics import (
    METRICS,
    RESAMPLES,
    bleu,
    choose_threshold,
    judge_by_reference,
    metric_version,
    normalised_exact,
    pair_choice,
    rouge_l,
    score,
    token_f1,
)
from calibration.reference_metrics import exact as same
from labels.errors import UserError

law = settings(deadline=None, max_examples=60)  # the first case pays for an import
few = settings(deadline=None, max_examples=20)
words = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat,", "Mat.", "x"]), max_size=12).map(
    " ".join
)
texts = words | st.text(max_size=20)
filled = texts.filter(str.strip)


@pytest.mark.parametrize("name", METRICS)
@law
@given(texts, filled)
def test_every_metric_lies_between_0_and_1(name, response, reference):
    assert 0 <= score(name, response, reference) <= 1


@pytest.mark.parametrize("name", METRICS)
@law
@given(filled)
def test_a_response_that_is_the_reference_has_1(name, text):
    assert score(name, text, text) == pytest.approx(1)


@pytest.mark.parametrize("name", [name for name in METRICS if name != "bleu"])
@law
@given(filled, filled)
def test_all_but_bleu_are_symmetric(name, one, other):
    assert score(name, one, other) == score(name, other, one)


@law
@given(texts, texts)
def test_exact_implies_normalised_exact_which_implies_a_token_f1_of_1(response, reference):
    assume(reference.strip())
    if same(response, reference):
        assert normalised_exact(response, reference) == 1
    if normalised_exact(response, reference):
        assert token_f1(response, reference) == 1


@pytest.mark.parametrize("name", METRICS)
def test_an_empty_response_has_0(name):
    assert score(name, " ", "the reference") == 0


def test_exact_forgives_blanks_at_the_ends_and_the_way_an_accent_is_written():
    assert same(" cafe\u0301\n", "caf\u00e9") == 1
    assert same("Cafe", "cafe") == same("a  b", "a b") == 0


@pytest.mark.parametrize(
    ("response", "reference"),
    [
        ("The Eiffel Tower!", "eiffel tower"),
        ("«Straße»", "STRASSE"),
        ("U.S.", "us"),
        ("CAFE\u0301", "caf\u00e9"),
        ("an  apple a day", "apple day"),
    ],
)
def test_case_punctuation_articles_and_blanks_do_not_count_when_normalised(response, reference):
    assert normalised_exact(response, reference) == 1


def test_a_text_of_nothing_but_what_is_dropped_keeps_it():
    assert normalised_exact("?", "!") == normalised_exact("the", "a") == rouge_l("?", "!") == 0
    assert normalised_exact("?", " ?") == token_f1("?", "?") == rouge_l("?", "?") == 1


def test_token_f1_of_a_small_example():
    # "denver broncos" against "denver broncos team": two shared words, 2 * 2 / (2 + 3) = .8
    assert token_f1("the Denver Broncos", "Denver Broncos team.") == pytest.approx(0.8)
    # a word counts as often as both have it: "x x" and "x" share one, 2 * 1 / 3
    assert token_f1("x x", "x") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("response", "expected"), [("police kill the gunman", 3 / 4), ("the gunman kill police", 2 / 4)]
)
def test_rouge_l_agrees_with_the_example_of_lin_2004(response, expected):
    # Lin 2004 (Text Summarization Branches Out), section 3.1: S2 and S3 against S1.
    assert rouge_l(response, "police killed the gunman") == pytest.approx(expected)


def test_rouge_l_of_texts_of_unequal_length():
    # "the cat on mat" is common: P = 4 / 6, R = 4 / 5, F = 2 * 4 / (6 + 5)
    assert rouge_l("the cat is on a mat", "The cat on the mat.") == pytest.approx(8 / 11)


def test_each_chinese_character_or_kana_is_a_word():
    # of four characters each, three are common
    assert token_f1("猫は好き", "猫が好き") == rouge_l("猫は好き", "猫が好き") == 3 / 4
    # BLEU with Chinese characters apart: 3/4 * 2/3 * 1/2 and, smoothed, 1/(2 * 1) of one 4-gram
    assert bleu("天下太平", "天下太大") == pytest.approx((3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** (1 / 4))


@law
@given(words, words)
def test_the_common_length_agrees_with_the_table_of_dynamic_programming(first, second):
    one, other = first.split(), second.split()
    table = np.zeros((len(one) + 1, len(other) + 1), dtype=int)
    for i, j in product(range(len(one)), range(len(other))):
        match = table[i, j] + 1 if one[i] == other[j] else 0
        table[i + 1, j + 1] = max(match, table[i, j + 1], table[i + 1, j])
    assert reference_metrics._common_length(one, other) == table[-1, -1]


def test_bleu_of_a_small_example():
    # n-grams found: 5 of 6, 3 of 5, 1 of 4, 0 of 3; the zero is smoothed to 1 / (2 * 3); lengths are equal
    expected = (5 / 6 * 3 / 5 * 1 / 4 * 1 / 6) ** (1 / 4)
    assert bleu("the cat is on the mat", "the cat sat on the mat") == pytest.approx(expected)


def test_bleu_counts_a_short_response_by_the_n_grams_that_it_has_and_its_shortness():
    # both 1-grams and the 2-gram are found; brevity penalty exp(1 - 6 / 2)
    assert bleu("the cat", "the cat sat on the mat") == pytest.approx(exp(-2))
    assert bleu("The cat", "the cat") < 1  # case counts


def test_without_a_reference_there_is_no_score_and_no_verdict():
    assert score("exact", "text", " ") is None
    verdict = judge_by_reference("exact", ["text"], "", threshold=0.5)
    assert (verdict.choice, verdict.error) == (None, "not_given")
    assert verdict.reasoning == "The item has no reference to compare with."


def test_the_best_of_several_references_counts():
    assert score("exact", "Paris", "paris | Paris | ", separator=" | ") == 1
    assert score("exact", "Paris", "paris | Paris") == 0
    assert score("exact", "Paris", " | ", separator=" | ") is None


@law
@given(texts, st.lists(words.filter(str.strip), min_size=1, max_size=3))
def test_more_references_never_lower_a_score(response, references):
    scores = [token_f1(response, text) for text in references]
    assert score("token_f1", response, " | ".join(references), separator=" | ") == max(scores)


def test_an_unknown_metric_is_told_with_those_there_are():
    with pytest.raises(UserError, match="no metric 'meteor'; use one of exact, normalised_exact"):
        score("meteor", "a", "b")


def test_a_response_passes_from_the_threshold_on():
    passes = judge_by_reference("token_f1", ["the Denver Broncos"], "Denver Broncos team.", threshold=0.8)
    fails = judge_by_reference("token_f1", ["the Denver Broncos"], "Denver Broncos team.", threshold=0.81)
    assert (passes.choice, fails.choice) == ("pass", "fail")
    assert fails.reasoning == "token_f1 is 0.800, the threshold 0.810."


def test_a_single_response_needs_a_threshold():
    with pytest.raises(UserError, match="no threshold to pass a response: choose one on the develop items"):
        judge_by_reference("exact", ["a"], "a")


def test_the_response_with_the_higher_score_wins_a_pair():
    verdict = judge_by_reference("rouge_l", ["a cat", "the cat sat"], "the cat sat")
    assert verdict.choice == "second"
    assert verdict.reasoning == "rouge_l is 0.400 for the first response and 1.000 for the second."


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_swapping_the_slots_swaps_the_winner(first, second, margin):
    other = {"first": "second", "second": "first", "tie": "tie"}
    assert pair_choice(first, second, margin=margin) == other[pair_choice(second, first, margin=margin)]


def test_scores_within_the_margin_tie():
    assert pair_choice(0.5, 0.5) == pair_choice(0.3, 0.2, margin=0.1) == "tie"
    assert pair_choice(0.31, 0.2, margin=0.1) == "first"
    with pytest.raises(UserError, match=r"margin -0\.1 is negative"):
        pair_choice(0.1, 0.2, margin=-0.1)


def test_the_version_follows_all_that_decides_a_verdict():
    versions = {
        metric_version("exact"),
        metric_version("bleu"),
        metric_version("exact", threshold=0.5),
        metric_version("exact", margin=0.1),
        metric_version("exact", separator="|"),
    }
    assert len(versions) == 5
    assert metric_version("bleu") in versions


def labelled(passes, fails):
    return [*passes, *fails], ["pass"] * len(passes) + ["fail"] * len(fails)


def test_the_threshold_lies_in_the_middle_of_the_gap():
    chosen = choose_threshold(*labelled([0.75, 0.8, 0.9, 0.9, 1.0], [0.0, 0.1, 0.2, 0.25, 0.25]))
    assert chosen.threshold == 0.5
    assert chosen.apparent == 1.0
    assert chosen.balanced_accuracy.n == 10


def test_scores_of_two_values_leave_nothing_to_choose_and_nothing_to_correct():
    chosen = choose_threshold(*labelled([1.0] * 10, [0.0] * 10))
    assert chosen.threshold == 0.5
    assert (chosen.balanced_accuracy.value, chosen.balanced_accuracy.high) == (1.0, 1.0)
    # Both rates are drawn from Beta(10.5, .5): here the means of all pairs of 400 quantiles instead.
    rates = beta(10.5, 0.5).ppf((np.arange(400) + 0.5) / 400)
    expected = np.quantile((rates[:, None] + rates) / 2, 0.025)
    assert chosen.balanced_accuracy.low == pytest.approx(expected, abs=0.005)


def best_cuts(passes, fails):
    """All thresholds by brute force: correct pairs of rates, as whole numbers, for each cut."""
    cuts = sorted({*passes, *fails})
    found = {
        cut: sum(x >= cut for x in passes) * len(fails) + sum(x < cut for x in fails) * len(passes)
        for cut in cuts
    }
    return cuts, found


def plain_threshold(passes, fails):
    """The rule of choose_threshold in plain words: the lowest best run of cuts, and its middle."""
    cuts, found = best_cuts(passes, fails)
    best = [found[cut] == max(found.values()) for cut in cuts]
    first = last = best.index(True)
    while last + 1 < len(cuts) and best[last + 1]:
        last += 1
    return cuts[0] if first == 0 else (cuts[first - 1] + cuts[last]) / 2


sixteenths = st.lists(st.integers(0, 16).map(lambda x: x / 16), min_size=5, max_size=12)


@law
@given(sixteenths, sixteenths)
def test_no_other_threshold_does_better_on_the_items_of_the_choice(passes, fails):
    chosen = choose_threshold(*labelled(passes, fails))
    assert chosen.threshold == plain_threshold(passes, fails)
    best = max(best_cuts(passes, fails)[1].values()) / (2 * len(passes) * len(fails))
    assert chosen.apparent == pytest.approx(best)


def drawings(n):
    """Every way to draw n of n items with repetition, with its probability."""
    for times in product(range(n + 1), repeat=n):
        if sum(times) == n:
            yield times, factorial(n) / prod(map(factorial, times)) / n**n


def test_the_estimate_agrees_with_all_resamples_enumerated():
    passes, fails = [0.9, 0.6, 0.6, 0.3, 0.2], [0.5, 0.4, 0.1, 0.3, 0.0]
    right, out = Counter(), Counter()
    drawn = list(drawings(5))
    assert len(drawn) == comb(9, 4)
    for (first, p), (second, q) in product(drawn, drawn):
        threshold = plain_threshold(
            [x for x, k in zip(passes, first, strict=True) for _ in range(k)],
            [x for x, k in zip(fails, second, strict=True) for _ in range(k)],
        )
        for side, scores, times in (("pass", passes, first), ("fail", fails, second)):
            for place, (x, k) in enumerate(zip(scores, times, strict=True)):
                if k == 0:
                    out[side, place] += p * q
                    right[side, place] += p * q * ((x >= threshold) == (side == "pass"))
    expected = sum(right[key] / out[key] for key in out) / len(out)
    # 2,000 resamples, a third of them for each item: the error is near .01
    assert choose_threshold(*labelled(passes, fails)).balanced_accuracy.value == pytest.approx(
        expected, abs=0.02
    )


@few
@given(sixteenths, sixteenths, st.randoms(use_true_random=False))
def test_the_order_of_the_items_changes_nothing(passes, fails, random):
    scores, labels = labelled(passes, fails)
    order = random.sample(range(len(scores)), len(scores))
    one = choose_threshold(scores, labels)
    other = choose_threshold([scores[i] for i in order], [labels[i] for i in order])
    assert other.threshold == one.threshold
    assert other.balanced_accuracy.value == pytest.approx(one.balanced_accuracy.value)
    assert other.balanced_accuracy.low == pytest.approx(one.balanced_accuracy.low)


@few
@given(sixteenths, sixteenths)
def test_the_interval_holds_the_estimate_and_a_seed_repeats_it(passes, fails):
    chosen = choose_threshold(*labelled(passes, fails), seed=7)
    assert (
        0
        <= chosen.balanced_accuracy.low
        <= chosen.balanced_accuracy.value
        <= chosen.balanced_accuracy.high
        <= 1
    )
    assert choose_threshold(*labelled(passes, fails), seed=7) == chosen


def test_choosing_among_noise_is_not_reported_as_skill():
    rng = np.random.default_rng(3)
    apparent, expected, covered = [], [], []
    for _ in range(100):
        labels = ["pass", "fail"] * 15
        chosen = choose_threshold(rng.random(30).tolist(), labels)
        apparent.append(chosen.apparent)
        expected.append(chosen.balanced_accuracy.value)
        covered.append(chosen.balanced_accuracy.low <= 0.5 <= chosen.balanced_accuracy.high)
    # Scores that know nothing have a balanced accuracy of .5; choosing on 30 items shows .59.
    assert np.mean(apparent) > 0.57
    assert np.mean(expected) == pytest.approx(0.5, abs=0.02)
    assert np.mean(covered) >= 0.9


def test_items_without_a_score_are_counted_as_missing():
    scores, labels = labelled([0.9] * 6, [0.1] * 6)
    chosen = choose_threshold([*scores, None, None], [*labels, "pass", "fail"])
    assert (chosen.balanced_accuracy.n, chosen.balanced_accuracy.n_missing) == (12, 2)
    assert chosen.balanced_accuracy.warnings == ("few_items_of_a_class",)
    assert chosen.note.startswith(
        "On the 12 develop items of the choice the balanced accuracy is 1.00; expect 1.00"
    )


@pytest.mark.parametrize(
    ("passes", "fails", "reason"),
    [
        (0, 0, "no_items"),
        (5, 4, "too_few_items"),
        (9, 0, "too_few_items"),
        (10, 0, "zero_denominator"),
        (0, 40, "zero_denominator"),
        (40, 1, "too_few_items"),
    ],
)
def test_without_enough_items_of_both_classes_there_is_no_threshold_but_a_reason(passes, fails, reason):
    chosen = choose_threshold(*labelled([0.9] * passes, [0.1] * fails))
    assert (chosen.threshold, chosen.apparent, chosen.balanced_accuracy.value) == (None, None, None)
    assert chosen.balanced_accuracy.why_undefined == reason
    assert f"{passes} pass and {fails} fail" in chosen.note


def test_labels_must_be_pass_or_fail_and_one_for_each_score():
    with pytest.raises(ValueError, match='"pass" or "fail"'):
        choose_threshold([0.1] * 10, ["pass"] * 9 + ["tie"])
    with pytest.raises(ValueError, match="shorter"):
        choose_threshold([0.1] * 10, ["pass"] * 9)


def test_resamples_in_several_blocks_give_each_item_its_share(monkeypatch):
    scores, labels = labelled(np.linspace(0.3, 1, 50).tolist(), np.linspace(0, 0.6, 50).tolist())
    whole = choose_threshold(scores, labels).balanced_accuracy
    monkeypatch.setattr(
        reference_metrics, "_CELLS", 100 * (RESAMPLES // 3)
    )  # four blocks, the last one short
    blocks = choose_threshold(scores, labels).balanced_accuracy
    assert blocks.value == pytest.approx(whole.value, abs=0.01)


def test_bleu_without_its_library_is_told_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    reference_metrics._bleu_scorer.cache_clear()
    with pytest.raises(UserError, match="BLEU needs sacrebleu: pip install"):
        bleu("a", "b")
