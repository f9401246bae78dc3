"""The rule judge: a response passes when it keeps every rule, and a pair goes to the one that keeps them.

Rules are read from a small TOML or JSON text, cost nothing and never differ from themselves. Texts are
compared in Unicode NFC. A regular expression may search for at most one second in one response; the one
limit that is not enforced is a JSON schema's `patternProperties`, whose patterns meet only names of keys.
"""
# mypy: disable-error-code="import-untyped"
# (jsonschema and regex ship no types)

from __future__ import annotations

import hashlib
import json
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar, Literal, Protocol

from labels.errors import UserError
from labels.types import Choice

Unit = Literal["characters", "words"]
SEARCH_SECONDS = 1.0  # a pattern that needs longer for one response repeats itself without end
_SHOWN = 200  # characters of a message that come from the response


class Rule(Protocol):
    """One thing that a response must keep to."""

    name: ClassVar[str]

    def broken(self, text: str) -> str:
        """How the text breaks the rule, as words that follow "it"; empty when it keeps it."""
        ...


@dataclass(frozen=True, slots=True)
class ValidJson:
    """The response is one JSON value; `code_fence` lets it stand inside a Markdown fence."""

    name: ClassVar[str] = "json"
    code_fence: bool = False

    def broken(self, text: str) -> str:
        """How the text breaks the rule, as words that follow "it"; empty when it keeps it."""
        fault = _read_json(text, self.code_fence)[1]
        return f"is not valid JSON ({fault})" if fault else ""


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """The response is JSON that a schema allows; `schema` is JSON text, and `format` is not checked."""

    name: ClassVar[str] = "json_schema"
    schema: str
    code_fence: bool = False

    def __post_init__(self) -> None:
        _validator(self.schema)

    def broken(self, text: str) -> str:
        """How the text breaks the rule, as words that follow "it"; empty when it keeps it."""
        value, fault = _read_json(text, self.code_fence)
        if fault:
            return f"is not valid JSON ({fault})"
        try:
            error = next(_validator(self.schema).iter_errors(value), None)
        except RecursionError:
            return "is nested too deeply for its schema"
        return f"does not follow the schema at {error.json_path}: {error.message[:_SHOWN]}" if error else ""


@dataclass(frozen=True, slots=True)
class Length:
    """The response has at least `min` and at most `max` characters, or words between blanks."""

    name: ClassVar[str] = "length"
    unit: Unit
    min: int = 0
    max: int | None = None

    def __post_init__(self) -> None:
        if self.unit not in ("characters", "words"):
            raise UserError(f'unit = "{self.unit}" is unknown; write "characters" or "words".')
        if self.min < 0 or (self.max is not None and self.max < self.min):
            raise UserError(f"min = {self.min}, max = {self.max} leave no length; write 0 <= min <= max.")
        if self.min == 0 and self.max is None:
            raise UserError("every length is allowed; write min, max or both.")

    def broken(self, text: str) -> str:
        """How the text breaks the rule, as words that follow "it"; empty when it keeps it."""
        n = len(text.split() if self.unit == "words" else unicodedata.normalize("NFC", text))
        if n < self.min:
            return f"has {n} {self.unit}, fewer than {self.min}"
        return f"has {n} {self.unit}, more than {self.max}" if self.max is not None and n > self.max else ""


@dataclass(frozen=True, slots=True)
class MustContain:
    """The response holds this text."""

    name: ClassVar[str] = "must_contain"
    text: str
    ignore_case: bool = False

    def __post_init__(self) -> None:
        _check_filled("text", self.text)

    def broken(self, text: str) -> str:
        """How the text breaks the rule, as words that follow "it"; empty when it keeps it."""
        return "" if _contains(text, self.text, ignore_case=self.ignore_case) else f"lacks {self.text!r}"


@dataclass(frozen=True, slots=True)
class MustNotContain:
    """The response does not hold this text."""

    name: ClassVar[str] = "must_not_contain"
    text: str
    ignore_case: bool = False

    def __post_init__(self) -> None:
        _check_filled("text", self.text)

    def broken(self, text: str) -> str:
        """How the text breaks the rule, as words that follow "it"; empty when it keeps it."""
        return f"contains {self.text!r}" if _contains(text, self.text, ignore_case=self.ignore_case) else ""


@dataclass(frozen=True, slots=True)
class MustMatch:
    """A regular expression is found somewhere in the response."""

    name: ClassVar[str] = "must_match"
    pattern: str
    ignore_case: bool = False

    def __post_init__(self) -> None:
        _compiled(self.pattern, self.ignore_case)

    def broken(self, text: str) -> str:
        """How the text breaks the rule, as words that follow "it"; empty when it keeps it."""
        found = _found(text, self.pattern, ignore_case=self.ignore_case)
        return f"does not match {self.pattern!r}" if found is None else ""


@dataclass(frozen=True, slots=True)
class MustNotMatch:
    """A regular expression is found nowhere in the response."""

    name: ClassVar[str] = "must_not_match"
    pattern: str
    ignore_case: bool = False

    def __post_init__(self) -> None:
        _compiled(self.pattern, self.ignore_case)

    def broken(self, text: str) -> str:
        """How the text breaks the rule, as words that follow "it"; empty when it keeps it."""
        found = _found(text, self.pattern, ignore_case=self.ignore_case)
        return "" if found is None else f"matches {self.pattern!r} with {found[:_SHOWN]!r}"


RULES: Mapping[str, type[Rule]] = {
    "json": ValidJson,
    "json_schema": JsonSchema,
    "length": Length,
    "must_contain": MustContain,
    "must_not_contain": MustNotContain,
    "must_match": MustMatch,
    "must_not_match": MustNotMatch,
}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "schema": (str, dict),
    "code_fence": (bool,),
    "unit": (str,),
    "min": (int,),
    "max": (int,),
    "text": (str,),
    "pattern": (str,),
    "ignore_case": (bool,),
}
_WORDS: Mapping[type, str] = {str: "a text", bool: "true or false", int: "a whole number", dict: "a table"}


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What the rules choose among the texts in slots, and which rule each text breaks."""

    choice: Choice
    reasoning: str


def judge_by_rules(rules: Sequence[Rule], texts: Sequence[str]) -> RuleVerdict:
    """Pass or fail for one text; for two the one that keeps the rules alone, else a tie.

    ValueError for any other number of texts; UserError when a pattern takes too long.
    """
    broken = [_all_broken(rules, text) for text in texts]
    if len(texts) == 1:
        return RuleVerdict("fail" if broken[0] else "pass", f"The response {_told(rules, broken[0])}.")
    first, second = broken
    told = f"The first response {_told(rules, first)}; the second {_told(rules, second)}."
    if bool(first) == bool(second):
        return RuleVerdict("tie", told)
    return RuleVerdict("second" if first else "first", told)


def rules_version(rules: Sequence[Rule]) -> str:
    """The hash of the rules as canonical text: their order and the way they were written change nothing."""
    canonical = sorted(
        json.dumps({"rule": rule.name, **_settings(rule)}, sort_keys=True, ensure_ascii=False)
        for rule in rules
    )
    return hashlib.sha256("\n".join(canonical).encode()).hexdigest()[:32]


def rules_from_text(text: str) -> tuple[Rule, ...]:
    """The rules of a TOML text ([[rules]] tables) or JSON text (a list, or {"rules": [...]}).

    UserError that names the place, the mistake and what to write instead.
    """
    return tuple(_rule(entry, f"rule {number}") for number, entry in enumerate(_entries(text), start=1))


def _entries(text: str) -> list[object]:
    looks_like_json = text.lstrip()[:1] == "{" or "".join(text.split())[:2] in ("[{", "[]")
    try:
        read = json.loads(text) if looks_like_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "JSON" if looks_like_json else "TOML"
        raise UserError(f"The rules are not valid {kind}: {error}. Mend that place.") from error
    entries = read.get("rules") if isinstance(read, dict) and set(read) == {"rules"} else read
    if isinstance(entries, list) and entries:
        return entries
    raise UserError(
        'The rules must be [[rules]] tables in TOML, or a list of objects in JSON, each with its "rule": '
        f'for example [[rules]] and below it rule = "json". Rules there are: {", ".join(RULES)}.'
    )


def _rule(entry: object, place: str) -> Rule:
    if not isinstance(entry, dict) or not isinstance(entry.get("rule"), str):
        raise UserError(f'{place} does not name its rule; write rule = "..." with one of {", ".join(RULES)}.')
    name = entry["rule"]
    if name not in RULES:
        raise UserError(f"{place}: {name!r} is no rule; write one of {', '.join(RULES)}.")
    place = f"{place} ({name})"
    settings = {key: value for key, value in entry.items() if key != "rule"}
    _check_settings(settings, name, place=place)
    try:
        return RULES[name](**{key: _plain(value) for key, value in settings.items()})
    except UserError as error:
        raise UserError(f"{place}: {error}") from error


def _check_settings(settings: Mapping[str, object], name: str, *, place: str) -> None:
    known = {field.name: field.default is MISSING for field in _fields(RULES[name])}
    for key, value in settings.items():
        if key not in known:
            raise UserError(f"{place} has no setting {key!r}; it knows {', '.join(known)}.")
        if type(value) not in _TYPES[key]:
            wanted = " or ".join(_WORDS[kind] for kind in _TYPES[key])
            raise UserError(f"{place}: {key} = {value!r} is not {wanted}; write {wanted}.")
    for key, needed in known.items():
        if needed and key not in settings:
            raise UserError(f"{place} lacks {key!r}; write {key} = ... below its rule.")


def _plain(value: object) -> object:
    """A schema given as a table becomes JSON text; everything else stays."""
    if not isinstance(value, dict):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except TypeError as error:
        raise UserError(f"the schema holds what JSON cannot: {error}. Write it as JSON text.") from error


def _fields(rule: object) -> tuple[Any, ...]:
    return fields(rule)  # type: ignore[arg-type]


def _settings(rule: Rule) -> dict[str, object]:
    settings = {field.name: getattr(rule, field.name) for field in _fields(rule)}
    if "schema" in settings:
        settings["schema"] = json.loads(
            settings["schema"]
        )  # its blanks and the order of its keys say nothing
    return settings


def _all_broken(rules: Sequence[Rule], text: str) -> list[str]:
    told = ((rule, rule.broken(text)) for rule in rules)
    return [f"{rule.name}: it {how}" for rule, how in told if how]


def _told(rules: Sequence[Rule], broken: Sequence[str]) -> str:
    if not broken:
        return "keeps the rule" if len(rules) == 1 else f"keeps all {len(rules)} rules"
    return f"breaks {len(broken)} of {len(rules)} ({'; '.join(broken)})"


def _check_filled(name: str, value: str) -> None:
    if not value:
        raise UserError(f"{name} is empty and would be found everywhere; write what to look for.")


def _contains(text: str, wanted: str, *, ignore_case: bool) -> bool:
    def folded(value: str) -> str:
        composed = unicodedata.normalize("NFC", value)
        return unicodedata.normalize("NFC", composed.casefold()) if ignore_case else composed

    return folded(wanted) in folded(text)


@lru_cache(maxsize=256)
def _compiled(pattern: str, ignore_case: bool) -> Any:
    import regex  # unlike the standard module it can stop a search that has no end

    _check_filled("pattern", pattern)
    try:
        return regex.compile(unicodedata.normalize("NFC", pattern), regex.IGNORECASE if ignore_case else 0)
    except regex.error as error:
        raise UserError(f"the pattern {pattern!r} is no regular expression: {error}. Mend it.") from error


def _found(text: str, pattern: str, *, ignore_case: bool) -> str | None:
    composed = unicodedata.normalize("NFC", text)
    try:
        match = _compiled(pattern, ignore_case).search(composed, timeout=SEARCH_SECONDS)
    except TimeoutError as error:
        raise UserError(
            f"The pattern {pattern!r} searched {SEARCH_SECONDS:g} s in one response of {len(text)} characters "
            "without an end. Write it without a repeat inside a repeat, such as (a+)+."
        ) from error
    return None if match is None else str(match[0])


def _read_json(text: str, code_fence: bool) -> tuple[object, str]:
    try:
        return json.loads(_inside_fence(text) if code_fence else text, parse_constant=_no_number), ""
    except RecursionError:
        return None, "nested too deeply"
    except ValueError as error:
        return None, str(error)


def _no_number(word: str) -> object:
    raise ValueError(f"{word} is no number in JSON")


def _inside_fence(text: str) -> str:
    body = text.strip()
    if not (body.startswith("```") and body.endswith("```") and "\n" in body):
        return text
    return body.partition("\n")[2].removesuffix("```")


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    from jsonschema import Draft202012Validator, SchemaError, validators
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable

    try:
        contents = json.loads(schema)
        known = validators.validator_for(contents, default=Draft202012Validator)
        known.check_schema(contents)
        _check_references(REGISTRY, contents)
    except SchemaError as error:
        raise UserError(
            f"the schema is no JSON schema at {error.json_path}: {error.message}. Mend it."
        ) from error
    except ValueError as error:
        raise UserError(f"the schema is not valid JSON: {error}. Mend that place.") from error
    except Unresolvable as error:
        raise UserError(f"the schema refers to {error.ref!r}, which it does not hold; copy it in.") from error
    timed = validators.extend(known, {"pattern": _timed_pattern})
    return timed(contents, registry=REGISTRY)  # a registry of its own never fetches from the network


def _check_references(registry: Any, contents: object) -> None:
    from referencing.jsonschema import DRAFT202012, specification_with
    from referencing import Resource

    resource = Resource.from_contents(contents, default_specification=DRAFT202012)
    pending = [(registry.resolver_with_root(resource), resource)]
    while pending:
        resolver, part = pending.pop()
        inside = resolver.in_subresource(part)
        if isinstance(part.contents, dict) and isinstance(part.contents.get("$ref"), str):
            inside.lookup(part.contents["$ref"])
        pending += [(inside, deeper) for deeper in part.subresources()]


def _timed_pattern(_: object, pattern: str, value: object, schema: object) -> Iterator[Exception]:
    from jsonschema import ValidationError

    if isinstance(value, str) and _found(value, pattern, ignore_case=False) is None:
        yield ValidationError(f"{value[:_SHOWN]!r} does not match {pattern!r}")
