"""A server's own journal where others keep the group's, too: the namespace is read from here when it starts again.

One procedure writes it, so that what comes while it is syncing shares the next sync.
"""

from __future__ import annotations

from collections.abc import Callable

from nodes.metadata.namespace import Namespace
from nodes.metadata_server.replica import Replica, rebuild
from nodes.replicas.log import decode_group, mark_of
from nodes.trace.events import Cut, Durable, Renewing
from nodes.wake import Rounds
from nodes.wire.messages import JournalGroup, Mark


class NotNext(Exception):
    """A group does not follow on the last one."""


class OwnJournal:
    def __init__(self, replica: Replica):
        self._world = replica.world
        self._replica = replica
        self._state = replica.state
        self.log = replica.log
        self.number = replica.group.number
        """Of the group whose journal it is."""
        self.on_durable: Callable[[Mark], None] = lambda mark: None
        self._unsynced: list[Durable] = []
        self._cuts: list[tuple[int, str]] = []
        self._image: tuple[Namespace, Mark] | None = None
        self._wanted = Rounds()

    def append(self, group: JournalGroup, octets: bytes, mark: Mark) -> None:
        """`on_durable` is called when it is."""
        self.log.append(mark, octets)
        self._replica.pins.on_group(group)
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
        """Removes what comes after sn, from the namespace too if it is there; durable when it returns."""
        self._cuts.append((sn, reason))
        await self._wanted.over()

    async def begin_from(self, namespace: Namespace, mark: Mark) -> None:
        """An image takes the place of journal and namespace; durable when it returns, and done also if nobody waits for it any more."""
        self._image = (namespace, mark)
        await self._wanted.over()

    async def run(self) -> None:
        """For ever. Raises OSError of the disk."""
        await self._replica.identity.keep()
        await self.log.sync()
        while True:
            await self._wanted.wait()
            waits = self._wanted.begin()
            cuts, self._cuts = self._cuts, []
            for sn, reason in cuts:
                await self._cut(sn, reason)
            image, self._image = self._image, None
            if image is not None and image[1].sn > self.log.last.sn:
                await self._begin_from(*image)
            unsynced, self._unsynced = self._unsynced, []
            await self.log.sync()
            for durable in unsynced:
                self._world.trace.emit(durable)
            if unsynced:
                mark = self.log.mark_at(unsynced[-1].sn)
                if mark is not None:
                    self.on_durable(mark)
            self._wanted.end(waits)

    async def _begin_from(self, namespace: Namespace, mark: Mark) -> None:
        self._unsynced = []
        # Before the await: an image may be ordered meanwhile, and log and namespace have to fit.
        self._state.restart(namespace, mark.sn)
        await self.log.restart_at(mark)
        self._world.trace.emit(Renewing("image", mark.sn, mark.sn))

    async def _cut(self, sn: int, reason: str) -> None:
        if self.log.last.sn <= sn:
            return
        self._unsynced = [durable for durable in self._unsynced if durable.sn <= sn]
        applied = not self._state.cut(sn)
        await self.log.cut(sn)
        self._world.trace.emit(Cut(sn, reason))
        if applied:
            rebuild(self._replica)
