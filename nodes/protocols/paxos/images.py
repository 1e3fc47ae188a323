"""Images in a Paxos group: the servers that take them, and how a server that lacks pruned slots begins from one.

An image holds a prefix of decided slots, so its source does not matter. The reader keeps every slot that it accepted above the image.
"""

from __future__ import annotations

from nodes.protocols.paxos.member import PaxosMember
from nodes.protocols.paxos.proposer import Proposer
from nodes.world import CoordinationError


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


async def begin_from_image(member: PaxosMember, base: int) -> bool:
    """Reads an image once, for slots that the primary has pruned or a rollback that this server cannot apply. Returns whether this server has every
    slot up to `base` and has applied every rollback among them. Raises OSError."""
    if _has_reached(member, base):
        return True
    try:
        others = [name for name in await member.view.places() if name != member.name]
    except CoordinationError:
        others = []
    await member.begin_from_image(others)
    return _has_reached(member, base)


def _has_reached(member: PaxosMember, base: int) -> bool:
    return member.queue.success >= base and not member.state.stuck_sn
