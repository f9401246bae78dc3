"""The report for programs."""

from __future__ import annotations

import json

from calibration.render.beside_json import comparison_data, humans_data, judge_data
from calibration.render.estimate_json import estimate_data
from calibration.types import AgreementReport, CriterionReport, JudgeReport, PolicyRow, Position


def render_json(report: AgreementReport) -> str:
    """The report as JSON: each judge with its counts, estimates, confusion table and warnings."""
    from calibration.stats.intervals import DRAWS, SEED

    data = {
        "project": report.title,
        "synthetic": report.synthetic,
        "seed": SEED,
        "draws": DRAWS,
        "criteria": [_criterion(criterion) for criterion in report.criteria],
        "judges": [_judge(judge) for judge in report.judges],
    }
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)


def _criterion(criterion: CriterionReport) -> dict[str, object]:
    return {
        "id": criterion.criterion.id,
        "kind": criterion.criterion.kind,
        "question": criterion.criterion.question,
        "items": criterion.items,
        "labelled": criterion.labelled,
        "annotators": dict(criterion.annotators),
        "skipped": dict(criterion.skipped),
        "humans": humans_data(criterion.humans),
        "comparisons": [comparison_data(versus) for versus in criterion.comparisons],
        "selection_optimism": criterion.optimism,
    }


def _judge(judge: JudgeReport) -> dict[str, object]:
    return {
        "judge": judge.judge,
        "criterion": judge.criterion.id,
        "kind": judge.criterion.kind,
        "items": judge.items,
        "n": judge.n,
        "left_out": dict(judge.left_out),
        "estimates": {name: estimate_data(estimate) for name, estimate in judge.estimates.items()},
        "confusion": {
            "rows": "reference labels",
            "columns": "judge",
            "categories": list(judge.confusion.categories),
            "counts": [list(row) for row in judge.confusion.counts],
        },
        "sides": "arbitrary" if judge.arbitrary_sides else dict(judge.sides),
        "flagged": judge.flagged,
        "position": _position(judge.position),
        "tie_policies": {name: _policy(row) for name, row in judge.tie_policies.items()},
        "system_pairs": {name: _policy(row) for name, row in judge.system_pairs.items()},
        "warnings": [f"{warned.code}: {warned.text}" for warned in judge.warnings],
        "sentence": judge.sentence,
        **judge_data(judge),
    }


def _position(position: Position) -> dict[str, object]:
    return {
        "pairs": position.pairs,
        "consistent": position.consistent,
        "consistency": position.consistency.value,
        "hard_flips_first": position.hard_flips_first,
        "hard_flips_second": position.hard_flips_second,
        "soft_flips_first": position.soft_flips_first,
        "soft_flips_second": position.soft_flips_second,
        "unanswered": position.unanswered,
        "one_order": position.one_order,
        "unsettled": position.unsettled,
        "preference": estimate_data(position.preference),
        "direction_p_midp": position.direction_p,
        "direction_p_exact": position.direction_p_exact,
    }


def _policy(row: PolicyRow) -> dict[str, object]:
    return {
        "agreement": row.agreement.value,
        "kappa": row.kappa.value,
        "n": row.n,
        "kappa_low": row.kappa.low,
        "kappa_high": row.kappa.high,
        "why_undefined": row.kappa.why_undefined,
    }
