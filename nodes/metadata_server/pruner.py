"""Which journals the active of a group needs no longer after an image (CFS §4.1.1), and what the pool's nodes report of their images."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import MILLISECOND, SECOND
from nodes.metadata_server.messages import Prune
from nodes.metadata_server.replica import GroupReplica
from nodes.slots import GroupLog, ImageTakers, StoredImage
from nodes.wire.messages import Mark

LINGER_NS = 5 * SECOND
"""A renewing session's image is kept for this time after the session ends."""


class Pruning:
    """One tenure's pruning. Journals and images that a junior, a renewing session or a participant still needs stay."""

    def __init__(
        self,
        replica: GroupReplica[GroupLog],
        takers: ImageTakers,
        epoch: int,
        busy: Callable[[], bool],
    ):
        """`busy`: whether an image is being taken."""
        self._replica = replica
        self._takers = takers
        self._epoch = epoch
        self._busy = busy
        self._checks = False
        """A person wants every file of the pool to be read and compared now."""
        self._due = False
        """An image has come since the journals were last pruned."""
        self._surveys = False
        """Reports are being awaited."""
        self._sessions = 0
        self._session_ended_ns = -LINGER_NS
        self.juniors: dict[str, list[Mark]] = {}
        """Juniors, with the ends of their journals."""

    # --- steps ----------------------------------------------------------------------------------------------------

    def begin_session(self) -> None:
        self._sessions += 1

    def end_session(self) -> None:
        self._sessions -= 1
        self._session_ended_ns = self._replica.world.clock.monotonic_ns()

    @property
    def _in_use(self) -> bool:
        """A server is reading data that would be pruned, or may come back to it."""
        since_ns = self._replica.world.clock.monotonic_ns() - self._session_ended_ns
        return self._sessions > 0 or since_ns < LINGER_NS

    def image_taken(self) -> None:
        self._due = True

    def check_now(self) -> None:
        self._checks = True

    @property
    def awaited(self) -> bool:
        """Reports are awaited, or will be as soon as no server takes an image."""
        return self._surveys or (self._due and not self._in_use)

    # --- procedure ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Surveys the pool on a person's order, and prunes journals after each image. A node that does not report delays no image."""
        while True:
            await pause(self._replica)
            if self._checks:
                self._checks = False
                await self._survey(again=True)
            if self._due and not self._in_use and not self._busy():
                self._due = False
                images = await self._survey()
                if self._in_use:
                    self._due = True
                else:
                    self._prune(images)

    async def _survey(self, again: bool = False) -> list[StoredImage]:
        nodes = [self._replica.name, *self._takers.standbys()]
        self._surveys = True
        try:
            return await self._replica.images.survey(nodes, again)
        finally:
            self._surveys = False

    def _prune(self, images: list[StoredImage]) -> None:
        """Prunes journals below the newest image that is whole on a majority, on the servers that have it. State that some server is known to
        need stays."""
        safe = [image for image in images if self._takers.suffice(image.holders)]
        if not safe:
            return
        needed = self._takers.matched_sns()
        needed += [self._needed(tails, images) for tails in self.juniors.values()]
        sn = min([safe[-1].sn, *needed])
        for node in safe[-1].holders:
            if node == self._replica.name:
                self._replica.prune(sn)
                self._takers.pruned(self._replica.log.base.sn)
            else:
                self._replica.world.network.send(node, Prune(self._epoch, sn))

    def _needed(self, tails: list[Mark], images: list[StoredImage]) -> int:
        """The sn below which journals may be pruned. A junior continues from its own journal, or from any image, because it may have read part
        of the oldest."""
        log = self._replica.log
        common = log.agrees_up_to(tails)
        if common is not None and log.last.sn - common <= self._replica.config.cluster.image_gap:
            return common
        return min((image.sn for image in images), default=0)


async def pause(replica: GroupReplica[GroupLog]) -> None:
    """Between two looks at images."""
    await replica.world.clock.sleep(replica.config.cluster.timing.renew_scan_ms * MILLISECOND)
