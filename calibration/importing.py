"""From tables to verdicts: the order that was shown, the slot that was chosen, and what it means."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from calibration.types import Unanswered, Verdict
from labels.columns import LISTED, SLOTS, TIES, Words
from labels.importing import (
    Lookup,
    RowError,
    cell,
    in_words,
    listed_side,
    need,
    rater,
    rows_as,
    system_response,
)
from labels.kinds import KINDS
from labels.present import Order
from labels.tables import Row, Table
from labels.text import any_text, clean, key, quoted, whole
from labels.types import Choice, ImportedLabel, Item, Problem, Side, Value

CONVENTION = (
    "Votes A/B, 1/2 and first/second mean the slot as shown where a row has an order, else the response "
    "as listed in the items' file; the name of a system, answer_a, model_b and the like mean that response."
)
_FORWARD = frozenset(("ab", "forward", "original", "normal"))
_REVERSE = frozenset(("ba", "reverse", "reversed", "swapped", "flipped"))
_SEPARATORS = re.compile(r"[,;|>/]")
_UNANSWERED: Mapping[str, Unanswered] = {
    "error": "error",
    "no_verdict": "not_given",
    "not_given": "not_given",
    "unanswered": "not_given",
    "empty": "empty",
    "too_long": "too_long",
    "unparseable": "unparseable",
    "refused": "refused",
    "refusal": "refused",
    "cut_off": "cut_off",
}


@dataclass(frozen=True, slots=True)
class VerdictDraft:
    """A verdict as a file has it; an empty `order` is unknown, a `vote` of None was not given."""

    place: str
    line: int
    item: str
    judge: str
    order: tuple[str, ...]
    vote: str | None
    repeat: int = 0
    error: str = ""
    reasoning: str = ""
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Polarity:
    """A judge that agrees with people far below chance, as written and with pass and fail turned round."""

    judge: str
    n: int
    written: float
    turned: float


def read_verdicts(table: Table, mapping: Mapping[str, str]) -> tuple[list[VerdictDraft], list[Problem]]:
    """The verdicts of a table as written; without a column of names they are by "judge 1"."""
    need(table, mapping, ("item_id", "vote"))
    return rows_as(table, lambda row: _verdict(table, row, mapping), table.problems)


def _verdict(table: Table, row: Row, mapping: Mapping[str, str]) -> VerdictDraft:
    def extra(field: str) -> str:
        return any_text(row.fields.get(mapping.get(field, "")))

    return VerdictDraft(
        place=table.place(row.line),
        line=row.line,
        item=cell(row, mapping, "item_id"),
        judge=rater(row, mapping, "judge"),
        order=_order(row.fields.get(mapping.get("order", ""))),
        vote=clean(row.fields.get(mapping["vote"])),
        repeat=_repeat(row.fields.get(mapping.get("repeat", ""))),
        error=extra("error"),
        reasoning=extra("reasoning"),
        raw=extra("raw"),
    )


def _order(value: object) -> tuple[str, ...]:
    """The names in an order: a list, a list as JSON, "A,B", or a word for both."""
    if isinstance(value, list | tuple):
        return tuple(clean(name) or "" for name in value)
    text = clean(value)
    if text is None:
        return ()
    if key(text) in _FORWARD:
        return "answer_a", "answer_b"
    if key(text) in _REVERSE:
        return "answer_b", "answer_a"
    return (
        _order(_json_list(text)) if text.startswith("[") else tuple(map(str.strip, _SEPARATORS.split(text)))
    )


def _json_list(text: str) -> list[object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RowError(f"The order {quoted(text)} is no list of two names.") from error
    return value if isinstance(value, list) else []


def _repeat(value: object) -> int:
    text = whole(clean(value) or "0")
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise RowError(f"The repeat {quoted(text)} is no whole number; count repeats from 0.")
    return int(text)


def resolve_verdicts(
    drafts: Sequence[VerdictDraft], items: Lookup, *, words: Words
) -> tuple[dict[Verdict, str], list[Problem]]:
    """Verdicts with their places, one for each judge, item, order and repeat; contradictions are problems."""
    kept: dict[tuple[object, ...], tuple[VerdictDraft, Verdict]] = {}
    problems: list[Problem] = []
    for draft in drafts:
        try:
            verdict = resolve_verdict(draft, items, words=words)
            place = (verdict.judge, verdict.item_id, verdict.first, verdict.repeat)
            first, same = kept.setdefault(place, (draft, verdict))
            if same.value is None and verdict.value is not None:  # an answer fills what was open
                kept[place] = first, same = draft, verdict
            if verdict.value is not None and (same.value, same.error) != (verdict.value, verdict.error):
                raise RowError(_contradiction(draft, first))
        except RowError as reason:
            problems.append(Problem(draft.place, str(reason)))
    return {verdict: draft.place for draft, verdict in kept.values()}, problems


def _contradiction(draft: VerdictDraft, first: VerdictDraft) -> str:
    said = f"{draft.judge} votes {quoted(draft.vote or '')} on {quoted(draft.item)} in the same order"
    remedy = "the first is kept (a column `repeat` tells repeats apart)"
    return f"{said} as at {first.place}, where it votes {quoted(first.vote or '')}; {remedy}."


def resolve_verdict(draft: VerdictDraft, items: Lookup, *, words: Words) -> Verdict:
    """What one written vote says about the sides; RowError when its item or its order is not there."""
    item = items.find(draft.item, lambda item: _may_mean(draft, item, words))
    order = _shown(item, draft.order)
    value, choice = _meaning(item, draft.vote, order, words=words)
    return Verdict(
        judge=draft.judge,
        criterion_id=items.criteria[item.kind].id,
        item_id=item.id,
        first=order.first if order else None,
        value=value,
        choice=choice,
        repeat=draft.repeat,
        error="" if value else _error(draft),
        reasoning=draft.reasoning,
        raw=draft.raw or ("" if value else draft.vote or ""),
    )


def _may_mean(draft: VerdictDraft, item: Item, words: Words) -> bool:
    """Whether a vote can be about this item, where a pair and a single share a name."""
    if draft.vote is None or _error(draft) != "unparseable":
        return (item.kind == "pairwise") == bool(draft.order)
    pairwise = key(draft.vote) in TIES | LISTED.keys() or system_response(item, draft.vote) is not None
    return bool(draft.order) or pairwise if item.kind == "pairwise" else key(draft.vote) in words


def _shown(item: Item, order: Sequence[str]) -> Order | None:
    """The order as sides; None for a single response and where the order is unknown."""
    if item.kind == "binary" or not order:
        return None
    sides = [_named_side(item, name) for name in order]
    if len(sides) != 2 or None in sides or sides[0] == sides[1]:
        names = " and ".join(quoted(response.system) for response in item.responses)
        raise RowError(f"The order {quoted(', '.join(order))} does not name the item's systems, {names}.")
    return Order(cast(Side, sides[0]))


def _named_side(item: Item, name: str) -> Side | None:
    response = system_response(item, name)
    return response.side if response else listed_side(item, name)


def _meaning(
    item: Item, vote: str | None, order: Order | None, *, words: Words
) -> tuple[Value | None, Choice | None]:
    """The value and the choice as seen; both None for a vote that says nothing known."""
    if vote is None:
        return None, None
    kind = KINDS[item.kind]
    choice = _choice(item, vote, ordered=order is not None, words=words)
    if choice is not None:
        return kind.value(order or Order("A"), choice), choice
    side = _named_side(item, vote) if item.kind == "pairwise" else None
    return side, kind.slot(order, side) if order and side else None


def _choice(item: Item, vote: str, *, ordered: bool, words: Words) -> Choice | None:
    """The slot that a vote names, a tie, pass or fail; None when it names a response, or nothing."""
    word = key(vote)
    if item.kind == "binary":
        value = words.get(word)
        return value if value in ("pass", "fail") else None
    if ordered and word in SLOTS:
        return "first" if SLOTS[word] == 0 else "second"
    return "tie" if word in TIES and system_response(item, vote) is None else None


def _error(draft: VerdictDraft) -> Unanswered:
    """Why a verdict has no value, from its own word or else from the column `error`."""
    said = draft.vote if draft.vote is not None else (clean(draft.error) or "not_given")
    default: Unanswered = "unparseable" if draft.vote is not None else "error"
    return _UNANSWERED.get(key(said), default)


def verdict_in_words(item: Item, verdict: Verdict) -> str:
    """A verdict with the names of the preferred system and of the one that was shown first."""
    if verdict.value is None:
        return f"unanswered ({verdict.error.replace('_', ' ')})"
    order = f", {item.response(verdict.first).system} shown first" if verdict.first else ""
    return in_words(item, verdict.value) + order


def turned(value: Value) -> Value:
    """Pass for fail and fail for pass; other values as they are."""
    return "fail" if value == "pass" else "pass" if value == "fail" else value


def turned_label(label: ImportedLabel) -> ImportedLabel:
    """A label with pass and fail turned round."""
    return replace(label, value=turned(label.value) if label.value else None)


def turned_verdict(verdict: Verdict) -> Verdict:
    """A verdict with pass and fail turned round."""
    value = turned(verdict.value) if verdict.value else None
    return replace(verdict, value=value, choice=value if value in ("pass", "fail") else verdict.choice)


def turned_verdicts(verdicts: Mapping[Verdict, str], judges: Collection[str]) -> dict[Verdict, str]:
    """Verdicts with their places, those of these judges with pass and fail turned round."""
    return {turned_verdict(v) if v.judge in judges else v: place for v, place in verdicts.items()}


def inverted(labels: Iterable[tuple[str, Value | None]], verdicts: Sequence[Verdict]) -> list[Polarity]:
    """Judges that agree with people (item and value) far below chance on at least ten items."""
    votes: dict[str, Counter[Value]] = {}
    for item_id, value in labels:
        if value in ("pass", "fail"):
            votes.setdefault(item_id, Counter())[value] += 1
    reference = {item_id: said for item_id, count in votes.items() if (said := _majority(count))}
    by_judge: dict[str, dict[str, Value]] = {}
    for verdict in verdicts:
        if verdict.item_id in reference and verdict.value in ("pass", "fail"):
            by_judge.setdefault(verdict.judge, {}).setdefault(verdict.item_id, verdict.value)
    found = (_polarity(judge, reference, said) for judge, said in by_judge.items() if len(said) >= 10)
    return [polarity for polarity in found if polarity]


def _majority(votes: Counter[Value]) -> Value | None:
    value, count = votes.most_common(1)[0]
    return value if 2 * count > votes.total() else None


def _polarity(judge: str, reference: Mapping[str, Value], said: Mapping[str, Value]) -> Polarity | None:
    from calibration.stats.agreement import cohen_kappa, crosstab

    pairs = [(reference[item_id], value) for item_id, value in said.items()]
    table = crosstab([r for r, _ in pairs], [j for _, j in pairs], ("pass", "fail"))
    kappa = cohen_kappa(table, method="wilson-plugin")
    if kappa.high is None or kappa.high >= 0:
        return None
    agree = sum(r == j for r, j in pairs) / len(pairs)
    return Polarity(judge, len(pairs), agree, 1 - agree)
