"""How requests flow: never too many at once, never too fast, again after what passes, and stopped cleanly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from calibration.asking import Answer, Completion, PassingError, Request, Stopping, TooLong
from calibration.tokens import request_tokens

T = TypeVar("T")
LONGEST_WAIT = 600.0  # seconds; who is asked to wait longer does better to start the run again later
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
_SPACING = 0.05  # seconds between requests after a first 429; each further one doubles it
_MOST_SPACING = 10.0
_RECOVERY = 0.7  # each answer shortens the spacing to so much of it
_MAY_PASS = (408, 409, 425, 429)


@dataclass(frozen=True, slots=True)
class Limits:
    """How hard a provider is asked; `failures_in_a_row` requests given up without one answer end the run."""

    concurrency: int = 8
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    tries: int = 6  # about half a minute of patience with a provider that names no wait
    timeout: float = 120.0
    failures_in_a_row: int = 20


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, so that tests can bring their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Interrupted(Exception):  # noqa: N818 - not a fault: the run was told to stop
    """The run was stopped while a request waited for its turn: nothing was asked, nothing is recorded."""


class Gatekeeper:
    """Lets requests through at the allowed pace, and nobody while the provider asks to wait."""

    def __init__(
        self, limits: Limits, *, stop: asyncio.Event | None = None, clock: Clock | None = None, seed: int = 0
    ) -> None:
        self.limits = limits
        self._clock = clock or Clock()
        self._stop = stop or asyncio.Event()
        self._random = Random(seed)
        self._requests_free = self._tokens_free = self._held_until = float("-inf")
        self._spacing = 0.0
        self._failures = self._holds = 0

    async def admit(self, tokens: int) -> None:
        """Wait for the turn of a request of so many tokens; Interrupted when the run is stopped meanwhile."""
        holds = -1
        while holds != self._holds:  # a hold makes all earlier bookings void
            holds = self._holds
            await self.pause(self._reserve(tokens))

    def settle(self, tokens: int) -> None:
        """Charge tokens that were not foreseen; a negative number gives some back."""
        if self.limits.tokens_per_minute:
            self._tokens_free += 60.0 * tokens / self.limits.tokens_per_minute

    def hold(self, seconds: float) -> None:
        """Let nobody through for so long, then one after the other; holds at the same time do not add up."""
        now = self._clock.now()
        if now >= self._held_until:
            self._spacing = min(_MOST_SPACING, max(_SPACING, 2 * self._spacing))
        self._held_until = max(self._held_until, now + seconds)
        self._requests_free = self._tokens_free = self._held_until
        self._holds += 1

    def backoff(self, attempt: int) -> float:
        """The pause after the n-th failure: doubled each time, shaken so that workers part."""
        longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (attempt - 1))
        return longest * (0.5 + self._random.random() / 2)

    def answered(self) -> None:
        """An answer came: the provider is well."""
        self._failures = 0
        self._spacing = self._spacing * _RECOVERY if self._spacing > _SPACING / 10 else 0.0

    def gave_up(self, error: PassingError) -> None:
        """A request was given up; Stopping when there were too many of them in a row."""
        self._failures += 1
        if self._failures >= self.limits.failures_in_a_row:
            raise Stopping(
                f"{self._failures} requests in a row failed; the last one: {error} "
                "What was answered is kept: start the run again when the provider is well."
            )

    async def pause(self, seconds: float) -> None:
        """Sleep, unless the run is stopped before or meanwhile."""
        if self._stop.is_set():
            raise Interrupted
        if seconds <= 0:
            return
        sleeping = asyncio.ensure_future(self._clock.sleep(seconds))
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait((sleeping, stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            stopping.cancel()
        if self._stop.is_set():
            raise Interrupted

    def _reserve(self, tokens: int) -> float:
        """Book the next free moment of both limits; how long it is until then."""
        now, limits = self._clock.now(), self.limits
        start = max(now, self._requests_free, self._tokens_free)
        pace = 60.0 / limits.requests_per_minute if limits.requests_per_minute else 0.0
        self._requests_free = start + max(pace, self._spacing)
        if limits.tokens_per_minute:
            self._tokens_free = start + 60.0 * tokens / limits.tokens_per_minute
        return start - now


def may_pass(error: PassingError) -> bool:
    """Whether the same request may fare better later: not when the provider rejects it as it is."""
    return error.status is None or error.status in _MAY_PASS or error.status >= 500


async def with_retries(ask: Callable[[], Awaitable[T]], gate: Gatekeeper, *, tokens: int = 0) -> T:
    """The answer, asked for again after what may pass; the last PassingError when all tries failed."""
    for attempt in range(1, gate.limits.tries + 1):
        await gate.admit(tokens)
        try:
            answer = await ask()
        except PassingError as error:
            if attempt == gate.limits.tries or not may_pass(error):
                gate.gave_up(error)
                raise
            await _wait_after(error, gate, attempt=attempt)
        except TooLong:
            gate.answered()  # it did answer
            raise
        else:
            gate.answered()
            return answer
    raise ValueError("the limits allow no try at all")


async def _wait_after(error: PassingError, gate: Gatekeeper, *, attempt: int) -> None:
    """Wait as long as the provider asks, or longer each time; a 429 makes all workers wait."""
    pause = gate.backoff(attempt) if error.retry_after is None else error.retry_after
    if pause > LONGEST_WAIT:
        raise Stopping(
            f"The provider asks to wait {pause / 60:.0f} minutes; what was answered is kept: "
            "start the run again then."
        )
    if error.status == 429:
        gate.hold(pause)
    else:
        await gate.pause(pause)


class Patient:
    """A completion that asks at the allowed pace and again after failures that may pass."""

    def __init__(self, completion: Completion, gate: Gatekeeper) -> None:
        self._completion = completion
        self._gate = gate
        self._output = 0.0  # tokens of a usual answer, to foresee what a request will need

    async def complete(self, request: Request) -> Answer:
        """The answer, or the last failure."""
        counted = self._gate.limits.tokens_per_minute is not None
        foreseen = request_tokens(request) + round(self._output) if counted else 0
        answer = await with_retries(lambda: self._completion.complete(request), self._gate, tokens=foreseen)
        self._gate.settle(answer.prompt_tokens + answer.completion_tokens - foreseen)
        self._output = (
            0.9 * self._output + 0.1 * answer.completion_tokens if self._output else answer.completion_tokens
        )
        return answer

    async def close(self) -> None:
        """Give back connections."""
        await self._completion.close()
