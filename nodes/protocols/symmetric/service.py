"""One member's service in one view, as the metadata server sees it: calls, images, counters, commands to data nodes.

The first member of the view orders images from the others, and has journals pruned (CFS §4.1.1; VSSP §III.D).
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from nodes.metadata.pages import Crossed, LogCounters, counters_of
from nodes.metadata_server.messages import ImageGoesOn, ImageTaken
from nodes.metadata_server.snapshots import Imaging
from nodes.protocols.symmetric.images import OtherMembers
from nodes.protocols.symmetric.member import ViewMember
from nodes.protocols.symmetric.messages import JoinView
from nodes.protocols.symmetric.replica import SymmetricReplica
from nodes.protocols.symmetric.requests import Requests, is_write
from nodes.wire.messages import CheckOperation, Message, Request


class ViewService:
    """`Service` of the metadata server, and the `Admission` of its images."""

    admits = True
    ahead = False
    idle = True
    """A group is submitted when every member holds it, so the namespace is never ahead of commit."""
    stalled = False

    def __init__(self, replica: SymmetricReplica, member: ViewMember, requests: Requests):
        self._replica = replica
        self._member = member
        self._requests = requests
        self._scope = replica.world.scope.child(f"images of view {member.view.number}")
        self.imaging: Imaging | None = None
        if member.own == 0:
            imaging = self.imaging = Imaging(replica.common, OtherMembers(member), self, member.view.number)
            self._scope.spawn(imaging.run(), "images")
            self._scope.spawn(imaging.pruning.run(), "pool")

    @property
    def writes(self) -> bool:
        """Whether no member of the view is gone."""
        return not self._member.gone()

    @property
    def commands(self) -> tuple[int, bool]:
        """The first member commands data nodes, while it may answer reads."""
        if self._member.own or not self._member.may_read:
            return 0, False
        return self._member.view.number, not self._replica.behind

    def on_call(self, peer: str, call: Request | CheckOperation) -> None:
        if isinstance(call, CheckOperation):
            self._requests.on_check(peer, call)
        elif is_write(call):
            self._requests.on_write(peer, call)
            self._member.wants_turn()
        else:
            self._requests.on_read(peer, call)
            self._member.answer_reads()

    def counters(self) -> dict[str, Any]:
        replica = self._replica
        log = LogCounters(replica.log_size, self._requests.log_is_full)
        if self.imaging is not None:
            log = self.imaging.log
        return asdict(counters_of(replica.namespace, Crossed(), log))

    def remove(self, server: str) -> str:
        return f"the servers of {self._replica.group.name} are the configured ones"

    # --- images --------------------------------------------------------------------------------------------------------

    def on_image(self, peer: str, message: ImageTaken | ImageGoesOn) -> None:
        if self.imaging is not None:
            self.imaging.on_image(peer, message)

    def look_at_log(self, joining: dict[str, JoinView]) -> None:
        """Joiners need groups, or an image, of the members; writes need room."""
        if self.imaging is not None:
            juniors = self.imaging.pruning.juniors
            juniors.clear()
            juniors.update({name: join.tails for name, join in joining.items()})
            self._member.on_log(self.imaging.is_full())

    def resume(self) -> None:
        self._member.on_log(False)

    def freeze(self) -> None:
        self._replica.execution.freeze()

    def thaw(self) -> None:
        self._replica.execution.thaw()

    def stop_imaging(self) -> None:
        """The view is about to change, or has ended: journals are neither pruned nor covered by images until the next one begins."""
        self._scope.close()
        self.imaging = None

    # --- checkpoints and several groups ----------------------------------------------------------------------------------

    def on_marking(self, peer: str, message: Message) -> None:
        self._replica.ignoring.report(peer, message, "members of a view mark no checkpoints")

    def on_cross_group(self, peer: str, message: Message) -> None:
        self._replica.ignoring.report(peer, message, "a view is of one group")

    def begin_marking(self, name: str) -> None:
        """No member is a time server."""
