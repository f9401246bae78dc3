"""The rule judge: what each rule lets through, and how a mistake in the rules is told."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration import json_schemas
from calibration.rules import RULES, Rule, judge_by_rules, rules_from_text, rules_version
from labels.errors import UserError

SCHEMA = '{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 1}}}'
EXAMPLES = {
    "json": (Rule("json"), '{"a": [1, 2]}', "{'a': 1}"),
    "json_schema": (Rule("json_schema", schema=SCHEMA), '{"n": 3}', '{"n": 0}'),
    "length": (Rule("length", unit="words", min=2, max=3), "two words", "one"),
    "must_contain": (Rule("must_contain", text="Paris"), "It is Paris.", "It is paris."),
    "must_not_contain": (Rule("must_not_contain", text="sorry"), "Here it is.", "I am sorry."),
    "must_match": (Rule("must_match", pattern=r"^\d+$"), "42", "42 of them"),
    "must_not_match": (Rule("must_not_match", pattern=r"\bas an AI\b"), "Take two.", "Well, as an AI"),
}
texts = st.text(max_size=40) | st.sampled_from([text for _, *pair in EXAMPLES.values() for text in pair])
some_rules = st.lists(st.sampled_from([rule for rule, *_ in EXAMPLES.values()]), min_size=1, max_size=4)


def choice(rule, text):
    return judge_by_rules([rule], [text]).choice


def read(**rule):
    return rules_from_text(json.dumps([rule]))


def test_every_kind_of_rule_has_an_example_here():
    assert set(EXAMPLES) == set(RULES)


@pytest.mark.parametrize("name", RULES)
def test_a_response_that_keeps_the_rule_passes_and_one_that_breaks_it_fails_with_the_rule_named(name):
    rule, keeps, breaks = EXAMPLES[name]
    assert judge_by_rules([rule], [keeps]).reasoning == "The response keeps every rule."
    assert choice(rule, keeps) == "pass"
    assert choice(rule, breaks) == "fail"
    assert f"breaks {name}: it " in judge_by_rules([rule], [breaks]).reasoning


@pytest.mark.parametrize("name", RULES)
def test_a_pair_goes_to_the_response_that_keeps_the_rule_alone(name):
    rule, keeps, breaks = EXAMPLES[name]
    assert judge_by_rules([rule], [keeps, breaks]).choice == "first"
    assert judge_by_rules([rule], [breaks, keeps]).choice == "second"
    assert judge_by_rules([rule], [keeps, keeps]).choice == "tie"
    assert judge_by_rules([rule], [breaks, breaks]).choice == "tie"


@given(some_rules, texts, texts)
def test_swapping_the_slots_swaps_the_winner(kept, first, second):
    other = {"first": "second", "second": "first", "tie": "tie"}
    swapped = judge_by_rules(kept, [second, first]).choice
    assert judge_by_rules(kept, [first, second]).choice == other[swapped]


@given(some_rules, texts)
def test_a_rule_never_differs_from_itself(kept, text):
    assert judge_by_rules(kept, [text]) == judge_by_rules(kept, [text])
    assert judge_by_rules(kept, [text, text]).choice == "tie"


@given(some_rules, texts, texts)
def test_the_winner_of_a_pair_passes_alone_and_the_loser_fails(kept, first, second):
    alone = [judge_by_rules(kept, [text]).choice for text in (first, second)]
    expected = {("pass", "fail"): "first", ("fail", "pass"): "second"}
    assert judge_by_rules(kept, [first, second]).choice == expected.get(tuple(alone), "tie")


def test_the_reasoning_names_each_broken_rule_of_each_response():
    kept = [Rule("json"), Rule("length", unit="words", max=2), Rule("must_contain", text="x")]
    verdict = judge_by_rules(kept, ["one two three", '"x"'])
    assert verdict.choice == "second"
    assert verdict.reasoning == (
        "The first response breaks json: it is not valid JSON (Expecting value: line 1 column 1 (char 0)); "
        "length: it has 3 words, more than 2; must_contain: it lacks 'x'; the second keeps every rule."
    )


@pytest.mark.parametrize("count", [0, 3])
def test_only_one_or_two_responses_are_judged(count):
    with pytest.raises(ValueError, match="unpack"):
        judge_by_rules([Rule("json")], ["1"] * count)


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", "", " ", "{} {}", "```json\n{}\n```", "\ufeff{}", "[" * 200_000]
)
def test_what_the_standard_does_not_allow_is_not_valid_json(text):
    assert choice(Rule("json"), text) == "fail"


@pytest.mark.parametrize("text", ["1", '"é"', " [1,\n2] ", "null", '{"a": 1, "a": 2}'])
def test_any_value_of_the_standard_is_valid_json(text):
    assert choice(Rule("json"), text) == "pass"


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_whatever_json_writes_is_valid_json(value):
    assert choice(Rule("json"), json.dumps(value)) == "pass"


def test_the_place_where_a_schema_is_not_followed_is_named():
    reasoning = judge_by_rules([Rule("json_schema", schema=SCHEMA)], ['{"n": "three"}']).reasoning
    assert "does not follow the schema at $.n: 'three' is not of type 'integer'" in reasoning
    assert "is not valid JSON" in judge_by_rules([Rule("json_schema", schema=SCHEMA)], ["n"]).reasoning


def test_a_long_response_does_not_fill_the_reasoning():
    text = json.dumps({"n": "x" * 10_000})
    assert len(judge_by_rules([Rule("json_schema", schema=SCHEMA)], [text]).reasoning) < 400


def test_a_schema_may_refer_to_its_own_parts():
    schema = {"$defs": {"id": {"type": "string", "pattern": "^b"}}, "items": {"$ref": "#/$defs/id"}}
    (rule,) = read(rule="json_schema", schema=schema)
    assert choice(rule, '["b1"]') == "pass"
    assert "at $[0]: 'a1' does not match '^b'" in judge_by_rules([rule], ['["a1"]']).reasoning


def test_a_response_nested_too_deeply_for_a_schema_of_itself_fails():
    (rule,) = read(rule="json_schema", schema={"items": {"$ref": "#"}})
    assert choice(rule, "[" * 900 + "]" * 900) == "fail"


def test_lengths_count_composed_characters_and_words_between_blanks():
    composed, apart = "caf\u00e9", "cafe\u0301"
    four = Rule("length", unit="characters", min=4, max=4)
    assert [choice(four, text) for text in (composed, apart, "five!")] == ["pass", "pass", "fail"]
    three = Rule("length", unit="words", min=3, max=3)
    assert choice(three, "  one\ntwo,\tthree!\u00a0") == "pass"


def test_both_bounds_of_a_length_are_allowed():
    rule = Rule("length", unit="characters", min=2, max=4)
    assert [choice(rule, "x" * n) for n in range(1, 6)] == ["fail", "pass", "pass", "pass", "fail"]


def test_case_counts_unless_told_and_the_way_an_accent_is_written_never_does():
    assert choice(Rule("must_contain", text="STRASSE", ignore_case=True), "die Straße") == "pass"
    assert choice(Rule("must_contain", text="Straße"), "die STRASSE") == "fail"
    assert choice(Rule("must_contain", text="caf\u00e9"), "un cafe\u0301") == "pass"
    assert choice(Rule("must_match", pattern="^caf.$"), "cafe\u0301") == "pass"
    assert choice(Rule("must_not_match", pattern="sorry", ignore_case=True), "SORRY") == "fail"


def test_what_a_forbidden_pattern_found_is_shown():
    reasoning = judge_by_rules(
        [Rule("must_not_match", pattern=r"\d{3}-\d+")], ["call 555-1234 now"]
    ).reasoning
    assert reasoning.endswith(r"must_not_match: it matches '\\d{3}-\\d+' with '555-1234'.")


def test_a_pattern_that_never_ends_is_stopped_and_named(monkeypatch):
    monkeypatch.setattr(json_schemas, "SEARCH_SECONDS", 0.05)
    rule = Rule("must_match", pattern="(a|aa)+$")
    with pytest.raises(UserError, match=r"\(a\|aa\)\+\$.*61 characters for 0.05 s.*repeat inside a repeat"):
        judge_by_rules([rule], ["a" * 60 + "!"])
    (schema,) = read(rule="json_schema", schema={"pattern": "(a|aa)+$"})
    with pytest.raises(UserError, match="without an end"):
        judge_by_rules([schema], [json.dumps("a" * 60 + "!")])


TOML = """
[[rules]]
rule = "length"
unit = "words"
max = 200

[[rules]]
rule = "json_schema"
[rules.schema]
type = "object"
required = ["n"]

[[rules]]
rule = "must_match"
pattern = '\\d'
"""


def test_rules_are_read_from_toml_and_from_json():
    kept = rules_from_text(TOML)
    assert [rule.name for rule in kept] == ["length", "json_schema", "must_match"]
    assert kept[0] == Rule("length", unit="words", max=200)
    written = [
        {"rule": "length", "unit": "words", "max": 200},
        {"rule": "json_schema", "schema": {"required": ["n"], "type": "object"}},
        {"rule": "must_match", "pattern": "\\d"},
    ]
    for text in (json.dumps(written), json.dumps({"rules": written})):
        assert rules_version(rules_from_text(text)) == rules_version(kept)


def test_the_version_is_of_what_the_rules_say_not_of_how_they_are_written():
    kept = rules_from_text(TOML)
    assert rules_version(kept[::-1]) == rules_version(kept) == rules_version((*kept, kept[0]))
    (explicit,) = read(rule="length", unit="words", min=0, max=200)
    assert rules_version([explicit]) == rules_version(kept[:1])
    versions = {rules_version([rule]) for rule, *_ in EXAMPLES.values()}
    assert len(versions) == len(EXAMPLES)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rules = x", r"not valid TOML: .*line 1"),
        ('[{"rule": "json"},]', r"not valid JSON: .*line 1 column 19"),
        ("", "must be .*rules.* tables"),
        ("[]", "must be .*rules.* tables"),
        ('{"rules": {}}', "must be .*rules.* tables"),
        ("[[rule]]\nrule = 'json'", "must be .*rules.* tables"),
        ("[[rules]]\nname = 'json'", r"Rule 1 is ''; write rule = .* one of json, json_schema"),
        ('[{"rule": "json"}, {"rule": "max_words"}]', r"Rule 2 is 'max_words'; write rule"),
        ('[{"rule": "json"}, 3]', r"Rule 2 is ''; write"),
        ('[{"rule": ["json"]}]', r"Rule 1 is .* one of json"),
        ('[{"rule": "json", "strict": true}]', r"Rule 1 \(json\): there is no setting 'strict'"),
        ('[{"rule": "must_contain"}]', r"Rule 1 \(must_contain\): text is missing or empty"),
        ('[{"rule": "must_contain", "text": ""}]', "text is missing or empty; give it a text"),
        ('[{"rule": "must_contain", "text": 3}]', "text must be a text, not 3"),
        ('[{"rule": "must_match", "pattern": "(a"}]', r"'\(a' is no regular expression: missing \)"),
        (
            '[{"rule": "must_match", "pattern": "(?:a{9999}){9999}"}]',
            "repeats more than 10,000,000 times",
        ),
        (f'[{{"rule": "must_match", "pattern": "{"(" * 5000}{")" * 5000}"}}]', "nested too deeply"),
        ('[{"rule": "must_match", "pattern": "a", "ignore_case": 1}]', "must be true or false, not 1"),
        ('[{"rule": "length", "max": 3}]', "unit is missing"),
        ('[{"rule": "length", "unit": "lines", "max": 3}]', 'must be "characters" or "words", not .lines'),
        ('[{"rule": "length", "unit": "words"}]', "every length is allowed; write min, max or both"),
        ('[{"rule": "length", "unit": "words", "max": true}]', "max must be a whole number, not True"),
        ('[{"rule": "length", "unit": "words", "max": 2.0}]', "max must be a whole number, not 2.0"),
        ('[{"rule": "length", "unit": "words", "min": 5, "max": 4}]', "min 5 and max 4 leave no length"),
        ('[{"rule": "length", "unit": "words", "min": -1}]', "write 0 <= min <= max"),
        ('[{"rule": "json_schema", "schema": "{"}]', "the schema is not valid JSON: .*line 1"),
        ('[{"rule": "json_schema", "schema": {"type": "text"}}]', r"the schema is wrong at \$.type"),
        ('[{"rule": "json_schema", "schema": {"pattern": "(a"}}]', r"the schema is wrong at \$.pattern"),
        ('[{"rule": "json_schema", "schema": {"$ref": "http://a/b"}}]', "does not hold 'http://a/b'; copy"),
        ('[{"rule": "json_schema", "schema": {"items": {"$ref": "#/$defs/x"}}}]', "does not hold .*defs/x"),
    ],
)
def test_a_mistake_in_the_rules_is_told_with_its_place_and_remedy(text, told):
    with pytest.raises(UserError, match=told):
        rules_from_text(text)


@given(st.text() | st.binary().map(lambda data: data.decode(errors="replace")))
def test_no_text_makes_reading_rules_fail_otherwise(text):
    for whole in (text, f"[{text}", f'[[rules]]\nrule = "must_match"\npattern = {json.dumps(text)}'):
        with suppress(UserError):
            assert rules_from_text(whole)


@pytest.mark.parametrize(
    "schema",
    [
        '{"patternProperties": {"(a|aa)+$": {}}}',
        '{"patternProperties": {"(a|aa)+$": {}}, "additionalProperties": false}',
        '{"properties": {"x": {"patternProperties": {"(a|aa)+$": {"type": "string"}}}}}',
    ],
)
def test_a_pattern_for_names_that_never_ends_is_told_like_any_other(schema, monkeypatch):
    monkeypatch.setattr(json_schemas, "SEARCH_SECONDS", 0.05)
    names = f'{{"{"a" * 60}!": 1}}'
    text = f'{{"x": {names}}}' if '"x"' in schema else names
    with pytest.raises(UserError, match="without an end"):
        judge_by_rules([Rule("json_schema", schema=schema)], [text])


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ('{"n_one": 1}', "pass"),
        ('{"n_one": "1"}', "fail"),
        ('{"other": 1}', "fail"),
        ('{"name": "x", "n_two": 2}', "pass"),
        ("[1]", "pass"),
    ],
)
def test_patterns_for_names_and_other_properties_follow_the_json_schema_rules(text, choice):
    # by hand from JSON Schema 2020-12, sections 10.3.2.2 and 10.3.2.3
    schema = (
        '{"properties": {"name": {}}, "patternProperties": {"^n_": {"type": "integer"}},'
        ' "additionalProperties": false}'
    )
    assert judge_by_rules([Rule("json_schema", schema=schema)], [text]).choice == choice
