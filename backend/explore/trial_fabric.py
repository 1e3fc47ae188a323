"""A cluster of processes with the clients of a trial, each a process of its own."""

from __future__ import annotations

from pathlib import Path

from backend.fabrics import launch
from backend.fabrics.processes import ProcessFabric
from backend.names import CLIENT
from backend.picture import ClientState
from nodes.explore.calls import Caller
from nodes.real.caller import CallerConfig, CallProgress, read_progress

BEGIN_S = 20.0


class TrialFabric(ProcessFabric):
    """A fabric whose clients run scripts; their links break like those between servers."""

    async def start_caller(self, caller: Caller) -> None:
        """Starts a client's process, which waits for `begin_calls`. Raises Unavailable."""
        name = caller.name
        self.picture.clients.setdefault(name, ClientState(name))
        self._follow(name)
        await self.launch(name, "caller", CallerConfig(name, self.home.file.cluster, caller))

    async def begin_calls(self, name: str) -> None:
        """Raises Unavailable."""
        await self.ask(name, {"do": "begin"}, BEGIN_S)

    def progress_of(self, name: str) -> CallProgress:
        return read_progress(launch.server_directory(self.home, name))

    async def apply_rules(self, names: list[str] | None = None) -> None:
        if names is None:
            callers = [name for name in self.picture.clients if name != CLIENT]
            names = [*self.home.servers(), *self.home.nodes(), CLIENT, *callers]
        await super().apply_rules(names)

    def tracebacks(self) -> dict[str, str]:
        """The last line of each process's last traceback, which shows a bug; a failing disk is none."""
        found: dict[str, str] = {}
        for path in sorted(Path(self.home.directory("logs")).glob("*.err")):
            text = path.read_text(errors="replace")
            if "Traceback (most recent call last)" in text:
                found[path.stem] = text.strip().splitlines()[-1][:300]
        return found
