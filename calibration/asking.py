"""What a judge is asked and what comes back: messages, requests, answers and their failures."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Literal, Protocol

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """All that decides an answer: the model, the exact messages, the schema, the settings, the repeat.

    `schema` is the JSON schema of the answer as canonical text, empty where plain text is wanted.
    `temperature` and `seed` are wishes: what the model refuses is left out and recorded in the answer.
    """

    model: str
    messages: tuple[Message, ...]
    schema: str = ""
    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int = 16_000
    top_logprobs: int = 0
    api_base: str = ""
    repeat: int = 0
    _key: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def key(self) -> str:
        """The hash that the answer is stored under, computed once."""
        if not self._key:
            self._key.append(self._hash())
        return self._key[0]

    def _hash(self) -> str:
        messages = [[message.role, message.content] for message in self.messages]
        settings = [self.temperature, self.seed, self.max_tokens, self.top_logprobs, self.api_base]
        text = json.dumps([self.model, messages, self.schema, settings, self.repeat], ensure_ascii=False)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class TokenChance:
    """One candidate for a token of the answer, with its natural logarithm of probability."""

    token: str
    logprob: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, as it came: nothing in it is interpreted yet.

    `cost` is in dollars, None when the price is unknown. `left_out` names settings that the model
    refuses. `token_chances` holds, for each token of the answer, its likeliest candidates.
    """

    text: str
    reasoning: str = ""
    served_model: str = ""
    finish_reason: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    latency: float = 0.0
    left_out: tuple[str, ...] = ()
    token_chances: tuple[tuple[TokenChance, ...], ...] = ()
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


class AskingError(Exception):
    """A request that failed; the text holds no key and no prompt."""


class PassingError(AskingError):
    """A failure that may pass: 429, 5xx, a dropped connection, a time-out. `retry_after` is in seconds."""

    def __init__(self, text: str, *, retry_after: float | None = None, status: int | None = None) -> None:
        super().__init__(text)
        self.retry_after = retry_after
        self.status = status


class TooLong(AskingError):  # noqa: N818 - the state of the item, not a fault of the program
    """The item does not fit the model's context window: unanswered, with this reason."""


class Stopping(AskingError):  # noqa: N818
    """A failure that every further request would share: 401, 403, 404, a wrong model name."""


class Completion(Protocol):
    """Something that answers requests: a model behind litellm, or a script."""

    async def complete(self, request: Request) -> Answer:
        """The answer; PassingError, TooLong or Stopping when there is none."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...
