"""From drafts to items: ids that are their content, and sides that are systems (DESIGN.md, rule 2)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from labels.types import Item, KindName, Problem, Response, Side


@dataclass(frozen=True, slots=True)
class ItemDraft:
    """An item as a file has it, with the place it stands at; `given` is its id there, or nothing."""

    place: str
    line: int
    kind: KindName
    given: str
    prompt: str
    responses: tuple[tuple[str, str], ...]  # system and text, as listed
    context: str = ""
    reference: str = ""
    group: str = ""
    meta: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its id in the file, or one made of its content."""
        return self.given or f"item-{_content_hash(self)[:12]}"

    @property
    def content(self) -> tuple[object, ...]:
        """All that makes it this item and no other."""
        return self.kind, self.given, self.prompt, self.context, self.reference, self.responses


def item_id(draft: ItemDraft) -> str:
    """The id that the same content has in every project."""
    return "i" + _content_hash(draft)[:20]


def with_sides(drafts: Sequence[ItemDraft], kind: KindName, known_systems: Sequence[str]) -> list[Item]:
    """Items with sides: with two systems in all, A is the one that came first; with more, a hash decides."""
    mine = [draft for draft in drafts if draft.kind == kind]
    batch = (system for draft in mine for system, _ in draft.responses)
    systems = list(dict.fromkeys([*known_systems, *batch]))
    return [_item(draft, systems) for draft in mine]


def placed(
    drafts: Sequence[ItemDraft], held: Sequence[Item], systems: Mapping[KindName, Sequence[str]]
) -> tuple[list[Item], list[Problem]]:
    """Drafts beside the items that the project holds: those stay as they are, new ones get their sides."""
    by_id = {item.id: item for item in held}
    names = {(item.kind, item.name) for item in held}
    new = [d for d in drafts if item_id(d) not in by_id and (d.kind, d.name) not in names]
    for kind, known in systems.items():
        by_id |= {item.id: item for item in with_sides(new, kind, known)}
    items = [by_id[item_id(draft)] for draft in drafts if item_id(draft) in by_id]
    text = "The project holds the id {!r} with another text; that one is kept, give this one another id."
    clashes = (d for d in drafts if item_id(d) not in by_id)
    return items, [Problem(draft.place, text.format(draft.name)) for draft in clashes]


def _item(draft: ItemDraft, systems: Sequence[str]) -> Item:
    own_id = item_id(draft)
    sides = _sides(own_id, [system for system, _ in draft.responses], systems=systems)
    responses = tuple(
        Response(sides[system], system, text, listed) for listed, (system, text) in enumerate(draft.responses)
    )
    texts = (draft.prompt, responses, draft.context, draft.reference, draft.group)
    return Item(own_id, draft.name, draft.kind, *texts, meta=draft.meta)


def _sides(own_id: str, mine: Sequence[str], *, systems: Sequence[str]) -> dict[str, Side]:
    if len(systems) == 2:
        order = sorted(mine, key=systems.index)
    else:
        # Neither the file's order nor the batch's decides, so the same item always has the same sides.
        order = sorted(mine, key=lambda system: hashlib.sha256((own_id + system).encode()).hexdigest())
    return dict(zip(order, ("A", "B"), strict=False))


def _content_hash(draft: ItemDraft) -> str:
    text = json.dumps(draft.content, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
