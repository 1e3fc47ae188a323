"""A cluster in containers with the interface of the one on processes."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import urllib.error
import urllib.request
from itertools import chain
from pathlib import Path
from typing import Any

from backend.compose import Compose
from backend.hosts import COMPOSE_FILE
from backend.key import FILE
from backend.registry import ControlPlane, forget, record
from tests.browser.running import START_S, Running, wait_for

OVERRIDE = Path(__file__).with_name("small-volume.yaml")


class Composed(Running):
    """All of compose.yaml, with control plane and page."""

    def __init__(self, project: str, port: int, overrides: list[Path]):
        super().__init__(Path(tempfile.mkdtemp(prefix="cloverlab-key-")), port)
        self.compose = Compose(project, COMPOSE_FILE, *overrides)
        self.plane = ControlPlane.here(port, self.directory, "mams")
        self.up_s = 0.0

    def start(self) -> None:
        os.environ["CLOVERLAB_PORT"] = str(self.port)
        self.compose.up()
        wait_for(self.reads_key, START_S, "a key of the API")
        wait_for(self.settled, START_S, "a settled cluster")

    def stop(self) -> None:
        forget(self.plane)
        self.compose.down()

    def reads_key(self) -> bool:
        """Takes the key of the API from the link that the container prints."""
        printed = self.run_in("control", "python3 -m backend.containers link", check=False).strip()
        if "?key=" in printed:
            (self.directory / FILE).write_text(printed.partition("?key=")[2])
            record(self.plane)
        return "?key=" in printed

    def settled(self) -> bool:
        try:
            return bool(self.ask("cluster")["settled"])
        except (urllib.error.URLError, OSError):
            return False

    def mend(self) -> None:
        """Also starts the containers and the servers of the ensemble."""
        stopped = [name for name, state in self.compose.health().items() if state in ("exited", "created")]
        if stopped:
            self.docker("start", *stopped)
        wait_for(self.settled_once, START_S, "an API that answers")
        for server in self.ask("cluster")["coordination"]["servers"]:
            if server["process"] == "paused":
                self.do("resume", server["name"])
            elif server["process"] == "stopped":
                self.do("restart", server["name"])
        wait_for(self.quorum, START_S, "a quorum of the ensemble")
        for node in self.ask("cluster")["data_nodes"]:
            if node["process"] == "paused":
                self.do("resume", node["name"])
            elif node["process"] == "stopped":
                self.do("restart", node["name"])
        super().mend()

    def settled_once(self) -> bool:
        try:
            return bool(self.ask("cluster")["cluster"])
        except (urllib.error.URLError, OSError):
            return False

    def quorum(self) -> bool:
        servers = self.ask("cluster")["coordination"]["servers"]
        return sum(server["role"] in ("leader", "follower") for server in servers) == len(servers)

    def server(self, name: str) -> dict[str, Any]:
        cluster = self.ask("cluster")
        parts = (
            cluster["servers"],
            cluster["data_nodes"],
            cluster["coordination"]["servers"],
            cluster["clients"],
        )
        return next(row for row in chain.from_iterable(parts) if row["name"] == name)

    def in_role(self, role: str, group: str) -> list[str]:
        servers = self.ask("cluster")["servers"]
        return [s["name"] for s in servers if s["role"] == role and s["group"] == group]

    def active(self, group: str = "g1") -> str:
        found = wait_for(lambda: self.in_role("active", group), START_S, f"an active of {group}")
        return str(found[0])

    def container(self, name: str) -> str:
        """The full id of a container."""
        [found] = self.compose.containers(f"host-{name}" if name != "control" else name)
        return found

    def docker(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(["docker", *words], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0 or not check, done.stderr
        return done.stdout

    def run_in(self, name: str, command: str, check: bool = True) -> str:
        return self.docker("exec", self.container(name), "sh", "-c", command, check=check)

    def inspect(self, name: str) -> dict[str, Any]:
        reported: dict[str, Any] = json.loads(self.docker("inspect", self.container(name)))[0]
        return reported

    def fault(self, verb: str, *targets: str, **options: Any) -> None:
        """Like `do`, but a refusal fails the test."""
        body = json.dumps({"verb": verb, "targets": targets, "options": options}).encode()
        self.post("faults", body)

    def post(self, path: str, body: bytes) -> Any:
        try:
            with urllib.request.urlopen(self.request(path, body), timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from None

    def answered(self) -> float:
        """Number of successful calls of the workload so far."""
        with urllib.request.urlopen(f"{self.url}metrics", timeout=5) as page:
            lines = page.read().decode().splitlines()
        return float(
            next(line.split()[-1] for line in lines if line.startswith('cloverlab_calls_total{outcome="ok"}'))
        )

    def red(self) -> dict[str, str]:
        """The explanation of each violated invariant."""
        invariants = self.ask("cluster")["invariants"]
        return {
            status["invariant"]: status["explanation"] for status in invariants if status["state"] == "red"
        }
