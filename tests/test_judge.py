"""The judge's calls through the real litellm, against a local server that does everything wrong on demand."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from fake_server import REFUSAL, FakeServer, Faults, Json, fake_server

from calibration.asking import Answer, Message, PassingError, Request, Stopping, TooLong
from calibration.crew import Meter, carry_out
from calibration.flow import Clock, Gatekeeper, Limits, Patient
from calibration.judge import LitellmCompletion, completion_for, estimate_cost
from calibration.scripted import ScriptedCompletion
from labels.errors import UserError

# litellm prepares a call in a thread; one that is given up meanwhile leaves a coroutine behind, harmlessly.
pytestmark = pytest.mark.filterwarnings("ignore:coroutine .*acompletion. was never awaited:RuntimeWarning")
CANARY = "sk-canary-4711-0815-secret"
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"reasoning": {"type": "string"}, "verdict": {"enum": ["first", "second", "tie"]}},
        "required": ["reasoning", "verdict"],
        "additionalProperties": False,
    }
)
TEXT = (
    "The CODE is ab.\n\nThe prompt:\n<data-ab>\nName the capital of France.\n</data-ab>\n\n"
    "Response 1:\n<data-ab>\nNo idea.\n</data-ab>\n\n"
    "Response 2:\n<data-ab>\nThe capital is Paris.\n</data-ab>\n"
)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the canary is a key, and no call leaves this machine by a proxy."""
    import os

    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_PROXY", "_proxy", "_BASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)


@pytest.fixture(autouse=True)
def secrets_stay_secret(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> Iterator[None]:
    """No test may leave the key, or any noise of the library, in a log or on the screen."""
    caplog.set_level(logging.DEBUG)
    yield
    printed = "".join(capfd.readouterr())
    assert CANARY not in caplog.text + printed
    assert "Unclosed" not in caplog.text + printed
    assert "never retrieved" not in caplog.text + printed
    noise = [record.getMessage() for record in caplog.records if record.name.startswith(("LiteLLM", "httpx"))]
    assert noise == []
    assert "litellm" not in printed.casefold()


def request_to(server: FakeServer | str, **settings: object) -> Request:
    address = server if isinstance(server, str) else server.api_base
    messages = (Message("system", "Judge."), Message("user", TEXT))
    return replace(Request("openai/judge-1", messages, SCHEMA, api_base=address), **settings)  # type: ignore[arg-type]


def ask(*requests: Request, timeout: float = 20.0) -> list[Answer]:
    """The answers, one after the other, from one completion."""

    async def all_of_them() -> list[Answer]:
        completion = LitellmCompletion(timeout=timeout)
        try:
            return [await completion.complete(request) for request in requests]
        finally:
            await completion.close()

    return asyncio.run(all_of_them())


def fails(request: Request, kind: type[Exception] = PassingError, *, timeout: float = 20.0) -> Exception:
    with pytest.raises(kind) as caught:
        ask(request, timeout=timeout)
    error = caught.value
    assert CANARY not in repr(error)
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__, "the library's error would be shown too"
    return error


def test_an_answer_is_kept_as_it_came() -> None:
    with fake_server(served="judge-1-2026-01-31", reasoning="Let me think.") as server:
        (answer,) = ask(request_to(server))
    assert json.loads(answer.text)["verdict"] == "second"
    assert answer.reasoning == "Let me think."
    assert answer.served_model == "judge-1-2026-01-31"
    assert answer.finish_reason == "stop"
    assert (answer.prompt_tokens > 10, answer.completion_tokens) == (True, 20)
    assert answer.latency > 0
    assert answer.left_out == ()
    assert answer.token_chances == ()


def test_all_that_the_request_wishes_is_sent() -> None:
    with fake_server() as server:
        ask(request_to(server, seed=7, top_logprobs=3, max_tokens=900))
        (call,) = server.calls
    body = call.body
    assert body["model"] == "judge-1"
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.0, 7, 900)
    assert (body["logprobs"], body["top_logprobs"]) == (True, 3)
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "strict": True, "schema": json.loads(SCHEMA)},
    }
    assert call.authorization == f"Bearer {CANARY}"


def test_without_a_schema_plain_text_is_asked_for() -> None:
    with fake_server() as server:
        ask(request_to(server, schema="", temperature=None, seed=None))
        assert set(server.calls[0].body) == {"model", "messages", "max_tokens"}


def test_token_chances_come_with_their_rivals() -> None:
    with fake_server() as server:
        (answer,) = ask(request_to(server, top_logprobs=2))
    assert "".join(candidates[0].token for candidates in answer.token_chances) == answer.text
    assert {(len(candidates), candidates[1].logprob) for candidates in answer.token_chances} == {(2, -1.5)}


def test_a_local_server_works_without_any_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with fake_server() as server:
        (answer,) = ask(request_to(server))
        assert server.calls[0].authorization == "Bearer none"
    assert answer.text


def test_any_name_will_do_at_an_address_of_the_users_own() -> None:
    with fake_server() as server:
        ask(request_to(server, model="my-org/judge"), request_to(server, model="plain-name"))
        assert [call.body["model"] for call in server.calls] == ["my-org/judge", "plain-name"]


def test_the_price_of_an_unknown_model_is_unknown_even_if_it_claims_to_be_a_known_one() -> None:
    with fake_server(served="gpt-4o-mini") as server:
        (answer,) = ask(request_to(server))
    assert answer.cost is None
    assert estimate_cost("openai/judge-1", 1_000, completion_tokens=10) is None
    assert estimate_cost("no such model", 1_000, completion_tokens=10) is None


def test_the_price_of_a_known_model_is_what_was_served_and_estimates_agree() -> None:
    with fake_server() as server:
        (answer,) = ask(request_to(server, model="openai/gpt-4o-mini"))
    estimate = estimate_cost("openai/gpt-4o-mini", answer.prompt_tokens, completion_tokens=20)
    assert answer.cost == pytest.approx(estimate)
    assert answer.cost


def test_no_more_output_is_asked_for_than_the_model_can_give() -> None:
    with fake_server() as server:
        ask(
            request_to(server, model="openai/gpt-4-turbo"),
            request_to(server, model="openai/gpt-5-mini", max_tokens=20_000),
        )
        assert server.calls[0].body["max_tokens"] == 4_096
        assert server.calls[1].body["max_completion_tokens"] == 20_000


def test_what_the_library_knows_to_be_refused_is_never_sent() -> None:
    with fake_server() as server:
        answers = ask(*[request_to(server, model="openai/gpt-5-mini", top_logprobs=5)] * 2)
        assert [set(answer.left_out) for answer in answers] == [
            {"temperature", "logprobs", "top_logprobs"}
        ] * 2
        assert server.count() == 2
        assert "temperature" not in server.calls[0].body
        assert "logprobs" not in server.calls[0].body


@pytest.mark.parametrize("name", ["temperature", "seed", "logprobs", "top_logprobs", "max_tokens"])
def test_what_the_provider_refuses_is_left_out_once_and_remembered(name: str) -> None:
    with fake_server(rejects=frozenset({name})) as server:
        answers = ask(*[request_to(server, top_logprobs=2)] * 3)
        assert server.count() == 4
        assert name in server.calls[0].body
        assert all(name not in call.body for call in server.calls[1:])
    assert all(name in answer.left_out for answer in answers)
    assert all(answer.text for answer in answers)


@pytest.mark.parametrize(
    ("rejects", "left_out", "form"),
    [
        ({"json_schema"}, ("json_schema",), {"type": "json_object"}),
        ({"response_format"}, ("response_format",), None),
    ],
)
def test_a_refused_form_of_json_falls_back_step_by_step(
    rejects: set[str], left_out: tuple[str, ...], form: Json | None
) -> None:
    with fake_server(rejects=frozenset(rejects)) as server:
        answers = ask(*[request_to(server)] * 2)
        assert [call.body.get("response_format") for call in server.calls][-2:] == [form, form]
        assert server.count() == 2 + (1 if form else 2)
    assert [answer.left_out for answer in answers] == [left_out] * 2


def test_several_refusals_are_all_learned() -> None:
    with fake_server(rejects=frozenset({"temperature", "seed", "response_format", "logprobs"})) as server:
        first, second = ask(*[request_to(server, top_logprobs=2)] * 2)
        assert server.count() == 7
    assert set(first.left_out) == {"temperature", "seed", "response_format", "logprobs", "top_logprobs"}
    assert first.left_out == second.left_out


def test_a_setting_that_nobody_asked_for_is_not_said_to_be_left_out() -> None:
    with fake_server() as server:
        (answer,) = ask(request_to(server, model="openai/gpt-5-mini", temperature=None))
    assert answer.left_out == ()


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7.0), ("0.5", 0.5), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("soon", None)]
)
def test_a_429_passes_and_says_how_long_to_wait(header: str, seconds: float | None) -> None:
    with fake_server(faults=Faults({"rate_limit": 1.0}, retry_after=header)) as server:
        error = fails(request_to(server))
        assert server.count() == 1, "the library asked again by itself"
    assert isinstance(error, PassingError)
    assert (error.status, error.retry_after) == (429, seconds)


@pytest.mark.parametrize(
    ("fault", "status", "text"),
    [("error", 500, r"failed \(500\)"), ("drop", None, "no connection"), ("garbage", None, "is no JSON")],
)
def test_a_failure_that_may_pass_is_one_call_and_says_what_happened(
    fault: str, status: int | None, text: str
) -> None:
    with fake_server(faults=Faults({fault: 1.0})) as server:
        error = fails(request_to(server))
        assert server.count() == 1
    assert isinstance(error, PassingError)
    assert error.status == status
    assert text.replace("\\", "") in str(error)


@pytest.mark.parametrize("fault", ["slow", "drip"])
def test_the_time_out_bounds_the_whole_call(fault: str) -> None:
    with fake_server(faults=Faults({fault: 1.0}, delay=9.0 if fault == "slow" else 0.4)) as server:
        started = time.monotonic()
        error = fails(request_to(server), timeout=1.0)
        seconds = time.monotonic() - started
        assert server.count() == 1
    assert "in time" in str(error)
    assert 0.9 < seconds < 5.0


def test_a_refusal_an_empty_and_a_cut_off_answer_come_as_they_are() -> None:
    def meet(fault: str) -> Answer:
        with fake_server(faults=Faults({fault: 1.0})) as server:
            return ask(request_to(server))[0]

    assert meet("refusal").text == REFUSAL
    assert meet("empty").text == ""
    assert meet("cut_off").finish_reason == "length"


def test_a_wrong_key_stops_and_names_the_variable() -> None:
    with fake_server(key="another") as server:
        error = fails(request_to(server), Stopping)
    assert str(error) == "The provider does not accept the key; set OPENAI_API_KEY in the environment."


def test_a_missing_key_stops_and_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    for model, name in (
        ("openai/gpt-5-mini", "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.5-flash", "GEMINI_API_KEY"),
    ):
        error = fails(request_to("", model=model), Stopping)
        assert f"set {name} in the environment" in str(error)


def test_an_unknown_model_stops_with_an_example_of_a_name() -> None:
    with fake_server(models=frozenset({"other"})) as server:
        error = fails(request_to(server), Stopping)
    host = server.api_base.split("/")[2]
    assert str(error) == (
        f'There is no model called "openai/judge-1" at {host}; check the address and the name, '
        "e.g. openai/gpt-5-mini."
    )
    error = fails(request_to("", model="gpt5mini"), Stopping)
    assert str(error) == 'There is no model called "gpt5mini"; check the name, e.g. openai/gpt-5-mini.'


@pytest.mark.parametrize(
    ("status", "text", "remedy"),
    [
        (403, "Forbidden", "may not use"),
        (402, "Payment required", "no credit"),
        (429, "You exceeded your current quota.", "no credit"),
    ],
)
def test_what_every_request_would_share_stops(status: int, text: str, remedy: str) -> None:
    with fake_server(fail=(status, text)) as server:
        assert remedy in str(fails(request_to(server), Stopping))


def test_an_overlong_item_is_too_long_and_nothing_else() -> None:
    with fake_server(context=50) as server:
        fails(request_to(server), TooLong)
        assert server.count() == 1


def test_a_provider_that_cuts_the_item_in_silence_is_found_out() -> None:
    long = (Message("user", "one two three four five " * 2_000),)
    with fake_server(answer=lambda body: "{}", counts=1_500) as server:
        assert "read only 1500 tokens" in str(fails(request_to(server, messages=long), TooLong))
    with fake_server(answer=lambda body: "{}", counts=9_000) as server:
        assert ask(request_to(server, messages=long))[0].prompt_tokens == 9_000


def test_an_output_limit_that_does_not_fit_is_no_overlong_item() -> None:
    def answer(body: Json) -> str:
        return '{"reasoning": "", "verdict": "first"}'

    with fake_server(rejects=frozenset({"max_tokens"}), answer=answer) as server:
        assert ask(request_to(server))[0].left_out == ("max_tokens",)


def test_a_rejected_request_is_quoted_without_key_and_prompt() -> None:
    def text_of(reason: str) -> str:
        with fake_server(fail=(400, reason)) as server:
            error = fails(request_to(server))
        assert isinstance(error, PassingError)
        assert error.status == 400
        return str(error)

    assert text_of("Bad role.").endswith("rejects the request (400): Bad role.")
    assert text_of(f"Bad {CANARY} and sk-other-key-123456.").endswith("(400): Bad *** and ***.")
    assert text_of("Bad text: The capital is Paris.").endswith("rejects the request (400).")


def test_no_connection_passes_and_hides_what_an_address_may_hold() -> None:
    error = fails(request_to("http://127.0.0.1:9/v1?key=hidden"))
    assert str(error) == "There is no connection to 127.0.0.1:9."


def test_two_runs_in_one_process_do_not_close_each_others_connections() -> None:
    with fake_server() as server:

        async def scene() -> None:
            mine = LitellmCompletion()
            await mine.complete(request_to(server))
            await asyncio.to_thread(ask, request_to(server))
            await mine.complete(request_to(server))
            await mine.close()
            await mine.complete(request_to(server))
            await mine.close()

        asyncio.run(scene())
        assert server.count() == 4


def test_closing_what_was_never_used_does_nothing() -> None:
    asyncio.run(LitellmCompletion().close())


def test_the_name_decides_who_answers() -> None:
    assert isinstance(completion_for("scripted:reads"), ScriptedCompletion)
    assert isinstance(completion_for("openai/gpt-5-mini"), LitellmCompletion)
    for address in ("localhost:8000", "127.0.0.1:8000/v1", "ftp://127.0.0.1", "http://"):
        with pytest.raises(UserError, match="is no address"):
            completion_for("openai/x", api_base=address)
    for address in ("http://me:hidden@127.0.0.1/v1", "http://127.0.0.1/v1?key=hidden"):
        with pytest.raises(UserError, match="into the environment") as caught:
            completion_for("openai/x", api_base=address)
        assert "hidden" not in str(caught.value)
    with pytest.raises(UserError, match="leave --api-base out"):
        completion_for("scripted:reads", api_base="http://127.0.0.1:9")


def run_through(server: FakeServer, count: int, *, limits: Limits) -> tuple[dict[int, Answer | str], Meter]:
    """A whole run of so many requests, every one ending as an answer or as the reason why there is none."""
    outcomes: dict[int, Answer | str] = {}
    meter = Meter(count)

    def keep(job: int, outcome: Answer | str) -> None:
        assert job not in outcomes
        outcomes[job] = outcome
        answered = isinstance(outcome, Answer)
        meter.add(answered=answered, cost=outcome.cost if isinstance(outcome, Answer) else 0.0)

    async def scene() -> None:
        quick = Clock(time.monotonic, lambda seconds: asyncio.sleep(seconds / 100))
        patient = Patient(LitellmCompletion(timeout=limits.timeout), Gatekeeper(limits, clock=quick))

        async def ask_one(job: int) -> Answer | str:
            try:
                return await patient.complete(request_to(server, seed=job))
            except PassingError as error:
                return str(error)

        try:
            await carry_out(
                range(count), ask_one, on_answer=keep, limits=limits, stop=asyncio.Event(), meter=meter
            )
        finally:
            await patient.close()

    asyncio.run(scene())
    return outcomes, meter


def test_a_run_with_faults_ends_complete_and_asks_nothing_twice_that_was_answered() -> None:
    rates = {"rate_limit": 0.03, "error": 0.04, "drop": 0.02, "garbage": 0.01}
    with fake_server(faults=Faults(rates, seed=5, attempts=3)) as server:
        outcomes, meter = run_through(server, 200, limits=Limits(concurrency=16, tries=4, timeout=20))
        failed = server.count() - server.count(fault="")
        assert failed > 10
        assert server.count() == 200 + failed, "one call for each answer and each fault"
        assert sorted(server.answered.values()) == [1] * 200
    assert all(isinstance(outcome, Answer) for outcome in outcomes.values())
    progress = meter.snapshot()
    assert (progress.done, progress.unanswered, progress.spent) == (200, 0, "price unknown")


def test_what_fails_for_good_is_counted_and_keeps_nobody_else_from_an_answer() -> None:
    with fake_server(faults=Faults({"error": 0.3}, seed=1)) as server:
        outcomes, meter = run_through(server, 60, limits=Limits(concurrency=8, tries=2, timeout=20))
        lost = sum(1 for outcome in outcomes.values() if isinstance(outcome, str))
        assert len(server.answered) == 60 - lost
    assert lost > 0
    assert meter.snapshot().unanswered == lost


def test_a_dead_server_ends_a_run_early() -> None:
    class Dead:
        api_base = "http://127.0.0.1:9/v1"

    with pytest.raises(Stopping, match="5 requests in a row failed; the last one: There is no connection"):
        run_through(Dead(), 500, limits=Limits(concurrency=2, tries=2, failures_in_a_row=5))  # type: ignore[arg-type]
