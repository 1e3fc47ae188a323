"""Images in a Paxos group: the servers that take them, and how a server that lacks pruned slots begins from one.

An image holds a prefix of decided slots, so its source does not matter. The reader keeps every slot that it accepted above the image.
"""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import MILLISECOND
from nodes.protocols.paxos.member import Member
from nodes.protocols.paxos.proposer import Proposer
from nodes.scope import Scope
from nodes.world import CoordinationError

AGAIN_NS = 100 * MILLISECOND


class Secondaries:
    """`ImageTakers` of nodes/slots.py: the members of the view except the primary."""

    def __init__(self, proposer: Proposer, name: str, configured: list[str]):
        self._proposer = proposer
        self._name = name
        self._configured = configured

    def standbys(self) -> list[str]:
        followers = self._proposer.tally.followers
        return [name for name in self._proposer.tally.recorded if name != self._name and name in followers]

    def matched_sns(self) -> list[int]:
        """The executed slot of each follower that needs no image. Later slots stay in the log: the next primary may have to send them again.

        A follower that reads an image receives no records until it has read it.
        """
        return [each.executed for each in self._proposer.tally.followers.values() if not each.lacks]

    def suffice(self, holders: list[str]) -> bool:
        """Whether the holders are a majority of the configured group. Every other majority then contains a server that can begin from the image."""
        return 2 * sum(name in holders for name in self._configured) > len(self._configured)

    def pruned(self, sn: int) -> None:
        """Does nothing, because every server prunes its own log."""


class ImageReading:
    """One server's reading of an image, for slots that the primary has pruned."""

    def __init__(self, member: Member, before: Callable[[], None]):
        self._member = member
        self._before = before
        """Callback that stops an image in progress, because the namespace is about to be replaced."""
        self._scope: Scope | None = None

    @property
    def busy(self) -> bool:
        return self._scope is not None and self._scope.busy

    def begin(self, base: int) -> None:
        """Starts to read images until this server has every slot up to `base`."""
        if not self.busy:
            self._before()
            self._scope = self._member.world.scope.child("reading an image")
            self._scope.spawn(self._read(base), "reading an image")

    def stop(self) -> None:
        if self._scope is not None:
            self._scope.close()
            self._scope = None

    async def _read(self, base: int) -> None:
        """Raises OSError of this disk."""
        member = self._member
        while member.queue.success < base:
            try:
                others = [name for name in await member.view.places() if name != member.name]
            except CoordinationError:
                others = []
            if not await member.begin_from_image(others):
                await member.world.clock.sleep(AGAIN_NS)
