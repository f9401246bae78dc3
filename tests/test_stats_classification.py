"""The judge as a classifier, and pass rates corrected for its errors."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.stats.classification import (
    RATES,
    SUMMARIES,
    BinaryCounts,
    balanced_accuracy,
    binary_counts,
    class_scores,
    f1,
    mcc,
    npv,
    ppv,
    tnr,
    tpr,
    youden,
)
from calibration.stats.corrected import (
    Judged,
    corrected_pass_rate,
    human_only,
    lang_reiczigel,
    poststratified,
    poststratified_quantiles,
    rogan_gladen,
    rogan_gladen_raw,
    worth_labels,
)

law = settings(deadline=None, max_examples=40)
few = st.integers(0, 30)
binary = st.builds(BinaryCounts, few, few, few, few)
LABELLED = BinaryCounts(tp=45, fp=6, fn=5, tn=24)


def test_rates_by_hand():
    # 50 positives of which 45 found, 30 negatives of which 24 found; the judge says positive 51 times
    assert tpr(LABELLED).value == 0.9
    assert tnr(LABELLED).value == 0.8
    assert ppv(LABELLED).value == 45 / 51
    assert npv(LABELLED).value == 24 / 29
    assert f1(LABELLED).value == 90 / 101
    assert balanced_accuracy(LABELLED).value == pytest.approx(0.85)
    assert youden(LABELLED).value == pytest.approx(0.7)


def test_labels_are_counted_by_reference_and_judge():
    counts = binary_counts(
        ["pass", "pass", "fail", "fail"], ["pass", "fail", "pass", "fail"], positive="pass"
    )
    assert counts == BinaryCounts(1, 1, 1, 1)
    with pytest.raises(ValueError, match="shorter"):
        binary_counts(["pass"], [], positive="pass")


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="negative"):
        BinaryCounts(1, -1, 0, 0)


@pytest.mark.parametrize("name", [*RATES, *SUMMARIES])
@law
@given(binary)
def test_each_measure_lies_in_its_interval_or_says_why_it_is_undefined(name, counts):
    estimate = {**RATES, **SUMMARIES}[name](counts)
    if estimate.value is None:
        assert estimate.why_undefined in ("zero_denominator", "no_items")
    else:
        assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1


@law
@given(binary)
def test_turning_the_classes_round_swaps_the_rates_and_keeps_what_is_symmetric(counts):
    other = counts.other_class()
    assert other.other_class() == counts
    assert tpr(other) == tnr(counts)
    assert ppv(other) == npv(counts)
    assert mcc(other, draws=10).value == mcc(counts, draws=10).value
    assert youden(other, draws=10).value == pytest.approx(youden(counts, draws=10).value)


@law
@given(binary)
def test_f1_and_mcc_are_those_of_scikit_learn_wherever_they_are_defined(counts):
    from sklearn.metrics import f1_score, matthews_corrcoef

    human, judge = [1, 0, 1, 0], [1, 1, 0, 0]
    times = [counts.tp, counts.fp, counts.fn, counts.tn]
    for ours, theirs in ((f1, f1_score), (mcc, matthews_corrcoef)):
        value = ours(counts, draws=10).value
        if value is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert value == pytest.approx(theirs(human, judge, sample_weight=times), abs=1e-9)


def test_what_scikit_learn_calls_zero_is_undefined_here():
    nothing_found = BinaryCounts(tp=0, fp=0, fn=0, tn=7)
    for measure in (tpr, ppv, f1, mcc, youden, balanced_accuracy):
        assert measure(nothing_found).why_undefined == "zero_denominator"
    assert tnr(nothing_found).value == 1


def test_a_judge_that_always_passes_has_a_tnr_of_zero_and_no_mcc():
    always = BinaryCounts(tp=45, fp=5, fn=0, tn=0)
    assert tnr(always).value == 0
    assert mcc(always).why_undefined == "zero_denominator"
    assert youden(always).value == 0


def test_three_of_three_leaves_a_wide_exact_interval():
    assert tnr(BinaryCounts(20, 0, 7, 3), method="Clopper-Pearson").low == pytest.approx(0.2924, abs=5e-5)


def test_scores_of_several_classes_are_undefined_where_a_class_is_absent():
    scores = class_scores(["A", "A", "B"], ["A", "B", "B"], categories=["A", "B", "tie"])
    assert [(score.category, score.support) for score in scores] == [("A", 2), ("B", 1), ("tie", 0)]
    assert (scores[0].precision, scores[0].recall) == (1, 0.5)
    assert scores[0].f1 == pytest.approx(2 / 3)
    assert (scores[2].precision, scores[2].recall, scores[2].f1) == (None, None, None)
    assert class_scores([], [], categories=["A"])[0].f1 is None


def test_the_poststratified_rate_by_hand():
    # 22 of 40 labelled pass by verdict, 78 of 160 others: q = 1/2; PPV 20/22, 1 - NPV 1/18
    estimate = poststratified(BinaryCounts(tp=20, fp=2, fn=1, tn=17), Judged(78, 160))
    assert estimate.value == pytest.approx((20 / 22 + 1 / 18) / 2)
    assert estimate.low < estimate.value < estimate.high


def test_the_rate_of_rogan_and_gladen_by_hand():
    # (.65 + .8 - 1) / (.9 + .8 - 1) = .45 / .7
    estimate = rogan_gladen(LABELLED, Judged(130, 200))
    assert estimate.value == pytest.approx(9 / 14)
    assert estimate.warnings == ()


def test_a_rate_above_one_is_clipped_and_warned_of():
    labelled, judged = BinaryCounts(tp=45, fp=1, fn=5, tn=29), Judged(190, 200)
    # (.95 + 29/30 - 1) / (.9 + 29/30 - 1) = 1.0577
    assert rogan_gladen_raw(labelled, judged) == pytest.approx(1.0577, abs=5e-5)
    estimate = rogan_gladen(labelled, judged)
    assert (estimate.value, estimate.high, estimate.warnings) == (1, 1, ("out_of_range",))


def test_a_judge_no_better_than_chance_corrects_nothing():
    guessing = BinaryCounts(tp=5, fp=5, fn=5, tn=5)
    assert rogan_gladen(guessing, Judged(5, 10)).why_undefined == "judge_not_informative"
    assert poststratified(guessing, Judged(5, 10)).value == 0.5


def test_a_missing_class_or_verdict_is_a_zero_denominator():
    only_passes = BinaryCounts(tp=10, fp=0, fn=0, tn=0)
    assert rogan_gladen(only_passes, Judged(50, 100)).why_undefined == "zero_denominator"
    assert poststratified(only_passes, Judged(50, 100)).why_undefined == "zero_denominator"
    assert poststratified(only_passes, Judged(100, 100)).value == 1
    assert poststratified(BinaryCounts(0, 0, 0, 0), Judged(5, 10)).why_undefined == "no_items"
    assert poststratified_quantiles(only_passes, Judged(50, 100), probabilities=[0.5]) is None


def test_error_rates_that_nearly_cancel_leave_everything_open():
    assert lang_reiczigel(BinaryCounts(tp=1, fp=99, fn=0, tn=1), Judged(5, 10)) == (0, 1)


def test_more_passes_than_verdicts_are_refused():
    with pytest.raises(ValueError, match="5 passes of 4"):
        Judged(5, 4)


@law
@given(binary, st.integers(0, 50), st.integers(0, 50))
def test_every_corrected_rate_is_a_share_within_its_interval(labelled, passed, failed):
    judged = Judged(passed, passed + failed)
    for estimate in (poststratified(labelled, judged, draws=500), rogan_gladen(labelled, judged)):
        if estimate.value is not None:
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_the_estimator_follows_from_how_items_were_drawn():
    judged = Judged(130, 200)
    assert corrected_pass_rate(LABELLED, judged, sampling="by_human_label").method == "Lang-Reiczigel"
    assert corrected_pass_rate(LABELLED, judged, sampling="by_judge_verdict").method == "post-stratified Beta"
    assert corrected_pass_rate(LABELLED, judged, sampling="random").method == "post-stratified Beta"
    assert corrected_pass_rate(LABELLED, judged, sampling="other").why_undefined == "not_applicable"


def test_a_good_judge_is_worth_labels_and_no_interval_is_worth_nothing():
    labelled = BinaryCounts(tp=25, fp=1, fn=1, tn=23)
    corrected = poststratified(labelled, Judged(500, 1000))
    assert worth_labels(human_only(labelled), corrected) > 50
    assert worth_labels(human_only(labelled), human_only(labelled)) == pytest.approx(0)
    assert worth_labels(human_only(labelled), poststratified(BinaryCounts(0, 0, 0, 0), Judged(1, 2))) is None
