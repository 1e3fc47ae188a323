"""The processes of a peer, in process groups of their own, and the client that puts it under load."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks._peers.figures import AFTER_S, GAP_CALLERS, GAP_CALLS_PER_S
from benchmarks._peers.programs import PeerMissing

POLL_S = 0.02
JVM = ("-Xmx1g", "-Djava.net.preferIPv4Stack=true")
"""A bound for the heap, which is a quarter of the machine's memory otherwise; and addresses of 127.0.0.1 alone."""
GAP_LIMIT_S = 200.0
"""HDFS's client waits for 120 s for an answer of a silent namenode."""


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nothing listens on."""
    with contextlib.ExitStack() as probes:
        found = [probes.enter_context(socket.socket()) for _ in range(count)]
        for probe in found:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in found]


def until(true: Callable[[], bool], limit_s: float, what: str) -> None:
    """Raises TimeoutError."""
    deadline = time.monotonic() + limit_s
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} within {limit_s:.0f} s: it did not come")
        time.sleep(POLL_S)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class PeerProcesses:
    """Every process that a peer starts, by name; all of them are ended with the context, also after an error or Ctrl-C."""

    def __init__(self, peer: str, directory: Path):
        self.peer = peer
        self.directory = directory
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._clients: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in list(self._running):
            self.kill(name)

    def start(self, name: str, command: list[str], client: bool = False) -> subprocess.Popen[str]:
        """Starts a process; its output goes to NAME.log. The standard input and output of a client are pipes."""
        with (self.directory / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE if client else subprocess.DEVNULL,
                stdout=subprocess.PIPE if client else log, stderr=log, text=True,
                cwd=self.directory, start_new_session=True,
            )  # fmt: skip
        self._running[name] = process
        if client:
            self._clients.add(name)
        return process

    def java(
        self, name: str, class_path: str, main: str, *arguments: str, options: tuple[str, ...] = ()
    ) -> None:
        self.start(name, [*java_command(class_path, main, options), *arguments])

    def run(self, name: str, command: list[str], limit_s: float) -> None:
        """Runs a process to its end. Raises PeerMissing with the end of its output."""
        process = self.start(name, command)
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            code = -1
        self.kill(name)
        if code:
            raise PeerMissing(f"{self.peer} is left out: {name} fails: {self.last_line(name)}")

    def last_line(self, name: str) -> str:
        lines = (self.directory / f"{name}.log").read_text(errors="replace").splitlines()
        errors = [line for line in lines if "Exception" in line or "ERROR" in line] or lines
        return errors[-1].strip()[:200] if errors else "no output"

    def await_port(self, name: str, port: int, limit_s: float = 60.0) -> None:
        """Raises PeerMissing when the process has ended, TimeoutError."""

        def ready() -> bool:
            self.check(name)
            return listens(port)

        until(ready, limit_s, f"{name} of {self.peer} listens")

    def check(self, *names: str) -> None:
        """Raises PeerMissing when a process has ended."""
        for name in names or tuple(self._running):
            if self._running[name].poll() is not None:
                raise PeerMissing(f"{self.peer} is left out: {name} ended: {self.last_line(name)}")

    def kill(self, name: str) -> None:
        """SIGKILL to the group of a process."""
        self._signal(name, signal.SIGKILL)
        process = self._running.pop(name)
        self._clients.discard(name)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def running(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if name in self._running]

    def pause(self, *names: str) -> None:
        for name in names:
            self._signal(name, signal.SIGSTOP)

    def resume(self, *names: str) -> None:
        for name in names:
            self._signal(name, signal.SIGCONT)

    def _signal(self, name: str, number: int) -> None:
        process = self._running[name]
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)

    def rss_mb(self) -> float:
        """Resident memory of all processes but the clients, in MiB."""
        return sum(resident_mb(each.pid) for name, each in self._running.items() if name not in self._clients)


def java_command(class_path: str, main: str, options: tuple[str, ...] = ()) -> list[str]:
    return ["java", *JVM, *options, "-cp", class_path, main]


def resident_mb(pid: int) -> float:
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class JavaClient:
    """One of our Java clients: a line of words is a question, a line of JSON its answer."""

    def __init__(self, processes: PeerProcesses, name: str, class_path: str, main: str, *arguments: str):
        self.name = name
        self._process = processes.start(name, [*java_command(class_path, main), *arguments], client=True)
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError, OSError):
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put("")

    def ask(self, *words: object, limit_s: float = 60.0) -> dict[str, Any]:
        """Raises TimeoutError; RuntimeError when the client ended or could not do it."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(" ".join(map(str, words)) + "\n")
            self._process.stdin.flush()
        try:
            line = self._lines.get(timeout=limit_s)
        except queue.Empty:
            raise TimeoutError(f"{self.name} gave no answer to {words[0]} within {limit_s:.0f} s") from None
        answer: dict[str, Any] = json.loads(line or '{"refused": "it ended"}')
        if "refused" in answer:
            raise RuntimeError(f"{self.name}, {words[0]}: {answer['refused']}")
        return answer

    def watch(self, operation: str) -> None:
        """Calls in the background from now on, until `end`."""
        self.ask("watch", operation, GAP_CALLERS, GAP_CALLS_PER_S)
        until(lambda: self.answered_since(0.0), GAP_LIMIT_S, f"answers for {self.name}")

    def begin(self) -> None:
        self.ask("begin")

    def end(self) -> None:
        self.ask("end")

    def answered_since(self, began_s: float) -> bool:
        """Whether every caller has the answer of a call that it began after that time of the monotonic clock."""
        asked_s = time.monotonic()
        begun_s = asked_s - float(self.ask("seen")["begun_ms"]) / 1e3
        return begun_s > began_s

    def gap_ms(self, fault_s: float) -> float:
        """The longest time without an answer since `begin`, once the fault of that time is over for this client. Raises TimeoutError."""
        until(
            lambda: self.answered_since(fault_s + AFTER_S),
            GAP_LIMIT_S,
            f"answers after the fault for {self.name}",
        )
        return float(self.ask("seen")["longest_ms"])
