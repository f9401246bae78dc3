"""litellm takes seconds to import: nothing but a judge run, and what it costs, may wait for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import label, make_project, pair, verdict

ROOT = Path(__file__).parent.parent
COMMAND = """
import sys
from calibration.cli import main
main(sys.argv[1:])
print("litellm" in sys.modules)
"""
PAGE = """
import sys
from streamlit.testing.v1 import AppTest
from labels.store import LabelStore
from labels.web import owner_key
project, key, *pages = sys.argv[1:]
at = AppTest.from_file("annotate_app.py", default_timeout=60)
if key:
    with LabelStore.open(project) as store:
        at.query_params["key"] = owner_key(store.setting("salt"))
else:
    at.query_params["annotator"] = "Ada"
at.run()
for page in pages:
    at.switch_page(page).run()
    assert not at.exception, at.exception
if not key:
    assert "question " in "".join(element.proto.body for element in at.get("html"))
print("litellm" in sys.modules)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    items = [pair(n) for n in range(3)]
    verdicts = [verdict(item, "first", first=side) for item in items for side in ("A", "B")]
    return make_project(
        tmp_path / "p.db", items, [label(item, "Ben", "A") for item in items], verdicts=verdicts
    )


def last_line(code: str, *arguments: object, project: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "JUDGE_CALIBRATION_PROJECT": str(project)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def test_a_report_is_made_without_litellm(project: Path) -> None:
    assert last_line(COMMAND, "report", project, project=project) == "False"


def test_the_labelling_page_runs_without_litellm(project: Path) -> None:
    assert last_line(PAGE, project, "", project=project) == "False"


def test_the_result_pages_run_without_litellm(project: Path) -> None:
    names = ("overview", "judge", "agreement", "disagreements", "audits", "planning")
    places = [ROOT / "calibration" / "pages" / f"{name}.py" for name in names]
    assert last_line(PAGE, project, "owner", *places, project=project) == "False"
