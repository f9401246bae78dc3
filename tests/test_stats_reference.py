"""Comparisons with other methods: what they return where ours say why there is no number."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.stats.classification import BinaryCounts
from calibration.stats.corrected import Judged
from calibration.stats.reference import (
    conditional_odds_ratio_r,
    judgebench_accuracy,
    kappa_bootstrap,
    kappa_fisher_z,
    kappa_null_se,
    kappa_se,
    kappa_wald,
    mcnemar_chi2,
    mtbench_agreement,
    ppi_mean,
    rogan_gladen_bootstrap,
)
from calibration.stats.stratified import stratified_test

law = settings(deadline=None, max_examples=40)
ONE_CATEGORY = [[5, 0], [0, 0]]
PACKAGE = Path(__file__).parents[1] / "calibration"
COMPARISONS = {"reference", "coefficients"}


def test_nothing_in_the_product_uses_the_comparisons():
    for path in sorted(PACKAGE.rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        used = {
            name.rsplit(".", 1)[-1]
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for name in (node.module or "", *(alias.name for alias in node.names))
        }
        assert not used & COMPARISONS, path


def test_the_statistics_import_nothing_else_of_the_project():
    for path in sorted((PACKAGE / "stats").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level <= 1, path
                assert (node.module or "").split(".")[0] not in ("labels", "calibration") or node.level, path


def test_a_wald_interval_collapses_at_perfect_agreement_where_ours_does_not():
    assert kappa_wald([[12, 0], [0, 15]]) == (1, 1)
    assert kappa_fisher_z([[12, 0], [0, 15]]) is None


def test_one_category_alone_has_no_standard_error_and_no_interval():
    for found in (kappa_se, kappa_null_se, kappa_wald, kappa_fisher_z, kappa_bootstrap):
        assert found(ONE_CATEGORY) is None


def test_the_bootstrap_holds_kappa():
    found = kappa_bootstrap([[22, 3], [4, 11]], draws=2000)
    for low, high in found.values():
        assert low < 23 / 37 < high  # 33/40 agree, chance 43/80: (66 - 43) / 37


def test_mcnemars_chi_square_by_hand():
    assert mcnemar_chi2(10, 2)[0] == pytest.approx(64 / 12)
    assert mcnemar_chi2(10, 2, corrected=True)[0] == pytest.approx(49 / 12)
    assert mcnemar_chi2(0, 0) is None


def test_the_bootstrap_of_judgy_needs_both_classes():
    assert rogan_gladen_bootstrap(BinaryCounts(10, 0, 0, 0), Judged(5, 10)) is None


def test_a_judge_that_is_always_right_leaves_the_mean_to_its_verdicts():
    value, low, high = ppi_mean([1, 0, 1, 1], [1, 0, 1, 1], judged=Judged(60, 100))
    assert value == pytest.approx(0.6)
    assert high - low == pytest.approx(2 * 1.96 * (0.24 / 100) ** 0.5, abs=1e-4)
    assert ppi_mean([1, 0], [1, 1], judged=Judged(10, 10), weight=None)[0] == 0.5


cell = st.integers(1, 15)


@law
@given(st.lists(st.tuples(st.tuples(cell, cell), st.tuples(cell, cell)), min_size=1, max_size=3))
def test_rs_odds_ratio_is_ours_to_the_accuracy_of_its_root(strata):
    exact, theirs = stratified_test(strata).conditional_odds_ratio, conditional_odds_ratio_r(strata)
    if exact is None:
        assert theirs is None
    else:
        assert min(theirs, 1 / theirs) == pytest.approx(min(exact, 1 / exact), abs=2e-4)


def test_balanced_tables_have_an_odds_ratio_of_one():
    assert conditional_odds_ratio_r([((2, 2), (2, 2))]) == 1
    assert conditional_odds_ratio_r([((2, 0), (0, 2))]) is None


def test_judgebench_takes_a_win_and_a_tie_as_right():
    decisions = [("A>B", "B>A"), ("A>B", "A=B"), ("A>B", "A>B"), (None, None)]
    # right twice; right and tied; right and wrong; nothing
    assert judgebench_accuracy(decisions, ["A>B"] * 4) == 50
    assert judgebench_accuracy([], []) is None


def test_mtbench_leaves_out_ties_only_in_its_second_setup():
    votes = {"1": {"judge": ["tie (inconsistent)"], "human": ["tie", "model_a"]}}
    assert mtbench_agreement(votes, judge="judge") == {"judge_human": (1, 2), "human_human": (0, 1)}
    assert mtbench_agreement(votes, judge="judge", setup="S2") == {
        "judge_human": (0, 0),
        "human_human": (0, 0),
    }
