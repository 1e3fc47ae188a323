"""How servers follow the journal that they share: they read on where their own copy ends, from an image where the journal begins later."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import MILLISECOND
from nodes.metadata_server.own_journal import OwnJournal
from nodes.metadata_server.replica import Replica
from nodes.protocols.baselines.shared_journal import BeginsLater, SharedJournal
from nodes.wire.messages import Mark
from nodes.world import CoordinationError


class Readers:
    """`ImageTakers` of nodes/slots.py: those that have a place in the view."""

    def __init__(self, replica: Replica, prune: Callable[[int], None]):
        self._replica = replica
        self._prune = prune
        self._present: list[str] = []
        self._everybody = False
        """Whether the image that was asked about last is on every server."""

    def standbys(self) -> list[str]:
        return self._present

    def matched_sns(self) -> list[int]:
        """Nobody is sent the journal from here: it lies on nodes of its own."""
        return []

    def suffice(self, holders: list[str]) -> bool:
        """More than half of the group has it: one disk less leaves an image to begin from."""
        members = self._replica.group.members
        self._everybody = set(members) <= set(holders)
        return 2 * sum(name in members for name in holders) > len(members)

    def pruned(self, sn: int) -> None:
        """The shared journal reaches back as far as the active's own does, to the older of its two newest images.

        Only when every server has the newest one: any of them may be the last that is left.
        """
        if self._everybody:
            self._prune(sn)

    async def follow(self) -> None:
        """Once per heartbeat, for ever."""
        replica = self._replica
        pause_ns = replica.config.cluster.timing.heartbeat_ms * MILLISECOND
        while True:
            try:
                self._present = sorted(name for name in await replica.view.places() if name != replica.name)
            except CoordinationError:
                self._present = []
            await replica.world.clock.sleep(pause_ns)


async def read_on(replica: Replica, journal: SharedJournal, local: OwnJournal) -> bool:
    """Takes what follows on this server's copy; False when nothing came. What was taken is durable.

    Raises NotNext, msgspec.DecodeError, CoordinationError, OSError.
    """
    try:
        groups = await journal.read(replica.log.last.sn + 1)
    except BeginsLater:
        return await _begin_from_image(replica, local)
    await local.take(groups)
    return bool(groups)


async def _begin_from_image(replica: Replica, local: OwnJournal) -> bool:
    """The newest image on this disk, else of the other servers, takes the place of journal and namespace, when it reaches further.

    Raises CoordinationError, OSError.
    """

    def is_ahead(mark: Mark) -> bool:
        return mark.sn > replica.log.last.sn

    read = replica.images.newest(is_ahead)
    if read is None:
        others = [name for name in await replica.view.places() if name != replica.name]
        read = await replica.images.read(others, lambda: None) if others else None
    if read is None or not is_ahead(read[1]):
        return False
    await local.begin_from(*read)
    return True
