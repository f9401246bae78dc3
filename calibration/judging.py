"""The nouns of a judge run: who is asked what, how often, and what came of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from calibration.asking import Message, Request
from calibration.types import Unanswered
from labels.types import Choice, Criterion, Rubric, Side

RunState = Literal["imported", "running", "stopping", "stopped", "done"]
Mode = Literal["verdict", "questions", "score", "rule", "reference", "command"]


@dataclass(frozen=True, slots=True)
class JudgeRun:
    """One judge, one rubric version, one way of asking; the same run goes on when it is started again.

    `settings` holds all that decides an answer beyond model and prompt, as texts; `rubric_id` is empty for
    judges that are code.
    """

    name: str
    criterion_id: str
    rubric_id: str
    model: str
    mode: Mode = "verdict"
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The hash of all that makes it this run."""
        parts = (self.name, self.criterion_id, self.rubric_id, self.model, self.mode)
        text = json.dumps([*parts, sorted(self.settings.items())], ensure_ascii=False)
        return "j" + hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class Brief:
    """All that a way of asking needs to know."""

    run: JudgeRun
    criterion: Criterion
    rubric: Rubric

    def number(self, name: str, otherwise: float) -> float:
        """A number among the run's settings."""
        return float(self.run.settings.get(name) or otherwise)


@dataclass(frozen=True, slots=True)
class Job:
    """One verdict to get: an item in one order, for the n-th time."""

    item_id: str
    first: Side | None
    repeat: int
    request: Request

    @property
    def key(self) -> str:
        """What tells it from every other job: items with equal texts share a request, not a verdict."""
        return job_key(self.request.key, self.item_id, self.first or "", self.repeat)


def job_key(request_key: str, item_id: str, first: str, repeat: int) -> str:
    """The key of a job from its parts."""
    return f"{request_key} {item_id} {first} {repeat}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one job brought: a choice or the reason why there is none, and what it cost.

    `calls` counts requests that were answered, a repair included; `cost` is in dollars, None when the
    price of any of them is unknown.
    """

    choice: Choice | None
    error: Unanswered = ""
    reasoning: str = ""
    text: str = ""
    thinking: str = ""
    served_model: str = ""
    finish_reason: str = ""
    calls: int = 1
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    latency: float = 0.0
    left_out: tuple[str, ...] = ()
    details: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a judge saw and what it wrote back."""

    messages: tuple[Message, ...]
    text: str
    thinking: str
    served_model: str


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A judge run as lists show it; `cost` is None when no price is known, and `unpriced` counts calls.

    `tuned` says that a setting was chosen on the project's own labels. `valid_mass` is the probability that
    fell on the scores asked for, on average, `least_mass` that of the worst answer; None where no answer
    came with probabilities.
    """

    id: str
    judge: str
    model: str
    state: RunState
    verdicts: int
    unanswered: Mapping[str, int]
    calls: int
    cost: float | None
    unpriced: int
    latency: float | None
    served: tuple[str, ...]
    left_out: tuple[str, ...]
    started_at: str
    rubric_id: str
    criterion_id: str = ""
    tuned: bool = False
    valid_mass: float | None = None
    least_mass: float | None = None
