"""How long a text is for a model, by a rough rule: exact counts would need each model's own tokenizer."""

from __future__ import annotations

import math

from calibration.asking import Request

_BYTES_A_TOKEN = 4  # of UTF-8: near for English, a little high for Chinese, never far too low
_TOKENS_A_MESSAGE = 4  # roles and separators
_FEWEST = 2_000  # below this, rough counts prove nothing
_FAR_TOO_FEW = 3


def rough_tokens(text: str) -> int:
    """About how many tokens a text has: a quarter of its UTF-8 bytes, rounded up."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / _BYTES_A_TOKEN)


def request_tokens(request: Request) -> int:
    """About how many tokens a request's messages and schema have."""
    texts = sum(rough_tokens(message.content) + _TOKENS_A_MESSAGE for message in request.messages)
    return texts + rough_tokens(request.schema)


def is_cut(request: Request, prompt_tokens: int) -> bool:
    """Whether a provider counted so few tokens that it must have cut the messages; some do so in silence."""
    texts = (" ".join(message.content.split()) for message in request.messages)  # white space may cost little
    least = sum(map(rough_tokens, texts))
    return prompt_tokens > 0 and least > max(_FEWEST, _FAR_TOO_FEW * prompt_tokens)
