"""JSON schemas and regular expressions for the rule judge, none of which may run without an end.

A regular expression may search one text for a second, wherever it stands in a schema.
"""
# mypy: disable-error-code="import-untyped"
# (jsonschema and regex ship no types.)

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import prod
from typing import Any
from unicodedata import normalize

from labels.errors import UserError
from labels.text import quoted

SEARCH_SECONDS = 1.0  # a pattern that needs longer for one response hardly ever ends
MOST_REPEATS = 10_000_000  # compiling takes as long as what it would unroll
_COUNTED = re.compile(r"\{(\d{1,9}),?(\d{1,9})?\}")
SHOWN = 200  # characters of a message that come from the response


class UnfinishedError(UserError):
    """A pattern found no end on one response."""


@lru_cache(maxsize=256)
def compiled(pattern: str, ignore_case: bool) -> Any:
    """The pattern, ready to search; UserError when it is no regular expression."""
    import regex  # unlike the standard module it can stop a search that has no end

    if _repeats(pattern) > MOST_REPEATS:
        raise UserError(
            f"{quoted(pattern)} repeats more than {MOST_REPEATS:,} times over. Write smaller numbers."
        )
    try:
        return regex.compile(normalize("NFC", pattern), regex.IGNORECASE if ignore_case else 0)
    except RecursionError as error:
        raise UserError(f"{quoted(pattern)} is nested too deeply. Write it with fewer brackets.") from error
    except regex.error as error:
        raise UserError(f"{pattern!r} is no regular expression: {error}. Mend the pattern.") from error


def _repeats(pattern: str) -> int:
    """How often the counted repeats of a pattern would repeat if each stood within the last."""
    return prod(max(1, int(most or least)) for least, most in _COUNTED.findall(pattern))


def found_in(text: str, pattern: str, *, ignore_case: bool) -> str | None:
    """What the pattern finds in the text, None for nothing; UserError when it does not end in time."""
    try:
        match = compiled(pattern, ignore_case).search(normalize("NFC", text), timeout=SEARCH_SECONDS)
    except TimeoutError as error:
        raise UnfinishedError(
            f"The pattern {pattern!r} searched a response of {len(text)} characters for {SEARCH_SECONDS:g} s "
            "without an end. Write it without a repeat inside a repeat, such as (a+)+."
        ) from error
    return None if match is None else str(match[0])


def read_json(text: str) -> tuple[object, str]:
    """The value of a JSON text, and what is wrong with it."""
    try:
        return json.loads(text, parse_constant=_no_json), ""
    except RecursionError:
        return None, "nested too deeply"
    except ValueError as error:
        return None, str(error)


def _no_json(value: object) -> object:
    raise ValueError(f"{value} does not exist in JSON")


@lru_cache(maxsize=64)
def validator_of(schema: str) -> Any:
    """The validator of a schema that is JSON text; UserError when it is wrong."""
    from jsonschema import Draft202012Validator, SchemaError, validators
    from jsonschema_specifications import REGISTRY

    contents, fault = read_json(schema)
    if fault:
        raise UserError(f"the schema is not valid JSON: {fault}. Mend that place.")
    known = validators.validator_for(contents, default=Draft202012Validator)
    try:
        known.check_schema(contents)
    except SchemaError as error:
        raise UserError(f"the schema is wrong at {error.json_path}: {error.message[:SHOWN]}.") from error
    _check_references(contents, REGISTRY)
    # With a registry of its own the validator never fetches a reference from the network.
    return validators.extend(known, _TIMED)(contents, registry=REGISTRY)


def _check_references(contents: object, registry: Any) -> None:
    from referencing import Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    root: Resource[Any] = Resource.from_contents(contents, default_specification=DRAFT202012)
    parts = [(registry.resolver_with_root(root), root)]
    for resolver, part in parts:
        try:
            if isinstance(part.contents, dict) and isinstance(part.contents.get("$ref"), str):
                resolver.lookup(part.contents["$ref"])
        except Unresolvable as error:
            raise UserError(f"the schema does not hold {error.ref!r}; copy that part into it.") from error
        parts += [(resolver.in_subresource(deeper), deeper) for deeper in part.subresources()]


def _timed_pattern(_: object, pattern: str, value: object, __: object) -> Iterator[Exception]:
    from jsonschema import ValidationError

    if isinstance(value, str) and found_in(value, pattern, ignore_case=False) is None:
        yield ValidationError(f"{value[:SHOWN]!r} does not match {pattern!r}")


def _timed_names(validator: Any, patterns: Any, value: object, __: object) -> Iterator[Exception]:
    for name, pattern, part in _matching(patterns, value):
        yield from validator.descend(value[name], part, path=name, schema_path=pattern)  # type: ignore[index]


def _timed_others(validator: Any, allowed: Any, value: object, schema: Any) -> Iterator[Exception]:
    from jsonschema import ValidationError

    if not isinstance(value, dict):
        return
    known = set(schema.get("properties", {}))
    known |= {name for name, *_ in _matching(schema.get("patternProperties", {}), value)}
    for name in value:
        if name not in known and isinstance(allowed, dict):
            yield from validator.descend(value[name], allowed, path=name)
        elif name not in known and not allowed:
            yield ValidationError(f"{name[:SHOWN]!r} is not among the properties")


def _not_timed(_: object, __: object, ___: object, schema: Any) -> Iterator[Exception]:
    raise UserError('The schema uses "unevaluatedProperties"; write "additionalProperties" in its place.')


def _matching(patterns: Mapping[str, Any], value: object) -> Iterator[tuple[str, str, Any]]:
    """The names of an object that a pattern finds, each with the pattern and what it asks for."""
    for pattern, part in patterns.items():
        for name in value if isinstance(value, dict) else ():
            if found_in(name, pattern, ignore_case=False) is not None:
                yield name, pattern, part


_TIMED = {
    "pattern": _timed_pattern,
    "patternProperties": _timed_names,
    "additionalProperties": _timed_others,
    "unevaluatedProperties": _not_timed,
}
