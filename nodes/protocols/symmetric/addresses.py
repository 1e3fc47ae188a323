"""The servers of the group that are registered with the coordination service, and their addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import MILLISECOND
from nodes.protocols.symmetric.replica import SymmetricReplica
from nodes.wire.messages import Message

REGISTERED_NS = 500 * MILLISECOND
"""Shortest time between two reads of the servers' addresses."""

Step = Callable[[str, Any], None]


class Addresses:
    """The addresses of the other servers, read again after a registration or a message of an unknown server."""

    def __init__(self, replica: SymmetricReplica, wake: Callable[[], None]):
        self._replica = replica
        self._wake = wake
        self.known: dict[str, str] = {}
        self._looked_ns = -REGISTERED_NS
        self.outdated = True
        """Whether a server may have registered or moved since the last read."""

    def of_the_group(self, step: Step) -> Step:
        """Restricts a step to servers of the group. A new server registers before it sends any message."""
        replica = self._replica

        def deliver(peer: str, message: Message) -> None:
            if (
                peer in self.known
                or peer in replica.group.members
                or peer in replica.agreement.agreed.members
            ):
                step(peer, message)
            else:
                self.outdated = True
                reported = f"not registered as a server of {replica.group.name} when this one looked last"
                replica.ignoring.report(peer, message, reported)

        return deliver

    async def keep_up(self) -> None:
        """Reads the addresses again if they are outdated. Raises CoordinationError."""
        replica, world = self._replica, self._replica.world
        now_ns = world.clock.monotonic_ns()
        if not self.outdated or now_ns - self._looked_ns < REGISTERED_NS:
            return
        self._looked_ns, self.outdated = now_ns, False
        for server, address in (await replica.agreement.addresses(self._on_registered)).items():
            if self.known.get(server) != address and server != world.name:
                self.known[server] = address
                world.network.know(server, address)

    def _on_registered(self) -> None:
        self.outdated = True
        self._wake()
