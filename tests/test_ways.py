"""Every way of asking a judge, from the command to the stored verdicts."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from builders import PAIRS, SINGLES, label, make_project, pair, single, verdict
from click.testing import CliRunner, Result

from calibration.cli import cli
from calibration.flow import Gatekeeper
from calibration.judging import RunSummary
from calibration.load import load_report
from calibration.runs import _wanted
from calibration.store import RunStore
from calibration.types import Verdict
from labels.errors import UserError
from labels.types import Item, Response

PROGRAM = """
import json, sys
for line in sys.stdin:
    item = json.loads(line)
    vote = {vote}
    if vote:
        print(json.dumps({{"id": item["id"], "vote": vote, "reasoning": "program"}}), flush=True)
"""


def calibrate(*arguments: object, project: Path) -> Result:
    command = ["judge", str(project), "--yes", *map(str, arguments)]
    return CliRunner().invoke(cli, command, catch_exceptions=False)


def verdicts(project: Path, criterion: str = PAIRS.id, judge: str | None = None) -> list[Verdict]:
    with RunStore.open(project) as runs:
        found = runs.verdicts(criterion)
    return [verdict for verdict in found if judge is None or judge in verdict.judge]


def runs_of(project: Path, criterion: str = PAIRS.id) -> list[RunSummary]:
    with RunStore.open(project) as runs:
        return runs.runs(criterion)


def worded(item: Item, *texts: str, reference: str = "") -> Item:
    responses = tuple(
        Response(old.side, old.system, text, old.listed)
        for old, text in zip(item.responses, texts, strict=True)
    )
    return replace(item, responses=responses, reference=reference)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    items = [worded(pair(n), f'{{"n": {n}}}', f"no JSON {n}") for n in range(4)]
    items.append(worded(pair(4), "neither", "nor"))
    return make_project(tmp_path / "pairs.db", items, [label(item, "Ada", "A") for item in items])


@pytest.fixture
def singles(tmp_path: Path) -> Path:
    """Good responses repeat the reference, bad ones share one word of four with it."""
    good = [worded(single(n), "the river is long", reference="the river is long") for n in range(10)]
    bad = [worded(single(n), "the moon shines", reference="the river is long") for n in range(10, 20)]
    labels = [label(item, "Ada", "pass") for item in good] + [label(item, "Ada", "fail") for item in bad]
    return make_project(tmp_path / "singles.db", [*good, *bad], labels, criteria=[SINGLES])


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_rules_rate_both_orders_and_never_differ_from_themselves(pairs: Path, tmp_path: Path) -> None:
    rules = written(tmp_path / "json.toml", '[[rules]]\nrule = "json"\n')
    result = calibrate("--rule", rules, project=pairs)
    assert "5 answers, no model is asked" in result.output
    assert Counter((v.first, v.value) for v in verdicts(pairs)) == {
        ("A", "A"): 4,
        ("B", "A"): 4,
        ("A", "tie"): 1,
        ("B", "tie"): 1,
    }
    assert {v.choice for v in verdicts(pairs) if v.first == "B" and v.value == "A"} == {"second"}
    (judge,) = load_report(pairs).judges
    assert (judge.position.pairs, judge.position.consistent, judge.n) == (5, 5, 5)
    assert "nothing to ask" in calibrate("--rule", rules, project=pairs).output
    (run,) = runs_of(pairs)
    assert (run.cost, run.unpriced, run.unanswered) == (0.0, 0, {})


def test_a_tie_of_rules_is_unanswered_where_ties_are_forbidden(tmp_path: Path) -> None:
    criterion = replace(PAIRS, ties=False)
    items = [worded(pair(0), "{}", "no"), worded(pair(1), "{}", "[]")]
    project = make_project(tmp_path / "p.db", items, criteria=[criterion])
    calibrate("--rule", written(tmp_path / "r.json", '[{"rule": "json"}]'), project=project)
    assert [(v.item_id, v.value, v.error) for v in verdicts(project)] == [
        ("i0000", "A", ""),
        ("i0000", "A", ""),
        ("i0001", None, "not_given"),
        ("i0001", None, "not_given"),
    ]


def test_a_metric_passes_from_a_threshold_that_was_chosen_on_the_develop_items(singles: Path) -> None:
    result = calibrate("--reference", "token_f1", project=singles)
    assert result.exit_code == 0
    assert "A response passes from" in result.output
    assert "The holdout decides" in result.output
    assert Counter((v.item_id < "s0010", v.value) for v in verdicts(singles, SINGLES.id)) == {
        (True, "pass"): 10,
        (False, "fail"): 10,
    }
    (judge,) = load_report(singles).judges
    assert judge.estimates["agreement"].value == 1
    assert "tuned" in [warned.code for warned in judge.warnings]  # seen on the very items of the choice


def test_only_develop_items_choose_the_threshold(tmp_path: Path) -> None:
    items = [worded(single(n), "x", reference="x") for n in range(12)]
    labels = [label(item, "Ada", "pass" if n % 2 else "fail") for n, item in enumerate(items)]
    settings = {"holdout_share": "0.6", "salt": "fixed"}
    project = make_project(tmp_path / "p.db", items, labels, criteria=[SINGLES], settings=settings)
    with pytest.raises(UserError, match="10 develop items"):
        calibrate("--reference", "exact", project=project)


def test_a_metric_without_a_reference_is_unanswered_and_says_so(pairs: Path) -> None:
    calibrate("--reference", "rouge_l", project=pairs)
    assert {(v.value, v.error) for v in verdicts(pairs)} == {(None, "not_given")}
    assert "no reference" in verdicts(pairs)[0].reasoning


def test_a_metric_compares_the_two_responses_of_a_pair(tmp_path: Path) -> None:
    items = [
        worded(pair(0), "a long river", "a moon", reference="the long river"),
        worded(pair(1), "a moon", "a long river", reference="the long river"),
        worded(pair(2), "river", "river", reference="the long river"),
    ]
    project = make_project(tmp_path / "p.db", items)
    calibrate("--reference", "token_f1", "--margin", 0.1, project=project)
    assert [v.value for v in verdicts(project) if v.first == "A"] == ["A", "B", "tie"]


def test_a_program_votes_in_both_orders_and_names_of_systems_stay_here(pairs: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen.txt"
    program = written(
        tmp_path / "judge.py",
        f"import sys\nlog = open({str(seen)!r}, 'a')\n"
        + PROGRAM.format(vote='log.write(line) and log.flush() or "first"'),
    )
    result = calibrate("--command", f"{sys.executable} {program}", project=pairs)
    assert "Done. 10 asked" in result.output
    assert load_report(pairs).judges[0].position.hard_flips_first == 5
    told = seen.read_text()
    assert len(told.splitlines()) == 10
    assert not any(secret in told for secret in ("alpha", "beta", "pair-", "i0001"))


def test_a_program_that_breaks_off_keeps_its_answers_and_is_asked_the_rest(
    pairs: Path, tmp_path: Path
) -> None:
    flag = tmp_path / "broken"
    flag.touch()
    program = written(
        tmp_path / "judge.py",
        f"""
import json, pathlib, sys
for number, line in enumerate(sys.stdin):
    if number == 3 and pathlib.Path({str(flag)!r}).exists():
        sys.exit(3)
    print(json.dumps({{"id": json.loads(line)["id"], "vote": "tie"}}), flush=True)
""",
    )
    command = f"{sys.executable} {program}"
    with pytest.raises(UserError, match="exit code 3 after 3 answers"):
        calibrate("--command", command, project=pairs)
    assert len(verdicts(pairs)) == 3
    flag.unlink()
    result = calibrate("--command", command, project=pairs)
    assert "7 answers" in result.output
    assert len(verdicts(pairs)) == 10


def test_a_program_that_contradicts_itself_is_unanswered_and_silence_is_counted(
    pairs: Path, tmp_path: Path
) -> None:
    program = written(
        tmp_path / "judge.py",
        """
import json, sys
for number, line in enumerate(sys.stdin):
    for vote in (["first", "second"] if number == 0 else ["tie"] if number < 5 else []):
        print(json.dumps({"id": json.loads(line)["id"], "vote": vote}), flush=True)
print("a stray line")
""",
    )
    result = calibrate("--command", f"{sys.executable} {program}", project=pairs)
    assert "1 line of the program" in result.output
    assert Counter(v.error for v in verdicts(pairs)) == {"unparseable": 1, "": 4, "not_given": 5}


def test_another_program_under_the_same_command_is_another_judge(pairs: Path, tmp_path: Path) -> None:
    program = written(tmp_path / "judge.py", PROGRAM.format(vote='"first"'))
    calibrate("--command", f"{sys.executable} {program}", project=pairs)
    written(program, PROGRAM.format(vote='"second"'))
    calibrate("--command", f"{sys.executable} {program}", project=pairs)
    assert len({v.judge for v in verdicts(pairs)}) == 2


@pytest.fixture
def twins(tmp_path: Path) -> Path:
    """Five pairs of which four have the same texts, as several systems often give."""
    alike = [worded(pair(n), "Paris", "Rome") for n in range(4)]
    same = [replace(item, prompt="Which city?") for item in alike]
    return make_project(tmp_path / "twins.db", [*same, pair(4)])


@pytest.mark.parametrize("judge", ["model", "rule", "reference", "command"])
def test_items_with_equal_texts_share_an_answer_and_each_has_its_verdict(
    twins: Path, tmp_path: Path, judge: str
) -> None:
    program = written(tmp_path / "judge.py", PROGRAM.format(vote='"first"'))
    order = {
        "model": ("--model", "scripted:first-slot"),
        "rule": ("--rule", written(tmp_path / "r.toml", '[[rules]]\nrule = "json"\n')),
        "reference": ("--reference", "exact"),
        "command": ("--command", f"{sys.executable} {program}"),
    }[judge]
    calibrate(*order, "--limit", 1, project=twins)
    assert len(verdicts(twins)) == 2
    calibrate(*order, project=twins)
    assert Counter(v.item_id for v in verdicts(twins)) == {f"i{n:04}": 2 for n in range(5)}
    if judge == "model":
        assert [run.calls for run in runs_of(twins)] == [4]


def test_equal_requests_under_way_at_once_are_asked_once_and_foretold_once(twins: Path) -> None:
    result = calibrate("--model", "scripted:first-slot", "--concurrency", 16, project=twins)
    assert "4 calls" in result.output
    assert [(run.calls, run.verdicts) for run in runs_of(twins)] == [(4, 10)]


def test_a_later_readable_vote_of_a_program_mends_an_unreadable_one(pairs: Path, tmp_path: Path) -> None:
    program = written(
        tmp_path / "judge.py",
        """
import json, sys
for line in sys.stdin:
    for vote in ("perhaps", "tie"):
        print(json.dumps({"id": json.loads(line)["id"], "vote": vote}), flush=True)
""",
    )
    calibrate("--command", f"{sys.executable} {program}", project=pairs)
    assert {v.value for v in verdicts(pairs)} == {"tie"}


def test_a_judge_with_nothing_to_ask_ends_well(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [])
    for order in (("--command", f"{sys.executable} -c pass"), ("--model", "scripted:reads")):
        result = calibrate(*order, project=project)
        assert result.exit_code == 0
        assert "nothing to ask" in result.output
    assert runs_of(project) == []


def test_a_silent_program_can_be_stopped_from_elsewhere(pairs: Path, tmp_path: Path) -> None:
    program = written(tmp_path / "judge.py", "import time\ntime.sleep(600)\n")
    done: list[Result] = []
    command = f"{sys.executable} {program}"
    thread = threading.Thread(target=lambda: done.append(calibrate("--command", command, project=pairs)))
    with mock.patch("signal.signal"):  # only the main thread of a process may set handlers
        thread.start()
        while not (runs := runs_of(pairs)):
            time.sleep(0.05)
        with RunStore.open(pairs) as store:
            store.ask_to_stop(runs[0].id)
        thread.join(60)
    assert "Stopped" in done[0].output
    assert [run.state for run in runs_of(pairs)] == ["stopped"]


def test_audits_read_scores_by_each_runs_own_rule(singles: Path) -> None:
    asked = ("--model", "scripted:reads", "--score")
    calibrate(*asked, "--pass-from", 5, "--name", "strict", project=singles)
    calibrate(*asked, "--pass-from", 1, "--name", "lax", project=singles)
    with RunStore.open(singles) as runs:
        attempts = runs.attempts(SINGLES.id)
        found = {(v.judge, v.item_id): v.choice for v in runs.verdicts(SINGLES.id)}
    assert all(found[attempt.judge, attempt.item_id] == attempt.choice for attempt in attempts)
    assert {attempt.judge for attempt in attempts} == {"strict"}


def test_closed_questions_give_a_score_and_a_verdict_like_any_other(singles: Path, tmp_path: Path) -> None:
    questions = written(tmp_path / "q.txt", "# about content\nIs it about the river?\n\nIs it short?\n")
    result = calibrate("--model", "scripted:longer", "--questions", questions, project=singles)
    assert "A response passes when every question is answered with yes." in result.output
    assert "On average 0 % of the questions are answered with yes." in result.output
    found = verdicts(singles, SINGLES.id)
    assert {v.value for v in found} == {"fail"}
    assert found[0].reasoning == "1. no\n2. no"
    with RunStore.open(singles) as runs:
        details = runs.db.execute("SELECT DISTINCT details FROM attempts").fetchall()
    assert [json.loads(row[0]) for row in details] == [{"score": 0.0}]


def test_another_pass_rule_reads_the_stored_answers_again_and_asks_nothing(
    singles: Path, tmp_path: Path
) -> None:
    questions = written(tmp_path / "q.txt", "Is it good?\n")
    asked = ("--model", "scripted:longer", "--questions", questions)
    calibrate(*asked, "--name", "strict", project=singles)
    calibrate(*asked, "--pass-from", 0.0, "--name", "lax", project=singles)
    assert {v.value for v in verdicts(singles, SINGLES.id, "strict")} == {"fail"}
    assert {v.value for v in verdicts(singles, SINGLES.id, "lax")} == {"pass"}
    assert [run.calls for run in runs_of(singles, SINGLES.id)] == [20, 0]


def test_scores_decide_pairs_with_two_calls_for_both_orders(pairs: Path) -> None:
    result = calibrate("--model", "scripted:longer", "--score", project=pairs)
    assert "The response whose score is higher by at least 0.5 is better; otherwise" in result.output
    assert "10 calls" in result.output
    assert len(verdicts(pairs)) == 10
    assert [run.calls for run in runs_of(pairs)] == [10]
    assert load_report(pairs).judges[0].position.consistency.value == 1


def test_a_score_passes_from_the_stated_limit_and_keeps_the_valid_mass(singles: Path) -> None:
    result = calibrate("--model", "scripted:reads", "--score", "--pass-from", 3, project=singles)
    assert "A response passes when its score is at least 3 of 5." in result.output
    assert "100 % fell on 1 to 5 on average, 100 % in the worst answer" in result.output
    with RunStore.open(singles) as runs:
        (first, *_) = runs.db.execute("SELECT details FROM attempts").fetchall()
    assert json.loads(first[0]) == {"score": pytest.approx(5.0), "score_mass": pytest.approx(1.0)}
    calibrate("--model", "scripted:reads", "--score", "--pass-from", 1, "--name", "lax", project=singles)
    assert {v.value for v in verdicts(singles, SINGLES.id, "lax")} == {"pass"}
    assert [run.valid_mass for run in runs_of(singles, SINGLES.id)] == [pytest.approx(1.0), None]
    assert [run.calls for run in runs_of(singles, SINGLES.id)] == [20, 0]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Choose one judge"),
        (("--model", "scripted:reads", "--reference", "exact"), "Choose one judge"),
        (("--reference", "bert"), "choose one of exact"),
        (("--model", "scripted:reads", "--pass-from", 0.5), "leave it out"),
        (("--model", "scripted:reads", "--score", "--pass-from", 7), "between 1 and 5"),
        (("--reference", "exact", "--pass-from", 1.1), "between 0 and 1"),
        (("--reference", "exact", "--margin", -0.1), "between 0 and 1"),
        (("--rule", "absent.toml"), "absent.toml cannot be read"),
        (("--model", "scripted:reads", "--split", "holdout"), "no holdout"),
        (("--model", "scripted:reads", "--rubric", "zz"), "names 0 rubric versions"),
        (("--command", "no-such-program-here"), "cannot be started"),
    ],
)
def test_a_wrong_order_ends_in_one_sentence_with_the_remedy(
    pairs: Path, arguments: tuple[object, ...], told: str
) -> None:
    with pytest.raises(UserError, match=told):
        calibrate(*arguments, project=pairs)
    assert verdicts(pairs) == []


def test_a_run_can_keep_to_one_part_of_the_items(tmp_path: Path) -> None:
    items = [pair(n) for n in range(40)]
    project = make_project(tmp_path / "p.db", items, settings={"holdout_share": "0.5"})
    calibrate("--model", "scripted:first-slot", "--split", "develop", project=project)
    develop = {v.item_id for v in verdicts(project)}
    calibrate("--model", "scripted:first-slot", "--split", "holdout", project=project)
    assert 5 < len(develop) < 35
    assert len(verdicts(project)) == 80
    (judge,) = load_report(project).judges
    assert (judge.items, judge.judged) == (len(develop), len(develop))
    assert "holdout" in [warned.code for warned in judge.warnings]


def test_characters_that_no_file_takes_do_not_lose_what_a_program_said(pairs: Path, tmp_path: Path) -> None:
    text = PROGRAM.format(vote='"A"').replace('"program"', '"half \\ud83d emoji, \\u0000 nothing"')
    program = written(tmp_path / "judge.py", text)
    result = calibrate("--command", f"{sys.executable} {program}", project=pairs)
    assert "unanswered: none" in result.output
    assert {v.reasoning for v in verdicts(pairs)} == {"half \ufffd emoji, \ufffd nothing"}
    assert [run.state for run in runs_of(pairs)] == ["done"]


def test_an_item_that_a_pattern_cannot_finish_is_unanswered_and_the_others_are_judged(tmp_path: Path) -> None:
    items = [worded(single(n), "c" if n else "a" * 12_000) for n in range(3)]
    project = make_project(tmp_path / "p.db", items, criteria=[SINGLES])
    rule = '[{"rule": "must_match", "pattern": "^(a|aa)+(.*)\\\\2c$|^c"}]'
    result = calibrate("--rule", written(tmp_path / "r.json", rule), project=project)
    assert "unanswered: 1 error" in result.output
    assert "without an end" in " ".join(result.output.split())
    found = {v.item_id: v.value for v in verdicts(project, SINGLES.id)}
    assert sorted(map(str, found.values())) == ["None", "pass", "pass"]


def test_a_request_that_failed_says_why_at_the_end(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p.db", [single(0)], criteria=[SINGLES])
    with mock.patch.object(Gatekeeper, "backoff", return_value=0.0):
        result = calibrate("--model", "openai/m", "--api-base", "http://127.0.0.1:9/v1", project=project)
    assert "The last request that failed: There is no connection to 127.0.0.1:9." in result.output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--name", "  "), "--name is blank"),
        (("--name", "\udcff"), "--name holds bytes that are no text"),
    ],
)
def test_a_name_that_is_no_name_is_refused(pairs: Path, arguments: tuple[str, ...], told: str) -> None:
    with pytest.raises(UserError, match=told):
        calibrate("--model", "scripted:reads", *arguments, project=pairs)


def test_disputed_are_items_where_orders_or_people_disagree(tmp_path: Path) -> None:
    """Skips and labels given after a verdict was seen dispute nothing; two people may, before any verdict."""
    items = [pair(n) for n in range(6)]
    labels = [label(items[0], "Ada", None), replace(label(items[1], "Ada", "B"), saw="verdict")]
    labels += [label(items[2], "Ada", "A"), label(items[2], "Ben", "B"), label(items[3], "Ada", "B")]
    labels += [label(items[5], "Ada", "A"), label(items[5], "Ben", "A")]
    judged = [verdict(items[n], "first", first="A", judge="J") for n in (0, 1, 3, 5)]
    judged += [verdict(items[n], "second", first="B", judge="J") for n in (0, 1, 3, 5)]
    judged += [verdict(items[4], "first", first=side, judge="J") for side in ("A", "B")]
    wanted = _wanted("disputed", judged, labels)
    assert wanted is not None
    assert [number for number, item in enumerate(items) if wanted(item.id)] == [2, 3, 4]
