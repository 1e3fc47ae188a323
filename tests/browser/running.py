"""A control plane with real processes under it, as `./cloverlab up` starts them."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backend.key import authorization, key_of
from nodes.faults.table import BY_NAME
from tests.slowness import slower

ROOT = Path(__file__).resolve().parents[2]
START_S = slower(60.0)
STOP_S = 20.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(what: Callable[[], Any], within_s: float, reported: str) -> Any:
    """The first true result of `what`; AssertionError with `reported` when there is none in time."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"not within {within_s:g} s: {reported}")


class Running:
    """A control plane; `url` serves the page and the API while it runs."""

    def __init__(self, directory: Path, port: int | None = None, shape: tuple[str, ...] = ()):
        """`shape`: options of `up` for the properties of the cluster."""
        self.directory = directory
        self.shape = shape
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when the cluster has settled."""
        log = (self.directory / "up.log").open("ab")
        command = [sys.executable, "-m", "backend.cli", "up", "--port", str(self.port), *self.shape]
        self._process = subprocess.Popen(
            [*command, "--data", str(self.directory / "data")], cwd=ROOT, stdout=log, stderr=log
        )
        log.close()
        wait_for(self.settled, START_S, "a settled cluster")

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def settled(self) -> bool:
        assert self._process is not None
        said = (self.directory / "up.log").read_text()[-2000:]
        assert self._process.poll() is None, f"the control plane ended: {said}"
        try:
            return bool(self.ask("cluster")["settled"])
        except (urllib.error.URLError, OSError):
            return False

    def ask(self, path: str) -> Any:
        with urllib.request.urlopen(self.request(path), timeout=5) as answer:
            return json.load(answer)

    def request(
        self, path: str, body: bytes | None = None, method: str | None = None
    ) -> urllib.request.Request:
        """A request of the API with its key."""
        headers = {"Content-Type": "application/json"} | authorization(key_of(self.port))
        return urllib.request.Request(f"{self.url}api/{path}", body, headers, method=method)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        with urllib.request.urlopen(self.request(path, json.dumps(body).encode()), timeout=10) as answer:
            return json.load(answer)

    def do(self, verb: str, *targets: str, **options: Any) -> None:
        """Injects a fault through the API; a fault that is impossible now is skipped."""
        body = json.dumps({"verb": verb, "targets": targets, "options": options}).encode()
        try:
            urllib.request.urlopen(self.request("faults", body), timeout=10).close()
        except urllib.error.HTTPError as error:
            assert error.code == 409, error.read()

    def mend(self) -> None:
        """Every server runs, no fault is in force, each group has one active and its other servers are in step."""
        self.do("heal_all")
        for server in self.ask("cluster")["servers"]:
            if server["process"] == "paused":
                self.do("resume", server["name"])
            elif server["process"] == "stopped":
                self.do("restart", server["name"])
        for fault in self.ask("cluster")["faults"]:
            undo = BY_NAME[fault["verb"]].undo
            if undo is not None and undo.options:
                self.do(undo.verb, *fault["targets"], **undo.options)
        wait_for(self.in_step, START_S, "an active and standbys only in each group")

    def in_step(self) -> bool:
        reported = self.ask("cluster")
        of_groups = [
            sorted(server["role"] for server in reported["servers"] if server["group"] == group["name"])
            for group in reported["groups"]
        ]
        return all(roles == ["active"] + ["standby"] * (len(roles) - 1) for roles in of_groups)

    def group(self, name: str) -> Any:
        """A group in the API's response."""
        return next(group for group in self.ask("cluster")["groups"] if group["name"] == name)


@contextmanager
def living(running: Running) -> Iterator[Running]:
    """Starts the control plane, and ends it in any case."""
    try:
        running.start()
        yield running
    finally:
        running.stop()
