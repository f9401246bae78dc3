"""What every audit must do, run over the list of audits."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import pytest
from audit_material import JUDGE, Script, material_of

from calibration.audits import AUDITS, findings
from calibration.material import Material
from calibration.stats.estimate import Estimate
from calibration.types import Finding
from labels.types import KindName, Side, Value

KINDS_OF_ITEM: tuple[KindName, ...] = ("pairwise", "binary")
SUITED = [(name, kind) for name, audit in AUDITS.items() for kind in audit.kinds]
MODELS = {"length", "self_preference", "format"}  # slower: a hundred runs instead of two hundred
OTHER: dict[Side, Side] = {"A": "B", "B": "A"}
VALUES: dict[Value | None, Value | None] = {"A": "B", "B": "A"}

# The neutral value, and the fault that each audit is there to find.
PLANTED: dict[str, tuple[float, Script]] = {
    "position": (0.0, Script(first_slot=0.4)),
    "length": (1.0, Script(longer=0.5)),
    "self_preference": (0.0, Script(own=0.35)),
    "format": (1.0, Script(marked=0.5)),
    "obedience": (0.0, Script(orders=0.3, obeys=0.6)),
    "leniency": (0.0, Script(kind="binary", lenient=0.35)),
    "repeatability": (0.9, Script(noise=0.4, repeats=3)),
    "coverage": (0.05, Script(silent=0.1)),
    "drift": (0.0, Script(attempts=2, drift=0.4)),
    "human_position": (0.5, Script(human_first=0.3)),
    "annotators": (0.0, Script(ties=True)),
}


def emptied(material: Material) -> Material:
    return replace(material, items=[], labels=[], verdicts=[], repeat_labels=[], attempts=[])


def only_first(material: Material) -> Material:
    kept = material.items[0].id
    return replace(
        material,
        items=material.items[:1],
        labels=[label for label in material.labels if label.item_id == kept],
        verdicts=[verdict for verdict in material.verdicts if verdict.item_id == kept],
        repeat_labels=[label for label in material.repeat_labels if label.item_id == kept],
        attempts=[attempt for attempt in material.attempts if attempt.item_id == kept],
    )


def always(material: Material, value: Value) -> Material:
    choice = "tie" if value == "tie" else "pass" if value == "pass" else None
    return replace(
        material,
        labels=[replace(label, value=value) for label in material.labels],
        verdicts=[replace(verdict, value=value, choice=choice) for verdict in material.verdicts],
        repeat_labels=[replace(label, value=value) for label in material.repeat_labels],
        attempts=[replace(attempt, choice=choice or "first") for attempt in material.attempts],
    )


def all_ties(material: Material) -> Material:
    return always(material, "tie" if material.criterion.kind == "pairwise" else "fail")


def one_class(material: Material) -> Material:
    return always(material, "A" if material.criterion.kind == "pairwise" else "pass")


def all_unanswered(material: Material) -> Material:
    return replace(
        material,
        verdicts=[replace(v, value=None, choice=None, error="unparseable") for v in material.verdicts],
        attempts=[],
    )


def unlabelled(material: Material) -> Material:
    return replace(material, labels=[], repeat_labels=[])


POOR: list[Callable[[Material], Material]] = [
    emptied,
    only_first,
    all_ties,
    one_class,
    all_unanswered,
    unlabelled,
]


@cache
def material(kind: KindName, n: int = 30, seed: int = 0) -> Material:
    return material_of(Script(kind=kind, n=n, repeats=3, attempts=2, orders=0.4), seed)


@cache
def fair(kind: KindName, seed: int) -> Material:
    return material_of(Script(kind=kind, n=60, noise=0.01, repeats=3, attempts=2, orders=0.4), seed)


@cache
def planted(name: str, seed: int = 1) -> Material:
    return material_of(PLANTED[name][1], seed)


def all_findings() -> Iterator[tuple[str, Finding]]:
    """Findings of every audit over rich and poor material."""
    for kind in KINDS_OF_ITEM:
        for name, audit in AUDITS.items():
            yield name, audit.find(material(kind), JUDGE)
            yield from ((name, audit.find(make(material(kind)), JUDGE)) for make in POOR)
    yield from ((name, AUDITS[name].find(planted(name), JUDGE)) for name in AUDITS)


def numbers(estimate: Estimate) -> list[float]:
    return [x for x in (estimate.value, estimate.low, estimate.high) if x is not None]


def test_there_are_audits_and_each_has_a_planted_fault() -> None:
    assert len(AUDITS) >= 10
    assert set(PLANTED) == set(AUDITS)
    assert all(audit.title and audit.question.endswith("?") and audit.kinds for audit in AUDITS.values())


@pytest.mark.parametrize("name", AUDITS)
@pytest.mark.parametrize("kind", KINDS_OF_ITEM)
@pytest.mark.parametrize("make", POOR, ids=lambda make: make.__name__)
def test_poor_material_gives_a_reason_and_a_need(
    name: str, kind: KindName, make: Callable[[Material], Material]
) -> None:
    finding = AUDITS[name].find(make(material(kind)), JUDGE)
    assert finding.audit == name
    assert finding.estimate.value is None or math.isfinite(finding.estimate.value)
    if finding.estimate.value is None:
        assert finding.weight == "unknown"
        assert finding.need > 0 or finding.estimate.why_undefined == "not_applicable"
    if finding.weight != "unknown":
        assert finding.need == 0


@pytest.mark.parametrize("name", AUDITS)
@pytest.mark.parametrize("make", [emptied, only_first], ids=lambda make: make.__name__)
def test_next_to_nothing_is_never_judged(name: str, make: Callable[[Material], Material]) -> None:
    for kind in KINDS_OF_ITEM:
        finding = AUDITS[name].find(make(material(kind)), JUDGE)
        assert finding.weight == "unknown"
        assert finding.estimate.value is None


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n in AUDITS for k in KINDS_OF_ITEM])
def test_a_kind_that_an_audit_does_not_suit_is_told_so(name: str, kind: KindName) -> None:
    finding = AUDITS[name].find(material(kind), JUDGE)
    unsuited = finding.estimate.why_undefined == "not_applicable"
    assert unsuited == (kind not in AUDITS[name].kinds)


def test_numbers_are_finite_and_lie_in_their_interval() -> None:
    count = 0
    for name, finding in all_findings():
        for estimate in (finding.estimate, *finding.parts.values()):
            count += 1
            assert all(math.isfinite(x) for x in numbers(estimate)), (name, estimate)
            if estimate.value is not None and estimate.low is not None and estimate.high is not None:
                assert estimate.low <= estimate.value <= estimate.high, (name, estimate)
    assert count > 200


def test_sentences_are_plain_and_name_their_n() -> None:
    said = list(all_findings())
    assert len(said) > 100
    for name, finding in said:
        sentence = finding.sentence
        assert sentence.endswith("."), (name, sentence)
        assert sentence[0].isupper() or sentence[0].isdigit()
        assert not re.search(r" p [=<]|kappa = nan|\bnan\b|None|[α-ωΑ-Ω]|  ", sentence), sentence
        assert re.search(rf"(?<![\d.,]){finding.estimate.n:,}(?![\d,])", sentence), (name, sentence)
        assert len(re.findall(r"\.(?:\s|$)", sentence)) <= 3, sentence
        if finding.need:
            assert f"{finding.need}" in sentence, (name, sentence)


@pytest.mark.parametrize(("name", "kind"), SUITED)
def test_the_order_of_items_changes_nothing(name: str, kind: KindName) -> None:
    before = material(kind, n=60)
    mix = random.Random(3)
    places = {item.id: mix.random() for item in before.items}
    after = replace(
        before,
        items=sorted(before.items, key=lambda item: places[item.id]),
        labels=mix.sample(before.labels, len(before.labels)),
        verdicts=mix.sample(before.verdicts, len(before.verdicts)),
        attempts=sorted(before.attempts, key=lambda attempt: places[attempt.item_id]),
    )
    same(AUDITS[name].find(before, JUDGE), AUDITS[name].find(after, JUDGE))


@pytest.mark.parametrize("name", [name for name, kind in SUITED if kind == "pairwise"])
def test_which_side_is_called_a_changes_nothing(name: str) -> None:
    for script in (Script(n=60, repeats=3, attempts=2), replace(PLANTED[name][1], kind="pairwise")):
        before = material_of(script, 4)
        same(AUDITS[name].find(before, JUDGE), AUDITS[name].find(sides_renamed(before), JUDGE))


@pytest.mark.parametrize(("name", "kind"), SUITED)
def test_the_names_of_annotators_change_nothing_but_names(name: str, kind: KindName) -> None:
    before = material(kind, n=60)
    ids = {"p0": "q9", "p1": "q5", "p2": "q1"}
    after = replace(
        before,
        annotators=[
            replace(x, id=ids[x.id], name=x.name.replace("Person", "Who")) for x in before.annotators
        ],
        labels=[replace(x, annotator_id=ids[x.annotator_id]) for x in before.labels],
        repeat_labels=[replace(x, annotator_id=ids[x.annotator_id]) for x in before.repeat_labels],
    )
    found = AUDITS[name].find(after, JUDGE)
    same(AUDITS[name].find(before, JUDGE), replace(found, sentence=found.sentence.replace("Who", "Person")))


@pytest.mark.parametrize("name", AUDITS)
def test_a_planted_fault_is_found_at_200_items(name: str) -> None:
    neutral, _ = PLANTED[name]
    finding = AUDITS[name].find(planted(name), JUDGE)
    low, high = finding.estimate.low, finding.estimate.high
    assert finding.weight == "concern", finding.sentence
    assert low is not None
    assert high is not None
    assert low > neutral or high < neutral
    assert finding.items or name == "length"


@pytest.mark.parametrize(("name", "kind"), SUITED)
def test_an_unbiased_judge_is_no_concern_in_19_of_20_runs(name: str, kind: KindName) -> None:
    runs = 200
    weights = Counter(AUDITS[name].find(fair(kind, seed), JUDGE).weight for seed in range(runs))
    assert weights["concern"] <= 0.05 * runs, weights


@pytest.mark.parametrize("kind", KINDS_OF_ITEM)
def test_findings_are_those_of_the_kind_and_the_worst_stands_first(kind: KindName) -> None:
    found = findings(material_of(Script(kind=kind, n=60, lenient=0.5, silent=0.3), 2), JUDGE)
    assert {finding.audit for finding in found} == {n for n, audit in AUDITS.items() if kind in audit.kinds}
    places = [("concern", "watch", "unknown", "fine").index(finding.weight) for finding in found]
    assert places == sorted(places)
    assert places[0] == 0


def test_a_judge_without_verdicts_is_unknown_everywhere_and_people_are_still_audited() -> None:
    found = {finding.audit: finding for finding in findings(material("pairwise", n=60), "nobody")}
    of_judges = [finding for name, finding in found.items() if name not in ("human_position", "annotators")]
    assert all(finding.weight == "unknown" for finding in of_judges)
    assert found["human_position"].subject == found["annotators"].subject == "annotators"
    assert found["human_position"].estimate.value is not None


def same(one: Finding, other: Finding) -> None:
    assert (one.weight, one.need, one.items) == (other.weight, other.need, other.items)
    assert one.sentence == other.sentence
    assert numbers(one.estimate) == pytest.approx(numbers(other.estimate), abs=1e-6)


def sides_renamed(before: Material) -> Material:
    """The same material with A and B exchanged everywhere; slots stay as they were."""

    def first(side: Side | None) -> Side | None:
        return None if side is None else OTHER[side]

    def turned(value: Value | None) -> Value | None:
        return VALUES.get(value, value)

    return replace(
        before,
        items=[
            replace(item, responses=tuple(replace(r, side=OTHER[r.side]) for r in reversed(item.responses)))
            for item in before.items
        ],
        labels=[replace(x, value=turned(x.value), first=first(x.first)) for x in before.labels],
        repeat_labels=[replace(x, value=turned(x.value), first=first(x.first)) for x in before.repeat_labels],
        verdicts=[replace(x, value=turned(x.value), first=first(x.first)) for x in before.verdicts],
        attempts=[replace(x, first=first(x.first)) for x in before.attempts],
    )
