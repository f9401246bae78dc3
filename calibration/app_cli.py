"""`calibrate app`: starts the labelling page and the results on this machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Never

import click

from labels.environment import PROJECT_VARIABLE
from labels.errors import UserError

PORT, PORTS = 8501, 100
LOOPBACK: Mapping[str, str] = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # for those that listen everywhere
PATIENCE = 60.0  # seconds until a server that does not answer is given up
FLAGS: Mapping[str, str] = {
    "server.headless": "true",
    "server.fileWatcherType": "none",
    "server.enableStaticServing": "false",
    "browser.gatherUsageStats": "false",
    "client.showErrorDetails": "none",
    "client.showErrorLinks": "false",
    "client.toolbarMode": "minimal",
    "logger.level": "warning",
    "runner.magicEnabled": "false",
    # Set for both, so that light and dark still follow the system; red is kept for what goes wrong.
    "theme.light.primaryColor": "#1d5fd1",
    "theme.dark.primaryColor": "#3a7bec",
}


@click.command("app")
@click.argument("project", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(1, 65535), help=f"The port; {PORT}, or the next free one.")
@click.option("--address", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser window.")
def app_command(project: Path, *, port: int | None, address: str, no_browser: bool) -> None:
    """Open the labelling page and the results in the browser."""
    key = _owner_key(project)
    port = _free_port(address, port)
    with _server(project, address=address, port=port) as process:
        _wait_until_ready(process, address, port=port)
        owner = f"http://{_reachable(address)}:{port}/?key={key}"
        click.echo(f"For you (results and labelling): {owner}")
        click.echo(f"For annotators (labelling only): http://{_shared(address)}:{port}/")
        if not no_browser:
            webbrowser.open(owner)
        process.wait()
    if process.returncode not in (0, -signal.SIGINT, -signal.SIGTERM):
        raise UserError(f"The app ended by itself (exit code {process.returncode}); start it again.")


def server_command(*, address: str, port: int) -> list[str]:
    """The command that serves the app; the project comes in the environment."""
    app = find_spec("annotate_app")
    if app is None or app.origin is None:
        raise UserError("The app's file annotate_app.py is missing; install judge-calibration again.")
    # The browser's address is set too, or Streamlit asks a host outside for this machine's own.
    flags = {**FLAGS, "server.address": address, "server.port": str(port)}
    flags["browser.serverAddress"] = _shared(address)
    return [
        *(sys.executable, "-m", "streamlit", "run", app.origin),
        *(f"--{name}={value}" for name, value in flags.items()),
    ]


def server_environment(project: Path) -> dict[str, str]:
    """The environment in which the server finds its project."""
    return {**os.environ, PROJECT_VARIABLE: str(project.resolve())}


def is_ready(address: str, port: int) -> bool:
    """Whether the server answers."""
    connection = HTTPConnection(LOOPBACK.get(address, address), port, timeout=2)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _owner_key(project: Path) -> str:
    from labels.store import LabelStore
    from labels.web import owner_key

    with LabelStore.open(project) as store:
        return owner_key(store.setting("salt"))


def _free_port(address: str, wanted: int | None) -> int:
    if wanted is not None:
        if not _is_free(address, wanted):
            raise UserError(f"Port {wanted} is in use; choose another one, or leave --port out.")
        return wanted
    for port in range(PORT, PORT + PORTS):
        if _is_free(address, port):
            return port
    raise UserError(f"All ports from {PORT} to {PORT + PORTS - 1} are in use; choose one with --port.")


def _is_free(address: str, port: int) -> bool:
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError as error:
        raise UserError(f"{address} is no address of this machine; try --address 127.0.0.1.") from error
    family, kind, _, _, place = found
    with socket.socket(family, kind) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(place)
        except OSError:
            return False
    return True


def _reachable(address: str) -> str:
    """The address as a browser on this machine needs it."""
    here = LOOPBACK.get(address, address)
    return f"[{here}]" if ":" in here else here


def _shared(address: str) -> str:
    """The address as a browser on another machine needs it."""
    return socket.gethostname() if address in LOOPBACK else _reachable(address)


@contextmanager
def _server(project: Path, *, address: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The server as a process that ends with this one, also on Ctrl-C and on a polite kill."""
    for name in (
        signal.SIGINT,
        signal.SIGTERM,
    ):  # SIGINT too: who starts this in the background has it ignored
        signal.signal(name, _stop)
    command = server_command(address=address, port=port)
    process = subprocess.Popen(command, env=server_environment(project), stdout=subprocess.DEVNULL)
    try:
        yield process
    except KeyboardInterrupt:
        click.echo("Stopped. Everything that was saved is in the project.")
    finally:
        _end(process)


def _stop(_signal: int, _frame: object) -> Never:
    raise KeyboardInterrupt


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], address: str, *, port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_ready(address, port):
        if process.poll() is not None:
            raise UserError(f"The app could not start (exit code {process.returncode}).")
        if time.monotonic() > deadline:
            raise UserError(f"The app did not answer on port {port} within {PATIENCE:.0f} seconds.")
        time.sleep(0.1)
