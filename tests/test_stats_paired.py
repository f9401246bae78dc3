"""Two versions on the same items, several p-values, repeated runs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.stats.multiplicity import benjamini_hochberg, benjamini_yekutieli, holm, rejected
from calibration.stats.paired import (
    PairedCounts,
    agreement_difference,
    kappa_difference,
    mcnemar_p,
    paired_counts,
)
from calibration.stats.repeats import (
    geval_score,
    kappa_by_repeats,
    majority,
    majority_accuracy,
    majority_curve,
    qag_macro,
    qag_micro,
    qag_score,
    run_spread,
)

law = settings(deadline=None, max_examples=40)
VOTES = ["A", "tie", "B"]
vote = st.sampled_from(VOTES)
p_values = st.lists(st.floats(0, 1), max_size=8)


def test_items_are_counted_by_who_is_right():
    counts = paired_counts(list("AABB"), list("AABA"), old=list("ABAA"))
    assert counts == PairedCounts(both=1, gained=2, lost=0, neither=1)
    assert agreement_difference(counts).value == 0.5


def test_versions_that_never_differ_are_no_evidence():
    estimate = agreement_difference(PairedCounts(20, 0, 0, 10))
    assert (estimate.value, estimate.warnings) == (0, ("no_discordant_pairs",))
    assert estimate.low < 0 < estimate.high
    assert mcnemar_p(0, 0) == 1
    assert agreement_difference(PairedCounts(0, 0, 0, 0)).why_undefined == "no_items"


def test_mcnemars_test_by_hand():
    # 5 gained, 1 lost: (1 + 6) / 64 below, twice is 14/64; mid-p takes away the 6/64 of the observed split
    assert mcnemar_p(5, 1, midp=False) == 14 / 64
    assert mcnemar_p(5, 1) == 8 / 64


def test_the_difference_of_kappas_by_hand():
    # new is right throughout: kappa 1; old says A, A, A, B: agreement 3/4, chance 1/2, kappa 1/2
    estimate = kappa_difference(list("AABB"), list("AABB"), old=list("AAAB"), categories=VOTES, draws=500)
    assert estimate.value == 0.5
    assert estimate.low <= 0.5 <= estimate.high


@law
@given(st.lists(st.tuples(vote, vote, vote), min_size=2, max_size=30))
def test_swapping_the_versions_turns_the_difference_round(triples):
    reference, new, old = map(list, zip(*triples, strict=True))
    there = kappa_difference(reference, new, old=old, categories=VOTES, draws=200)
    back = kappa_difference(reference, old, old=new, categories=VOTES, draws=200)
    assert there.why_undefined == back.why_undefined
    if there.value is not None:
        assert back.value == pytest.approx(-there.value)


def test_the_same_verdicts_have_no_difference_and_no_interval():
    estimate = kappa_difference(list("AB"), list("AB"), old=list("AB"), categories=VOTES)
    assert (estimate.value, estimate.low, estimate.why_no_interval) == (0, None, "no_discordant_pairs")


def test_a_difference_needs_two_kappas():
    alone = kappa_difference(list("AA"), list("AA"), old=list("AB"), categories=VOTES)
    assert alone.why_undefined == "expected_agreement_is_1"
    assert kappa_difference([], [], old=[], categories=VOTES).why_undefined == "no_items"


def test_adjusted_p_values_by_hand():
    # Holm: .01 * 3, max(.03, .02 * 2), max(.04, .04 * 1); BH: min(.03, .03, .04), min(.02 * 3/2, .04), .04
    assert holm([0.01, 0.02, 0.04]) == pytest.approx([0.03, 0.04, 0.04])
    assert benjamini_hochberg([0.01, 0.02, 0.04]) == pytest.approx([0.03, 0.03, 0.04])
    # BY multiplies BH by 1 + 1/2 + 1/3 = 11/6
    assert benjamini_yekutieli([0.01, 0.02, 0.04]) == pytest.approx([0.055, 0.055, 0.04 * 11 / 6])


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg, benjamini_yekutieli])
@law
@given(p_values, st.randoms())
def test_adjusting_only_raises_p_values_keeps_their_order_and_does_not_know_places(adjust, values, order):
    found = adjust(values)
    assert all(p <= q <= 1 for p, q in zip(values, found, strict=True))
    by_p = sorted(zip(values, found, strict=True))
    assert [q for _, q in by_p] == sorted(found)
    places = list(range(len(values)))
    order.shuffle(places)
    assert adjust([values[k] for k in places]) == [found[k] for k in places]


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg, benjamini_yekutieli])
def test_a_test_that_was_not_possible_is_neither_counted_nor_rejected(adjust):
    assert adjust([0.02, None]) == [0.02, None]
    assert rejected(adjust([0.02, None]), 0.05) == [True, False]
    with pytest.raises(ValueError, match="between 0 and 1"):
        adjust([1.5])


def test_a_majority_helps_good_items_and_hurts_bad_ones():
    # three runs at .8: .8**3 + 3 * .8**2 * .2 = .896; at .3: .027 + .189 = .216
    assert majority_accuracy([0.8], 3) == pytest.approx(0.896)
    assert majority_accuracy([0.3], 3) == pytest.approx(0.216)
    # METHODS.md section 8: 70 % of items at .98 and 30 % at .30 get worse, .776 .764 .749 .724
    mixed = [0.98] * 7 + [0.3] * 3
    assert [value for _, value in majority_curve(mixed)] == pytest.approx(
        [0.776, 0.764, 0.749, 0.724], abs=1e-3
    )


def test_a_majority_needs_an_odd_number_of_runs_and_some_items():
    with pytest.raises(ValueError, match="odd"):
        majority_accuracy([0.8], 2)
    assert majority_accuracy([], 3) is None


def test_an_even_split_is_undecided_and_unanswered_runs_do_not_vote():
    assert majority(["A", "A", "B"]) == "A"
    assert majority(["A", "B"], undecided="tie") == "tie"
    assert majority(["A", "B", "tie"]) is None
    assert majority(["A", None, None]) == "A"
    assert majority([None]) is None


def test_kappa_is_measured_for_as_many_runs_as_each_item_has():
    reference = ["A", "B"] * 10
    runs = [[label, label, "B" if label == "A" else "A"] for label in reference]
    one, three = kappa_by_repeats(reference, runs, categories=VOTES, sizes=(1, 3, 5), samples=50)
    assert (one.runs, three.runs) == (1, 3)
    # one run is right two times in three: kappa about 1/3; the majority of all three is always right
    assert one.kappa == pytest.approx(1 / 3, abs=0.1)
    assert (three.kappa, three.spread) == (1, None)


def test_repeats_without_a_defined_kappa_say_so():
    point = kappa_by_repeats(["A", "A"], [["A"], ["A"]], categories=VOTES, sizes=(1,))[0]
    assert point.kappa is None
    assert kappa_by_repeats([], [], categories=VOTES) == []


def test_the_spread_of_single_runs_needs_two_of_them():
    assert run_spread([0.5, None, 0.7]) == pytest.approx(0.02**0.5)
    assert run_spread([0.5, None]) is None


def test_a_weighted_score_is_renormalised_and_warns_of_lost_mass():
    score = geval_score([1, 2, 3], [0.1, 0.2, 0.1])
    # (.1 + .4 + .3) / .4 = 2; variance (.1 + .1) / .4
    assert score.score == pytest.approx(2)
    assert score.variance == pytest.approx(0.5)
    assert score.warnings == ("low_valid_mass",)
    assert geval_score([1, 2], [0.5, 0.5]).warnings == ()
    assert geval_score([1, 2], [0, 0]).score is None
    with pytest.raises(ValueError, match="one probability"):
        geval_score([1, 2], [1])


def test_claims_are_averaged_over_items_and_items_without_claims_miss():
    items = [(3, 4), (1, 1), (0, 0)]
    macro = qag_macro(items, draws=500)
    assert (macro.value, macro.n, macro.n_missing) == (0.875, 2, 1)
    assert qag_micro(items) == 0.8
    assert qag_score(0, 0) is None
    assert qag_macro([(0, 0)]).why_undefined == "no_items"
    with pytest.raises(ValueError, match="5 supported claims of 4"):
        qag_score(5, 4)
