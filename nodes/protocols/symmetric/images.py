"""Images in a symmetric group: the members that take them, and how a server begins from one when the members have pruned what it lacks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nodes.metadata_server.image_reader import ImageReading
from nodes.metadata_server.replica import empty_namespace
from nodes.protocols.symmetric.flush import Settling
from nodes.protocols.symmetric.member import ViewMember
from nodes.protocols.symmetric.messages import Welcome
from nodes.protocols.symmetric.replica import SymmetricReplica
from nodes.replicas.disks import OTHER
from nodes.replicas.log import NOTHING


class OtherMembers:
    """`ImageTakers` of nodes/slots.py: the members of the view except the first."""

    def __init__(self, member: ViewMember):
        self._member = member

    def standbys(self) -> list[str]:
        gone = self._member.gone()
        return [name for name in self._member.view.members[1:] if name not in gone]

    def matched_sns(self) -> list[int]:
        return self._member.held_sns()

    def suffice(self, holders: list[str]) -> bool:
        """Every member has the image: any of them may go on alone, and then no other server has the groups before it."""
        return set(self._member.view.members) <= set(holders)

    def pruned(self, sn: int) -> None:
        """Does nothing: every member prunes its own journal."""


class BeginningFromImage:
    """A joiner's reading of an image, for groups that the members have pruned."""

    def __init__(
        self,
        replica: SymmetricReplica,
        settling: Settling,
        member: Callable[[], ViewMember | None],
        stop_imaging: Callable[[], None],
    ):
        self._replica = replica
        self._settling = settling
        self._member = member
        self._reading = ImageReading(replica.world, stop_imaging)

    def on_welcome(self, peer: str, message: Welcome) -> None:
        """Begins to read when the journal of a server that was in the view does not lead on from this one. Only a member knows that a whole journal
        has nothing in common with it: that of a server with a new disk is empty."""
        agreed = self._replica.agreement.agreed
        wanted = not message.leads_on and self._member() is None and peer in agreed.members
        if wanted and (message.base or (message.member and message.view == agreed.number)):
            self._reading.begin(partial(self._read, message.base))

    def stop(self) -> None:
        self._reading.stop()

    async def _read(self, base: int) -> bool:
        """Reads an image of a member that has pruned groups up to `base`. Returns whether that is over. A view change meanwhile ends it, and one that
        this server has settled: the next view may count on its journal.

        A server whose disk counts never gives up groups: it takes only an image that reaches beyond its journal. Raises OSError.
        """
        replica, promised = self._replica, self._settling.promised
        others = [name for name in replica.agreement.agreed.members if name != replica.name]
        empty = empty_namespace(replica.config, replica.group), NOTHING
        read = await replica.common.images.read(others, lambda: None) if base else empty
        async with replica.settling:
            if self._member() is not None or self._settling.promised != promised or self._has_settled():
                return True
            counts = replica.standing(replica.agreement.agreed, replica.name, replica.disk) != OTHER
            if read is not None and (not counts or read[1].sn > replica.log.last.sn):
                await replica.begin_from(*read)
        return read is not None

    def _has_settled(self) -> bool:
        """Whether this server's journal has reached the goal of an attempt whose outcome it does not know."""
        mutations = self._replica.config.cluster.mutations
        settled = self._settling.settled > self._replica.agreement.agreed.number
        return settled and not mutations.emptied_after_settling
