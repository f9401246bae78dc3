"""`calibrate import` on real files and real SQLite: what is shown, what is asked, what is written."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import PAIRS, SINGLES, make_project, pair
from click.testing import CliRunner, Result

from calibration.importing_cli import add_items_file, add_labels_file, import_command
from calibration.store import RunStore
from calibration.types import Verdict
from labels.errors import UserError
from labels.store import LabelStore
from labels.types import Criterion, Item, Label

ITEMS = "item_id,prompt,answer_a,answer_b,model_a,model_b\n1,p,x,y,alpha,beta\n2,p,x,y,beta,alpha\n"
LABELS = "item_id,annotator,label\n1,ana,alpha\n2,ana,A\n1,ben,tie\n"
VERDICTS = (
    '{"item_id":1,"judge":"j","order":["beta","alpha"],"vote":"B","raw":"r"}\n'
    '{"item_id":1,"judge":"j","order":["alpha","beta"],"vote":null}\n'
    '{"item_id":2,"judge":"j","order":["alpha","beta"],"vote":"hm"}\n'
)
Run = Callable[..., Result]


class Folder:
    """A folder with a project in it, and the files that are imported into it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.project = path / "p.db"

    def make(self, *criteria: Criterion) -> None:
        LabelStore.create(self.project, criteria or (PAIRS,))

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run(self, *options: str, answers: str | None = None, **files: str | bytes) -> Result:
        arguments = [str(self.project), *options]
        for name, content in files.items():
            what, _, suffix = name.partition("_")
            arguments += [f"--{what}", str(self.write(f"{what}.{suffix or 'csv'}", content))]
        if answers is None and "--yes" not in options:
            arguments.append("--yes")
        result = CliRunner().invoke(import_command, arguments, input=answers, catch_exceptions=False)
        assert "Traceback" not in result.output
        return result

    def items(self) -> list[Item]:
        with LabelStore.open(self.project) as store:
            return store.items()

    def labels(self, criterion: Criterion = PAIRS) -> list[Label]:
        with LabelStore.open(self.project) as store:
            return store.labels(criterion.id)

    def said(self, criterion: Criterion = PAIRS) -> list[tuple[str, str | None]]:
        names = {item.id: item.name for item in self.items()}
        return [(names[label.item_id], label.value) for label in self.labels(criterion)]

    def verdicts(self, criterion: Criterion = PAIRS) -> list[Verdict]:
        with RunStore.open(self.project) as runs:
            return runs.verdicts(criterion.id)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.make()
    return made


@pytest.fixture
def singles(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.make(SINGLES)
    return made


def test_items_labels_and_verdicts_come_in_by_one_command(folder: Folder) -> None:
    result = folder.run(items=ITEMS, labels=LABELS, verdicts_jsonl=VERDICTS)
    assert result.exit_code == 0
    assert [item.name for item in folder.items()] == ["1", "2"]
    assert folder.said() == [("1", "A"), ("2", "B"), ("1", "tie")]
    found = [(v.first, v.value, v.error, v.raw) for v in folder.verdicts()]
    assert found == [("B", "A", "", "r"), ("A", None, "not_given", ""), ("A", None, "unparseable", "hm")]
    for text in ("2 items added", "3 labels added", "3 verdicts added", "Votes A/B, 1/2 and first/second"):
        assert text in result.output
    assert "Votes: A 1, unanswered (not given) 1, unanswered (unparseable) 1." in result.output


def test_importing_the_same_files_twice_adds_nothing(folder: Folder) -> None:
    folder.run(items=ITEMS, labels=LABELS, verdicts_jsonl=VERDICTS)
    before = (folder.items(), folder.labels(), folder.verdicts())
    result = folder.run(items=ITEMS, labels=LABELS, verdicts_jsonl=VERDICTS)
    assert (folder.items(), folder.labels(), folder.verdicts()) == before
    for text in ("0 items added, 2 known", "0 labels added, 3 known", "0 verdicts added, 3 known"):
        assert text in result.output


def test_labels_may_come_later_and_mean_the_sides_that_the_project_has(folder: Folder) -> None:
    folder.run(items=ITEMS)
    folder.run(items="id,prompt,answer_a,answer_b,model_a,model_b\n3,p,x,y,gamma,alpha\n")
    folder.run(items=ITEMS, labels="item_id,annotator,label\n1,ana,alpha\n2,ana,alpha\n3,ana,gamma\n")
    items = {item.id: item for item in folder.items()}
    winners = [items[label.item_id].response(label.value).system for label in folder.labels()]  # type: ignore[arg-type]
    assert winners == ["alpha", "alpha", "gamma"]
    assert [value for _, value in folder.said()][:2] == ["A", "A"]


def test_nothing_is_written_without_a_yes_and_the_guess_is_shown_before(folder: Folder) -> None:
    result = folder.run(items=ITEMS, labels=LABELS, answers="n\n")
    assert result.exit_code == 0
    for text in ("item_id", "model_a", "A is alpha, B", "read as", "line 2", "2 items can be read"):
        assert text in result.output
    assert result.output.endswith("Nothing was written.\n")
    assert (folder.items(), folder.labels()) == ([], [])
    assert folder.run(items=ITEMS, answers="y\n").exit_code == 0
    assert len(folder.items()) == 2


def test_the_preview_shows_three_rows_cut_short_and_obeyed_by_no_terminal(folder: Folder) -> None:
    rows = [
        {"id": n, "prompt": "[red]x[/red]\x1b[2J", "responses": {"a": "y" * 500, "b": "z"}}
        for n in range(1, 6)
    ]
    result = folder.run(items_jsonl="\n".join(map(json.dumps, rows)), answers="n\n")
    assert "[red]x[/red]" in result.output
    assert "\x1b" not in result.output
    assert "line 3" in result.output
    assert "line 4" not in result.output
    assert "…" in result.output


def test_columns_may_be_named_by_the_user(folder: Folder) -> None:
    items = "key1,frage,links,rechts\n1,p,x,y\n"
    maps = ("item_id=key1", "prompt=frage", "answer_a=links", "answer_b=rechts")
    folder.run(*(text for one in maps for text in ("--map", one)), items=items)
    (item,) = folder.items()
    assert (item.name, item.prompt) == ("1", "p")
    assert [response.system for response in item.responses] == ["links", "rechts"]
    assert item.meta == {}


def test_wrong_map_options_are_errors_that_help(folder: Folder) -> None:
    with pytest.raises(UserError, match=r"no column 'promt'.*The columns are: prompt, item_id"):
        folder.run("--map", "prompt=promt", items=ITEMS)
    with pytest.raises(UserError, match="the fields are: item_id"):
        folder.run("--map", "question=prompt", items=ITEMS)
    with pytest.raises(UserError, match="Nothing to import"):
        folder.run()
    assert folder.items() == []


def test_a_project_that_does_not_exist_is_told_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="calibrate new"):
        Folder(tmp_path).run(items=ITEMS)
    assert not (tmp_path / "p.db").exists()


def test_broken_rows_are_listed_and_nothing_else_is_lost(folder: Folder) -> None:
    report = folder.path / "problems.txt"
    bad = ITEMS + "3,p,x\n1,other,x,y,alpha,beta\n4,p,x,,alpha,beta\n"
    result = folder.run(
        "--problems", str(report), items=bad, labels=LABELS + "9,ana,A\n1,ana,beta\n1,eve,?\n"
    )
    assert result.exit_code == 0
    assert len(folder.items()) == 2
    assert len(folder.labels()) == 3
    places = [line.split(": ")[0] for line in report.read_text().splitlines()]
    wanted = [f"items.csv, line {n}" for n in (4, 5, 6)] + [f"labels.csv, line {n}" for n in (5, 6, 7)]
    assert sorted(places) == wanted
    assert "2 items added, 0 known already, 3 left out." in result.output
    assert "There is no item '9'" in result.output


def test_only_ten_problems_are_printed_and_the_rest_counted(folder: Folder) -> None:
    result = folder.run(items=ITEMS, labels=LABELS + "".join(f"x{n},ana,A\n" for n in range(25)))
    assert result.output.count("There is no item") == 10
    assert "and 15 more; --problems FILE writes them all." in result.output


def test_rows_that_say_the_same_again_are_counted(folder: Folder) -> None:
    result = folder.run(items=ITEMS + "1,p,x,y,alpha,beta\n")
    assert "2 items can be read, 0 problems, 1 said twice." in result.output


def test_a_file_with_nothing_usable_ends_with_one_and_writes_nothing(folder: Folder) -> None:
    result = folder.run(items=ITEMS, labels="item_id,annotator,label\n9,ana,A\n")
    assert result.exit_code == 1
    assert "labels.csv holds no usable labels; nothing was written." in result.output
    assert folder.items() == []
    assert folder.run(items_jsonl="{broken\n").exit_code == 1


def test_a_label_against_an_earlier_one_is_a_problem_and_never_overwrites(folder: Folder) -> None:
    folder.run(items=ITEMS, labels=LABELS)
    report = folder.path / "problems.txt"
    result = folder.run("--problems", str(report), labels="item_id,annotator,label\n1,ana,beta\n2,ben,A\n")
    assert folder.said()[0] == ("1", "A")
    assert "1 labels added, 0 known already, 1 left out." in result.output
    said = "ana said otherwise of this item before; what was said first stays."
    assert report.read_text() == f"labels.csv, line 2: {said}\n"


def test_a_verdict_against_an_earlier_one_is_a_problem_and_never_overwrites(folder: Folder) -> None:
    folder.run(items=ITEMS, verdicts_jsonl=VERDICTS)
    result = folder.run(verdicts_jsonl=VERDICTS.replace('"vote":"B"', '"vote":"A"'))
    assert folder.verdicts()[0].value == "A"
    assert "verdicts.jsonl, line 1: j said otherwise of this item before" in result.output


def test_an_item_id_of_the_project_with_another_text_is_a_problem(folder: Folder) -> None:
    folder.run(items=ITEMS)
    result = folder.run(items=ITEMS.replace("2,p,", "2,q,"))
    assert "The project holds the id '2' with another text" in result.output
    assert [item.prompt for item in folder.items()] == ["p", "p"]


def test_a_file_without_names_of_raters_says_so(folder: Folder) -> None:
    result = folder.run(items=ITEMS, labels="item_id,label\n1,A\n", verdicts_csv="item_id,vote\n1,B\n")
    assert 'all are by "annotator 1"' in result.output
    assert 'all are by "judge 1"' in result.output
    assert [v.judge for v in folder.verdicts()] == ["judge 1"]


def test_one_file_fills_a_project_of_both_kinds(tmp_path: Path) -> None:
    both = Folder(tmp_path)
    both.make(PAIRS, SINGLES)
    rows = [
        {"id": "p1", "prompt": "p", "responses": {"alpha": "x", "beta": "y"}},
        {"id": "s1", "prompt": "p", "responses": {"alpha": "x"}},
    ]
    labels = "item_id,annotator,label\np1,ana,beta\ns1,ana,yes\ns1,ben,A\n"
    result = both.run(items_jsonl="\n".join(map(json.dumps, rows)), labels=labels)
    assert [item.kind for item in both.items()] == ["pairwise", "binary"]
    assert both.said() == [("p1", "B")]
    assert both.said(SINGLES) == [("s1", "pass")]
    assert "labels.csv, line 4: The label 'A' is not understood" in result.output


def test_pairs_do_not_enter_a_project_of_single_responses(singles: Folder) -> None:
    result = singles.run(items=ITEMS)
    assert result.exit_code == 1
    assert "There are 2 responses, but a binary item has 1." in result.output


ANSWERS = "item_id,prompt,answer\n" + "".join(f"{n},p,x{n}\n" for n in range(20))


def rated(*values: object, column: str = "label") -> str:
    return f"item_id,{column}\n" + "".join(f"{n},{value}\n" for n, value in enumerate(values))


def counts(values: list[str | None]) -> tuple[int, int]:
    return values.count("pass"), values.count("fail")


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("1", "0"),
        ("yes", "no"),
        ("true", "false"),
        ("pass", "fail"),
        ("Correct", "Incorrect"),
        ("1.0", "0.0"),
    ],
)
def test_pass_and_fail_may_be_written_in_many_ways(good: str, bad: str, singles: Folder) -> None:
    values = [good] * 12 + [bad] * 8
    result = singles.run(items=ANSWERS, labels=rated(*values), verdicts_csv=rated(*values, column="vote"))
    assert counts([value for _, value in singles.said(SINGLES)]) == (12, 8)
    assert counts([verdict.value for verdict in singles.verdicts(SINGLES)]) == (12, 8)
    assert "Warning" not in result.output


def test_the_other_way_round_is_read_when_told(singles: Folder) -> None:
    singles.run("--pass", "0", items=ANSWERS, labels=rated(*[0] * 12, *[1] * 8))
    assert counts([value for _, value in singles.said(SINGLES)]) == (12, 8)


PEOPLE = rated(*[1] * 10, *[0] * 10)
JUDGE = rated(1, *[0] * 9, *[1] * 10, column="vote")
WARNING = "as written agreement is 5%; turned round it would be 95%"


def test_agreement_far_below_chance_is_kept_with_a_warning_when_nobody_is_asked(singles: Folder) -> None:
    result = singles.run(items=ANSWERS, labels=PEOPLE, verdicts_csv=JUDGE)
    assert WARNING in result.output
    assert "--pass 0" in result.output
    assert singles.said(SINGLES)[0] == ("0", "pass")
    assert counts([verdict.value for verdict in singles.verdicts(SINGLES)]) == (11, 9)


@pytest.mark.parametrize(
    ("answer", "labels", "verdicts"),
    [("as written", "pass", "pass"), ("labels", "fail", "pass"), ("verdicts", "pass", "fail")],
)
def test_agreement_far_below_chance_asks_which_reading_is_right(
    answer: str, labels: str, verdicts: str, singles: Folder
) -> None:
    result = singles.run(items=ANSWERS, labels=PEOPLE, verdicts_csv=JUDGE, answers=f"{answer}\ny\n")
    assert WARNING in result.output
    assert singles.said(SINGLES)[0] == ("0", labels)
    assert singles.verdicts(SINGLES)[0].value == singles.verdicts(SINGLES)[0].choice == verdicts


def test_agreement_is_also_compared_with_what_the_project_holds(singles: Folder) -> None:
    assert WARNING not in singles.run(items=ANSWERS, labels=PEOPLE).output
    result = singles.run(verdicts_csv=JUDGE, answers="verdicts\ny\n")
    assert WARNING in result.output
    assert "labels" not in result.output.split("turn pass and fail round in")[1].split("\n")[0]
    assert counts([verdict.value for verdict in singles.verdicts(SINGLES)]) == (9, 11)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bom", ("\ufeff" + ITEMS).encode()),
        ("utf16", ITEMS.encode("utf-16")),
        ("windows", ITEMS.replace("\n", "\r\n").encode()),
        ("semicolons", ITEMS.replace(",", ";").encode()),
        ("tabs", ITEMS.replace(",", "\t").encode()),
    ],
)
def test_every_spelling_of_a_table_gives_the_same_items(name: str, content: bytes, tmp_path: Path) -> None:
    one, two = Folder(tmp_path / "one"), Folder(tmp_path / "two")
    for folder, data in ((one, ITEMS.encode()), (two, content)):
        folder.path.mkdir()
        folder.make()
        folder.run(items=data)
    assert one.items() == two.items()


def test_parquet_and_jsonl_give_the_same_items(folder: Folder, tmp_path: Path) -> None:
    import pandas as pd

    rows = [{"id": n, "prompt": "p", "responses": {"a": "NaN", "b": f"y{n}"}} for n in range(3)]
    folder.run(items_jsonl="\n".join(map(json.dumps, rows)))
    pd.DataFrame(rows).to_parquet(tmp_path / "more.parquet")
    result = folder.run(items_parquet=(tmp_path / "more.parquet").read_bytes())
    assert "0 items added, 3 known already, 0 left out." in result.output


def test_the_project_can_be_exported_and_imported_again_in_every_format(
    folder: Folder, tmp_path: Path
) -> None:
    from calibration.exporting import export_project

    items = ITEMS + "3,=p,-x,'y,alpha,beta\n"
    folder.run(items=items, labels=LABELS, verdicts_jsonl=VERDICTS)
    for form in ("jsonl", "csv", "parquet"):
        other = Folder(tmp_path / form)
        other.path.mkdir()
        other.make()
        export_project(folder.project, other.path / "out", form=form)
        files = {
            what: (other.path / f"out/pairwise.{what}.{form}").read_bytes()
            for what in ("items", "labels", "verdicts")
        }
        other.run(**{f"{what}_{form}": data for what, data in files.items()})
        assert [(i.id, i.responses) for i in other.items()] == [(i.id, i.responses) for i in folder.items()]
        assert other.said() == folder.said()
        assert other.verdicts() == folder.verdicts()


def test_files_with_well_known_columns_can_be_added_by_a_program(folder: Folder) -> None:
    with LabelStore.open(folder.project) as store:
        added, problems = add_items_file(store, folder.write("i.csv", ITEMS + "3\n"))
        assert (added.new, added.known, len(problems)) == (2, 0, 1)
        added, problems = add_labels_file(store, folder.write("l.csv", LABELS))
        assert (added.new, added.known, problems) == (3, 0, [])
        added, problems = add_labels_file(store, folder.write("l.csv", "id,annotator,label\n1,ana,beta\n"))
        assert (added.new, [problem.place for problem in problems]) == (0, ["l.csv, line 2"])


def test_two_imports_at_the_same_time_both_arrive(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    make_project(folder.project, [pair(n) for n in range(300)])
    header = "item_id,judge,order,vote\n"
    results: list[str] = []

    def work(judge: str) -> None:
        path = folder.write(f"{judge}.csv", header + "".join(f"pair-{n},{judge},ab,A\n" for n in range(300)))
        command = [sys.executable, "-c", "from calibration.importing_cli import import_command as i; i()"]
        done = subprocess.run(
            [*command, str(folder.project), "--verdicts", str(path), "--yes"],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parent.parent,
        )
        results.append(done.stdout[-60:] + done.stderr)

    threads = [threading.Thread(target=work, args=(judge,)) for judge in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("300 verdicts added" in text for text in results), results
    assert len(folder.verdicts()) == 600


def test_nothing_slow_is_imported_with_the_command() -> None:
    code = "import sys, calibration.importing_cli; print([m for m in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent.parent,
    ).stdout
    for slow in ("pandas", "numpy", "sklearn", "litellm", "streamlit", "sqlite_utils", "rich"):
        assert f"'{slow}'" not in loaded
