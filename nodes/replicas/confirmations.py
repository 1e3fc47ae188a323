"""Confirmations that holders of the lock write, and the time when this server first saw the newest of each (safety rule 16).

Each server has a persistent node. The holder writes it together with the lock, then once per heartbeat, and a last time when it has stopped. The end
of a session proves nothing about a lease: a server that takes the lock waits from the moment when it first saw the newest version of these nodes.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import msgspec

from nodes.config import MILLISECOND
from nodes.replicas.watch import OneShotWatch
from nodes.world import BadVersion, Clock, Coordination, CoordinationError, NoNode, SetNode, decoded, ensure

RETRY_NS = 100 * MILLISECOND


class Confirmation(msgspec.Struct, frozen=True):
    generation: int
    """Generation of the lock under which the confirmation was written; -1 when its writer never held a lock."""
    stopped: bool
    """The writer sends no answers under that lock any more."""


class Sighting(NamedTuple):
    """The newest version of a server's confirmation that was seen here, and the time of its first sighting."""

    version: int
    at_ns: int
    stopped: bool


class Confirmations:
    """One server's own confirmation, and its sightings of the others' confirmations."""

    def __init__(self, coordination: Coordination, root: str, name: str):
        self._coordination = coordination
        self._root = root
        self._name = name
        self._sightings: dict[str, Sighting] = {}
        self._watches: dict[str, OneShotWatch] = {}
        self._due: dict[str, None] = {}
        """Servers whose nodes must be read again."""
        self._wanted = asyncio.Event()

    def _path(self, server: str) -> str:
        return f"{self._root}/{server}"

    # --- our own ---------------------------------------------------------------------------------------------------

    async def prepare(self) -> None:
        """Creates the nodes that do not exist yet. Raises CoordinationError."""
        data = msgspec.json.encode(Confirmation(-1, stopped=True))
        await ensure(self._coordination, self._path(self._name), data)

    def change(self, generation: int, stopped: bool, version: int = -1) -> SetNode:
        """The write of a confirmation. It must share a transaction with a check of the lock, or of the version that was read."""
        data = msgspec.json.encode(Confirmation(generation, stopped))
        return SetNode(self._path(self._name), data, version)

    async def record_stopped(self) -> None:
        """Records that this server sends no answers under the lock that it took last, in this life or an earlier one.

        The write names the version that was read, so that a late copy does not refer to a later tenure. Raises CoordinationError.
        """
        while True:
            await self._coordination.sync(self._root)
            found = await self._read(self._name)
            if found is None or found[0].stopped:
                return
            try:
                await self._coordination.multi([self.change(found[0].generation, True, found[1])])
                return
            except BadVersion:
                continue

    # --- those of the others ---------------------------------------------------------------------------------------

    async def _read(self, server: str, watch: OneShotWatch | None = None) -> tuple[Confirmation, int] | None:
        path, callback = self._path(server), watch.arm() if watch else None
        try:
            data, stat = await self._coordination.get(path, callback)
        except NoNode:
            if watch:
                watch.forget()
            return None
        return decoded(path, data, Confirmation), stat.version

    async def _look(self, server: str, clock: Clock) -> None:
        """Reads one server's confirmation. The lease of a version was confirmed before this server could see it, so it may be counted from here."""
        found = await self._read(
            server, self._watches.setdefault(server, OneShotWatch(lambda: self._want(server)))
        )
        known = self._sightings.get(server)
        if found is not None and (known is None or found[1] > known.version):
            self._sightings[server] = Sighting(found[1], clock.monotonic_ns(), found[0].stopped)

    def _want(self, server: str) -> None:
        self._due[server] = None
        self._wanted.set()

    def follow(self, holder: str) -> None:
        """Watches the holder of the lock from now on."""
        if holder not in ("", self._name) and holder not in self._watches:
            self._want(holder)

    def forget_session(self) -> None:
        """Watches are lost with the connection; the nodes that they watched are read again."""
        watched, self._watches = list(self._watches), {}
        for server in watched:
            self._want(server)

    async def keep_up(self, clock: Clock) -> None:
        """Reads changed nodes again, without end."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            for server in list(self._due):
                self._due.pop(server, None)  # Before the look: a change during it is due again.
                try:
                    await self._look(server, clock)
                except CoordinationError:
                    self._watches.pop(server, None)
                    await clock.sleep(RETRY_NS)
                    self._want(server)

    async def look_around(self, clock: Clock) -> None:
        """Reads all nodes, each no older than this call. Raises CoordinationError."""
        await self._coordination.sync(self._root)
        for server in await self._coordination.children(self._root):
            if server != self._name:
                await self._look(server, clock)

    def unstopped(self) -> list[str]:
        """Names of the other servers that held the lock and are not known to have stopped."""
        return [server for server, seen in sorted(self._sightings.items()) if not seen.stopped]

    def sighting(self, server: str) -> Sighting | None:
        return self._sightings.get(server)
