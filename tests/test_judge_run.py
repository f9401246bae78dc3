"""A judge run from the command to the report, through the real litellm, against a local server."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, label, make_project, pair, single
from click.testing import CliRunner, Result
from fake_server import Call, FakeServer, Faults, fake_server
from judge_process import JudgeProcess, start_judge

from calibration.cli import cli, main
from calibration.load import load_report
from calibration.store import RunStore
from calibration.types import Verdict
from labels.errors import UserError
from labels.store import LabelStore

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
MODEL = "openai/test-judge"
PATIENCE = 120  # seconds that a busy machine may take for what takes one
ALL_FAULTS = ("rate_limit", "error", "drop", "garbage", "refusal", "cut_off", "drip", "empty")


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def calibrate(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False)


def judge(project: Path, server: FakeServer, *more: object) -> Result:
    result = calibrate("judge", project, "--model", MODEL, "--api-base", server.api_base, "--yes", *more)
    assert result.exit_code == 0, result.output
    return result


def verdicts(project: Path, criterion: str = PAIRS.id) -> list[Verdict]:
    with RunStore.open(project) as runs:
        return runs.verdicts(criterion)


def summary(project: Path, criterion: str = PAIRS.id) -> dict[tuple[str, str | None, int], str | None]:
    return {(v.item_id, v.first, v.repeat): v.value for v in verdicts(project, criterion)}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    items = [pair(n) for n in range(10)]
    return make_project(tmp_path / "p.db", items, [label(item, "Ada", "A") for item in items])


def test_a_judge_that_always_names_the_first_slot_flips_every_pair(project: Path) -> None:
    with fake_server(behaviour="first-slot") as server:
        judge(project, server)
    position = load_report(project).judges[0].position
    assert (position.pairs, position.hard_flips_first) == (10, 10)
    assert position.consistency.value == 0


def test_a_judge_that_reads_never_flips(project: Path) -> None:
    with fake_server(behaviour="reads") as server:
        judge(project, server)
    assert load_report(project).judges[0].position.consistency.value == 1


def test_what_is_answered_already_is_not_asked_again(project: Path) -> None:
    with fake_server() as server:
        first = judge(project, server)
        asked = server.count()
        second = judge(project, server)
        assert server.count() == asked == 20
    assert "20 calls" in first.output
    assert "nothing to ask" in second.output


def test_only_what_is_new_is_asked_when_items_arrive(project: Path) -> None:
    with fake_server() as server:
        judge(project, server)
        with LabelStore.open(project) as store:
            store.add_items([pair(n) for n in range(10, 13)])
        judge(project, server)
        assert server.count() == 26


def test_single_responses_and_repeats_are_asked_as_ordered(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [single(n) for n in range(5)], criteria=[SINGLES])
    with fake_server() as server:
        judge(project, server, "--repeats", 3)
        bodies = [json.dumps(call.body) for call in server.calls]
    assert len(bodies) == 15
    assert Counter(v.repeat for v in verdicts(project, SINGLES.id)) == {0: 5, 1: 5, 2: 5}
    assert all(v.first is None for v in verdicts(project, SINGLES.id))


def test_no_system_name_and_no_item_name_reaches_the_model(project: Path) -> None:
    with fake_server() as server:
        judge(project, server)
        sent = json.dumps([call.body for call in server.calls])
    assert "short answer 3" in sent
    assert not any(secret in sent for secret in ("alpha", "beta", "pair-3", "i0003"))


def test_two_thousand_verdicts_with_ten_per_cent_faults_end_complete(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(n) for n in range(1000)])
    faults = Faults({name: 0.1 / len(ALL_FAULTS) for name in ALL_FAULTS}, seed=5, attempts=3)
    with fake_server(behaviour="reads", faults=faults) as server:
        judge(project, server, "--concurrency", 32)
        judge(project, server, "--concurrency", 32)
        struck = sum(server.count(fault=name) for name in ALL_FAULTS)
    assert 150 < struck < 300
    kept = verdicts(project)
    assert len(kept) == 2000
    assert sum(v.value is None for v in kept) <= 2
    assert all(v.value is not None or v.error for v in kept)


def test_what_cannot_be_used_is_unanswered_and_asked_again_by_the_next_run(project: Path) -> None:
    """The first attempt at each request is refused, the repair of it too; the next run is answered."""
    with fake_server(faults=Faults({"refusal": 1.0}, attempts=1)) as server:
        output = judge(project, server).output
        assert server.count() == 40
        assert "unanswered: 20 refused" in output
        assert load_report(project).judges[0].left_out == {"unanswered": 10}
        judge(project, server, "--only", "unanswered")
        assert server.count() == 60
    assert load_report(project).judges[0].left_out == {}


def run_in_a_process(project: Path, server: FakeServer) -> JudgeProcess:
    arguments = ["judge", str(project), "--model", MODEL, "--api-base", server.api_base, "--yes"]
    return start_judge([*arguments, "--concurrency", "4"], project.with_suffix(".log"))


def wait_for_calls(server: FakeServer, run: JudgeProcess, number: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while server.count() < number:
        assert run.process.is_alive(), run.printed()
        assert time.monotonic() < deadline, "the run did not ask in time"
        time.sleep(0.01)


def asked_about(call: Call) -> tuple[str, str]:
    """The item of a request, and the side that stood first, from what was sent."""
    text = json.dumps(call.body)
    match = re.search(r"question (\d+)\b", text)
    assert match is not None, text
    number = int(match[1])
    first = "A" if text.index(f"short answer {number}") < text.index(f"another answer {number}") else "B"
    return f"i{number:04}", first


def test_killed_ten_times_the_run_asks_nothing_twice_and_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    items = [pair(n) for n in range(150)]
    killed = make_project(tmp_path / "killed.db", items)
    whole = make_project(tmp_path / "whole.db", items)
    chance, kills = random.Random(7), 0
    stored: list[tuple[int, set[tuple[str, str | None]]]] = []
    with fake_server(behaviour="reads", latency=0.1) as server:
        while kills < 10:
            run = run_in_a_process(killed, server)
            wait_for_calls(server, run, server.count() + chance.randint(1, 20))
            time.sleep(chance.uniform(0, 0.1))  # any moment of a call may be the last one
            run.process.kill()
            run.process.join()
            assert run.process.exitcode == -signal.SIGKILL, run.printed()
            kills += 1
            stored.append((server.count(), {(v.item_id, v.first) for v in verdicts(killed) if v.value}))
        last = run_in_a_process(killed, server)
        assert last.ended_well(PATIENCE), last.printed()
        asked = [asked_about(call) for call in server.calls]
        judge(whole, server, "--concurrency", 16)
    assert kills == 10
    for count, known in stored:
        assert known.isdisjoint(asked[count:])  # what was stored when it was killed is never asked again
    assert len(stored[-1][1]) > 10
    assert summary(killed) == summary(whole)
    assert len(summary(killed)) == 300
    # Only what was under way when a process was killed, four at a time.
    assert len(set(asked)) == 300
    assert len(asked) - 300 <= 10 * 4


def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(n) for n in range(100)])
    with fake_server(latency=0.1) as server:
        run = run_in_a_process(project, server)
        wait_for_calls(server, run, 10)
        os.kill(run.process.pid or 0, signal.SIGINT)
        assert run.ended_well(PATIENCE), run.printed()
        stored, asked = len(summary(project)), server.count()
        assert stored == asked < 200
        judge(project, server)
        assert server.count() == 200


def test_a_second_run_of_a_judge_that_is_under_way_asks_nothing(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(n) for n in range(60)])
    with fake_server(latency=0.1) as server:
        run = run_in_a_process(project, server)
        wait_for_calls(server, run, 4)
        again = ("judge", project, "--model", MODEL, "--api-base", server.api_base, "--yes")
        with pytest.raises(UserError, match="is under way already"):
            CliRunner().invoke(cli, [*map(str, again)], catch_exceptions=False)
        assert run.ended_well(PATIENCE), run.printed()
        assert server.count() == 120
        judge(project, server)  # once it has ended, the name is free again
        assert server.count() == 120


def test_another_process_can_stop_a_run(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(n) for n in range(300)])
    with fake_server(latency=0.1) as server:
        run = run_in_a_process(project, server)
        wait_for_calls(server, run, 5)
        with RunStore.open(project) as runs:
            runs.ask_to_stop(runs.runs(PAIRS.id)[0].id)
        assert run.ended_well(PATIENCE), run.printed()
        with RunStore.open(project) as runs:
            assert runs.runs(PAIRS.id)[0].state == "stopped"


@pytest.mark.parametrize(
    ("setup", "sentence"),
    [
        ({"key": "the-right-one"}, "does not accept"),
        ({"models": frozenset({"another"})}, "no model"),
    ],
    ids=["401", "404"],
)
def test_what_every_request_would_meet_stops_at_once_in_one_sentence(
    project: Path, setup: dict[str, object], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with fake_server(**setup) as server, pytest.raises(SystemExit) as stop:
        main(["judge", str(project), "--model", MODEL, "--api-base", server.api_base, "--concurrency", "1"])
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert server.count() == 1
    assert sentence in error
    assert "Traceback" not in error


def test_an_unknown_price_is_called_unknown_and_never_nothing(project: Path) -> None:
    with fake_server() as server:
        output = judge(project, server).output
    assert "price unknown" in output
    assert "$0" not in output


def test_a_large_run_asks_first_and_a_no_asks_nobody(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(n) for n in range(150)])
    with fake_server() as server:
        arguments = ["judge", str(project), "--model", MODEL, "--api-base", server.api_base]
        result = CliRunner().invoke(cli, arguments, input="n\n")
        assert result.exit_code == 1
        assert server.count() == 0


def test_what_the_judge_saw_can_be_read_later(project: Path) -> None:
    with fake_server() as server:
        judge(project, server)
        body = json.dumps([call.body for call in server.calls], ensure_ascii=False)
    with RunStore.open(project) as runs:
        run = runs.runs(PAIRS.id)[0]
        exchange = runs.seen(run.id, "i0004", "B")[0]
    assert "short answer 4" in exchange.messages[-1].content
    assert json.dumps(exchange.messages[-1].content, ensure_ascii=False) in body
    assert exchange.served_model
    assert run.served


def test_an_item_that_does_not_fit_is_unanswered_with_its_reason(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [pair(1)])
    with fake_server(context=10) as server:
        output = judge(project, server).output
    assert "2 too long" in output
    assert {v.error for v in verdicts(project)} == {"too_long"}
