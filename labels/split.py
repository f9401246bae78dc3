"""Develop or holdout: which items are for tuning and which for the gate, by a hash of the item's group."""

from __future__ import annotations

from typing import Literal

from labels.errors import UserError
from labels.present import keyed_hash
from labels.text import trimmed
from labels.types import Item

Part = Literal["develop", "holdout"]
SETTING = "holdout_share"
_STEPS = 1 << 32


def part_of(item: Item, salt: str, *, share: float) -> Part:
    """The part that an item belongs to; items of one group, or with the same prompt, are never parted.

    `share` is the share of groups in the holdout, from 0 to below 1. The same item is always in the same
    part, and a larger share only moves items from develop to holdout.
    """
    group = f"group {item.group}" if item.group else f"prompt {trimmed(item.prompt)}"
    place = int(keyed_hash(salt, "split", group)[:8], 16)
    return "holdout" if place < share * _STEPS else "develop"


def share_from(text: str) -> float:
    """The share that a project's setting holds; UserError when it is no share of a whole."""
    try:
        share = float(text or 0)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise UserError(
            f'"{text}" is no share for the holdout; write a number from 0 to below 1, such as 0.4.'
        )
    return share
