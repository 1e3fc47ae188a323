"""A simulated group of a Paxos family with its invariants, for directed schedules."""

from __future__ import annotations

from typing import Any

from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.cluster import SimClient
from nodes.trace.events import Stamped
from tests.simulation.mams import lab

SETTLE_NS = lab.SETTLE_NS


class Lab(lab.Lab):
    """A lab with open `holes`; everything else is the default variant."""

    def __init__(
        self, seed: int, *holes: str, secondaries: int = 2, protocol: str = "packed-paxos", **settings: Any
    ):
        super().__init__(seed, *holes, standbys=secondaries, protocol=protocol, **settings)

    @property
    def primary(self) -> str:
        return next(name for name, letter in self.cluster.view().items() if letter == "P")

    @property
    def secondaries(self) -> list[str]:
        return self.standbys

    def letter(self, server: str) -> str:
        return self.cluster.view()[server]

    def await_letter(self, server: str, letter: str) -> None:
        self.cluster.run_until(lambda: self.letter(server) == letter, SETTLE_NS)

    def await_next_primary(self) -> None:
        """Waits until a server serves in a later ballot than now."""
        self.await_next_active()

    def reported(self, kind: type) -> list[Stamped]:
        return [stamped for stamped in self.cluster.events if type(stamped.event) is kind]

    def serves_again(self, client: SimClient, within_ns: int) -> None:
        """This client's write is answered in time, `/before` is still there, and no invariant is broken."""
        written = self.begin(client, Mkdir("/after"))
        self.cluster.run_for(within_ns)
        assert written.done() and written.exception() is None
        self.begin(self.eve, Stat("/before"))
        self.finish()
        assert self.broken() == {}
