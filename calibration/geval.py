"""The judge that scores a response from 1 to 5, weighted by the probabilities of the score's token.

G-Eval (Liu et al. 2023): the sum of each score times its probability, renormalised over valid scores. A
provider without log-probabilities leaves the plain number. Scores are never compared across models.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from calibration.asking import Answer, Message, TokenChance
from calibration.parsing import Parsed, keyed_objects, reasoning_of, values_of, why_unanswered, word_of
from calibration.pieces import Found, take_apart
from calibration.prompts import (
    DATA_BLOCK,
    EVIDENCE_BLOCKS,
    RUBRIC_BLOCKS,
    JudgePrompt,
    asked_again,
    assemble,
    evidence_texts,
    object_schema,
    repair_request,
    rubric_places,
)
from calibration.types import Unanswered
from labels.text import storable
from labels.types import Choice, Criterion, Item, Rubric, Side

SCORES = (1, 2, 3, 4, 5)
THRESHOLD = 4.0
MARGIN = 0.5
_WORDS = frozenset(map(str, SCORES))
_EXACT = 9  # decimals to which scores are compared, so that 4.1 and 3.6 differ by .5
_TRAILING = 2  # tokens at an answer's end that may have no text, such as the one that ends it
_TOKEN = re.compile(r'[\s":]*([1-5])[\s"}\]]*')
_KEYED = re.compile(r'"score"\s*:\s*"?([1-5])', re.IGNORECASE)
_LABEL = r"[^\w\n]{0,20}(?:(?:my )?(?:final |overall )?score)[*_ ]{0,4}:"
_LABELLED = re.compile(rf"(?im)^{_LABEL}[^\n]*$")
_NUMBER = r"[*_ ]{0,4}([1-5])(?:\.0{1,9})?(?: ?/ ?5| out of 5)?[*_. ]{0,4}"
_SCORE_LINE = re.compile(rf"(?i)(?:{_LABEL})?{_NUMBER}")
SCORE_PROMPT = JudgePrompt(
    "score",
    (
        "You are an impartial judge. You score how well one response to a prompt meets a criterion.",
        *RUBRIC_BLOCKS[:-1],  # the rubric's output part is about verdicts, not scores
        "{pair}",
        DATA_BLOCK,
        "The score is a whole number: 1 when the response does not meet the criterion at all, 2 when it "
        "mostly fails it, 3 when it meets it in part, 4 when it meets it with small faults, 5 when it meets "
        "it fully.",
        "{form}",
    ),
    (*EVIDENCE_BLOCKS, "The response:\n{response}", "Now give your answer."),
)
_PAIR = "The response is one of two; the other is scored alike, and the two scores answer the question."
_FORM = (
    'Answer with a single JSON object and nothing else. It has two keys: first "reasoning", a text with the '
    'reasons that lead to your score, then "score", which is exactly 1, 2, 3, 4 or 5.'
)


@dataclass(frozen=True, slots=True)
class ScoreReading:
    """What a judge's answer says: the weighted score and the plain number, or why there is none.

    `valid_mass` is the probability that fell on valid scores, None without usable log-probabilities; the
    score is then the plain number.
    """

    score: float | None = None
    plain: int | None = None
    valid_mass: float | None = None
    warnings: tuple[str, ...] = ()
    reasoning: str = ""
    error: Unanswered = ""
    fault: str = ""


def score_messages(
    rubric: Rubric, criterion: Criterion, item: Item, *, side: Side = "A"
) -> tuple[Message, ...]:
    """The messages that ask for the score of the response on this side; of a pair each is scored alone."""
    pair = {"pair": _PAIR if item.kind == "pairwise" else ""}
    texts = evidence_texts(rubric, item) | {"response": item.response(side).text}
    return assemble(SCORE_PROMPT, rubric_places(rubric, criterion) | pair | {"form": _FORM}, texts=texts)


def score_schema() -> str:
    """The JSON schema of an answer as canonical text: reasoning first, then the score."""
    score = {"type": "integer", "enum": list(SCORES)}
    return object_schema({"reasoning": {"type": "string"}, "score": score})


def score_repaired(messages: tuple[Message, ...], raw_text: str, *, fault: str) -> tuple[Message, ...]:
    """The conversation that asks once more, with the fault named."""
    return asked_again(messages, raw_text, request=repair_request(fault, _FORM))


def read_score(answer: Answer) -> ScoreReading:
    """The score in an answer, weighted where token probabilities are known; never raises for any text."""
    found = take_apart(answer.text)
    word, place, fault = _plain(found, answer)
    objects, _ = keyed_objects(found, "score")
    said = reasoning_of(objects[-1]) if objects else found.prose
    reasoning = storable("\n\n".join(filter(None, (found.thoughts, said))))
    if not word:
        error, fault = why_unanswered(found, answer.finish_reason, fault=fault, key="score")
        return ScoreReading(reasoning=reasoning, error=error, fault=fault)
    return _weighted(int(word), _chances_at(answer, place), reasoning=reasoning)


def pass_rule(threshold: float = THRESHOLD) -> str:
    """The rule that turns a score into pass or fail, as a sentence."""
    return f"A response passes when its score is at least {threshold:g} of 5."


def pair_rule(margin: float = MARGIN, *, ties: bool = True) -> str:
    """The rule that turns two scores into a pair's winner, as a sentence."""
    if ties:
        least = f"at least {margin:g}" if margin else "any amount"
        return f"The response whose score is higher by {least} is better; otherwise it is a tie."
    return "The response with the higher score is better; with equal scores the pair stays unanswered."


def pass_or_fail(reading: ScoreReading, *, threshold: float = THRESHOLD) -> Parsed:
    """The verdict about a single response: pass from the threshold on."""
    if reading.score is None:
        return Parsed(None, reading.reasoning, reading.error, reading.fault)
    return Parsed("pass" if round(reading.score - threshold, _EXACT) >= 0 else "fail", reading.reasoning)


def winner(first: ScoreReading, second: ScoreReading, *, margin: float = MARGIN, ties: bool = True) -> Parsed:
    """The verdict about a pair from the scores of both: the higher one, a tie within the margin."""
    reasoning = f"Response 1: {first.reasoning}\n\nResponse 2: {second.reasoning}"
    for reading in (first, second):
        if reading.score is None:
            return Parsed(None, reasoning, reading.error, reading.fault)
    ahead = round((first.score or 0) - (second.score or 0), _EXACT)
    if ahead == 0 or (ties and abs(ahead) < margin):
        if ties:
            return Parsed("tie", reasoning)
        return Parsed(None, reasoning, "unparseable", "The scores are equal, and a tie is not allowed here.")
    choice: Choice = "first" if ahead > 0 else "second"
    return Parsed(choice, reasoning)


def _plain(found: Found, answer: Answer) -> tuple[str, int, str]:
    """The score as a word, its place in the text (-1 when unknown), and the fault when there is none."""
    objects, fault = keyed_objects(found, "score")
    words = {word_of(held) for value in objects for held in values_of(value, "score")}
    if fault or not words:
        whole = not fault and why_unanswered(found, answer.finish_reason, fault="", key="score")[0]
        return _in_prose(found, answer.text) if whole == "unparseable" else ("", -1, fault)
    word = words.pop()
    if words:
        return "", -1, "It states scores that contradict each other."
    if word not in _WORDS:
        return "", -1, "The score is no whole number from 1 to 5."
    places = [match.start(1) for match in _KEYED.finditer(answer.text) if match[1] == word]
    return word, places[-1] if places else -1, ""


def _in_prose(found: Found, text: str) -> tuple[str, int, str]:
    """The score in a text without JSON: all of it is the number, or all its lines "Score: 4" agree."""
    lines = [] if found.has_json else _LABELLED.findall(found.prose) or [found.prose]
    matches = [_SCORE_LINE.fullmatch(line.strip()) for line in lines]
    words = {match[1] if match else "" for match in matches}
    last = matches[-1] if matches else None
    if len(words) != 1 or last is None:
        return "", -1, "It states scores that contradict each other." if len(words) > 1 else ""
    start = text.rfind(last.string)
    return last[1], start + last.start(1) if start >= 0 else -1, ""


def _weighted(plain: int, chances: Sequence[TokenChance], *, reasoning: str) -> ScoreReading:
    from calibration.stats.repeats import geval_score

    masses = _masses(chances)
    if plain not in masses:  # the token is not known or is none of a score alone
        return ScoreReading(float(plain), plain, reasoning=reasoning)
    found = geval_score([*masses], [*masses.values()])
    return ScoreReading(found.score, plain, min(found.valid_mass, 1.0), found.warnings, reasoning)


def _masses(chances: Sequence[TokenChance]) -> Mapping[int, float]:
    """The probability of each valid score, over all tokens that spell it; a repeated token counts once."""
    known = {chance.token: chance.logprob for chance in chances if not math.isnan(chance.logprob)}
    masses: defaultdict[int, float] = defaultdict(float)
    for token, logprob in known.items():
        if score := _TOKEN.fullmatch(token):
            masses[int(score[1])] += math.exp(min(logprob, 0.0))
    return {score: mass for score, mass in masses.items() if mass > 0}


def _chances_at(answer: Answer, place: int) -> tuple[TokenChance, ...]:
    """The candidates of the token that holds this place of the text, empty unless exactly one can be it.

    Answers do not say which candidate was written, so the tokens are laid along the text from its end.
    """
    if place < 0:
        return ()
    held = [
        step for step, spans in _spans(answer, place) if any(start <= place < end for start, end in spans)
    ]
    return answer.token_chances[held[0]] if len(held) == 1 else ()


def _spans(answer: Answer, place: int) -> Iterator[tuple[int, set[tuple[int, int]]]]:
    """For each token from the last one back to the place: where in the text its candidates can stand."""
    text, steps = answer.text, answer.token_chances
    ends = {len(text)}
    for step in reversed(range(len(steps))):
        tokens = [chance.token for chance in steps[step] if chance.token]
        spans = {(end - len(token), end) for end in ends for token in tokens if text.endswith(token, 0, end)}
        yield step, spans
        unwritten = len(text) in ends and len(steps) - step <= _TRAILING
        ends = {start for start, _ in spans} | ({len(text)} if unwritten else set())
        if max(ends, default=-1) <= place:
            return
