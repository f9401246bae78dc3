"""The rule judge: a response passes when it keeps every rule, and a pair goes to the one that keeps them.

Rules are read from a small TOML or JSON text, cost nothing and never differ from themselves. Texts are
compared in Unicode NFC. A regular expression, also one in a schema, may search one text for a second.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from unicodedata import normalize

from calibration.json_schemas import SHOWN, compiled, found_in, read_json, validator_of
from labels.errors import UserError
from labels.types import Choice


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that a response must keep to: its name in RULES and the settings which that kind knows.

    `schema` is JSON text; the length lies from `min` to `max`, both included; None is no limit.
    """

    name: str
    schema: str = ""
    unit: Literal["characters", "words"] = "characters"
    min: int = 0
    max: int | None = None
    text: str = ""
    pattern: str = ""
    ignore_case: bool = False

    def broken(self, text: str) -> str:
        """Which rule the text breaks and how; empty when it keeps it."""
        how = RULES[self.name].broken(self, text)
        return f"{self.name}: it {how}" if how else ""


@dataclass(frozen=True, slots=True)
class RuleKind:
    """How a text breaks a kind of rule (words after "it"), and the settings it must have and may have."""

    broken: Callable[[Rule, str], str]
    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What the rules choose among the texts in slots, and which rules each text breaks."""

    choice: Choice
    reasoning: str


def judge_by_rules(rules: Sequence[Rule], texts: Sequence[str]) -> RuleVerdict:
    """Pass or fail for one text; of two the one that keeps all rules while the other does not, else a tie.

    ValueError for any other number of texts; UserError when a pattern takes too long.
    """
    broken = [[how for rule in rules if (how := rule.broken(text))] for text in texts]
    if len(broken) == 1:
        return RuleVerdict("fail" if broken[0] else "pass", f"The response {_told(broken[0])}.")
    first, second = broken
    told = f"The first response {_told(first)}; the second {_told(second)}."
    alike = bool(first) == bool(second)
    return RuleVerdict("tie" if alike else "second" if first else "first", told)


def rules_version(rules: Sequence[Rule]) -> str:
    """The hash of the rules' canonical text: their order and the way they were written change nothing."""
    canonical = "\n".join(sorted({_canonical(rule) for rule in rules}))
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


def rules_from_text(text: str) -> tuple[Rule, ...]:
    """The rules of a TOML text ([[rules]] tables) or a JSON text (a list, or {"rules": [...]}).

    UserError that names the place, the mistake and what to write instead.
    """
    return tuple(_rule(entry, number) for number, entry in enumerate(_entries(text), start=1))


def _entries(text: str) -> list[object]:
    is_json = text.lstrip()[:1] == "{" or "".join(text.split())[:2] in ("[{", "[]")
    try:
        read = json.loads(text) if is_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"The rules are not valid {'JSON' if is_json else 'TOML'}: {error}. Mend it."
        ) from error
    entries = read["rules"] if isinstance(read, dict) and set(read) == {"rules"} else read
    if isinstance(entries, list) and entries:
        return entries
    raise UserError(
        'The rules must be [[rules]] tables in TOML, or a list of objects in JSON, each with its "rule": '
        f'for example [[rules]] and below it rule = "json". Rules there are: {", ".join(RULES)}.'
    )


def _rule(entry: object, number: int) -> Rule:
    settings = dict(entry) if isinstance(entry, dict) else {}
    name = str(settings.pop("rule", ""))
    if name not in RULES:
        raise UserError(f'Rule {number} is {name!r}; write rule = "..." with one of {", ".join(RULES)}.')
    try:
        _check_settings(settings, RULES[name])
        if isinstance(settings.get("schema"), dict):
            settings["schema"] = json.dumps(settings["schema"], default=str)
        rule = Rule(name, **settings)
        _check_rule(rule)
    except UserError as error:
        raise UserError(f"Rule {number} ({name}): {error}") from error
    return rule


def _check_settings(settings: Mapping[str, object], kind: RuleKind) -> None:
    known = (*kind.needs, *kind.may)
    for key, value in settings.items():
        if key not in known:
            raise UserError(f"there is no setting {key!r}; it knows {', '.join(known) or 'none'}.")
        if type(value) not in _TYPES[key]:  # exactly: true is no number
            raise UserError(f"{key} must be {_TYPE_WORDS[_TYPES[key][0]]}, not {value!r}.")
    for key in kind.needs:
        if settings.get(key, "") == "":
            raise UserError(f"{key} is missing or empty; give it {_TYPE_WORDS[_TYPES[key][0]]}.")


def _check_rule(rule: Rule) -> None:
    if rule.unit not in ("characters", "words"):
        raise UserError(f'unit must be "characters" or "words", not {rule.unit!r}.')
    if rule.min < 0 or (rule.max is not None and rule.max < rule.min):
        raise UserError(f"min {rule.min} and max {rule.max} leave no length; write 0 <= min <= max.")
    if rule.name == "length" and rule.min == 0 and rule.max is None:
        raise UserError("every length is allowed; write min, max or both.")
    if rule.name == "json_schema":
        validator_of(rule.schema)
    if rule.pattern:
        compiled(rule.pattern, rule.ignore_case)


def _canonical(rule: Rule) -> str:
    kind = RULES[rule.name]
    settings = {key: getattr(rule, key) for key in (*kind.needs, *kind.may)}
    if "schema" in settings:
        settings["schema"] = json.loads(rule.schema)  # its blanks and the order of its keys say nothing
    return json.dumps({"rule": rule.name, **settings}, sort_keys=True)


def _told(broken: Sequence[str]) -> str:
    return f"breaks {'; '.join(broken)}" if broken else "keeps every rule"


def _not_json(_: Rule, text: str) -> str:
    fault = read_json(text)[1]
    return f"is not valid JSON ({fault})" if fault else ""


def _not_of_schema(rule: Rule, text: str) -> str:
    value, fault = read_json(text)
    if fault:
        return f"is not valid JSON ({fault})"
    try:
        error = next(validator_of(rule.schema).iter_errors(value), None)
    except RecursionError:
        return "is nested too deeply for its schema"
    return f"does not follow the schema at {error.json_path}: {error.message[:SHOWN]}" if error else ""


def _wrong_length(rule: Rule, text: str) -> str:
    n = len(text.split() if rule.unit == "words" else normalize("NFC", text))
    if n < rule.min:
        return f"has {n} {rule.unit}, fewer than {rule.min}"
    return f"has {n} {rule.unit}, more than {rule.max}" if rule.max is not None and n > rule.max else ""


def _lacks(rule: Rule, text: str) -> str:
    return "" if _contains(rule, text) else f"lacks {rule.text!r}"


def _holds(rule: Rule, text: str) -> str:
    return f"contains {rule.text!r}" if _contains(rule, text) else ""


def _matches_not(rule: Rule, text: str) -> str:
    found = found_in(text, rule.pattern, ignore_case=rule.ignore_case)
    return f"does not match {rule.pattern!r}" if found is None else ""


def _matches(rule: Rule, text: str) -> str:
    found = found_in(text, rule.pattern, ignore_case=rule.ignore_case)
    return "" if found is None else f"matches {rule.pattern!r} with {found[:SHOWN]!r}"


RULES: Mapping[str, RuleKind] = {
    "json": RuleKind(_not_json),
    "json_schema": RuleKind(_not_of_schema, needs=("schema",)),
    "length": RuleKind(_wrong_length, needs=("unit",), may=("min", "max")),
    "must_contain": RuleKind(_lacks, needs=("text",), may=("ignore_case",)),
    "must_not_contain": RuleKind(_holds, needs=("text",), may=("ignore_case",)),
    "must_match": RuleKind(_matches_not, needs=("pattern",), may=("ignore_case",)),
    "must_not_match": RuleKind(_matches, needs=("pattern",), may=("ignore_case",)),
}
_TYPES: Mapping[str, tuple[type, ...]] = {
    **{"schema": (dict, str), "unit": (str,), "text": (str,), "pattern": (str,)},
    **{"min": (int,), "max": (int,), "ignore_case": (bool,)},
}
_TYPE_WORDS = {dict: "a table or JSON text", str: "a text", int: "a whole number", bool: "true or false"}


def _contains(rule: Rule, text: str) -> bool:
    texts = [normalize("NFC", value) for value in (rule.text, text)]
    wanted, whole = [normalize("NFC", value.casefold()) for value in texts] if rule.ignore_case else texts
    return wanted in whole
