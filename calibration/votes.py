"""The three public functions, on plain votes: mapping, order audit and agreement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from labels.kinds import KINDS
from labels.present import Order
from labels.types import Choice

MAX_LENGTH = 1000
MAX_ID = 100
_CHOICES: dict[str, Choice] = {"A": "first", "B": "second", "tie": "tie"}
_VOTES = ("A", "tie", "B")
_KEYS = {"id", "forward", "reverse"}


class OrderRow(TypedDict):
    """One item of `judge_order_audit`: whether both orders name the same winner, and which."""

    id: str
    consistent: bool
    winner: str | None


class OrderAudit(TypedDict):
    """What `judge_order_audit` returns."""

    consistent: int
    total: int
    consistency: float
    rows: list[OrderRow]


class Agreement(TypedDict):
    """What `judge_agreement` returns."""

    agreement: float
    chance_agreement: float
    kappa: float | None


def map_judge_vote(order: Sequence[str], vote: Literal["A", "B", "tie"] | str) -> str | None:
    """The id of the model that a vote on a presentation order chose, or None for a tie.

    `order` holds the two model ids as shown; vote A means the first. ValueError for anything else.
    """
    if not isinstance(order, list | tuple) or len(order) != 2:
        raise ValueError(f"order must be a list or tuple of two model ids, not {order!r}")
    first, second = (_checked_id(model) for model in order)
    if first == second:
        raise ValueError(f"order must name two different models, not {first!r} twice")
    value = KINDS["pairwise"].value(Order("A"), _CHOICES[_checked_vote(vote)])
    return {"A": first, "B": second}.get(value)


def judge_order_audit(votes: list[dict[str, str]]) -> OrderAudit:
    """Whether a judge names the same winner in both orders: forward shows model-1 first, reverse model-2.

    Each of the 1 to 1,000 dicts has exactly the keys id, forward and reverse. ValueError otherwise.
    """
    _check_list(votes, "votes")
    rows = [_order_row(vote) for vote in votes]
    if len({row["id"] for row in rows}) != len(rows):
        raise ValueError("votes must have unique ids")
    consistent = sum(row["consistent"] for row in rows)
    return {
        "consistent": consistent,
        "total": len(rows),
        "consistency": consistent / len(rows),
        "rows": rows,
    }


def judge_agreement(reference: list[str], judge: list[str]) -> Agreement:
    """Raw agreement, chance agreement and Cohen's kappa of two aligned lists of votes.

    Kappa is None when chance agreement is 1. ValueError for lists that are not 1 to 1,000 votes long,
    not aligned, or hold anything but A, B and tie.
    """
    from calibration.stats.agreement import chance_agreement, cohen_kappa, crosstab

    _check_list(reference, "reference")
    _check_list(judge, "judge")
    if len(reference) != len(judge):
        raise ValueError(f"reference has {len(reference)} votes but judge has {len(judge)}")
    table = crosstab(
        [_checked_vote(vote) for vote in reference], [_checked_vote(vote) for vote in judge], _VOTES
    )
    kappa = cohen_kappa(table).value
    return {
        "agreement": float(table.trace() / table.sum()),
        "chance_agreement": chance_agreement(table) or 0.0,
        "kappa": kappa,
    }


def _order_row(vote: object) -> OrderRow:
    if not isinstance(vote, dict) or set(vote) != _KEYS:
        raise ValueError(f"each vote must be a dict with exactly the keys id, forward, reverse, not {vote!r}")
    forward = map_judge_vote(("model-1", "model-2"), vote["forward"])
    reverse = map_judge_vote(("model-2", "model-1"), vote["reverse"])
    consistent = forward == reverse
    return {
        "id": _checked_id(vote["id"]),
        "consistent": consistent,
        "winner": forward if consistent else None,
    }


def _check_list(votes: object, name: str) -> None:
    if not isinstance(votes, list) or not 1 <= len(votes) <= MAX_LENGTH:
        raise ValueError(f"{name} must be a list of 1 to {MAX_LENGTH} entries")


def _checked_id(model: object) -> str:
    if not isinstance(model, str) or not 1 <= len(model) <= MAX_ID:
        raise ValueError(f"an id must be a string of 1 to {MAX_ID} characters, not {model!r}")
    return model


def _checked_vote(vote: object) -> str:
    if not isinstance(vote, str) or vote not in _CHOICES:
        raise ValueError(f"a vote must be exactly 'A', 'B' or 'tie', not {vote!r}")
    return vote
