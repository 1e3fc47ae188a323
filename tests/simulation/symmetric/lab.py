"""A simulated symmetric group with its invariants, for directed schedules."""

from __future__ import annotations

from typing import Any

from nodes.protocols.symmetric.messages import Broadcast
from nodes.sim.cluster import SimClient
from nodes.sim.network import HeldMessages
from nodes.trace.events import Serving
from nodes.wire.messages import Message
from tests.simulation.mams.lab import Lab


class SymmetricLab(Lab):
    """Members mds1 … mdsN; client ada calls mds1 first, eve the last of them."""

    def __init__(self, seed: int, *holes: str, members: int = 3, **settings: Any):
        super().__init__(seed, *holes, standbys=members - 1, protocol="symmetric", **settings)
        self.names = [f"mds{number}" for number in range(1, members + 1)]
        self.asks(self.ada, self.names[0])
        self.asks(self.eve, self.names[-1])

    @property
    def letters(self) -> str:
        return "".join(self.cluster.view().values())

    def asks(self, client: SimClient, server: str) -> None:
        """Makes the client call this member first; it stays there as long as the member answers."""
        client.client._groups[1].believed = server

    def hold_broadcasts(self, sender: str, *receivers: str) -> HeldMessages:
        def match(source: str, target: str, message: Message) -> bool:
            return type(message) is Broadcast and source == sender and target in receivers

        return self.cluster.hold(match)

    def await_view_of(self, *members: str) -> None:
        """Waits until these servers serve in a view together, later than the present one."""
        newest = max(stamped.event.epoch for stamped in self.serving())

        def there() -> bool:
            views = {s.server: s.event.epoch for s in self.serving() if type(s.event) is Serving}
            epochs = {views.get(name, 0) for name in members}
            return len(epochs) == 1 and epochs.pop() > newest

        self.cluster.run_until(there)
