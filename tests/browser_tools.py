"""What the browser tests use: the app as a process, and a person who sits before the labelling page."""

from __future__ import annotations

import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibration.app_cli import is_ready, server_command, server_environment
from labels.environment import PROJECT_VARIABLE

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page, Request, WebSocket

ADDRESS = "127.0.0.1"
PATIENCE = 120  # seconds that a busy machine may take for what takes one
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Runs in the page before anything else: when was each item painted, a key pressed, what sent.
SEEN = r"""(() => {
  const log = (window.seen = { painted: {}, sent: [], pressed: [] });
  const look = () => {
    const shown = document.querySelector("[data-shown]")?.dataset.shown;
    if (!shown || shown in log.painted) return;
    log.painted[shown] = null;
    requestAnimationFrame(() => requestAnimationFrame(() => (log.painted[shown] = performance.now())));
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
  addEventListener("keydown", () => log.pressed.push(performance.now()), true);
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    const found = /"shown":"([^"]+)"/.exec(new TextDecoder().decode(data));
    if (found) log.sent.push([found[1], performance.now()]);
    return send.call(this, data);
  };
})();"""

PRESS_AGAIN = (
    "Too quick: that press did not count.",
    "That key did not arrive. Press again.",
    "No reply yet. Press again; it counts once.",
)
_BAR = """[...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
  .map(e => e.shadowRoot?.querySelector('.bar')).find(Boolean)"""
_READY = f"""(before) => {{
  const app = document.querySelector('[data-testid=stApp]');
  const ready = ({_BAR})?.dataset.ready;
  return app?.dataset.testScriptState === 'notRunning' && ready && ready !== before && ready;
}}"""


class Server:
    """The app on a free port, as a process of its own."""

    def __init__(self, project: Path) -> None:
        self.project = project
        with socket.socket() as probe:
            probe.bind((ADDRESS, 0))
            self.port = int(probe.getsockname()[1])
        self.url = f"http://{ADDRESS}:{self.port}/"
        self.log = Path(tempfile.mkstemp(dir=project.parent, suffix=".log")[1])
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, again on the same port after a kill, and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                server_command(address=ADDRESS, port=self.port),
                env={**server_environment(self.project), PROJECT_VARIABLE: str(self.project)},
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + PATIENCE
        while not is_ready(ADDRESS, self.port):
            assert self.process.poll() is None, self.logged()
            assert time.monotonic() < deadline, "the server did not answer"
            time.sleep(0.02)

    def logged(self) -> str:
        """What the app wrote on its terminal."""
        return self.log.read_text(encoding="utf-8")

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None


class Sitting:
    """One person before one page; everything that goes over the wire is kept."""

    def __init__(self, page: Page, server: Server) -> None:
        self.server = server
        self.frames: list[bytes] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        self.told: list[str] = []
        self.page = page
        self._listen(page)

    def _listen(self, page: Page) -> None:
        def on_request(request: Request) -> None:
            self.requests.append(request.url)

        def on_dialog(dialog: Dialog) -> None:
            self.dialogs.append(dialog.message)
            dialog.dismiss()

        def on_websocket(socket: WebSocket) -> None:
            self.requests.append(socket.url)
            socket.on("framesent", lambda data: self.frames.append(_bytes(data)))
            socket.on("framereceived", lambda data: self.frames.append(_bytes(data)))

        page.on("request", on_request)
        page.on("dialog", on_dialog)
        page.on("websocket", on_websocket)

    def open(self, name: str) -> None:
        """Open the annotators' link, give the name, wait for the first item."""
        self.page.goto(self.server.url)
        self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        self.page.get_by_label("Your name").fill(name)
        self.page.keyboard.press("Enter")
        self.ready()

    def ready(self, before: str = "") -> str:
        """Wait until a key would count for something other than `before`; what is in view then."""
        from playwright.sync_api import TimeoutError as TooLate

        try:
            shown: Any = self.page.wait_for_function(_READY, arg=before, timeout=PATIENCE * 1000).json_value()
        except TooLate as error:
            bar = self.page.evaluate(f"({_BAR})?.outerHTML")
            text = self.page.inner_text("body")
            raise AssertionError(
                f"no key would count; it said {self.told}; the page: {text}\nthe bar: {bar}"
            ) from error
        return str(shown)

    @property
    def shown(self) -> str:
        """What is in view: a presentation and its revision."""
        return str(self.page.locator("[data-shown]").get_attribute("data-shown"))

    @property
    def prompt(self) -> str:
        """The prompt in view."""
        return str(self.page.locator(".jc-above .jc-text").first.text_content())

    @property
    def texts(self) -> list[str]:
        """The responses in view, the first slot first."""
        return self.page.locator(".jc-side .jc-text").all_text_contents()

    @property
    def status(self) -> str:
        """How far the page says the person is."""
        return str(self.page.locator(".bar .status").text_content())

    @property
    def hint(self) -> str:
        """What the bar says about the last key."""
        return str(self.page.locator(".bar .hint").text_content())

    def press(self, key: str) -> str:
        """Press a key that changes what is in view, again where the bar asks for it; wait for what comes."""
        before = self.shown
        for _ in range(2):
            self.page.evaluate(f"() => ({_BAR}).querySelector('.hint').textContent = ''")
            self.page.keyboard.press(key)
            said = self.answered_or_told(before)
            if said not in PRESS_AGAIN:
                break
            self.told.append(said)
            self.page.wait_for_timeout(500)
        return self.ready(before)

    def answered_or_told(self, before: str) -> str:
        """What a key has led to: "answered" when another item came, else the sentence in the bar."""
        script = f"""(before) => {{
          const shown = document.querySelector('[data-shown]')?.dataset.shown;
          if (shown && shown !== before) return 'answered';
          return ({_BAR})?.querySelector('.hint').textContent;
        }}"""
        return str(self.page.wait_for_function(script, arg=before, timeout=PATIENCE * 1000).json_value())

    def wait_for_silence(self) -> None:
        """Wait until the bar's last sentence is gone."""
        self.page.wait_for_function(f"() => !({_BAR})?.querySelector('.hint').textContent")

    def wait_until(self, true: Callable[[], bool]) -> None:
        """Wait until something holds outside the page, such as a row in the project."""
        deadline = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < deadline, (
                f"it never came to that; the page: {self.page.inner_text('body')}"
            )
            self.page.wait_for_timeout(20)

    def seen(self) -> tuple[dict[str, float | None], list[tuple[str, float]]]:
        """When each item was painted, and when what was sent for it (milliseconds of the page)."""
        log: Any = self.page.evaluate("window.seen")
        return log["painted"], [(shown, at) for shown, at in log["sent"]]

    def pressed(self) -> list[float]:
        """When keys were pressed (milliseconds of the page)."""
        pressed: list[float] = self.page.evaluate("window.seen.pressed")
        return pressed


def _bytes(data: str | bytes) -> bytes:
    return data.encode() if isinstance(data, str) else data
