"""The command judge: a program that reads JSON lines and writes a vote for each, run without a shell.

It gets {"id", "prompt", "context", "reference", "responses": [first shown, second shown]} and answers
{"id", "vote", "reasoning"}, in any order, the reasoning if it likes. A vote is "first", "second" or "tie"
for two responses, where "A" and "B" name the slots too, and "pass" or "fail" for one. No system is named.
"""

from __future__ import annotations

import hashlib
import json
import os
import selectors
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import IO, cast
from unicodedata import normalize

from calibration.types import Unanswered
from labels.errors import UserError
from labels.text import storable
from labels.types import Choice

SECONDS = 3_600.0  # that a run may take unless told otherwise
LAST_WORDS = 2_000  # characters kept of what the program wrote to its error stream, and of a stray line
_BLOCK = 65_536  # bytes read or written at once
_LINES = 16  # requests held at once
_LONGEST_LINE = 1_048_576  # bytes of one line of the program that are kept
_PAUSE = 0.2  # seconds after which a silent program is looked at
_CHOICES: Mapping[int, Mapping[str, Choice]] = {
    1: {"pass": "pass", "fail": "fail"},
    2: {"first": "first", "a": "first", "second": "second", "b": "second", "tie": "tie"},
}


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """One item in one order, under an id that tells the program nothing."""

    id: str
    prompt: str
    texts: tuple[str, ...]
    context: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What the program chose for a request; `choice` is None, with the reason, when it gave nothing usable.

    A later answer with the same id replaces an earlier one: it withdraws a vote that was contradicted.
    """

    id: str
    choice: Choice | None
    reasoning: str = ""
    raw: str = ""
    error: Unanswered = ""


@dataclass(frozen=True, slots=True)
class StrayLine:
    """A line of the program that answers no request, to be counted and shown."""

    raw: str
    why: str


def ask_command(
    command: str, requests: Iterable[CommandRequest], *, seconds: float = SECONDS
) -> Iterator[CommandAnswer | StrayLine | None]:
    """Yield what the program says as it says it, None while it is silent, at the end one unanswered for each
    request that it passed over.

    Requests are read while answers arrive, in the caller's thread, so that neither is held in memory.
    UserError when the program cannot start, runs longer than `seconds` or ends with an error; what was
    yielded before stands, and requests without an answer are then not unanswered but not yet asked.
    """
    votes = _Votes()
    lines = votes.ask(requests)
    program = _Program(command, seconds)
    try:
        for line in program.exchange(lines):
            if line is None or line.strip():
                yield None if line is None else votes.read(line)
        program.check_end(len(votes.said))
    finally:
        program.stop()
    yield from votes.passed_over(lines)


def command_version(command: str) -> str:
    """The hash of the command, and of the program and every other file that it names."""
    digest = hashlib.sha256()
    for argument in _arguments(command):
        digest.update(hashlib.sha256(argument.encode()).digest())
        path = shutil.which(argument) or argument
        if os.path.isfile(path):  # not a device, which may never end
            with suppress(OSError), open(path, "rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:32]


class _Votes:
    """What was asked and what was said about it, without the texts."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}  # how many responses each request has
        self.said: dict[str, Choice | None] = {}
        self.withdrawn: set[str] = set()

    def ask(self, requests: Iterable[CommandRequest]) -> Iterator[bytes]:
        """The line of each request; ValueError for an id that comes twice or a wrong number of texts."""
        for request in requests:
            if request.id in self.asked or len(request.texts) not in _CHOICES:
                raise ValueError(f"request {request.id!r} comes twice or has not one or two responses")
            self.asked[request.id] = len(request.texts)
            yield _line(request)

    def read(self, line: bytes) -> CommandAnswer | StrayLine:
        """What a line of the program says."""
        raw = line.decode(errors="replace").strip()
        try:
            said = json.loads(raw, object_pairs_hook=_single_keys)
        except (ValueError, RecursionError):
            return StrayLine(raw[:LAST_WORDS], "is not JSON")
        key = said.get("id") if isinstance(said, dict) else None
        if not isinstance(key, str) or key not in self.asked:
            return StrayLine(raw[:LAST_WORDS], "names no id" if key is None else "names an unknown id")
        return self._answer(key, said, raw=raw)

    def passed_over(self, lines: Iterator[bytes]) -> Iterator[CommandAnswer]:
        """An unanswered for each request without an answer; `lines` are those that were never sent."""
        for _ in lines:
            pass
        for key in self.asked:
            if key not in self.said:
                yield CommandAnswer(key, None, error="not_given")

    def _answer(self, key: str, said: Mapping[str, object], *, raw: str) -> CommandAnswer | StrayLine:
        choice, error = _choice(said.get("vote"), self.asked[key])
        earlier = self.said.get(key)
        if key in self.withdrawn:
            return StrayLine(raw[:LAST_WORDS], "answers again what has contradicting answers")
        if earlier is not None and choice == earlier:
            return StrayLine(raw[:LAST_WORDS], "repeats an answer")
        if earlier is not None:
            self.withdrawn.add(key)
            self.said[key] = None
            return CommandAnswer(key, None, f"It answered {earlier!r} before.", storable(raw), "unparseable")
        self.said[key] = choice
        reasoning = storable(str(said.get("reasoning") or ""))
        return CommandAnswer(key, choice, reasoning, storable(raw), error)


class _Program:
    """A running program whose three pipes are served by turns in one thread, so that none blocks another."""

    def __init__(self, command: str, seconds: float) -> None:
        self.command, self.seconds, self.ends = command, seconds, monotonic() + seconds
        self.process = _started(_arguments(command))
        pipes = (self.process.stdin, self.process.stdout, self.process.stderr)
        self.stdin, self.stdout, self.stderr = cast(tuple[IO[bytes], IO[bytes], IO[bytes]], pipes)
        self.outgoing, self.incoming, self.errors = memoryview(b""), b"", b""
        self.selector = selectors.DefaultSelector()
        self.reading = {self.stdout, self.stderr}
        for pipe in (self.stdin, *self.reading):
            os.set_blocking(pipe.fileno(), False)
            event = selectors.EVENT_READ if pipe in self.reading else selectors.EVENT_WRITE
            self.selector.register(pipe, event)

    def exchange(self, lines: Iterator[bytes]) -> Iterator[bytes | None]:
        """Write the lines and yield those that come back, None for a pause, until there are no more."""
        while self.reading:
            ready = [key.fileobj for key, _ in self.selector.select(min(_PAUSE, self._left()))]
            if self.stdin in ready:
                self._write(lines)
            if self.stderr in ready:
                self.errors = (self.errors + self._read(self.stderr))[-4 * LAST_WORDS :]
            if self.stdout in ready:
                yield from self._whole_lines(self._read(self.stdout))
            if not ready and self.process.poll() is not None:
                break  # a child of the program may hold its pipes open for ever
            if not ready:
                yield None
        yield self.incoming

    def check_end(self, answers: int) -> None:
        """UserError when the program does not end in time, or not well."""
        try:
            code = self.process.wait(self._left())
        except subprocess.TimeoutExpired as error:
            raise self._too_slow() from error
        if code:
            how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
            said = self.errors.decode(errors="replace").strip()[-LAST_WORDS:] or "nothing"
            raise UserError(
                f"The program {self.command!r} {how} after {answers} answers, which are kept. Mend it and "
                f"run it again for the rest. It wrote: {said}"
            )

    def stop(self) -> None:
        """End the program with its group, and give back the pipes."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.selector.close()
        for pipe in (self.stdin, self.stdout, self.stderr):
            pipe.close()

    def _write(self, lines: Iterator[bytes]) -> None:
        if not self.outgoing:
            self.outgoing = memoryview(b"".join(islice(lines, _LINES)))
        try:
            written = os.write(self.stdin.fileno(), self.outgoing[:_BLOCK]) if self.outgoing else 0
        except BlockingIOError:
            return
        except BrokenPipeError:
            written = 0  # it reads no more: what it did not read is passed over, unless it ends with an error
        self.outgoing = self.outgoing[written:]
        if not written:
            self.selector.unregister(self.stdin)
            self.stdin.close()

    def _read(self, pipe: IO[bytes]) -> bytes:
        data = os.read(pipe.fileno(), _BLOCK)
        if not data:
            self.selector.unregister(pipe)
            self.reading.discard(pipe)
        return data

    def _whole_lines(self, data: bytes) -> Sequence[bytes]:
        *lines, rest = (self.incoming + data).split(b"\n")
        # What is cut off leaves a sign that JSON forbids, so that the line cannot say something else.
        self.incoming = rest if len(rest) <= _LONGEST_LINE else rest[:_LONGEST_LINE] + b"\0"
        return lines

    def _left(self) -> float:
        left = self.ends - monotonic()
        if left <= 0:
            raise self._too_slow()
        return left

    def _too_slow(self) -> UserError:
        return UserError(
            f"The program {self.command!r} was stopped after {self.seconds:g} s; its answers until then are "
            "kept. Run it again for the rest, or allow more seconds."
        )


def _arguments(command: str) -> list[str]:
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise UserError(f"The command {command!r} cannot be read: {error}. Mend its quotes.") from error
    if not arguments:
        raise UserError("The command is empty; write a program with its arguments, such as python3 judge.py.")
    return arguments


def _started(arguments: list[str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            arguments, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise UserError(
            f"The program {arguments[0]!r} cannot be started: {error}. Check its path, make it executable, "
            "or name its interpreter as in python3 judge.py."
        ) from error


def _line(request: CommandRequest) -> bytes:
    shown = {"context": request.context, "reference": request.reference, "responses": request.texts}
    return json.dumps({"id": request.id, "prompt": request.prompt, **shown}).encode() + b"\n"


def _single_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    said = dict(pairs)
    if len(said) < len(pairs):
        raise ValueError("a key stands twice")
    return said


def _choice(vote: object, responses: int) -> tuple[Choice | None, Unanswered]:
    if vote is None or vote == "":
        return None, "empty"
    word = normalize("NFC", vote).strip().casefold() if isinstance(vote, str) else ""
    choice = _CHOICES[responses].get(word)
    return choice, "" if choice else "unparseable"
