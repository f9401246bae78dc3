"""Judge runs through the whole path, beside bare litellm and bare httpx on the same server."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
MODEL = "test-judge"
PAIRS, CONCURRENCY, ROUNDS = 2_000, (32, 128), 2
MEMORY_PAIRS = (500, 2_000, 4_000)
LATENCY = 0.05  # seconds that the server waits before it answers
WAYS = ("whole path", "bare litellm", "bare httpx")
ANSWER = json.dumps({"reasoning": "It answers what was asked. " * 5, "verdict": "first"})
TEXT = "A response of ordinary length, as people write them to one another. " * 6

Figures = dict[str, float]


def judging() -> None:
    """Print verdicts per second, CPU seconds per verdict and peak memory of all ways, then memory by size."""
    with tempfile.TemporaryDirectory() as folder, _server() as api_base:
        rate = Trial(Path(folder), api_base)
        print(f"{2 * PAIRS:,} verdicts a row, median of {ROUNDS} runs; load {os.getloadavg()[0]:.1f} before")
        for concurrency in CONCURRENCY:
            _compare(rate, concurrency)
        print("peak memory beside the number of verdicts, at concurrency 32")
        for pairs in MEMORY_PAIRS:
            peaks = (f"{way} {rate.run(way, pairs, 32)['peak']:.0f} MB" for way in WAYS[:2])
            print(f"  {2 * pairs:>6,} verdicts: {', '.join(peaks)}", flush=True)


def _compare(trial: Trial, concurrency: int) -> None:
    """All ways in turn, forwards then backwards, so that a machine that gets busier is fair to none."""
    runs: dict[str, list[Figures]] = {way: [] for way in WAYS}
    for round_number in range(ROUNDS):
        for way in WAYS[:: -1 if round_number % 2 else 1]:
            runs[way].append(trial.run(way, PAIRS, concurrency))
    figures = {way: {name: median(run[name] for run in runs[way]) for name in runs[way][0]} for way in WAYS}
    print(f"concurrency {concurrency} (load {os.getloadavg()[0]:.1f})")
    for way, found in figures.items():
        print(
            f"  {way:<13} {found['rate']:6.0f} verdicts/s  {found['cpu'] * 1e3:5.2f} ms CPU a verdict  "
            f"peak {found['peak']:4.0f} MB"
        )
    ratios = [figures[WAYS[0]][name] / figures[WAYS[1]][name] for name in ("rate", "cpu", "peak")]
    print(
        "  whole path / bare litellm: rate {:.0%}, CPU {:.0%}, memory {:.0%}".format(*ratios),
        flush=True,
    )


class Trial:
    """One server, one folder; each run is a process of its own with a new project."""

    def __init__(self, folder: Path, api_base: str) -> None:
        self._folder = folder
        self._api_base = api_base
        self._made = 0

    def run(self, way: str, pairs: int, concurrency: int) -> Figures:
        """The figures of one way at this size, measured in its own process."""
        self._made += 1
        project, prompts = self._folder / f"{self._made}.db", self._folder / f"{pairs}.jsonl"
        if way == WAYS[0] or not prompts.exists():
            make_project(project, pairs)
        if not prompts.exists():
            write_prompts(prompts, project, self._api_base)
        command = [sys.executable, "-m", "benchmarks.judging", way, str(project), str(prompts)]
        environment = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
        done = subprocess.run(
            [*command, self._api_base, str(concurrency)],
            cwd=ROOT,
            env=environment | {"FORCE_COLOR": "1"},  # the progress bar is drawn as in a terminal
            capture_output=True,
            check=False,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"{way} failed:\n{done.stderr[-2000:]}")
        figures: Figures = json.loads(done.stdout.splitlines()[-1])
        return figures


@contextmanager
def _server() -> Iterator[str]:
    """The tests' server in a process of its own; its address."""
    command = [sys.executable, "-m", "benchmarks.judging", "server"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate()


def serve() -> None:
    """Answer until the standard input is closed."""
    sys.path.insert(0, str(ROOT / "tests"))
    from fake_server import FakeServer, Setup

    server = FakeServer(Setup(latency=LATENCY, answer=lambda _: ANSWER))
    server.calls = deque(maxlen=1)  # the log would grow with all that is asked
    server.start()
    print(server.api_base, flush=True)
    sys.stdin.read()
    server.stop()


def make_project(project: Path, pairs: int) -> None:
    """Pairs of ordinary length, no two alike."""
    from labels.store import LabelStore
    from labels.types import Criterion, Item, Response

    LabelStore.create(project, [Criterion("pairwise-1", "pairwise", "Which response is better?")])
    items = []
    for number in range(pairs):
        texts = (f"{number} {TEXT}", f"{TEXT[::-1]} {number}")
        responses = (Response("A", "one", texts[0], 0), Response("B", "two", texts[1], 1))
        items.append(Item(f"i{number}", f"item {number}", "pairwise", f"Question {number}?", responses))
    with LabelStore.open(project) as store:
        store.add_items(items)


def write_prompts(prompts: Path, project: Path, api_base: str) -> None:
    """The exact requests of a judge run about the project, one JSON body a line."""
    from calibration.ordering import Order, open_jobs, prepare

    prepared = prepare(Order(project, f"openai/{MODEL}", settings={"api_base": api_base}))
    with prompts.open("w") as lines, open_jobs(prepared) as jobs:
        for job in jobs:
            request = job.request
            schema = {"name": "verdict", "strict": True, "schema": json.loads(request.schema)}
            body = {
                "model": MODEL,
                "messages": [{"role": m.role, "content": m.content} for m in request.messages],
                "temperature": request.temperature,
                "seed": request.seed,
                "max_tokens": request.max_tokens,
                "response_format": {"type": "json_schema", "json_schema": schema},
            }
            print(json.dumps(body), file=lines)


def measured(act: Callable[[], int]) -> Figures:
    """Rate, CPU seconds for one verdict and peak memory in MB of what returns how many verdicts it got."""
    before, start = _cpu_seconds(), time.perf_counter()
    count = act()
    seconds = time.perf_counter() - start
    return {"rate": count / seconds, "cpu": (_cpu_seconds() - before) / count, "peak": _peak()}


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _peak() -> float:
    """Peak memory in MB; on Linux ru_maxrss may be the parent's, which the status file never is."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def whole_path(project: Path, _prompts: Path, api_base: str, concurrency: int) -> Figures:
    """`calibrate judge` itself, from the command to the last verdict in the file."""
    from calibration.judge_cli import judge_command
    from calibration.store import RunStore

    _warm_up(api_base)
    options = ["--model", f"openai/{MODEL}", "--api-base", api_base, "--concurrency", str(concurrency)]

    def act() -> int:
        judge_command.main([str(project), *options, "--yes"], standalone_mode=False)
        with RunStore.open(project) as store:
            (count,) = store.db.execute("SELECT count(*) FROM verdicts WHERE value IS NOT NULL").fetchone()
        return int(count)

    return measured(act)


def bare_litellm(_project: Path, prompts: Path, api_base: str, concurrency: int) -> Figures:
    """The same requests through `litellm.acompletion`, the texts read and dropped."""
    _warm_up(api_base)
    import litellm

    async def ask(body: dict[str, object]) -> str:
        response = await litellm.acompletion(
            **(body | {"model": f"openai/{MODEL}"}),
            api_base=api_base,
            api_key="none",
            max_retries=0,
            num_retries=0,
            timeout=120,
        )
        return str(response.choices[0].message.content)

    return measured(lambda: asyncio.run(_all_asked(prompts, ask, concurrency)))


def bare_httpx(_project: Path, prompts: Path, api_base: str, concurrency: int) -> Figures:
    """The same requests through one httpx client."""
    import httpx

    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)

    async def act() -> int:
        async with httpx.AsyncClient(limits=limits, timeout=120) as client:

            async def ask(body: dict[str, object]) -> str:
                response = await client.post(f"{api_base}/chat/completions", json=body)
                return str(response.raise_for_status().json()["choices"][0]["message"]["content"])

            return await _all_asked(prompts, ask, concurrency)

    return measured(lambda: asyncio.run(act()))


async def _all_asked(prompts: Path, ask: Callable[[dict[str, object]], Awaitable[str]], workers: int) -> int:
    """Ask each line of the file by so many workers; how many answers were what the server gives."""
    right = 0
    with prompts.open() as lines:

        async def work() -> None:
            nonlocal right
            for line in lines:
                answer = await ask(json.loads(line))
                right += answer == ANSWER

        await asyncio.gather(*(work() for _ in range(workers)))
    return right


def _warm_up(api_base: str) -> None:
    """One call, so that nobody's figures hold what litellm loads at its first."""
    from calibration.asking import Message, Request
    from calibration.judge import completion_for

    async def one() -> None:
        completion = completion_for(f"openai/{MODEL}", api_base=api_base)
        await completion.complete(Request(f"openai/{MODEL}", (Message("user", "Hello"),), api_base=api_base))
        await completion.close()

    asyncio.run(one())


def _main() -> None:
    way, *rest = sys.argv[1:]
    if way == "server":
        serve()
        return
    project, prompts, api_base, concurrency = rest
    act = dict(zip(WAYS, (whole_path, bare_litellm, bare_httpx), strict=True))[way]
    print(json.dumps(act(Path(project), Path(prompts), api_base, int(concurrency))))


if __name__ == "__main__":
    _main()
