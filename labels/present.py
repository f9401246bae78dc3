"""Which side goes first, and opaque ids: hashes of stored ids and the project's secret salt."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from itertools import permutations

from labels.types import Side

_BLOCKS: tuple[tuple[Side, ...], ...] = tuple(sorted(set(permutations(("A", "A", "B", "B")))))
BLOCK = 4


@dataclass(frozen=True, slots=True)
class Order:
    """An order in which two responses stand, whoever looks at them."""

    first: Side

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sides, the one in the first slot first."""
        return self.first, other_side(self.first)


def keyed_hash(salt: str, *parts: str) -> str:
    """A hexadecimal digest of the parts that nobody can compute without the project's salt."""
    message = "\x1f".join(parts).encode()
    return hmac.new(salt.encode(), message, hashlib.sha256).hexdigest()


def first_side(salt: str, rater: str, *, position: int) -> Side:
    """The side in the first slot of a rater's presentation number `position`, balanced in blocks of four."""
    block, place = divmod(position, BLOCK)
    pick = int(keyed_hash(salt, "order", rater, str(block)), 16) % len(_BLOCKS)
    return _BLOCKS[pick][place]


def other_side(side: Side) -> Side:
    """The side that is not this one."""
    return "B" if side == "A" else "A"
