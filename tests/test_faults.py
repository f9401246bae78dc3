"""What providers write when something fails, and what a run makes of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.asking import AskingError, Message, PassingError, Request, Stopping, TooLong
from calibration.faults import (
    Asked,
    Fault,
    explained,
    fault_of,
    is_filtered,
    refused_setting,
    seconds_to_wait,
)

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
REQUEST = Request("openai/judge-1", (Message("user", "A long enough line of the prompt."),))
SENT = frozenset(
    {"temperature", "seed", "logprobs", "top_logprobs", "max_tokens", "response_format", "model"}
)


def reaction(status: int | None, text: str, **named: str) -> AskingError:
    return explained(Fault("APIError", status, text, **named), Asked(REQUEST, "openai"))


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (400, "This model's maximum context length is 8192 tokens, your messages have 9000.", TooLong),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", TooLong),
        (400, "The input token count (1500000) exceeds the maximum number of tokens allowed", TooLong),
        (400, "the request exceeds the available context size (4096 tokens), try increasing it", TooLong),
        (413, "Request too large", TooLong),
        (400, "Your credit balance is too low to access the API.", Stopping),
        (429, "You exceeded your current quota, please check your plan.", Stopping),
        (500, "Missing credentials. Please pass an `api_key`", Stopping),
        (500, "Missing Gemini API key. Set the GEMINI_API_KEY environment variable.", Stopping),
        (400, "The model `gpt-9` does not exist or you do not have access to it.", Stopping),
        (404, "Not Found", Stopping),
        (405, "Method Not Allowed", Stopping),
        (401, "whatever", Stopping),
        (403, "whatever", Stopping),
        (429, "Rate limit reached for requests per min.", PassingError),
        (500, "The server had an error", PassingError),
        (529, "Overloaded", PassingError),
        (400, "messages: at least one message is required", PassingError),
        (None, "something else", PassingError),
    ],
)
def test_each_providers_words_lead_to_the_right_end(
    status: int | None, text: str, kind: type[AskingError]
) -> None:
    assert type(reaction(status, text)) is kind


def test_a_provider_may_name_the_overflow_by_code_alone() -> None:
    assert isinstance(reaction(400, "Too big.", code="context_length_exceeded"), TooLong)


@pytest.mark.parametrize(
    ("text", "param", "name"),
    [
        (
            "Unsupported value: 'temperature' does not support 0 with this model.",
            "temperature",
            "temperature",
        ),
        ("Unrecognized request argument supplied: seed", "", "seed"),
        ("This model does not support logprobs.", "", "logprobs"),
        ("top_logprobs must be at most 5", "", "top_logprobs"),
        (
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported",
            "",
            "response_format",
        ),
        ("Grammar error: unsupported keyword", "", "response_format"),
        ("Use 'max_completion_tokens' instead.", "max_tokens", "max_tokens"),
        ("max_tokens is too large: 16000. This model supports at most 4096.", "", "max_tokens"),
        ("you requested 16500 tokens (500 in the messages, 16000 in the completion)", "", "max_tokens"),
        ("too large", "max_completion_tokens", "max_tokens"),
        ("messages: at least one message is required", "messages", ""),
        ("The model is unhappy.", "model_name", ""),
    ],
)
def test_a_refused_setting_is_recognised(text: str, param: str, name: str) -> None:
    assert refused_setting(Fault("BadRequestError", 400, text, param), SENT) == name


def test_only_what_was_sent_can_be_refused_and_only_by_a_rejection() -> None:
    text = "temperature is not supported"
    assert refused_setting(Fault("BadRequestError", 400, text), frozenset({"seed"})) == ""
    assert refused_setting(Fault("InternalServerError", 500, text), SENT) == ""


@pytest.mark.parametrize(
    ("kind", "status", "text", "filtered"),
    [
        ("ContentPolicyViolationError", 400, "", True),
        ("BadRequestError", 400, "The response was filtered: content_filter", True),
        ("APIError", 403, "Your input was flagged.", True),
        ("APIError", 403, "No access.", False),
        ("InternalServerError", 500, "moderation is down", False),
    ],
)
def test_a_content_filter_is_about_the_item(kind: str, status: int, text: str, filtered: bool) -> None:
    assert is_filtered(Fault(kind, status, text)) == filtered


@given(seconds=st.floats(0, 1e6))
def test_a_wait_in_seconds_is_read_as_it_is(seconds: float) -> None:
    assert seconds_to_wait({"retry-after": repr(seconds)}, NOW) == seconds


@given(seconds=st.integers(-10_000, 10_000))
def test_a_wait_until_a_date_is_the_time_from_now_and_never_negative(seconds: int) -> None:
    date = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert seconds_to_wait({"retry-after": date}, NOW) == max(0, seconds)


@given(text=st.text(max_size=40))
def test_any_header_gives_a_sound_wait_or_none(text: str) -> None:
    wait = seconds_to_wait({"retry-after": text}, NOW)
    assert wait is None or 0 <= wait < float("inf")


def test_milliseconds_count_before_seconds() -> None:
    assert seconds_to_wait({"retry-after-ms": "250", "retry-after": "1"}, NOW) == 0.25
    assert seconds_to_wait({}, NOW) is None
    assert seconds_to_wait({"retry-after": "-5"}, NOW) is None


def test_an_error_is_read_whatever_it_is() -> None:
    assert fault_of(KeyError("x")) == Fault("KeyError", None, "'x'", headers={})


def test_a_key_is_blanked_wherever_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "verysecretvalue")
    text = str(reaction(400, "Bad verysecretvalue, Bearer abcdef123456, AIzaSyA1234567890x."))
    assert text == "openai rejects the request (400): Bad ***, ***, ***."


@pytest.mark.parametrize(
    "text",
    [
        "litellm.BadRequestError: GeminiException BadRequestError - Bad role.",
        'litellm.BadRequestError: XaiException - {"error":{"message":"Bad role.","type":"x"}}',
        "Bad role.",
    ],
)
def test_a_reason_is_quoted_without_its_wrapping(text: str) -> None:
    assert str(reaction(400, text)) == "openai rejects the request (400): Bad role."


def test_the_prompt_is_never_quoted() -> None:
    assert "long enough" not in str(reaction(400, "Bad: A long enough line of the prompt."))
    assert len(str(reaction(400, "x" * 5_000))) < 300


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("together_ai", "TOGETHERAI_API_KEY"),
        ("", "OPENAI_API_KEY"),
    ],
)
def test_the_remedy_names_the_providers_own_variable(provider: str, name: str) -> None:
    error = explained(Fault("AuthenticationError", 401, "no"), Asked(REQUEST, provider))
    assert str(error) == f"The provider does not accept the key; set {name} in the environment."
