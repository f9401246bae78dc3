"""What a provider's error means for a run: it may pass, the item is too long, or the run has to stop.

Errors are read by status code and class name only, so nothing here needs the library that raised them.
A provider's own text may hold the key or the prompt; it is quoted only when it holds neither.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from calibration.asking import AskingError, PassingError, Request, Stopping, TooLong

KEY_NAMES: Mapping[str, str] = {  # where the name of the provider does not give it
    "together_ai": "TOGETHERAI_API_KEY",
    "cohere_chat": "COHERE_API_KEY",
    "ollama_chat": "OLLAMA_API_KEY",
    "text-completion-openai": "OPENAI_API_KEY",
    "huggingface": "HF_TOKEN",
    "bedrock": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "vertex_ai": "GOOGLE_APPLICATION_CREDENTIALS",
}
EXAMPLE = "openai/gpt-5-mini"
_LONGEST_QUOTE = 200
_SHORTEST_SECRET = 8
_SHORTEST_ECHO = 12

_SECRET_NAME = re.compile(r"(?i)key|token|secret|password|credential")
_SECRET = re.compile(r"(?i)\b(?:sk|pk|rk|gsk|xai|hf|key|bearer|AIza)[-_ ][\w\-.*]{6,}|\bAIza[\w\-]{10,}")
_PREFIX = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception)\s*[:\- ]\s*)+")
_MESSAGE = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.)+)"')
_TOO_LONG = re.compile(
    r"(?i)context[ _-]?(?:length|window|size)|prompt is too long|input is too long|too many (?:input )?tokens"
    r"|input token count"
)
_NO_KEY = re.compile(
    r"(?i)missing (?:credentials|\w+ api[ _]key)|api[ _]key (?:is )?(?:not |un)set|no api[ _]key"
)
_NO_CREDIT = re.compile(
    r"(?i)insufficient[ _](?:quota|funds|balance|credit)|balance is too low|exceeded your current quota"
)
_NO_MODEL = re.compile(
    r"(?i)provider not provided|model[ _]not[ _]found|(?:invalid|unknown) model"
    r"|\bmodel\b.{0,80}\b(?:does not exist|not found|is not available)"
)
_FLAGGED = re.compile(r"(?i)content[ _]filter|content[ _]policy|moderation|flagged")
_NO_CONNECTION = re.compile(r"(?i)connection error|cannot connect|connect call failed|name resolution")
_NO_JSON = re.compile(r"(?i)expecting value|jsondecodeerror|invalid json")
_LIMIT = re.compile(
    r"(?i)max_(?:completion_|output_|new_)?tokens|maxoutputtokens|(?:for|in) the completion|maximum tokens"
)
_FORMAT = re.compile(
    r"(?i)response_?format|json_?schema|json_?object|structured[ _]outputs?|output_format|grammar"
)
_SETTINGS: Mapping[str, re.Pattern[str]] = {
    "response_format": _FORMAT,
    "top_logprobs": re.compile(r"(?i)top_?logprobs"),
    "logprobs": re.compile(r"(?i)log_?probs|log[ -]probabilit"),
    "temperature": re.compile(r"(?i)temperature"),
    "seed": re.compile(r"(?i)\bseed\b"),
    "max_tokens": _LIMIT,
}


@dataclass(frozen=True, slots=True)
class Fault:
    """An error as it came: the name of its class, its HTTP status, its text, what it names, its headers."""

    kind: str
    status: int | None
    text: str
    param: str = ""
    code: str = ""
    headers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was asked, for the sentences that say what to do."""

    request: Request
    provider: str = ""

    @property
    def key_name(self) -> str:
        """The environment variable that holds the provider's key."""
        return KEY_NAMES.get(self.provider, f"{self.provider.upper() or 'OPENAI'}_API_KEY")

    @property
    def place(self) -> str:
        """The host that was asked, without anything secret that its address may hold; else the provider."""
        address = urlsplit(self.request.api_base)
        host = address.hostname or ""
        return f"{host}:{address.port}" if host and address.port else host or self.provider or "the provider"


def fault_of(error: BaseException) -> Fault:
    """What an error says of itself."""
    body = getattr(error, "body", None)
    body = body if isinstance(body, Mapping) else {}
    status = getattr(error, "status_code", None)
    return Fault(
        kind=type(error).__name__,
        status=status if isinstance(status, int) else None,
        text=str(error),
        param=str(body.get("param") or ""),
        code=str(body.get("code") or ""),
        headers=_headers(error),
    )


def explained(fault: Fault, asked: Asked, *, now: datetime | None = None) -> AskingError:
    """The error that the run acts on, in a sentence without key and prompt."""
    return _stopping(fault, asked) or _too_long(fault) or _passing(fault, asked, now or datetime.now(UTC))


def refused_setting(fault: Fault, sent: frozenset[str]) -> str:
    """The setting among those sent that the provider says it does not take; empty when it names none."""
    if fault.status not in (400, 422):
        return ""
    if fault.param in sent:
        return fault.param
    if fault.param in ("max_completion_tokens", "max_output_tokens") and "max_tokens" in sent:
        return "max_tokens"
    named = (name for name, pattern in _SETTINGS.items() if name in sent and pattern.search(fault.text))
    return next(named, "")


def is_filtered(fault: Fault) -> bool:
    """Whether a provider's content filter kept the item from the model, which is an answer about the item."""
    if fault.kind == "ContentPolicyViolationError":
        return True
    return fault.status in (400, 403) and bool(_FLAGGED.search(f"{fault.code} {fault.text}"))


def seconds_to_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """How long a response asks to wait: in milliseconds, seconds or until a date; None when it does not."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds())


def _stopping(fault: Fault, asked: Asked) -> Stopping | None:
    model = asked.request.model
    if _NO_KEY.search(fault.text):
        return Stopping(f"There is no key for {asked.place}; set {asked.key_name} in the environment.")
    if fault.status == 401:
        return Stopping(f"The provider does not accept the key; set {asked.key_name} in the environment.")
    if fault.status == 403:
        return Stopping(
            f'The key in {asked.key_name} may not use "{model}"; ask for access or choose another model.'
        )
    if fault.status == 402 or _NO_CREDIT.search(f"{fault.code} {fault.text}"):
        return Stopping(f"The account at {asked.place} has no credit left; add some, then run this again.")
    if fault.status in (404, 405) or (fault.status == 400 and _NO_MODEL.search(f"{fault.code} {fault.text}")):
        where = f" at {asked.place}; check the address and" if asked.request.api_base else "; check"
        return Stopping(f'There is no model called "{model}"{where} the name, e.g. {EXAMPLE}.')
    return None


def _too_long(fault: Fault) -> TooLong | None:
    named = fault.code == "context_length_exceeded" or fault.kind == "ContextWindowExceededError"
    if named or fault.status == 413 or (fault.status in (400, 422) and _TOO_LONG.search(fault.text)):
        return TooLong("The item does not fit the model's context window.")
    return None


def _passing(fault: Fault, asked: Asked, now: datetime) -> PassingError:
    wait = seconds_to_wait(fault.headers or {}, now)
    return PassingError(_sentence(fault, asked), retry_after=wait, status=_true_status(fault))


def _sentence(fault: Fault, asked: Asked) -> str:
    if fault.status == 429:
        return f"{asked.place} takes no more requests for now (429)."
    if fault.kind == "Timeout" or fault.status in (408, 504):
        return f"{asked.place} did not answer in time."
    if _NO_CONNECTION.search(fault.text):
        return f"There is no connection to {asked.place}."
    if _NO_JSON.search(fault.text):
        return f"{asked.place} sent an answer that is no JSON."
    if fault.status is not None and fault.status < 500:
        return f"{asked.place} rejects the request ({fault.status}){_quoted(fault.text, asked.request)}."
    return f"{asked.place} failed ({fault.status or fault.kind})."


def _true_status(fault: Fault) -> int | None:
    """The status that the server sent; a lost connection or an unreadable answer has none of its own."""
    if fault.kind == "Timeout" or _NO_CONNECTION.search(fault.text) or _NO_JSON.search(fault.text):
        return None
    return fault.status


def _quoted(text: str, request: Request) -> str:
    """The provider's reason, unless it repeats a line of the prompt; keys in it are blanked."""
    body = _MESSAGE.search(text)
    reason = " ".join((body[1] if body else _PREFIX.sub("", text)).split()).rstrip(".")
    lines = (line.strip() for message in request.messages for line in message.content.splitlines())
    if not reason or any(len(line) >= _SHORTEST_ECHO and line in text for line in lines):
        return ""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and _SECRET_NAME.search(name):
            reason = reason.replace(value, "***")
    return f": {_SECRET.sub('***', reason)[:_LONGEST_QUOTE]}"


def _headers(error: BaseException) -> Mapping[str, str]:
    """The headers of the response behind an error, in lower case."""
    response = getattr(error, "response", None)
    found = getattr(error, "litellm_response_headers", None) or getattr(response, "headers", None) or {}
    return {str(name).lower(): str(value) for name, value in dict(found).items()}
