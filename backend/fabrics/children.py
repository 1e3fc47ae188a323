"""Operating-system processes of the cluster: started, signalled, and adopted by a new control plane after the old one was killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from backend.code_digest import code_digest
from backend.errors import Unavailable
from backend.repository import REPOSITORY
from nodes.real.child_output import last_words, ready_line
from nodes.real.private_files import replace_file
from nodes.states import ProcessState

READY_TIMEOUT_S = 20.0
POLL_S = 0.005
SILENT = "no output (see {})"


class Recorded(msgspec.Struct):
    """A roster entry. A pid counts only together with the start time of its process."""

    pid: int
    began: str
    role: str
    code: str = ""
    """Digest of the code that it runs; empty in entries of versions that did not record it."""


def began(pid: int) -> str:
    """Start time of the process, from the operating system; empty when there is none or only a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    except FileNotFoundError:
        if os.path.isdir("/proc/self"):
            return ""
    except (ProcessLookupError, IndexError):
        return ""
    reported = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, when = reported.stdout.strip().partition(" ")
    return "" if not state or state.startswith("Z") else when.strip()


class Child:
    """One process in a session of its own; it outlives the control plane unless it is stopped."""

    def __init__(
        self,
        name: str,
        role: str,
        pid: int,
        start: str,
        code: str = "",
        popen: subprocess.Popen[bytes] | None = None,
    ):
        self.name = name
        self.role = role
        self.pid = pid
        self.paused = False
        self.ended = ""
        self.ready: dict[str, Any] = {}
        self.code = code
        self._began = start
        self._popen = popen

    @property
    def running(self) -> bool:
        if self._popen is not None:
            return self._popen.poll() is None
        return self._began != "" and began(self.pid) == self._began

    @property
    def state(self) -> ProcessState:
        if not self.running:
            return "stopped"
        return "paused" if self.paused else "running"

    def recorded(self) -> Recorded:
        return Recorded(self.pid, self._began, self.role, self.code)

    def signal(self, number: int) -> None:
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    async def pause(self) -> None:
        self.signal(signal.SIGSTOP)
        self.paused = True

    async def resume(self) -> None:
        self.signal(signal.SIGCONT)
        self.paused = False

    async def kill(self) -> None:
        self.signal(signal.SIGKILL)
        await self.gone(5.0)

    async def stop(self, patience_s: float = 2.0) -> None:
        """SIGTERM, then SIGKILL to one that does not end in time."""
        if not self.running:
            return
        self.signal(signal.SIGTERM)
        await self.resume()
        if not await self.gone(patience_s):
            await self.kill()

    async def gone(self, timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while self.running:
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(POLL_S)
        return True


class Roster:
    """The roster: every process of this cluster by name, on disk as `processes.json`."""

    def __init__(self, directory: Path):
        self._file = directory / "processes.json"
        self._logs = directory / "logs"
        self._logs.mkdir(exist_ok=True)
        self.by_name: dict[str, Child] = {}
        self.starts: Counter[str] = Counter()

    def leftovers(self) -> dict[str, Child]:
        """Processes of an earlier control plane that still run."""
        try:
            known = msgspec.json.decode(self._file.read_bytes(), type=dict[str, Recorded])
        except (FileNotFoundError, msgspec.DecodeError):
            return {}
        found = {name: Child(name, old.role, old.pid, old.began, old.code) for name, old in known.items()}
        return {name: child for name, child in found.items() if child.running}

    def adopt(self, child: Child) -> None:
        self.by_name[child.name] = child
        self._save()

    async def spawn(self, name: str, role: str, module: str, *arguments: str) -> Child:
        """Starts `python -m MODULE ARGUMENTS` and waits for its ready line. Raises Unavailable with the last lines of its output."""
        output, errors = self._logs / f"{name}.out", self._logs / f"{name}.err"
        with output.open("wb") as out, errors.open("ab") as err:
            mark = err.tell()
            popen = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=REPOSITORY, start_new_session=True,
            )  # fmt: skip
        child = Child(name, role, popen.pid, began(popen.pid), code_digest(), popen)
        self.starts[name] += 1
        self.adopt(child)
        child.ready = await wait_ready(child, output, errors, mark)
        return child

    def forget(self, name: str) -> None:
        self.by_name.pop(name, None)
        self._save()

    def _save(self) -> None:
        alive = {name: child.recorded() for name, child in self.by_name.items()}
        replace_file(self._file, msgspec.json.encode(alive))


async def wait_ready(child: Child, output: Path, errors: Path, mark: int) -> dict[str, Any]:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        reported = ready_line(output)
        if reported is not None:
            return reported
        if not child.running:
            raise Unavailable(
                f"{child.name} ended while it started: {last_words(errors, mark) or SILENT.format(errors)}"
            )
        await asyncio.sleep(POLL_S)
    raise Unavailable(
        f"{child.name} did not become ready within {READY_TIMEOUT_S:.0f} s: {last_words(errors, mark) or SILENT.format(errors)}"
    )
