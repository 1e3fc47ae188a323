"""Servers that follow a shared journal: they read on from the end of their own copy, or from an image when the journal begins later."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from nodes.config import MILLISECOND, GroupConfig, ServerConfig
from nodes.metadata.namespace import Namespace
from nodes.metadata_server.own_journal import OwnJournal
from nodes.metadata_server.replica import Replica, empty_namespace, stored_namespace
from nodes.protocols.baselines.shared_journal import BeginsLater, SharedJournal
from nodes.replicas.log import NOTHING, base_under
from nodes.replicas.view import LostLock, ViewMoved
from nodes.slots import ImageStore
from nodes.storage.journal_file import Journal
from nodes.wire.messages import Mark
from nodes.world import CoordinationError


class Readers:
    """The servers that read the shared journal, as `ImageTakers` of nodes/slots.py.

    The configuration names those that may need the journal later. All must have an image before the journal below it is pruned, so that a
    server that is dead for good has to be removed.
    """

    def __init__(self, replica: Replica, prune: Callable[[int], None]):
        self._replica = replica
        self._prune = prune
        self._present: list[str] = []
        """Servers with a place in the view."""
        self._members = replica.group.members
        """Servers of the configuration, at least; the record may name fewer."""
        self._is_read = False
        self._leaving: list[str] = []
        self._everybody = False
        """Whether the image of the last check is on every server."""

    def standbys(self) -> list[str]:
        return self._present

    @property
    def members(self) -> list[str]:
        return self._members

    def matched_sns(self) -> list[int]:
        """No server receives the journal from here: it is on nodes of its own."""
        return []

    def suffice(self, holders: list[str]) -> bool:
        """More than half of the group has the image: the loss of one disk leaves an image to begin from."""
        members = self._members
        self._everybody = set(members) <= set(holders)
        return 2 * sum(name in members for name in holders) > len(members)

    def pruned(self, sn: int) -> None:
        """Prunes the shared journal as far as the active's own, to the older of its two newest images.

        Only when every server has the newest image: any of them may be the last that is left.
        """
        if self._everybody:
            self._prune(sn)

    def remove(self, server: str) -> str:
        """Orders the removal of a server. Returns the reason when it is impossible, else an empty string."""
        replica = self._replica
        if server == replica.name:
            return f"{server} is the active: take its lock first"
        if len([name for name in self._members if name != server]) < replica.min_in_step:
            return f"{replica.group.name} never counts fewer than {replica.min_in_step} servers"
        if server not in self._leaving:
            self._leaving.append(server)
        return ""

    async def _let_leave(self) -> None:
        """Reads the configuration, and removes one leaving server. Raises LostLock, ViewMoved, CoordinationError."""
        leaving = next((name for name in self._leaving if name in self._members), "")
        if self._is_read and not leaving:
            return
        view = self._replica.view
        stored, version = await view.configuration()
        self._members, self._is_read = stored.members, True
        stay = [name for name in stored.members if name != leaving]
        if stay == stored.members:
            return
        if len(stay) < self._replica.min_in_step:
            self._leaving.remove(leaving)
            return
        await view.guarded([view.configuration_change(replace(stored, number=stored.number + 1, members=stay), version)])  # fmt: skip
        self._members = stay

    async def follow(self) -> None:
        """Checks the view once per heartbeat, without end, and lets servers leave."""
        replica = self._replica
        pause_ns = replica.config.cluster.timing.heartbeat_ms * MILLISECOND
        while True:
            try:
                self._present = sorted(name for name in await replica.view.places() if name != replica.name)
            except CoordinationError:
                self._present = []
            try:
                await self._let_leave()
            except (CoordinationError, ViewMoved, LostLock):
                pass  # Tried again with the next heartbeat, if this tenure lasts.
            await replica.world.clock.sleep(pause_ns)


def where_it_ended(
    images: ImageStore, journal: Journal, config: ServerConfig, group: GroupConfig
) -> tuple[Namespace, Mark]:
    """The newest image that the own journal continues; without one, an empty namespace under a whole journal. `Begin` of
    nodes/metadata_server/replica.py.

    An image of another server that was ahead is the last resort, and then the oldest: behind it, this server would lack the barriers of
    checkpoints that it is about to read in the shared journal (safety rule 14). Raises CorruptJournal.
    """
    stored = images.newest(lambda mark: base_under(journal, mark) is not None)
    if stored is None and journal.first_sn == 1:
        return empty_namespace(config, group), NOTHING
    if stored is None:
        oldest_sn = min((sn for sn in images.stored() if sn + 1 >= journal.first_sn), default=0)
        stored = images.newest(lambda mark: mark.sn == oldest_sn)
    return stored or stored_namespace(images, journal, config, group)


async def read_on(replica: Replica, journal: SharedJournal, local: OwnJournal) -> bool:
    """Appends the following groups to this server's copy, durably; False when there were none.

    Raises NotNext, msgspec.DecodeError, CoordinationError, OSError.
    """
    try:
        groups = await journal.read(replica.log.last.sn + 1)
    except BeginsLater:
        return await begin_from_image(replica, local, replica.log.last.sn + 1)
    await local.take(groups)
    return bool(groups)


async def begin_from_image(replica: Replica, local: OwnJournal, first_sn: int) -> bool:
    """Replaces the namespace, and a journal that ends before it, with the newest image on this disk, else on the other servers, that contains
    `first_sn`.

    Raises CoordinationError, OSError.
    """

    def suffices(mark: Mark) -> bool:
        return mark.sn >= first_sn

    read = replica.images.newest(suffices)
    if read is None:
        others = [name for name in await replica.view.places() if name != replica.name]
        read = await replica.images.read(others, lambda: None) if others else None
    if read is None or not suffices(read[1]):
        return False
    await local.begin_from(*read)
    return True
