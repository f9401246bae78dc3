"""A rubric version is the hash of its text."""

from __future__ import annotations

import hashlib
import json

from labels.types import Criterion, Rubric


def make_rubric(criterion: Criterion, parts: tuple[str, str, str, str], *, note: str = "") -> Rubric:
    """The rubric version with these parts: criterion, evidence, procedure, output format."""
    text = json.dumps([criterion.id, *parts], ensure_ascii=False)
    digest = "r" + hashlib.sha256(text.encode()).hexdigest()[:20]
    return Rubric(digest, criterion.id, *parts, note=note)


def default_rubric(criterion: Criterion) -> Rubric:
    """The rubric of a criterion of which only the question is known."""
    return make_rubric(criterion, (criterion.question, "", "", ""))
