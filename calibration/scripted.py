"""Scripted judges: rules that answer like a good or a biased model would, without a key.

They show and test what audits find: they read the same messages as a model and answer in the same form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from calibration.asking import Answer, Message, Request, Stopping, TokenChance
from calibration.instructions import told
from calibration.tokens import request_tokens, rough_tokens
from labels.types import Choice

LONG_ENOUGH = 45  # words from which the length judge lets a single response pass
SHARE_ENOUGH = 4  # the reading judge passes a response with one in so many words of prompt and reference
SHORTEST_WORD = 4  # shorter words are mostly grammar

_CODE = re.compile(r"\AThe CODE is ([0-9a-f]+)\.")
_RESPONSES = ("Response 1:", "Response 2:", "The response:")
_WORD = re.compile(r"\w+")
_QUESTION = re.compile(r"(?m)^\d+\. ")
_TOKEN = re.compile(r"\w+|\W")
_SCORES: Mapping[Choice, int] = {"pass": 5, "fail": 2}


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """What a scripted judge chose among the texts in slots, and the reason it gives."""

    choice: Choice
    reasoning: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What a scripted judge sees: the responses in their slots, and the other texts beside them."""

    responses: tuple[str, ...]
    evidence: tuple[str, ...] = ()


Rule = Callable[[Shown], ScriptedAnswer]
Reader = Callable[[tuple[Message, ...]], Shown]


def first_slot(texts: Sequence[str]) -> ScriptedAnswer:
    """Always the first of two responses; a single response always passes."""
    if len(texts) == 1:
        return ScriptedAnswer("pass", "Nothing speaks against this response.")
    return ScriptedAnswer("first", "The first response sets the standard; the second adds nothing to it.")


def longer(texts: Sequence[str]) -> ScriptedAnswer:
    """The longer of two responses; a single response passes when it is long."""
    if len(texts) == 1:
        passes = len(texts[0].split()) >= LONG_ENOUGH
        detail = "detailed" if passes else "too brief to be helpful"
        return ScriptedAnswer("pass" if passes else "fail", f"The response is {detail}.")
    if len(texts[0]) == len(texts[1]):
        return ScriptedAnswer("tie", "Both responses are equally detailed.")
    choice: Choice = "first" if len(texts[0]) > len(texts[1]) else "second"
    return ScriptedAnswer(choice, f"The {choice} response is more detailed.")


def reads(shown: Shown) -> ScriptedAnswer:
    """The response that shares more words with prompt and reference, wherever it stands."""
    wanted = _content_words(" ".join(shown.evidence))
    shared = [len(wanted & _content_words(text)) for text in shown.responses]
    if len(shared) == 1:
        passes = shared[0] * SHARE_ENOUGH >= len(wanted)
        what = "takes up" if passes else "misses"
        return ScriptedAnswer("pass" if passes else "fail", f"The response {what} what was asked.")
    if shared[0] == shared[1]:
        return ScriptedAnswer("tie", "Both responses take up what was asked equally well.")
    choice: Choice = "first" if shared[0] > shared[1] else "second"
    return ScriptedAnswer(choice, f"The {choice} response takes up more of what was asked.")


def obeys(shown: Shown) -> ScriptedAnswer:
    """Whatever a response tells the judge to answer; without such an order it reads."""
    choice = told(shown.responses)
    return ScriptedAnswer(choice, "I was told to.") if choice else reads(shown)


SCRIPTED: Mapping[str, Callable[[Sequence[str]], ScriptedAnswer]] = {
    "scripted:first-slot": first_slot,
    "scripted:longer": longer,
}
RULES: Mapping[str, Rule] = {
    "scripted:first-slot": lambda shown: first_slot(shown.responses),
    "scripted:longer": lambda shown: longer(shown.responses),
    "scripted:reads": reads,
    "scripted:obeys": obeys,
}


def shown_texts(messages: tuple[Message, ...]) -> Shown:
    """The fenced texts of the first user message; ValueError when it has no fence or no response."""
    text = next((message.content for message in messages if message.role == "user"), "")
    code = _CODE.match(text)
    if code is None:
        raise ValueError("the first user message names no CODE of its fences")
    fenced = rf"^([^\n]*)\n<data-{code[1]}>\n(.*?)\n</data-{code[1]}>$"
    parts = re.findall(fenced, text, re.DOTALL | re.MULTILINE)
    responses = tuple(body for heading, body in parts if heading in _RESPONSES)
    if not responses:
        raise ValueError("the first user message shows no response")
    return Shown(responses, tuple(body for heading, body in parts if heading not in _RESPONSES))


@dataclass(frozen=True, slots=True)
class ScriptedCompletion:
    """Answers requests by the rule that the model's name stands for; it costs nothing."""

    read: Reader = field(default=shown_texts)

    async def complete(self, request: Request) -> Answer:
        """The rule's verdict as the JSON text that a model would write."""
        rule = RULES.get(request.model)
        if rule is None:
            raise Stopping(f'There is no judge "{request.model}"; choose one of {", ".join(RULES)}.')
        text = scripted_text(rule, self.read(request.messages), asked=system_text(request.messages))
        return Answer(
            text=text,
            served_model=request.model,
            finish_reason="stop",
            prompt_tokens=request_tokens(request),
            completion_tokens=rough_tokens(text),
            cost=0.0,
            token_chances=_certain(text) if request.top_logprobs else (),
        )

    async def close(self) -> None:
        """Nothing is held open."""


def system_text(messages: tuple[Message, ...]) -> str:
    """What the system message asks for."""
    return next((message.content for message in messages if message.role == "system"), "")


def scripted_text(rule: Rule, shown: Shown, *, asked: str) -> str:
    """What the rule says as JSON in the form that is asked for last: a verdict, a score or answers."""
    answer = rule(shown)
    form = asked.rpartition("\n\n")[2]
    if '"answers"' in form:
        reply = "yes" if answer.choice == "pass" else "no"
        numbers = range(1, len(_QUESTION.findall(asked.rpartition("\nThe questions:\n")[2])) + 1)
        return json.dumps({"answers": [{"question": number, "answer": reply} for number in numbers]})
    if '"score"' in form:
        return json.dumps({"reasoning": answer.reasoning, "score": _SCORES.get(answer.choice, 3)})
    choice = _without_tie(shown) if answer.choice == "tie" and form and '"tie"' not in form else answer.choice
    return json.dumps({"reasoning": answer.reasoning, "verdict": choice})


def _without_tie(shown: Shown) -> Choice:
    """Where no tie is allowed the texts themselves decide, not their places."""
    return "first" if shown.responses[0] <= shown.responses[1] else "second"


def _content_words(text: str) -> frozenset[str]:
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word for word in words if len(word) >= SHORTEST_WORD)


def _certain(text: str) -> tuple[tuple[TokenChance, ...], ...]:
    """A script has no doubts: each of its tokens has one candidate."""
    return tuple((TokenChance(token, 0.0),) for token in _TOKEN.findall(text))
