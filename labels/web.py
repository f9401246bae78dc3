"""What the labelling page needs and a browser test is too slow for: escaped texts, keys, the guard."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Literal, cast

from labels.present import keyed_hash
from labels.types import BlindItem, Choice, Criterion, KindName

CALM = 0.3  # seconds that an item must have been in view, and no key refused, before a key counts
DONE = "done"
OWNER_KEY_LENGTH = 22
_DAY = 86_400.0

# Controls, marks without width and marks that turn the reading order; joiners count as long as they
# stand between characters that can be joined, as in emoji and in Arabic or Indic words.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)

ActName = Literal["answer", "skip", "undo", "note"]


@dataclass(frozen=True, slots=True)
class Offered:
    """One answer on the page: its key, what it chooses, the word on its button, what it says."""

    key: str
    choice: Choice
    word: str
    says: str


OFFERED: Mapping[KindName, tuple[Offered, ...]] = {
    "pairwise": (
        Offered("1", "first", "First", "First response is better"),
        Offered("0", "tie", "Tie", "Tie"),
        Offered("2", "second", "Second", "Second response is better"),
    ),
    "binary": (Offered("1", "pass", "Pass", "Pass"), Offered("2", "fail", "Fail", "Fail")),
}


@dataclass(frozen=True, slots=True)
class Act:
    """What the answer bar sent: for what was shown, and what the person did."""

    shown: str
    event: ActName
    choice: Choice | None = None
    reason: str = ""
    note: str = ""
    seconds: float | None = None


@dataclass(slots=True)
class Guard:
    """What one session shows, and since when a key may count; time in seconds of any steady clock."""

    shown: str = ""
    since: float = 0.0

    def show(self, shown: str, now: float) -> None:
        """Note what is in view; only something new starts the wait."""
        if shown != self.shown:
            self.shown, self.since = shown, now

    def admits(self, shown: str, now: float) -> bool:
        """Whether a key for this may count now; each refusal starts the wait again."""
        calm = shown == self.shown and now - self.since >= CALM
        if not calm:
            self.since = now
        return calm


def escaped(text: str) -> str:
    """A text as HTML that shows it to the letter, with marks that cannot be seen written out."""
    # Sent as one line, because Streamlit takes the blanks out of blank lines.
    return _UNSEEN.sub(_token, escape(_lines(text))).replace("\n", "&#10;")


def visible(text: str) -> str:
    """The text as `escaped` shows it, without the HTML."""
    return _UNSEEN.sub(lambda mark: f"⟨U+{ord(mark[0]):04X}⟩", _lines(text))


def _lines(text: str) -> str:
    """Every line end as browsers have it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def owner_key(salt: str) -> str:
    """The key in the owner's link, which opens the results."""
    return keyed_hash(salt, "owner")[:OWNER_KEY_LENGTH]


def is_owner(salt: str, key: str) -> bool:
    """Whether this is the owner's key, compared in constant time."""
    return hmac.compare_digest(owner_key(salt).encode(), key.encode())


def offered(criterion: Criterion) -> tuple[Offered, ...]:
    """The answers that a criterion takes; no tie where it forbids ties."""
    return tuple(o for o in OFFERED[criterion.kind] if criterion.ties or o.choice != "tie")


def shown_name(item: BlindItem | None) -> str:
    """What is in view, as the bar and the server call it."""
    return DONE if item is None else f"{item.presentation_id}:{item.revision}"


def read_act(message: object, criterion: Criterion) -> Act | None:
    """What the bar's message asks for; None for anything that the bar of this criterion does not send."""
    if not isinstance(message, Mapping):
        return None
    event, choice = message.get("event"), message.get("choice")
    if event not in ("answer", "skip", "undo", "note"):
        return None
    if event == "answer" and choice not in [o.choice for o in offered(criterion)]:
        return None
    if event == "skip" and not _text(message.get("reason")):
        return None
    return Act(
        shown=_text(message.get("shown")),
        event=cast(ActName, event),
        choice=cast(Choice, choice) if event == "answer" else None,
        reason=_text(message.get("reason")),
        note=_text(message.get("note")),
        seconds=_seconds(message.get("seconds")),
    )


def _token(mark: re.Match[str]) -> str:
    return f'<span class="jc-mark">⟨U+{ord(mark[0]):04X}⟩</span>'


def _text(value: object) -> str:
    """A text from a browser, without what the project file cannot hold: half characters and NUL."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-8", "replace").decode().replace("\0", "").strip()


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return round(float(value), 3) if 0 <= value <= _DAY else None
