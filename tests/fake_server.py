"""A local OpenAI-compatible server with seeded faults: everything that a provider does wrong, on demand."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from calibration.asking import Message
from calibration.scripted import RULES, Reader, scripted_text, shown_texts, system_text

Json = dict[str, object]
KINDS = ("slow", "rate_limit", "error", "drop", "garbage", "refusal", "cut_off", "drip", "empty")
REFUSAL = "I'm sorry, but I cannot help with judging this."


@dataclass(frozen=True)
class Faults:
    """How often each kind of fault happens; the last tries of a request can be kept free of them."""

    rates: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    attempts: int = 10**9
    retry_after: str = "0"
    delay: float = 0.2

    def __post_init__(self) -> None:
        unknown = set(self.rates) - set(KINDS)
        assert not unknown, unknown

    def strikes(self, key: str, attempt: int) -> str:
        """The fault of this attempt at this request, by hash alone; empty for none."""
        if attempt > self.attempts:
            return ""
        digest = hashlib.sha256(f"{self.seed} {key} {attempt}".encode()).digest()
        chance = int.from_bytes(digest[:8], "big") / 2**64
        for kind, rate in self.rates.items():
            if chance < rate:
                return kind
            chance -= rate
        return ""


@dataclass(frozen=True)
class Setup:
    """What the server is like."""

    behaviour: str = "reads"
    faults: Faults = field(default_factory=Faults)
    latency: float = 0.0
    rejects: frozenset[str] = frozenset()
    key: str = ""
    models: frozenset[str] = frozenset()
    context: int = 10**9
    served: str = ""
    reasoning: str = ""
    counts: int | None = None
    fail: tuple[int, str] | None = None
    read: Reader = shown_texts
    answer: Callable[[Json], str] | None = None


@dataclass(frozen=True)
class Call:
    """One request that arrived: the hash of its body, its number among its equals, what was done."""

    key: str
    attempt: int
    fault: str
    body: Json
    at: float
    authorization: str = field(repr=False)


class FakeServer:
    """The server's address and the log of what arrived."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.calls: list[Call] = []
        self.answered: Counter[str] = Counter()
        self.api_base = ""
        self._attempts: Counter[str] = Counter()
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.api_base = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        routes = [Route("/v1/chat/completions", self._serve, methods=["POST"])]
        # Idle connections stay open, or a client that is held up meets faults that nobody ordered.
        config = uvicorn.Config(
            Starlette(routes=routes), log_level="critical", lifespan="off", ws="none", timeout_keep_alive=600
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    def start(self) -> None:
        """Serve; returns when requests are taken."""
        self._thread.start()
        deadline = time.monotonic() + 20
        while not self._server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.005)

    def stop(self) -> None:
        """Stop serving, whatever is still under way."""
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(20)
        self._socket.close()

    def count(self, *, fault: str | None = None) -> int:
        """How many calls arrived, all or those that met a fault."""
        return sum(1 for call in self.calls if fault is None or call.fault == fault)

    async def _serve(self, http: HttpRequest) -> Response:
        raw = await http.body()
        body: Json = json.loads(raw)
        key = hashlib.sha256(raw).hexdigest()[:16]
        self._attempts[key] += 1
        attempt = self._attempts[key]
        fault = self.setup.faults.strikes(key, attempt)
        authorization = http.headers.get("authorization", "")
        self.calls.append(Call(key, attempt, fault, body, time.monotonic(), authorization))
        if self.setup.latency:
            await asyncio.sleep(self.setup.latency)
        refused = self._refused(body, authorization)
        if refused is not None:
            return refused
        response = await self._with_fault(fault, body)
        if fault in ("", "slow", "drip"):
            self.answered[key] += 1
        return response

    def _refused(self, body: Json, authorization: str) -> Response | None:
        setup = self.setup
        if setup.fail is not None:
            return failure(setup.fail[0], setup.fail[1])
        if setup.key and authorization != f"Bearer {setup.key}":
            given = authorization.removeprefix("Bearer ")
            return failure(401, f"Incorrect API key provided: {given}.", code="invalid_api_key")
        if setup.models and body["model"] not in setup.models:
            return failure(404, f"The model `{body['model']}` does not exist", code="model_not_found")
        length = sum(len(message.content) for message in messages_of(body))
        if length > setup.context:
            text = f"This model's maximum context length is {setup.context} tokens."
            return failure(400, text, code="context_length_exceeded", param="messages")
        return self._rejected(body)

    def _rejected(self, body: Json) -> Response | None:
        for name in sorted(self.setup.rejects):
            form = body.get("response_format")
            kind = form.get("type") if isinstance(form, dict) else None
            if name in body or name == kind:
                param = "response_format" if name == kind else name
                text = f"Unsupported parameter: '{name}' is not supported with this model."
                return failure(400, text, code="unsupported_parameter", param=param)
        return None

    async def _with_fault(self, fault: str, body: Json) -> Response:
        faults = self.setup.faults
        if fault == "slow":
            await asyncio.sleep(faults.delay)
        if fault == "rate_limit":
            return failure(429, "Slow down.", headers={"retry-after": faults.retry_after})
        if fault == "error":
            return failure(500, "Something broke.")
        if fault == "drop":
            return Dropped()
        if fault == "garbage":
            return Response("<html>oops", media_type="application/json")
        reply = self._reply(fault, body)
        if fault == "drip":
            return StreamingResponse(dripping(json.dumps(reply), faults.delay), media_type="application/json")
        return JSONResponse(reply)

    def _reply(self, fault: str, body: Json) -> Json:
        text = {"refusal": REFUSAL, "empty": ""}.get(fault)
        if text is None:
            text = self.setup.answer(body) if self.setup.answer else self._judged(body)
        if fault == "cut_off":
            text = text[: len(text) // 2]
        message: Json = {"role": "assistant", "content": text}
        if self.setup.reasoning:
            message["reasoning_content"] = self.setup.reasoning
        choice: Json = {
            "index": 0,
            "message": message,
            "finish_reason": "length" if fault == "cut_off" else "stop",
            "logprobs": {"content": chances(text)} if body.get("logprobs") else None,
        }
        words = self.setup.counts
        if words is None:
            words = sum(len(message.content.split()) for message in messages_of(body))
        usage = {"prompt_tokens": words, "completion_tokens": 20, "total_tokens": words + 20}
        served = self.setup.served or body["model"]
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": served,
            "choices": [choice],
            "usage": usage,
        }

    def _judged(self, body: Json) -> str:
        messages = messages_of(body)
        rule = RULES[f"scripted:{self.setup.behaviour}"]
        return scripted_text(rule, self.setup.read(messages), asked=system_text(messages))


class Dropped(Response):
    """A response that never comes: the connection is cut after the headers."""

    async def __call__(self, scope: object, receive: object, send: Callable[..., object]) -> None:
        headers = [(b"content-length", b"1000"), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})  # type: ignore[misc]
        await send({"type": "http.response.body", "body": b'{"id"', "more_body": True})  # type: ignore[misc]
        raise ConnectionAbortedError


def failure(
    status: int, text: str, *, code: str = "", param: str = "", headers: Mapping[str, str] | None = None
) -> Response:
    """An error in the form that OpenAI gives it."""
    error = {"message": text, "type": "invalid_request_error", "param": param or None, "code": code or None}
    return JSONResponse({"error": error}, status_code=status, headers=dict(headers or {}))


def chances(text: str) -> list[Json]:
    """Log-probabilities for each character pair of the text, with one rival."""
    tokens = [text[start : start + 2] for start in range(0, len(text), 2)]
    return [
        {
            "token": token,
            "logprob": -0.25,
            "bytes": None,
            "top_logprobs": [
                {"token": token, "logprob": -0.25, "bytes": None},
                {"token": "?", "logprob": -1.5, "bytes": None},
            ],
        }
        for token in tokens
    ]


async def dripping(text: str, seconds: float) -> AsyncIterator[bytes]:
    """The text in twenty pieces with a pause before each."""
    size = len(text) // 20 + 1
    for start in range(0, len(text), size):
        await asyncio.sleep(seconds)
        yield text[start : start + size].encode()


def messages_of(body: Json) -> tuple[Message, ...]:
    """The messages of a request body."""
    messages = body["messages"]
    assert isinstance(messages, list)
    return tuple(Message(message["role"], message["content"]) for message in messages)


@contextmanager
def fake_server(behaviour: str = "reads", **settings: object) -> Iterator[FakeServer]:
    """A running server, stopped at the end."""
    server = FakeServer(Setup(behaviour=behaviour, **settings))  # type: ignore[arg-type]
    server.start()
    try:
        yield server
    finally:
        server.stop()
