"""An estimate for programs."""

from __future__ import annotations

from calibration.stats.estimate import Estimate


def estimate_data(estimate: Estimate) -> dict[str, object]:
    """Value, limits and n, with the reasons where any of them is missing."""
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "why_undefined": estimate.why_undefined,
        "why_no_interval": estimate.why_no_interval,
        "method": estimate.method,
        "level": estimate.level,
        "n_missing": estimate.n_missing,
        "warnings": list(estimate.warnings),
    }
