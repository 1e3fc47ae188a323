"""The receivers of a stream without acknowledgements: servers that have a place in the view (CFS §2.1)."""

from __future__ import annotations

from nodes.config import MILLISECOND
from nodes.metadata_server.replica import Replica
from nodes.protocols.mams.stream import MamsStream
from nodes.world import CoordinationError


async def follow_receivers(replica: Replica, stream: MamsStream, epoch: int) -> None:
    """Drops receivers whose session has ended, once per heartbeat, in an endless loop."""
    pause_ns = replica.config.cluster.timing.heartbeat_ms * MILLISECOND
    while True:
        await replica.world.clock.sleep(pause_ns)
        try:
            places = await replica.view.places()
        except CoordinationError:
            continue
        for name in stream.drop_all_but(places):
            detail = f"{name} has left the view and is sent no more journals"
            replica.step("shrink", "", "CFS §2.1", detail, epoch)
