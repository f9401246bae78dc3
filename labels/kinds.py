"""Task kinds: what may be chosen and what a choice means. The only crossing from slot to side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from labels.types import Choice, KindName, Side, Value

_BINARY: Mapping[str, Literal["pass", "fail"]] = {"pass": "pass", "fail": "fail"}


class Shown(Protocol):
    """Anything that was shown in an order: a person's presentation or a judge's request."""

    @property
    def first(self) -> Side:
        """The side that stood in the first slot."""
        ...


class TaskKind(Protocol):
    """What may be chosen for an item and what each choice means."""

    @property
    def name(self) -> KindName:
        """The kind's name in files and commands."""
        ...

    @property
    def values(self) -> tuple[Value, ...]:
        """All values in their natural order (A < tie < B for pairs)."""
        ...

    @property
    def responses(self) -> int:
        """How many responses an item of this kind has."""
        ...

    def value(self, presentation: Shown, slot: Choice) -> Value:
        """What choosing this slot says about the sides; ValueError for a choice of another kind."""
        ...

    def slot(self, presentation: Shown, value: Value) -> Choice:
        """The choice that says this value in this order: the inverse of `value`."""
        ...


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Which of two responses is better, or a tie."""

    name: KindName = "pairwise"
    values: tuple[Value, ...] = ("A", "tie", "B")
    responses: int = 2

    def value(self, presentation: Shown, slot: Choice) -> Value:
        """What choosing this slot says about the sides; ValueError for a choice of another kind."""
        if slot == "tie":
            return "tie"
        if slot not in ("first", "second"):
            raise ValueError(f"{slot!r} is no choice of a pairwise item; use 'first', 'second' or 'tie'.")
        second: Side = "B" if presentation.first == "A" else "A"
        return presentation.first if slot == "first" else second

    def slot(self, presentation: Shown, value: Value) -> Choice:
        """The choice that says this value in this order: the inverse of `value`."""
        if value == "tie":
            return "tie"
        if value not in ("A", "B"):
            raise ValueError(f"{value!r} is no value of a pairwise item; use 'A', 'B' or 'tie'.")
        return "first" if value == presentation.first else "second"


@dataclass(frozen=True, slots=True)
class Binary:
    """Whether one response passes."""

    name: KindName = "binary"
    values: tuple[Value, ...] = ("pass", "fail")
    responses: int = 1

    def value(self, presentation: Shown, slot: Choice) -> Value:
        """The choice itself: a single response has no order; ValueError for a choice of another kind."""
        if slot in _BINARY:
            return _BINARY[slot]
        raise ValueError(f"{slot!r} is no choice of a binary item; use 'pass' or 'fail'.")

    def slot(self, presentation: Shown, value: Value) -> Choice:
        """The value itself: a single response has no order; ValueError for a value of another kind."""
        if value in _BINARY:
            return _BINARY[value]
        raise ValueError(f"{value!r} is no value of a binary item; use 'pass' or 'fail'.")


KINDS: Mapping[KindName, TaskKind] = {"pairwise": Pairwise(), "binary": Binary()}
