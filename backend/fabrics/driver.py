"""How one kind of fabric, on processes or in containers, starts, ends, finds and asks its processes."""

from __future__ import annotations

from typing import Protocol

import msgspec

from backend.fabrics.links import LinkFault
from nodes.states import ProcessState


class DrivenProcess(Protocol):
    """One operating-system process of the cluster, here or in a container. Raises Unavailable when its host does not answer."""

    name: str

    @property
    def pid(self) -> int: ...

    @property
    def paused(self) -> bool: ...

    @property
    def running(self) -> bool: ...

    @property
    def ended(self) -> str:
        """Why it ended by itself, in one line; empty when that is not known."""

    @property
    def state(self) -> ProcessState: ...

    async def kill(self) -> None: ...

    async def stop(self) -> None: ...

    async def pause(self) -> None: ...

    async def resume(self) -> None: ...


class Driver(Protocol):
    """Operations that each kind of fabric implements itself."""

    async def corrupt(self, name: str, what: str) -> str:
        """Flips a bit on a server's disk; returns where. Raises Impossible when there is nothing to flip, Unavailable."""

    def process(self, name: str) -> DrivenProcess | None:
        """None for a process that was never started and has no host."""

    async def apply_rules(self, names: list[str] | None = None) -> None:
        """Sends all processes, or these, the rules of their links. A stopped process gets its rules when it
        starts."""

    async def launch(self, name: str, role: str, config: msgspec.Struct, coordination: str = "") -> None:
        """Starts a process. `coordination`: the address of coordination, for a process that has a session there."""

    def coordination_of(self, name: str) -> str:
        """The address at which a metadata server reaches coordination."""

    def next_server(self) -> str:
        """The name of the next server that can be added. Raises Impossible."""

    async def join(self, name: str) -> None:
        """Starts a server that was added to the home."""

    async def lose_power(self, name: str) -> list[str]:
        """Kills a server and removes unsynced data. Returns a line for each file that lost data."""

    async def new_disk(self, name: str) -> None:
        """Kills a server if it runs, and gives it an empty disk. Raises Unavailable, Impossible."""

    def check_links(self, links: list[LinkFault]) -> None:
        """Raises FaultUnsupported for a fault of links that this fabric cannot inject."""
        return

    def is_unseen(self, name: str) -> bool:
        """Whether the state of the process is unknown, because its host cannot be reached."""
        return False

    def life_of(self, name: str) -> int:
        """The number of the last known start of the process."""
        return 0
