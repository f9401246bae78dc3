"""The command judge, driven with real programs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.command_judge import (
    CommandAnswer,
    CommandRequest,
    StrayLine,
    _choice,
    ask_command,
    command_version,
)
from labels.errors import UserError

READS = "import json, sys\nfor line in sys.stdin:\n    item = json.loads(line)\n"
VOTES = f"{READS}    print(json.dumps({{'id': item['id'], 'vote': 'first', 'reasoning': 'so'}}))\n"


def program(folder, text):
    path = folder / "judge.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return shlex.join([sys.executable, str(path)])


def pairs(n):
    return [CommandRequest(f"r{number}", "question", ("one", "other")) for number in range(n)]


def single(key="r0"):
    return CommandRequest(key, "question", ("only",))


def answers(command, requests, **settings):
    return list(heard(command, requests, **settings))


def heard(command, requests, **settings):
    """What the program says, without its silences."""
    return (said for said in ask_command(command, requests, **settings) if said is not None)


def choices(said):
    return {answer.id: answer.choice for answer in said if isinstance(answer, CommandAnswer)}


def is_gone(pid):
    """Whether a process has ended; one that nobody has collected yet is a zombie and has."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] in ("", "Z")


def lines_of(folder, *lines):
    """A program that reads everything and then writes these lines."""
    return program(folder, f"import sys\nsys.stdin.read()\nfor line in {lines!r}:\n    print(line)\n")


def test_a_program_votes_on_each_request_and_its_reasoning_is_kept(tmp_path):
    said = answers(program(tmp_path, VOTES), pairs(3))
    assert [(answer.id, answer.choice, answer.reasoning, answer.error) for answer in said] == [
        ("r0", "first", "so", ""),
        ("r1", "first", "so", ""),
        ("r2", "first", "so", ""),
    ]


def test_the_program_sees_the_texts_in_the_order_shown_and_nothing_else(tmp_path):
    log = tmp_path / "seen"
    command = program(tmp_path, f"import sys\nopen({str(log)!r}, 'w').write(sys.stdin.read())\n")
    answers(command, [CommandRequest("x", "p", ("zwei\u2028", "e\u0301ins\ud800"), "c", "r")])
    assert json.loads(log.read_text()) == {
        "id": "x",
        "prompt": "p",
        "context": "c",
        "reference": "r",
        "responses": ["zwei\u2028", "e\u0301ins\ud800"],
    }


@pytest.mark.parametrize(
    ("vote", "texts", "choice"),
    [
        ("first", 2, "first"),
        ("second", 2, "second"),
        ("A", 2, "first"),  # slots: A is the first shown
        ("B", 2, "second"),
        (" TIE\n", 2, "tie"),
        ("pass", 1, "pass"),
        ("Fail", 1, "fail"),
    ],
)
def test_a_vote_names_a_slot_or_passes_or_fails(tmp_path, vote, texts, choice):
    request = CommandRequest("x", "p", ("t",) * texts)
    said = answers(lines_of(tmp_path, json.dumps({"id": "x", "vote": vote})), [request])
    assert choices(said) == {"x": choice}


@pytest.mark.parametrize(
    ("vote", "texts", "error"),
    [
        ("pass", 2, "unparseable"),
        ("first", 1, "unparseable"),
        ("A", 1, "unparseable"),
        ("A.", 2, "unparseable"),
        ("first or second", 2, "unparseable"),
        (1, 2, "unparseable"),
        (True, 1, "unparseable"),
        (["first"], 2, "unparseable"),
        ("", 2, "empty"),
        (None, 2, "empty"),
    ],
)
def test_any_other_vote_is_unanswered_with_its_line(tmp_path, vote, texts, error):
    line = json.dumps({"id": "x", "vote": vote})
    request = CommandRequest("x", "p", ("t",) * texts)
    assert answers(lines_of(tmp_path, line), [request]) == [
        CommandAnswer("x", None, raw=line, error=error),
    ]


@given(st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()), st.sampled_from([1, 2]))
def test_no_vote_raises_or_becomes_a_choice_that_it_does_not_name(vote, responses):
    choice, error = _choice(vote, responses)
    assert (choice is None) == bool(error)
    if choice is not None:
        assert vote.strip().casefold() in {choice, {"first": "a", "second": "b"}.get(choice)}


def test_a_request_without_an_answer_is_unanswered_at_the_end(tmp_path):
    said = answers(lines_of(tmp_path, '{"id": "r1", "vote": "tie"}'), pairs(3))
    assert choices(said) == {"r0": None, "r1": "tie", "r2": None}
    assert [answer.error for answer in said] == ["", "not_given", "not_given"]


def test_a_program_that_reads_nothing_and_ends_well_leaves_all_unanswered(tmp_path):
    said = answers(program(tmp_path, "pass"), pairs(20_000))
    assert len(said) == 20_000
    assert {answer.error for answer in said} == {"not_given"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("hello", "is not JSON"),
        ('{"id": "r0", "vote": "first"', "is not JSON"),
        ('{"id": "r0", "vote": "first", "vote": "second"}', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('["r0", "first"]', "names no id"),
        ('{"vote": "first"}', "names no id"),
        ('{"id": "nobody", "vote": "first"}', "names an unknown id"),
        ('{"id": 0, "vote": "first"}', "names an unknown id"),
    ],
)
def test_a_line_that_answers_no_request_is_handed_on_and_its_request_stays_unanswered(tmp_path, line, why):
    stray, missing = answers(lines_of(tmp_path, line, "", "  "), pairs(1))
    assert stray == StrayLine(line[:2_000], why)
    assert missing == CommandAnswer("r0", None, error="not_given")


def test_contradicting_answers_withdraw_the_vote_whatever_comes_after(tmp_path):
    votes = [json.dumps({"id": "r0", "vote": vote}) for vote in ("first", "tie", "first")]
    said = answers(lines_of(tmp_path, *votes), pairs(1))
    assert choices(said) == {"r0": None}
    assert said[1] == CommandAnswer("r0", None, "It answered 'first' before.", votes[1], "unparseable")
    assert said[2] == StrayLine(votes[2], "answers again what has contradicting answers")


def test_an_unusable_answer_after_a_vote_contradicts_it_and_a_vote_after_it_counts(tmp_path):
    good, bad = '{"id": "r0", "vote": "first"}', '{"id": "r0", "vote": "maybe"}'
    assert choices(answers(lines_of(tmp_path, good, bad), pairs(1))) == {"r0": None}
    assert choices(answers(lines_of(tmp_path, bad, good), pairs(1))) == {"r0": "first"}


def test_the_same_answer_twice_counts_once(tmp_path):
    line = '{"id": "r0", "vote": "A"}'
    said = answers(lines_of(tmp_path, line, '{"id": "r0", "vote": "first"}'), pairs(1))
    assert choices(said) == {"r0": "first"}
    assert isinstance(said[1], StrayLine)


def test_answers_may_come_in_any_order_and_the_last_line_may_lack_its_end(tmp_path):
    text = """
    import json, sys
    ids = [json.loads(line)["id"] for line in sys.stdin]
    sys.stdout.write("\\n".join(json.dumps({"id": key, "vote": "tie"}) for key in reversed(ids)))
    """
    said = answers(program(tmp_path, text), pairs(5))
    assert [(answer.id, answer.choice) for answer in said] == [(f"r{n}", "tie") for n in (4, 3, 2, 1, 0)]


def test_an_error_keeps_the_answers_before_it_and_tells_the_last_words_of_the_program(tmp_path):
    text = VOTES + "    if item['id'] == 'r1':\n        sys.exit('x' * 3_000 + ' no such model')\n"
    said = []
    with pytest.raises(UserError) as caught:
        said.extend(heard(program(tmp_path, text), pairs(5)))
    told = str(caught.value)
    assert "ended with exit code 1 after 2 answers, which are kept" in told
    assert told.endswith("no such model")
    assert told.count("x") < 2_010
    assert choices(said) == {"r0": "first", "r1": "first"}


def test_a_program_that_is_killed_is_an_error_with_its_signal(tmp_path):
    with pytest.raises(UserError, match="was ended by signal 9 after 0 answers"):
        answers(program(tmp_path, "import os\nos.kill(os.getpid(), 9)\n"), pairs(1))


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("no-such-program-here --x", "'no-such-program-here' cannot be started"),
        ("judge 'a", "cannot be read: No closing quotation. Mend its quotes"),
        ("  ", "The command is empty"),
        ("/", "make it executable"),
    ],
)
def test_a_command_that_cannot_run_is_a_user_error(command, told):
    with pytest.raises(UserError, match=told):
        answers(command, pairs(1))


def test_no_shell_reads_the_command(tmp_path):
    target = tmp_path / "made"
    command = f"{program(tmp_path, VOTES)} ; touch {target}"
    assert choices(answers(command, pairs(1))) == {"r0": "first"}
    assert not target.exists()


@pytest.mark.parametrize(
    "text",
    [
        "import time\ntime.sleep(60)\n",
        "import os, time\nos.close(1)\nos.close(2)\ntime.sleep(60)\n",
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])\n",
        "while True:\n    print('noise', flush=True)\n",
    ],
    ids=["silent", "pipes closed", "with a child", "endless"],
)
def test_a_program_that_does_not_end_is_stopped_in_time(tmp_path, text):
    begin = time.monotonic()
    with pytest.raises(UserError, match=r"was stopped after 0\.5 s"):
        answers(program(tmp_path, text), pairs(1), seconds=0.5)
    assert time.monotonic() - begin < 10


def test_the_children_of_a_stopped_program_are_stopped_too(tmp_path):
    note, child = tmp_path / "pid", "import time; time.sleep(60)"
    text = f"""
    import subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", {child!r}])
    print("begun", flush=True)
    open({str(note)!r}, "w").write(str(child.pid))
    time.sleep(60)
    """
    said = ask_command(program(tmp_path, text), pairs(1))
    next(said)
    while not (note.exists() and note.read_text()):
        time.sleep(0.01)
    said.close()
    deadline = time.monotonic() + 10
    while not is_gone(int(note.read_text())) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert is_gone(int(note.read_text()))


def test_answers_before_a_time_out_are_kept(tmp_path):
    said = []
    text = VOTES.replace("'so'}))", "'so'}), flush=True)") + "import time\ntime.sleep(60)\n"
    with pytest.raises(UserError, match="its answers until then are kept"):
        said.extend(heard(program(tmp_path, text), pairs(2), seconds=3))
    assert choices(said) == {"r0": "first", "r1": "first"}


def test_a_child_that_holds_the_pipes_does_not_hold_the_run(tmp_path):
    child = "import time; time.sleep(30)"
    text = f"import subprocess, sys\n{VOTES}\nsubprocess.Popen([sys.executable, '-c', {child!r}])\n"
    begin = time.monotonic()
    assert choices(answers(program(tmp_path, text), pairs(2))) == {"r0": "first", "r1": "first"}
    assert time.monotonic() - begin < 15


def test_an_answer_is_handed_on_before_the_program_ends(tmp_path):
    text = VOTES.replace("'so'}))", "'so'}), flush=True)") + "import time\ntime.sleep(60)\n"
    said = ask_command(program(tmp_path, text), pairs(1))
    assert next(said).choice == "first"
    said.close()


def test_whoever_stops_reading_stops_the_program(tmp_path):
    note = tmp_path / "pid"
    text = f"import os\nopen({str(note)!r}, 'w').write(str(os.getpid()))\n{VOTES}"
    said = ask_command(program(tmp_path, text), pairs(100_000))
    next(said)
    said.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_requests_are_read_in_the_thread_of_the_caller_and_only_as_they_are_written(tmp_path):
    threads, begun = set(), []

    def requests():
        for request in pairs(50_000):
            threads.add(threading.get_ident())
            begun.append(request.id)
            yield request

    said = ask_command(program(tmp_path, VOTES), requests())
    next(said)
    assert len(begun) < 50_000
    said.close()
    assert threads == {threading.get_ident()}


def test_twenty_thousand_lines_pass_while_the_program_fills_every_pipe(tmp_path):
    loud = "    sys.stderr.write('noise ' * 20)\n"
    said = ask_command(program(tmp_path, VOTES + loud), pairs(20_000))  # 1 MB and more for each pipe of 64 kB
    assert sum(answer.choice == "first" for answer in said) == 20_000


def test_memory_does_not_grow_with_the_texts(tmp_path):
    text = "word " * 2_000  # 80 MB if all were held
    requests = (CommandRequest(f"{number:08x}", "p", (text, text)) for number in range(4_000))
    said = ask_command(program(tmp_path, VOTES), requests)
    tracemalloc.start()
    try:
        votes = sum(answer.choice == "first" for answer in said)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert votes == 4_000
    assert peak < 20_000_000


def test_memory_does_not_grow_with_the_errors_that_a_program_writes(tmp_path):
    text = "import sys\nfor _ in range(200):\n    sys.stderr.write('x' * 100_000)\nsys.exit('over')\n"
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match=r"xover$"):
            answers(program(tmp_path, text), pairs(1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


def test_a_line_without_an_end_is_cut_and_never_read_as_a_vote(tmp_path):
    text = """
    import sys
    sys.stdin.read()
    sys.stdout.write('{"id": "r0", "vote": "first", "reasoning": "' + 'x' * 3_000_000 + '"}\\n')
    sys.stdout.write('{"id": "r1", "vote": "second"}\\n')
    """
    said = answers(program(tmp_path, text), pairs(2))
    assert isinstance(said[0], StrayLine)
    assert len(said[0].raw) == 2_000
    assert choices(said) == {"r0": None, "r1": "second"}


def test_bytes_that_are_no_text_do_not_stop_a_run(tmp_path):
    text = """
    import sys
    sys.stdin.read()
    sys.stdout.buffer.write(b'\\xff\\xfe\\n{"id": "r0", "vote": "tie"}\\n')
    """
    stray, answer = answers(program(tmp_path, text), pairs(1))
    assert stray.why == "is not JSON"
    assert answer.choice == "tie"


@pytest.mark.parametrize("requests", [[single(), single()], [CommandRequest("x", "p", ())]])
def test_a_request_that_comes_twice_or_shows_no_response_is_our_mistake(tmp_path, requests):
    with pytest.raises(ValueError, match="comes twice or has not one or two responses"):
        answers(program(tmp_path, VOTES), requests)


def test_the_version_follows_the_command_and_the_program_it_names(tmp_path):
    command = program(tmp_path, VOTES)
    before = command_version(command)
    assert command_version(command) == before
    assert command_version(f"{command} --strict") != before
    assert command_version("judge /dev/zero") != before  # a device is not read to its end
    program(tmp_path, VOTES + "# changed\n")
    assert command_version(command) != before
