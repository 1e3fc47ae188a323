"""What holders of the lock write of themselves, and when this server first saw the newest of it (safety rule 16).

Each server has a persistent node. It is written with the lock, then once per heartbeat by the holder, and a last time when the holder has stopped.
That a session has ended proves nothing about a lease: who takes the lock waits from the moment when it first saw the newest version of these nodes.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import msgspec

from nodes.config import MILLISECOND
from nodes.replicas.watch import Watch
from nodes.world import BadVersion, Clock, Coordination, CoordinationError, NoNode, Set, ensure

RETRY_NS = 100 * MILLISECOND


class Confirmation(msgspec.Struct, frozen=True):
    generation: int
    """Of the lock under which it was written; -1 when its writer never held one."""
    stopped: bool
    """Its writer answers nobody under that lock any more."""


class Sighting(NamedTuple):
    """The newest version of a server's confirmation that was seen here, and when it was seen first."""

    version: int
    at_ns: int
    stopped: bool


class Confirmations:
    """One server's own confirmation, and its sightings of those of the others."""

    def __init__(self, coordination: Coordination, root: str, name: str):
        self._coordination = coordination
        self._root = root
        self._name = name
        self._sightings: dict[str, Sighting] = {}
        self._watches: dict[str, Watch] = {}
        self._due: dict[str, None] = {}
        """Whose node is to be read again."""
        self._wanted = asyncio.Event()

    def _path(self, server: str) -> str:
        return f"{self._root}/{server}"

    # --- our own ---------------------------------------------------------------------------------------------------

    async def prepare(self) -> None:
        """Makes the nodes where they lack. Raises CoordinationError."""
        octets = msgspec.json.encode(Confirmation(-1, stopped=True))
        await ensure(self._coordination, self._path(self._name), octets)

    def change(self, generation: int, stopped: bool, version: int = -1) -> Set:
        """Only in one transaction with a check of the lock, or of the version that was read."""
        octets = msgspec.json.encode(Confirmation(generation, stopped))
        return Set(self._path(self._name), octets, version)

    async def record_stopped(self) -> None:
        """Records that nothing is answered under the lock that this server took last, in this life or an earlier one.

        Written over the version that was read: when it arrives late it does not speak of a later tenure. Raises CoordinationError.
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

    async def _read(self, server: str, watch: Watch | None = None) -> tuple[Confirmation, int] | None:
        callback = watch.arm() if watch else None
        try:
            octets, stat = await self._coordination.get(self._path(server), callback)
        except NoNode:
            if watch:
                watch.forget()
            return None
        return msgspec.json.decode(octets, type=Confirmation), stat.version

    async def _look(self, server: str, clock: Clock) -> None:
        """The lease that a version stands for was confirmed before this server could see it, so that it may count from here."""
        found = await self._read(server, self._watches.setdefault(server, Watch(lambda: self._want(server))))
        known = self._sightings.get(server)
        if found is not None and (known is None or found[1] > known.version):
            self._sightings[server] = Sighting(found[1], clock.monotonic_ns(), found[0].stopped)

    def _want(self, server: str) -> None:
        self._due[server] = None
        self._wanted.set()

    def follow(self, holder: str) -> None:
        """Whoever holds the lock is watched from now on."""
        if holder not in ("", self._name) and holder not in self._watches:
            self._want(holder)

    def forget_session(self) -> None:
        """The watches are gone with the connection; what they would have fired for is read again."""
        watched, self._watches = list(self._watches), {}
        for server in watched:
            self._want(server)

    async def keep_up(self, clock: Clock) -> None:
        """Reads again what has changed; for ever."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            for server in list(self._due):
                try:
                    await self._look(server, clock)
                    self._due.pop(server, None)
                except CoordinationError:
                    self._watches.pop(server, None)
                    await clock.sleep(RETRY_NS)
                    self._wanted.set()

    async def look_around(self, clock: Clock) -> None:
        """Reads all of them, no older than this call. Raises CoordinationError."""
        await self._coordination.sync(self._root)
        for server in await self._coordination.children(self._root):
            if server != self._name:
                await self._look(server, clock)

    def unstopped(self) -> list[str]:
        """The others that held the lock and are not known to have stopped, by name."""
        return [server for server, seen in sorted(self._sightings.items()) if not seen.stopped]

    def sighting(self, server: str) -> Sighting | None:
        return self._sightings.get(server)
