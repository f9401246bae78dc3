"""Judges and how far to trust them."""

from calibration.votes import judge_agreement, judge_order_audit, map_judge_vote

__all__ = ["judge_agreement", "judge_order_audit", "map_judge_vote"]
