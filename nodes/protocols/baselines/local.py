"""A server's own journal beside the shared one: the namespace is read from here when it starts again.

One procedure writes it, so that what comes while it is syncing shares the next sync.
"""

from __future__ import annotations

from collections.abc import Callable

from nodes.replicas.log import ReplicaLog, decode_group, mark_of
from nodes.replicas.state import ReplicatedState
from nodes.trace.events import Cut, Durable
from nodes.wake import Rounds
from nodes.wire.messages import JournalGroup, Mark
from nodes.world import World


class NotNext(Exception):
    """A group does not follow on the last one."""


class LocalJournal:
    def __init__(self, world: World, log: ReplicaLog, state: ReplicatedState):
        self._world = world
        self._state = state
        self.log = log
        self.on_durable: Callable[[Mark], None] = lambda mark: None
        self._unsynced: list[Durable] = []
        self._cuts: list[tuple[int, str]] = []
        self._wanted = Rounds()

    def append(self, group: JournalGroup, octets: bytes, mark: Mark) -> None:
        """`on_durable` is called when it is."""
        self.log.append(mark, octets)
        self._unsynced.append(
            Durable(mark.sn, mark.epoch, group.groupid, mark.crc, len(group.records), len(octets))
        )
        self._wanted.set()

    async def take(self, groups: list[bytes]) -> None:
        """Groups of the shared journal, which are to be applied when they are committed; durable when it returns.

        Raises NotNext, msgspec.DecodeError.
        """
        for octets in groups:
            group = decode_group(octets)
            if group.previous != self.log.last:
                raise NotNext(
                    f"group {group.sn} follows {group.previous}, this journal ends with {self.log.last}"
                )
            self.append(group, octets, mark_of(group, octets))
            self._state.prepared(group)
        await self._wanted.over()

    async def cut(self, sn: int, reason: str) -> None:
        """Removes what comes after sn and is in no namespace; durable when it returns."""
        self._cuts.append((sn, reason))
        await self._wanted.over()

    async def run(self) -> None:
        """For ever. Raises OSError of the disk."""
        await self.log.sync()
        while True:
            await self._wanted.wait()
            waits = self._wanted.begin()
            cuts, self._cuts = self._cuts, []
            for sn, reason in cuts:
                await self._cut(sn, reason)
            unsynced, self._unsynced = self._unsynced, []
            await self.log.sync()
            for durable in unsynced:
                self._world.trace.emit(durable)
            if unsynced:
                mark = self.log.mark_at(unsynced[-1].sn)
                if mark is not None:
                    self.on_durable(mark)
            self._wanted.end(waits)

    async def _cut(self, sn: int, reason: str) -> None:
        if self.log.last.sn <= sn:
            return
        self._unsynced = [durable for durable in self._unsynced if durable.sn <= sn]
        if not self._state.cut(sn):
            raise AssertionError(f"group {sn + 1} was cut and is in the namespace")
        await self.log.cut(sn)
        self._world.trace.emit(Cut(sn, reason))
