"""A rubric version is the hash of its text."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Literal, get_args

from labels.errors import UserError
from labels.types import Criterion, Rubric

Evidence = Literal["context", "reference"]
PARTS = ("criterion", "evidence", "procedure", "output")
_HEADING = re.compile(r"(?m)^# +(.+?) *$")


def make_rubric(criterion: Criterion, parts: tuple[str, str, str, str], *, note: str = "") -> Rubric:
    """The rubric version with these parts: criterion, evidence, procedure, output format."""
    text = json.dumps([criterion.id, *parts], ensure_ascii=False)
    digest = "r" + hashlib.sha256(text.encode()).hexdigest()[:20]
    return Rubric(digest, criterion.id, *parts, note=note)


def default_rubric(criterion: Criterion) -> Rubric:
    """The rubric of a criterion of which only the question is known."""
    return make_rubric(criterion, (criterion.question, "", "", ""))


def rubric_from_text(criterion: Criterion, text: str, *, note: str = "") -> Rubric:
    """The rubric version that a text holds: its four parts under "# Criterion", "# Evidence" and so on.

    A text without such headings is the criterion alone. UserError for an unknown or doubled heading, and
    for a rubric without its criterion.
    """
    before, *rest = _HEADING.split(text)
    parts: dict[str, str] = {} if rest else {"criterion": before.strip()}
    for heading, body in zip(rest[::2], rest[1::2], strict=True):
        name = heading.casefold()
        if name not in PARTS or name in parts:
            raise UserError(
                f'The rubric has the heading "# {heading}" twice or as no part of a rubric; the parts are '
                "# Criterion, # Evidence, # Procedure and # Output."
            )
        parts[name] = body.strip()
    if not parts.get("criterion"):
        raise UserError("The rubric has no criterion; write it under the heading # Criterion.")
    if rest and before.strip():
        raise UserError("The rubric has text above its first heading; move it under # Criterion.")
    criterion_part, evidence, procedure, output = (parts.get(name, "") for name in PARTS)
    return make_rubric(criterion, (criterion_part, evidence, procedure, output), note=note)


def rubric_text(rubric: Rubric) -> str:
    """The rubric as the text that `rubric_from_text` reads."""
    bodies = (rubric.criterion, rubric.evidence, rubric.procedure, rubric.output)
    return (
        "\n\n".join(
            f"# {name.capitalize()}\n\n{body}".rstrip() for name, body in zip(PARTS, bodies, strict=True)
        )
        + "\n"
    )


def shown_evidence(rubric: Rubric) -> frozenset[Evidence]:
    """What of an item is shown beside its prompt: all of it, or what the rubric's evidence part names."""
    fields: tuple[Evidence, ...] = get_args(Evidence)
    if not rubric.evidence.strip():
        return frozenset(fields)
    named = (field for field in fields if re.search(rf"\b{field}\b", rubric.evidence, re.IGNORECASE))
    return frozenset(named)
