"""The nouns of the labelling house, all frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

KindName = Literal["pairwise", "binary"]
Side = Literal["A", "B"]
Value = Literal["A", "B", "tie", "pass", "fail"]
Choice = Literal["first", "second", "tie", "pass", "fail"]
Saw = Literal["nothing", "verdict", "label"]
Event = Literal["answer", "skip", "undo"]
Look = Literal["plain", "markdown", "code"]


@dataclass(frozen=True, slots=True)
class Response:
    """One output: its text, the system that wrote it, its side, and its place in the imported file."""

    side: Side
    system: str
    text: str
    listed: int = 0


@dataclass(frozen=True, slots=True)
class Item:
    """The unit that is rated: a prompt with one or two responses; `name` is its id in the user's files."""

    id: str
    name: str
    kind: KindName
    prompt: str
    responses: tuple[Response, ...]
    context: str = ""
    reference: str = ""
    group: str = ""
    meta: Mapping[str, str] = field(default_factory=dict)

    def response(self, side: Side) -> Response:
        """The response on the given side; KeyError when the item has none there."""
        for response in self.responses:
            if response.side == side:
                return response
        raise KeyError(side)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One question put to people and judge alike."""

    id: str
    kind: KindName
    question: str
    ties: bool = True


@dataclass(frozen=True, slots=True)
class Rubric:
    """The criterion's text in four parts; a version is the hash of its text."""

    id: str
    criterion_id: str
    criterion: str
    evidence: str = ""
    procedure: str = ""
    output: str = ""
    parent: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Annotator:
    """A person who labels."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Presentation:
    """The order in which an item was shown, with the rater it was shown to."""

    id: str
    criterion_id: str
    item_id: str
    annotator_id: str
    first: Side


@dataclass(frozen=True, slots=True)
class BlindItem:
    """All that the labelling page may know: texts in slots, and where the person stands."""

    presentation_id: str
    revision: int
    prompt: str
    context: str
    reference: str
    texts: tuple[str, ...]
    look: Look = "plain"


@dataclass(frozen=True, slots=True)
class Label:
    """What a person said about an item, in terms of sides; `value` is None when skipped."""

    id: int
    criterion_id: str
    item_id: str
    annotator_id: str
    value: Value | None
    skip_reason: str = ""
    note: str = ""
    saw: Saw = "nothing"
    first: Side | None = None
    seconds: float | None = None
    rubric_id: str | None = None
    at: str = ""
    source: str = "app"


@dataclass(frozen=True, slots=True)
class ImportedLabel:
    """A label read from a file, before it has a row; `value` is None when the person skipped the item."""

    criterion_id: str
    item_id: str
    annotator: str
    value: Value | None
    note: str = ""
    skip_reason: str = ""
    saw: Saw = "nothing"
    source: str = "import"


@dataclass(frozen=True, slots=True)
class Added:
    """How many rows an import added, and how many the project had already."""

    new: int = 0
    known: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that an import left out: the place in the file and the reason with its remedy."""

    place: str
    text: str
