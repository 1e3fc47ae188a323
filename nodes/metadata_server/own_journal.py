"""A server's own journal in families where other nodes also keep the group's journal. A restarted server reads the namespace from it.

One procedure writes the journal, so that groups that arrive during a sync share the next one.
"""

from __future__ import annotations

from nodes.listeners import Listeners
from nodes.metadata.namespace import Namespace
from nodes.metadata_server.replica import Replica, rebuild, restart_behind
from nodes.replicas.log import decode_group, mark_of
from nodes.trace.events import Cut, Durable, Renewing
from nodes.wake import Rounds
from nodes.wire.messages import JournalGroup, Mark


class NotNext(Exception):
    """A group that does not follow on the last one."""


class OwnJournal:
    def __init__(self, replica: Replica):
        self._world = replica.world
        self._replica = replica
        self._state = replica.state
        self.log = replica.log
        self.number = replica.group.number
        self.on_durable: Listeners[Mark] = Listeners()
        self._unsynced: list[Durable] = []
        self._cuts: list[tuple[int, str]] = []
        self._image: tuple[Namespace, Mark] | None = None
        self.rounds = Rounds()

    def append(self, group: JournalGroup, data: bytes, mark: Mark) -> None:
        """Appends a group. `on_durable` is called when it is durable."""
        self.log.append(mark, data)
        self._replica.pins.on_group(group)
        self._unsynced.append(
            Durable(mark.sn, mark.epoch, group.groupid, mark.crc, len(group.records), len(data))
        )
        self.rounds.set()

    async def take(self, groups: list[bytes]) -> None:
        """Groups of the shared journal, to be applied when they are committed. Durable on return.

        Raises NotNext, msgspec.DecodeError.
        """
        for data in groups:
            group = decode_group(data)
            if group.previous != self.log.last:
                raise NotNext(
                    f"group {group.sn} follows {group.previous}, this journal ends with {self.log.last}"
                )
            self.append(group, data, mark_of(group, data))
            self._state.prepared(group)
        await self.rounds.over()

    async def cut(self, sn: int, reason: str) -> None:
        """Removes the groups after sn, and restores the namespace if it contains them. Durable on return."""
        self._cuts.append((sn, reason))
        await self.rounds.over()

    async def begin_from(self, namespace: Namespace, mark: Mark) -> None:
        """Replaces the namespace with an image, and a journal that ends before it. Durable on return; also completed when the caller is cancelled.

        Without effect for an image behind which this server already is.
        """
        self._image = (namespace, mark)
        await self.rounds.over()

    async def run(self) -> None:
        """Writes and syncs without end. Raises OSError of the disk."""
        await self._replica.identity.keep()
        await self.log.sync()
        while True:
            await self.rounds.wait()
            waits = self.rounds.begin()
            cuts, self._cuts = self._cuts, []
            for sn, reason in cuts:
                await self._cut(sn, reason)
            image, self._image = self._image, None
            if image is not None:
                await self._begin_from(*image)
            unsynced, self._unsynced = self._unsynced, []
            await self.log.sync()
            for durable in unsynced:
                self._world.trace.emit(durable)
            if unsynced:
                mark = self.log.mark_at(unsynced[-1].sn)
                if mark is not None:
                    self.on_durable(mark)
            self.rounds.end(waits)

    async def _begin_from(self, namespace: Namespace, mark: Mark) -> None:
        replica, state = self._replica, self._state
        if mark.sn <= state.applied_sn:
            return
        if namespace.incarnation > state.namespace.incarnation:
            replica.history.passed_over(mark, namespace.incarnation, replica.origin.checkpoint)
        if self.log.holds(mark):
            restart_behind(replica, namespace, mark)
        else:
            self._unsynced = []
            # Before the await: an image may be ordered meanwhile, and log and namespace must match.
            state.restart(namespace, mark.sn)
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
