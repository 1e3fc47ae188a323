"""A running `up` for the tests: started by its command, ended by signals."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from backend import remote_requests
from backend.errors import LabError, Unavailable
from backend.fabrics.children import began
from backend.fabrics.home import free_port
from backend.key import authorization, key_of
from tests.slowness import slower

REPOSITORY = Path(__file__).absolute().parents[3]
CLOVERLAB = (sys.executable, "-m", "backend.cli")
START_S = slower(60.0)
PATIENCE_S = slower(45.0)


def until(true: Callable[[], bool], within_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Up:
    """`python -m backend.cli up` on its own port and directory."""

    def __init__(self, data: Path, *options: str):
        self.data = data
        self.port = free_port(set())
        self.output = data.parent / "up.log"
        with self.output.open("ab") as log:
            self.process = subprocess.Popen(
                [*CLOVERLAB, "up", "--port", str(self.port), "--data", str(data), *options],
                cwd=REPOSITORY,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def words(self) -> str:
        return self.output.read_text()

    def connection(self) -> socket.socket:
        """A bare connection to the control plane."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def headers(self) -> dict[str, str]:
        return authorization(key_of(self.port))

    def cluster(self) -> dict[str, Any]:
        reported: dict[str, Any] = remote_requests.ask(self.port, "GET", "/api/cluster")
        return reported

    def get(self, path: str) -> Any:
        return remote_requests.ask(self.port, "GET", path)

    def fault(self, verb: str, *targets: str, **options: Any) -> int:
        body = {"verb": verb, "targets": list(targets), "options": options}
        return int(remote_requests.ask(self.port, "POST", "/api/faults", body)["fault"])

    def server(self, name: str) -> dict[str, Any]:
        return next(server for server in self.cluster()["servers"] if server["name"] == name)

    def active(self) -> str:
        """Name of the serving active. It waits for one, because a busy machine may have cost the last one its session."""
        name: str = self.await_true(self.serving, "an active")
        return name

    def serving(self) -> str:
        """The active of the global view that reports so itself; empty without one."""
        servers = self.cluster()["servers"]
        return next((s["name"] for s in servers if s["role"] == "active" and s["believes"] == "active"), "")

    def await_true(self, true: Callable[[], Any], what: str, timeout_s: float = PATIENCE_S) -> Any:
        """Polls until it is true; fails with the awaited condition and the present cluster."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            assert self.process.poll() is None, f"up ended with {self.process.returncode}: {self.words()}"
            with contextlib.suppress(Unavailable):
                found = true()
                if found:
                    return found
            time.sleep(0.05)
        raise AssertionError(f"not in {timeout_s:.0f} s: {what}; {json.dumps(self.cluster(), indent=1)}")

    def await_green(self) -> None:
        self.await_true(lambda: self.cluster()["settled"], "all servers in their places", START_S)

    def pids(self) -> dict[str, int]:
        """Every process of the roster."""
        roster = json.loads((self.data / "processes.json").read_text())
        return {name: entry["pid"] for name, entry in roster.items()}

    def end(self, number: int = signal.SIGINT) -> float:
        """Sends the signal; returns the seconds until it ended."""
        sent = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(30)
        return time.monotonic() - sent

    def clean(self) -> None:
        """Removes all processes of this test after a failure."""
        with contextlib.suppress(OSError, ValueError, LabError):
            if self.process.poll() is None:
                self.end(signal.SIGTERM)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        with contextlib.suppress(OSError, ValueError):
            for entry in json.loads((self.data / "processes.json").read_text()).values():
                if began(entry["pid"]) == entry["began"]:
                    os.kill(entry["pid"], signal.SIGKILL)


@contextlib.contextmanager
def up(data: Path, *options: str) -> Iterator[Up]:
    """A cluster after its whole start: servers may have their roles while data nodes are still starting."""
    running = Up(data, *options)
    try:
        running.await_green()
        address = f"http://127.0.0.1:{running.port}/"
        running.await_true(lambda: address in running.words(), "the page's address", START_S)
        yield running
    finally:
        running.clean()


def alive(pids: dict[str, int]) -> dict[str, int]:
    return {name: pid for name, pid in pids.items() if began(pid)}
