"""Images in a group of Paxos: who takes them, and how a server that lacks what is pruned begins from one.

An image holds a prefix of decided slots, so that whoever has it has all of these, wherever it came from. Of what it accepted above nothing is lost.
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
    """`ImageTakers` of nodes/slots.py: the members of the view but for the primary."""

    def __init__(self, proposer: Proposer, name: str, configured: list[str]):
        self._proposer = proposer
        self._name = name
        self._configured = configured

    def standbys(self) -> list[str]:
        followers = self._proposer.followers
        return [name for name in self._proposer.recorded if name != self._name and name in followers]

    def matched_sns(self) -> list[int]:
        """Nothing is pruned that somebody has yet to be sent or told of, in the view or about to join: the next primary has to tell it again.

        Who reads an image is sent nothing before it has.
        """
        return [each.executed for each in self._proposer.followers.values() if not each.lacks]

    def suffice(self, holders: list[str]) -> bool:
        """A majority of the configured group: one of every other majority can begin from it."""
        return 2 * sum(name in holders for name in self._configured) > len(self._configured)

    def pruned(self, sn: int) -> None:
        """Every server prunes its own log."""


class ImageReading:
    """One server's way to the slots that the primary's log has no more."""

    def __init__(self, member: Member, before: Callable[[], None]):
        self._member = member
        self._before = before
        """Ends an image that is being taken here: the namespace is about to be another one."""
        self._scope: Scope | None = None

    @property
    def busy(self) -> bool:
        return self._scope is not None and self._scope.busy

    def begin(self, base: int) -> None:
        """Reads until everything up to `base` is here."""
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
