"""How long a text is for a model, by a rough rule: exact counts would need each model's own tokenizer."""

from __future__ import annotations

import math

from calibration.asking import Request

_BYTES_A_TOKEN = 4  # of UTF-8: near for English, a little high for Chinese, never far too low
_TOKENS_A_MESSAGE = 4  # roles and separators


def rough_tokens(text: str) -> int:
    """About how many tokens a text has: a quarter of its UTF-8 bytes, rounded up."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / _BYTES_A_TOKEN)


def request_tokens(request: Request) -> int:
    """About how many tokens a request's messages and schema have."""
    texts = sum(rough_tokens(message.content) + _TOKENS_A_MESSAGE for message in request.messages)
    return texts + rough_tokens(request.schema)
