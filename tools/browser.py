"""A page in headless Chromium, driven over a pipe."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from pathlib import Path
from typing import Any


class Browser:
    """A page in headless Chromium (DevTools protocol); what it logs as an error and asks for is kept.

    Raises FileNotFoundError where there is no Chromium.
    """

    def __init__(self, profile: Path, *options: str) -> None:
        program = next(
            filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
        )
        if program is None:
            raise FileNotFoundError("no Chromium on this machine")
        (theirs, self._out), (self._in, back) = os.pipe(), os.pipe()
        quiet = ("background-networking", "gpu", "quic", "component-update", "sync", "extensions")
        self._process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--no-first-run", "--remote-debugging-pipe",
             f"--user-data-dir={profile}", *(f"--disable-{each}" for each in quiet), *options, "about:blank"],
            preexec_fn=lambda: (os.dup2(theirs, 3), os.dup2(back, 4)), pass_fds=(3, 4), stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs)
        os.close(back)
        self._buffer, self._number = bytearray(), 0
        self.session: str | None = None
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._events: list[str | None] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """What a method of the protocol answers."""
        self._send(method, parameters)
        number = self._number
        while True:
            found = self._message()
            if found.get("id") == number:
                assert "error" not in found, found
                return found["result"]

    def _send(self, method: str, parameters: dict[str, Any]) -> None:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._out, json.dumps(message).encode() + b"\0")

    def _message(self) -> dict[str, Any]:
        end = self._buffer.find(b"\0")
        while end < 0:
            assert select.select([self._in], [], [], 60)[0], "Chromium says nothing"
            more = os.read(self._in, 1 << 16)
            end = found + len(self._buffer) if (found := more.find(b"\0")) >= 0 else -1
            self._buffer += more
        text = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        message: dict[str, Any] = json.loads(text)
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown" or (
            method == "Log.entryAdded" and parameters["entry"]["level"] == "error"
        ):
            self.errors.append(str(parameters))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "assert"):
            self.errors.append(str(parameters))
        elif method == "Page.javascriptDialogOpening":
            self.errors.append("a dialog: " + parameters["message"])
            self._send("Page.handleJavaScriptDialog", {"accept": True})
        self._events.append(method)
        return message

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a file."""
        self.visit(path.as_uri() + fragment)

    def visit(self, address: str) -> None:
        """Load a page."""
        self._events = []
        self.call("Page.navigate", url=address)
        while "Page.loadEventFired" not in self._events:
            self._message()

    def run(self, script: str) -> Any:
        """The value of an expression, a promise's when it is kept."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def close(self) -> None:
        """End the process."""
        self.session = None
        self.call("Browser.close")
        self._process.wait(30)
        os.close(self._out)
        os.close(self._in)
