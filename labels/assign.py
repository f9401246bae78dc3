"""Who labels what next: new items in the project's order, with hidden repeats among them."""

from __future__ import annotations

REPEAT_EVERY = 10
FAR_APART = 10


def repeats_planned(items: int, *, every: int = REPEAT_EVERY) -> int:
    """How many hidden repeats a person meets who labels all `items`; none when `every` is 0."""
    return max(0, (items - FAR_APART) // every) if every else 0


def repeat_due(originals: int, repeats: int, *, every: int = REPEAT_EVERY) -> bool:
    """Whether a hidden repeat comes next after so many originals and repeats."""
    return repeats < repeats_planned(originals, every=every)


def repeat_block(repeats: int, *, every: int = REPEAT_EVERY) -> range:
    """The originals, by their place in the person's own sequence, from which the next repeat is drawn."""
    return range(repeats * every, (repeats + 1) * every)
