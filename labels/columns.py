"""Well-known words: which column of a file is which field, and what the words of labels and votes mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from labels.errors import UserError
from labels.text import key
from labels.types import Saw, Value

Words = Mapping[str, Value]

ITEM_FIELDS = (
    "item_id",
    "prompt",
    "answer_a",
    "answer_b",
    "answer",
    "model_a",
    "model_b",
    "model",
    "context",
    "reference",
    "group",
    "responses",
    "meta",
)
LABEL_FIELDS = ("item_id", "annotator", "label", "note", "skip_reason", "saw")
VERDICT_FIELDS = ("item_id", "judge", "order", "vote", "repeat", "reasoning", "raw", "error")
FILES: Mapping[str, tuple[str, ...]] = {
    "items": ITEM_FIELDS,
    "labels": LABEL_FIELDS,
    "verdicts": VERDICT_FIELDS,
}
FIELDS = tuple(dict.fromkeys(field for fields in FILES.values() for field in fields))

# Well-known names of each field; the first that the file has wins, compared as `key` folds it.
SYNONYMS: Mapping[str, str] = {
    "item_id": "item_id id item question_id example_id sample_id prompt_id uid key",
    "prompt": "prompt question instruction query user_prompt user_input input request input_text task",
    "answer_a": "answer_a response_a output_a completion_a answer_1 response_1 output_1 completion_1 "
    "output_text_a text_a",
    "answer_b": "answer_b response_b output_b completion_b answer_2 response_2 output_2 completion_2 "
    "output_text_b text_b",
    "answer": "answer response output completion candidate candidate_answer generation prediction "
    "actual_output model_output",
    "model_a": "model_a system_a generator_a model_1 system_1 generator_1",
    "model_b": "model_b system_b generator_b model_2 system_2 generator_2",
    "model": "model system generator model_id model_name",
    "context": "context passage document source_text",
    "reference": "reference reference_answer expected_output gold_answer ideal target",
    "group": "group group_id cluster",
    "responses": "responses",
    "meta": "meta metadata",
    "annotator": "annotator annotator_id annotator_name rater rater_id labeler labeller completed_by "
    "worker_id expert user_id user author",
    "label": "label human_label annotation verdict vote winner preference choice rating judgment "
    "judgement grade value",
    "note": "note notes comment comments rationale explanation feedback reason",
    "skip_reason": "skip_reason",
    "saw": "saw",
    "judge": "judge judge_id judge_name judge_model grader evaluator annotator",
    "order": "order shown_order presentation_order",
    "vote": "vote verdict judge_label winner preference choice label decision judgment judgement "
    "rating grade",
    "repeat": "repeat repetition run trial epoch",
    "reasoning": "reasoning rationale explanation reason justification",
    "raw": "raw raw_text raw_output raw_completion",
    "error": "error",
}

SAW: Mapping[str, Saw] = {"": "nothing", "nothing": "nothing", "verdict": "verdict", "label": "label"}


def synonyms(*fields: str) -> list[str]:
    """The well-known names of these fields, the better ones first."""
    return [name for field in fields for name in SYNONYMS[field].split()]


_OPPOSITES = (
    ("pass", "fail"),
    ("passed", "failed"),
    ("1", "0"),
    ("yes", "no"),
    ("y", "n"),
    ("true", "false"),
    ("t", "f"),
    ("correct", "incorrect"),
    ("right", "wrong"),
    ("good", "bad"),
    ("acceptable", "unacceptable"),
    ("ok", "not_ok"),
    ("positive", "negative"),
)
_PARTNER = {word: other for pair in _OPPOSITES for word, other in (pair, pair[::-1])}
TIES = frozenset(
    (
        *("tie", "ties", "tied", "draw", "equal", "same", "both", "neither", "both_good", "both_bad"),
        *("tie_bothbad", "tie_both_bad", "tie_inconsistent", "no_preference", "1.5"),
    )
)
SLOTS: Mapping[str, int] = {
    word: place
    for place, words in enumerate(("a 1 first left", "b 2 second right"))
    for word in words.split()
}
LISTED: Mapping[str, int] = {
    **dict.fromkeys(synonyms("answer_a", "model_a"), 0),
    **dict.fromkeys(synonyms("answer_b", "model_b"), 1),
    **SLOTS,
}


def parse_map(options: Iterable[str]) -> dict[str, str]:
    """What `--map field=column` options say; UserError for an unknown field or a missing "="."""
    given: dict[str, str] = {}
    for option in options:
        field, equals, column = option.partition("=")
        field = field.strip()
        if not equals or not column.strip():
            raise UserError(f"--map {option!r} must be FIELD=COLUMN, for example --map prompt=question.")
        _check_field(field, FIELDS)
        if field in given:
            raise UserError(f"--map names {field} twice ({given[field]!r} and {column.strip()!r}); keep one.")
        given[field] = column.strip()
    return given


def given_by_file(
    given: Mapping[str, str], columns: Mapping[str, Sequence[str]]
) -> Mapping[str, Mapping[str, str]]:
    """For each file what `--map` says of it; a field that several have is for those with that column."""
    by_file: dict[str, dict[str, str]] = {what: {} for what in columns}
    for field, column in given.items():
        takers = [what for what in columns if field in FILES[what]]
        if not takers:
            raise UserError(f"--map {field}={column}: none of the files given has a field {field!r}.")
        having = [what for what in takers if column in columns[what]]
        for what in having or takers[:1]:  # where no file has the column, `guess` says so
            by_file[what][field] = column
    return by_file


def guess(columns: Sequence[str], fields: Sequence[str], given: Mapping[str, str]) -> Mapping[str, str]:
    """The column of each field that has one: as given, else by its name; UserError for unknown names."""
    for field, column in given.items():
        _check_field(field, fields)
        if column not in columns:
            raise UserError(
                f"There is no column {column!r} (--map {field}={column}). {named(columns, column)}"
            )
    chosen = {field: given[field] for field in fields if field in given}
    by_name: dict[str, str] = {}
    for column in columns:
        by_name.setdefault(key(column), column)
    for field in fields:
        free = (by_name[n] for n in synonyms(field) if n in by_name and by_name[n] not in chosen.values())
        found = next(free, None)
        if field not in given and found is not None:
            chosen[field] = found
    return {field: chosen[field] for field in fields if field in chosen}


def named(columns: Sequence[str], wanted: str = "") -> str:
    """A sentence that lists a file's columns, those that look like the wanted one first."""
    close = get_close_matches(key(wanted), [key(column) for column in columns], n=3, cutoff=0.5)
    first = [column for name in close for column in columns if key(column) == name]
    return f"The columns are: {', '.join(dict.fromkeys([*first, *columns])) or 'none'}."


def _check_field(field: str, fields: Sequence[str]) -> None:
    if field not in fields:
        raise UserError(f"There is no field {field!r} for --map; the fields are: {', '.join(fields)}.")


def pass_words(passed: str | None = None, failed: str | None = None) -> Words:
    """What the words of single responses mean; `passed="0"` turns 0 and its partner 1 round."""
    words: dict[str, Value] = {}
    for good, bad in _OPPOSITES:
        words |= {good: "pass", bad: "fail"}
    turns: tuple[tuple[str | None, Value, Value], ...] = ((passed, "pass", "fail"), (failed, "fail", "pass"))
    for given, value, other in turns:
        word = key(given or "")
        if word:
            words |= {word: value} | ({_PARTNER[word]: other} if word in _PARTNER else {})
    wrong = [w for w, v, _ in turns if w and words[key(w)] != v]
    if wrong:
        raise UserError(f"--pass and --fail contradict each other about {wrong[0]!r}; give one of them.")
    return words
