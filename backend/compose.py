"""The driver of compose.yaml on this machine: it creates containers, runs scenarios in them and removes them."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
from rich.console import Console

from backend.errors import Malformed, Unavailable
from backend.hosts import COMPOSE_FILE, Hosts, write
from backend.repository import REPOSITORY
from backend.scenarios.reader import read
from backend.scenarios.runner import ScenarioOutcome

PROJECT = "cloverlab-run"
"""Name of the compose project, apart from the cluster that `docker compose up` creates."""
HEALTHY_S = 300.0
BUILD_S = 1800.0
DOWN_TRIES = 4
SCENARIO_S = 1800.0
WRONG_FILE_EXIT = 2
console = Console(stderr=True, highlight=False)


class Compose:
    """One project of compose.yaml, or of a file generated from it."""

    def __init__(self, project: str, *files: Path):
        self.project = project
        self._files = files or (COMPOSE_FILE,)

    def words(self, *arguments: str) -> list[str]:
        """The command line of compose. Raises Unavailable when no version of compose is installed."""
        files = [word for file in self._files for word in ("-f", str(file))]
        return [*tool(), "-p", self.project, "--project-directory", str(REPOSITORY), *files, *arguments]

    def call(
        self, *arguments: str, given: bytes | None = None, timeout_s: float = 120.0
    ) -> subprocess.CompletedProcess[bytes]:
        """Runs compose. Raises Unavailable when it does not end in time."""
        try:
            return subprocess.run(
                self.words(*arguments), input=given, stdin=None if given is not None else subprocess.DEVNULL,
                capture_output=True, timeout=timeout_s, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Unavailable(f"docker compose {arguments[0]} did not end within {timeout_s:g} s") from None

    def must(self, *arguments: str, timeout_s: float = 120.0) -> str:
        """Runs compose; returns its standard output. Raises Unavailable with its last lines when it fails."""
        done = self.call(*arguments, timeout_s=timeout_s)
        if done.returncode:
            raise Unavailable(
                f"docker compose {arguments[0]}: {last_line(done.stderr) or last_line(done.stdout)}"
            )
        return done.stdout.decode()

    def build(self) -> None:
        self.must("build", timeout_s=BUILD_S)

    def up(self, *services: str) -> None:
        """Starts services; returns when their containers are healthy. Raises Unavailable."""
        self.must("up", "-d", *services, timeout_s=HEALTHY_S)
        deadline = time.monotonic() + HEALTHY_S
        while unhealthy := [name for name, state in self.health().items() if state != "healthy"]:
            if time.monotonic() > deadline:
                raise Unavailable(
                    f"{unhealthy[0]} is not healthy after {HEALTHY_S:g} s; see docker logs {unhealthy[0]}"
                )
            time.sleep(0.25)

    def containers(self, service: str = "") -> list[str]:
        """Container ids of one service or of all. The engine answers this faster than compose."""
        wanted = [f"label=com.docker.compose.project={self.project}"]
        if service:
            wanted.append(f"label=com.docker.compose.service={service}")
        filters = [word for label in wanted for word in ("--filter", label)]
        return docker("ps", "-aq", "--no-trunc", *filters).split()

    def running(self) -> set[str]:
        """Names of the running services."""
        form = '{{index .Config.Labels "com.docker.compose.service"}}'
        ids = self.containers()
        return set(docker("inspect", "-f", form, *ids).split()) if ids else set()

    def health(self) -> dict[str, str]:
        """State of each container by name: healthy, starting, unhealthy or the state of one that does not run."""
        ids = self.containers()
        if not ids:
            return {}
        form = (
            "{{.Name}} {{.State.Status}} {{if .State.Health}}{{.State.Health.Status}}{{else}}healthy{{end}}"
        )
        rows = [line.removeprefix("/").split() for line in docker("inspect", "-f", form, *ids).splitlines()]
        return {name: health if state == "running" else state for name, state, health in rows}

    def down(self) -> None:
        """Removes containers, networks and volumes of this project.

        Some engines keep counting an endpoint of a network that is gone. Such a network stays, and the next `up` uses it again.
        """
        for _ in range(DOWN_TRIES):
            if self.call("down", "-v", "-t", "2", "--remove-orphans").returncode == 0:
                return
            time.sleep(1)
        mine = ("--filter", f"label=com.docker.compose.project={self.project}")
        for volume in docker("volume", "ls", "-q", *mine).split():
            docker("volume", "rm", "-f", volume)
        console.print(f"the engine does not let go of a network of {self.project}; it is left", markup=False)


def docker(*arguments: str) -> str:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False).stdout


@cache
def tool() -> list[str]:
    """The command of the installed compose. Raises Unavailable with the missing part."""
    if shutil.which("docker") is None:
        raise Unavailable("--on containers needs Docker, and there is none on this machine")
    if subprocess.run(["docker", "info"], capture_output=True, check=False).returncode:
        raise Unavailable("--on containers needs a running Docker engine: docker info does not answer")
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0:
        return ["docker", "compose"]
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    raise Unavailable("--on containers needs docker compose (version 2) or docker-compose (1.29)")


def complaint(data: bytes) -> str:
    """The control plane's last error line; version 1 of compose adds lines of its own."""
    lines = data.decode("utf-8", "replace").splitlines()
    ours = [line.removeprefix("cloverlab: ") for line in lines if line.startswith("cloverlab: ")]
    return ours[-1] if ours else last_line(data)


def last_line(data: bytes) -> str:
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""


@contextlib.contextmanager
def brought_up(hosts: Hosts) -> Iterator[Compose]:
    """The project of scenario runs with these hosts. A running project is used and left running; otherwise it is started and removed again.
    Raises Unavailable."""
    with tempfile.TemporaryDirectory(prefix="cloverlab-compose-") as directory:
        compose = Compose(PROJECT, write(hosts, Path(directory)))
        if running := compose.running():
            missing = sorted(set(services(compose)) - running)
            if missing:
                raise Unavailable(
                    f"{PROJECT} is up without {missing[0]}; remove it with docker compose -p {PROJECT} down -v, and a fitting one is made"
                )
            yield compose
            return
        with up_for_a_while(compose):
            yield compose


@contextlib.contextmanager
def up_for_a_while(compose: Compose) -> Iterator[None]:
    with console.status("Building the images and starting the containers …"):
        try:
            compose.build()
            compose.up(*services(compose))
        except BaseException:
            compose.down()
            raise
    try:
        yield
    finally:
        compose.down()


def services(compose: Compose) -> list[str]:
    """All services without the control plane, which a scenario starts itself."""
    return [name for name in compose.must("config", "--services").split() if name != "control"]


def run_file(file: Path, seed: int | None, scale: float) -> list[ScenarioOutcome]:
    """Runs the scenarios of a file in containers made for them. Raises Malformed, Unavailable."""
    with brought_up(Hosts.of(read(file))) as compose, console.status(f"Running {file} …"):
        return run_in(compose, file, seed, scale)


def run_in(compose: Compose, file: Path, seed: int | None, scale: float) -> list[ScenarioOutcome]:
    """Runs the scenarios of a file in this project. Raises Malformed, Unavailable."""
    arguments = ["--scale", f"{scale:g}", *(["--seed", str(seed)] if seed is not None else [])]
    done = compose.call(
        "run", "--rm", "--no-deps", "-T", "control", "python3", "-m", "backend.containers", "run", *arguments,
        given=file.read_bytes(), timeout_s=SCENARIO_S,
    )  # fmt: skip
    if done.returncode == WRONG_FILE_EXIT or not done.stdout.strip():
        raise Malformed(complaint(done.stderr))
    return msgspec.json.decode(done.stdout.strip().splitlines()[-1], type=list[ScenarioOutcome])
