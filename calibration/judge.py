"""Models that answer requests, behind litellm; a scripted model needs no library and no key."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from calibration.asking import Answer, Completion, Request, Stopping, TokenChance, TooLong
from calibration.faults import EXAMPLE, Asked, Fault, explained, fault_of, is_filtered, refused_setting
from calibration.local import LocalCompletion, is_local
from calibration.scripted import ScriptedCompletion
from calibration.tokens import is_cut
from labels.errors import UserError

SCRIPT_PREFIX = "scripted:"
_FORMS = ("json_schema", "json_object", "")  # from the strictest way of asking for JSON to none
_ANY_KEY = "none"  # a local server takes any key, but the client insists on one
_QUIET = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai")
_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # fetches no price list when imported
    "LITELLM_MODE": "PRODUCTION",  # loads no .env file that lies about
    "LITELLM_OFFLINE_MODE": "true",  # fetches nothing else of its own
}
_SAMPLING = ("temperature", "seed", "logprobs", "top_logprobs")


@dataclass(frozen=True, slots=True)
class _Takes:
    """What a model takes, as far as is known: all settings but those refused, and one form of JSON."""

    refused: frozenset[str] = frozenset()
    form: int = 0

    def without(self, name: str) -> _Takes:
        """The same less one setting, or with the next looser form."""
        if name == "response_format":
            return _Takes(self.refused, self.form + 1)
        more = {"logprobs", "top_logprobs"} if name == "logprobs" else {name}
        return _Takes(self.refused | more, self.form)

    def joined(self, other: _Takes) -> _Takes:
        """What two workers have learned."""
        return _Takes(self.refused | other.refused, max(self.form, other.form))


@dataclass(slots=True)
class _Model:
    """A model at an address: its name for litellm, its price list entry, its key, what it takes."""

    name: str
    provider: str
    entry: Mapping[str, Any]
    key: str | None
    takes: _Takes = field(default_factory=_Takes)


class LitellmCompletion:
    """Answers requests through litellm; each attempt is exactly one call over the network."""

    def __init__(self, *, timeout: float = 120.0) -> None:
        self._timeout = timeout
        self._models: dict[tuple[str, str], _Model] = {}

    async def complete(self, request: Request) -> Answer:
        """The answer; what the provider refuses is left out, remembered for the model, and named in it."""
        model = self._model(request)
        takes = model.takes
        while True:
            settings = _settings(request, model, takes=takes)
            result = await self._call(settings, request, model=model, takes=takes)
            if isinstance(result, Answer):
                model.takes = model.takes.joined(takes)
                if is_cut(request, result.prompt_tokens):
                    raise TooLong(f"The provider read only {result.prompt_tokens} tokens of the item.")
                return result
            refused = refused_setting(result, frozenset(settings))
            if not refused:
                raise explained(result, Asked(request, model.provider))
            takes = takes.without(refused)

    async def close(self) -> None:
        """Close the connections that were opened in this event loop, and no others."""
        if not self._models:
            return  # nothing was asked, so the library need not even be loaded
        clients = _litellm().in_memory_llm_clients_cache
        mine = clients.update_cache_key_with_event_loop("")
        for key in [key for key in clients.cache_dict if key.endswith(mine)]:
            client = clients.cache_dict.pop(key)
            clients.ttl_dict.pop(key, None)
            if hasattr(client, "close"):
                await client.close()

    def _model(self, request: Request) -> _Model:
        at = (request.model, request.api_base)
        if at not in self._models:
            self._models[at] = _known(request.model, request.api_base)
        return self._models[at]

    async def _call(
        self, settings: dict[str, Any], request: Request, *, model: _Model, takes: _Takes
    ) -> Answer | Fault:
        """One call: the answer, or the fault that prevented it."""
        started = time.monotonic()
        try:
            # litellm's own limit begins anew with each piece that arrives; this one bounds the whole call.
            async with asyncio.timeout(self._timeout):
                response = await _litellm().acompletion(**settings, timeout=self._timeout)
        except TimeoutError:
            return Fault("Timeout", None, "")
        except Exception as error:  # noqa: BLE001 - litellm lets through whatever its parts raise
            fault = fault_of(error)
            return Answer("", finish_reason="content_filter") if is_filtered(fault) else fault
        return _answer(response, request, model=model, takes=takes, latency=time.monotonic() - started)


def completion_for(model: str, *, api_base: str = "", timeout: float = 120.0) -> Completion:
    """What answers for a model: the script of its name, the weights that run here, else litellm."""
    if _runs_here(model) and api_base:
        raise UserError(f'"{model}" runs here; leave --api-base out.')
    if model.startswith(SCRIPT_PREFIX):
        return ScriptedCompletion()
    _check_address(api_base)
    asker = LitellmCompletion(timeout=timeout)
    return LocalCompletion(asker) if is_local(model) else asker


def _runs_here(model: str) -> bool:
    return is_local(model) or model.startswith(SCRIPT_PREFIX)


def _check_address(api_base: str) -> None:
    """UserError when it is no plain address; it is stored with every answer, so it may hold no secret."""
    parts = urlsplit(api_base)
    if api_base and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise UserError(f'"{api_base}" is no address; write it like http://127.0.0.1:8000/v1.')
    if parts.query or "@" in parts.netloc:
        raise UserError(
            "The address holds a password or a query; leave them out and put the key into the environment."
        )


def estimate_cost(model: str, prompt_tokens: int, *, completion_tokens: int) -> float | None:
    """What so many tokens cost in dollars; None when the price is unknown."""
    if _runs_here(model):
        return 0.0
    try:
        entry = _known(model, "").entry
    except Stopping:
        return None
    if not _is_priced(entry):
        return None
    prices = (float(entry["input_cost_per_token"]), float(entry.get("output_cost_per_token") or 0.0))
    return prompt_tokens * prices[0] + completion_tokens * prices[1]


@cache
def _litellm() -> Any:
    """The library, kept from fetching, loading and printing anything of its own."""
    os.environ.update(_ENVIRONMENT)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # litellm prepares a call in a thread; a call that is given up meanwhile leaves this behind, harmlessly.
    warnings.filterwarnings("ignore", r"coroutine '\w+\.acompletion' was never awaited", RuntimeWarning)
    import litellm

    litellm.suppress_debug_info = True
    return litellm


def _known(model: str, api_base: str) -> _Model:
    """What the library knows about a model without asking anybody."""
    litellm = _litellm()
    name, provider = _routed(litellm, model, api_base=api_base)
    entry = _entry(litellm, model, name=name, provider=provider)
    keyless = bool(api_base) and provider == "openai" and not os.environ.get("OPENAI_API_KEY")
    supported = litellm.get_supported_openai_params(model=name, custom_llm_provider=provider)
    takes = _takes(supported, schema=not entry or bool(entry.get("supports_response_schema")))
    return _Model(f"{provider}/{name}", provider, entry, _ANY_KEY if keyless else None, takes)


def _routed(litellm: Any, model: str, *, api_base: str) -> tuple[str, str]:
    """The model's name and its provider; at an address of the user's own any name will do."""
    try:
        name, provider, *_ = litellm.get_llm_provider(model=model, api_base=api_base or None)
    except litellm.BadRequestError:
        if not api_base:
            raise Stopping(f'There is no model called "{model}"; check the name, e.g. {EXAMPLE}.') from None
        return model, "openai"
    return str(name), str(provider)


def _entry(litellm: Any, model: str, *, name: str, provider: str) -> Mapping[str, Any]:
    """The model's line in the price list that comes with the library; empty for an unknown model."""
    found = (litellm.model_cost.get(key) for key in (model, f"{provider}/{name}", name))
    return next((entry for entry in found if entry), {})


def _is_priced(entry: Mapping[str, Any]) -> bool:
    return entry.get("input_cost_per_token") is not None


def _takes(supported: list[str] | None, *, schema: bool) -> _Takes:
    """What the library says that a model takes; None means that it does not know the model at all."""
    if supported is None:
        return _Takes()
    refused = {name for name in _SAMPLING if name not in supported}
    if not {"max_tokens", "max_completion_tokens"} & set(supported):
        refused.add("max_tokens")
    form = 2 if "response_format" not in supported else 0 if schema else 1
    return _Takes(frozenset(refused | ({"top_logprobs"} if "logprobs" in refused else set())), form)


def _settings(request: Request, model: _Model, *, takes: _Takes) -> dict[str, Any]:
    """The arguments of the call; the retrying is ours, and nothing may be dropped in silence."""
    wishes = {name: value for name, value in _wishes(request, model).items() if name not in takes.refused}
    form = _response_format(request, takes)
    return {
        "model": model.name,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "max_retries": 0,
        "num_retries": 0,
        "drop_params": False,
        **wishes,
        **({"response_format": form} if form else {}),
        **({"api_base": request.api_base} if request.api_base else {}),
        **({"api_key": model.key} if model.key else {}),
    }


def _wishes(request: Request, model: _Model) -> dict[str, Any]:
    """The settings that the request wants; more output than the model can give is not asked for."""
    most = model.entry.get("max_output_tokens")
    wishes = {
        "temperature": request.temperature,
        "seed": request.seed,
        "max_tokens": min(request.max_tokens, most) if isinstance(most, int) else request.max_tokens,
        "logprobs": True if request.top_logprobs else None,
        "top_logprobs": request.top_logprobs or None,
    }
    return {name: value for name, value in wishes.items() if value is not None}


def _response_format(request: Request, takes: _Takes) -> dict[str, Any] | None:
    kind = _FORMS[min(takes.form, 2)] if request.schema else ""
    if kind == "json_schema":
        schema = {"name": "verdict", "strict": True, "schema": json.loads(request.schema)}
        return {"type": kind, "json_schema": schema}
    return {"type": kind} if kind else None


def _left_out(request: Request, model: _Model, *, takes: _Takes) -> tuple[str, ...]:
    """The names of what the request wanted and the model does not take."""
    names = [name for name in _wishes(request, model) if name in takes.refused]
    if request.schema and takes.form:
        names.append("json_schema" if takes.form == 1 else "response_format")
    return tuple(names)


def _answer(
    response: Any, request: Request, *, model: _Model, takes: _Takes, latency: float
) -> Answer | Fault:
    """The response as plain data; the price of a model that is not in the list is unknown, never nothing."""
    if not response.choices:
        return Fault("NoChoice", None, "expecting value")
    choice, usage = response.choices[0], getattr(response, "usage", None)
    prompt_tokens = int(getattr(usage, "prompt_tokens", 0) or 0)
    known = _is_priced(model.entry) and prompt_tokens > 0
    cost = response._hidden_params.get("response_cost") if known else None
    text, refusal = choice.message.content or "", getattr(choice.message, "refusal", None) or ""
    return Answer(
        text=text or refusal,
        reasoning=getattr(choice.message, "reasoning_content", None) or "",
        served_model=str(response.model or ""),
        finish_reason="refusal" if refusal and not text else str(choice.finish_reason or ""),
        prompt_tokens=prompt_tokens,
        completion_tokens=int(getattr(usage, "completion_tokens", 0) or 0),
        cost=None if cost is None else float(cost),
        latency=latency,
        left_out=_left_out(request, model, takes=takes),
        token_chances=_chances(choice),
    )


def _chances(choice: Any) -> tuple[tuple[TokenChance, ...], ...]:
    """For each token of the answer its likeliest candidates; the token itself where no others came."""
    tokens = getattr(getattr(choice, "logprobs", None), "content", None) or ()
    return tuple(
        tuple(TokenChance(str(one.token), float(one.logprob)) for one in token.top_logprobs or (token,))
        for token in tokens
    )
