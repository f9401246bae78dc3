"""The wheel, installed elsewhere, works as the source tree does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from browser_tools import ADDRESS, PATIENCE

from calibration.app_cli import is_ready

ROOT = Path(__file__).parent.parent
RUN = "import sys, calibration; assert 'elsewhere' in calibration.__file__, calibration.__file__; \
from calibration.cli import main; main(sys.argv[1:])"


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT], check=True, timeout=300)
    (wheel,) = folder.glob("judge_calibration-*.whl")
    target = folder / "elsewhere"
    subprocess.run([*pip, "install", "--no-deps", "--target", target, wheel], check=True, timeout=300)
    return target


def calibrate(elsewhere: Path, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN, *map(str, arguments)],
        cwd=elsewhere.parent,
        env={**os.environ, "PYTHONPATH": str(elsewhere)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture(scope="module")
def demo(elsewhere: Path) -> Path:
    project = elsewhere.parent / "demo.db"
    output, _ = calibrate(elsewhere, "demo", project, "--no-app").communicate(timeout=300)
    assert "Made" in output
    return project


def test_the_installed_command_makes_the_demo_and_reports_on_it(elsewhere: Path, demo: Path) -> None:
    output, _ = calibrate(elsewhere, "report", demo).communicate(timeout=300)
    assert "always towards the response shown first" in output


def test_the_installed_app_answers(elsewhere: Path, demo: Path) -> None:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port = int(probe.getsockname()[1])
    app = calibrate(elsewhere, "app", demo, "--port", port, "--no-browser")
    try:
        deadline = time.monotonic() + PATIENCE
        while not is_ready(ADDRESS, port):
            assert app.poll() is None, app.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert app.stdout is not None
        said = [app.stdout.readline(), app.stdout.readline()]  # the links are printed once it answers
    finally:
        app.terminate()
        output, _ = app.communicate(timeout=30)
    assert "For annotators (labelling only)" in said[1], (said, output)
    assert "Traceback" not in output
