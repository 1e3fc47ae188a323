"""A server's own part in images (CFS §4.1.1): it writes an image of its namespace when the active orders it and no other image is being written."""

from __future__ import annotations

from nodes.metadata_server.messages import ImageGoesOn, ImageTaken, TakeImage
from nodes.metadata_server.replica import GroupReplica
from nodes.scope import Scope
from nodes.slots import GroupLog

GROUPS_AT_ONCE = 8
"""Groups that a standby applies in one turn after its namespace was frozen."""


async def take_image(replica: GroupReplica[GroupLog], order: TakeImage, scope: Scope) -> ImageTaken:
    """The standby's part. Its namespace is frozen until the image no longer needs it. Raises OSError."""
    state = replica.state
    mark = replica.log.mark_at(state.applied_sn)
    assert mark is not None, f"sn {state.applied_sn} is applied and not in the journal"

    def dumped() -> None:
        scope.spawn(_catch_up(replica), "catch up")

    state.freeze()
    holders = await replica.images.write(state.namespace, mark, order.replicas, dumped)
    return ImageTaken(order.epoch, order.order, mark.sn, holders)


async def _catch_up(replica: GroupReplica[GroupLog]) -> None:
    while not replica.state.catch_up(GROUPS_AT_ONCE):
        await replica.world.clock.sleep(0)


class SnapshotWriter:
    """Carries out one image order at a time."""

    def __init__(self, replica: GroupReplica[GroupLog]):
        self._replica = replica
        self._scope: Scope | None = None
        self._taken: ImageTaken | None = None
        """The last image. A repeated order means that the active has not received the report."""

    def on_order(self, peer: str, order: TakeImage, session: Scope | None) -> None:
        """Starts the order. Reports a refusal when another order is under way, there is no `session`, or the namespace waits for an image itself;
        reports progress when this order is under way."""
        send, taken = self._replica.world.network.send, self._taken
        if taken is not None and (taken.epoch, taken.order) == (order.epoch, order.order):
            send(peer, taken)
            return
        name = f"image {order.order} of epoch {order.epoch}"
        busy = self._scope is not None and self._scope.busy
        if busy and self._scope is not None and self._scope.name == name:
            send(peer, ImageGoesOn(order.epoch, order.order))
            return
        if busy or session is None or self._replica.state.stuck_sn:
            send(peer, ImageTaken(order.epoch, order.order, 0, []))
            return
        self.stop()
        self._scope = session.child(name)
        self._scope.spawn(self._take(peer, order, self._scope), "image")

    async def _take(self, peer: str, order: TakeImage, scope: Scope) -> None:
        self._taken = await take_image(self._replica, order, scope)
        self._replica.world.network.send(peer, self._taken)

    def stop(self) -> None:
        """Stops the image; the namespace may change again."""
        if self._scope is not None:
            self._scope.close()
            self._scope = None
            self._replica.state.thaw()
