"""A group of any family with a lock, one client that reaches all servers and one that reaches only the old leader."""

from __future__ import annotations

from typing import Any

from nodes.config import MILLISECOND, SECOND, JournalConfig
from nodes.families import family_named
from nodes.metadata.operations import Mkdir, Stat
from nodes.mutations import NO_MUTATIONS, Mutations
from nodes.sim.ensemble import MEMBERS
from nodes.trace.events import RoleChanged
from tests.simulation.mams import lab

LOCKED = (
    "mams",
    "packed-paxos",
    "multi-paxos",
    "qjm",
    "bookkeeper",
    "2pc",
    "backupnode",
    "avatar",
    "hadoop-ha",
)


class Lab(lab.Lab):
    """`old` is the leader at the start of a schedule."""

    def __init__(
        self,
        seed: int,
        protocol: str = "mams",
        mutations: Mutations = NO_MUTATIONS,
        standbys: int = 2,
        **settings: Any,
    ):
        journal = JournalConfig(nodes=family_named(protocol).journal_names())
        super().__init__(
            seed, protocol=protocol, mutations=mutations, standbys=standbys, journal=journal, **settings
        )
        self.begin_anew()

    def begin_anew(self) -> None:
        """Notes the present leader as the old one, and opens the clients' sessions."""
        self.old = self.leader()
        self.others = [name for name in self.cluster.view() if name != self.old]
        self.ada.call(Mkdir(f"/a{self.cluster.now_ns}"))
        self.eve.call(Stat("/"))

    def leader(self) -> str:
        return next(name for name, letter in self.cluster.view().items() if letter in "AP")

    def negotiate(self, timeout_ms: int) -> None:
        """Restarts everything, with sessions no longer than this."""
        self.cluster.ensemble.sessions.max_ms = timeout_ms
        names = list(self.cluster.view())
        for name in names:
            self.faults.stop(name)
        self.run_ms(200)
        for name in names:
            self.faults.restart(name)
        self.run_ms(1_000)
        self.cluster.run_until(self.cluster.settled)
        self.begin_anew()

    # --- actions of schedules --------------------------------------------------------------------------------------

    def confirmations(self, server: str) -> int:
        """Number of times that the server's confirmation of the lock was written."""
        return self.cluster.ensemble.tree.nodes[f"/cloverlab/groups/g1/confirmations/{server}"].version

    def await_heartbeat(self) -> None:
        before = self.confirmations(self.old)
        self.cluster.run_until(lambda: self.confirmations(self.old) > before, 10 * SECOND)
        self.run_ms(20)

    def isolate(self, from_coordination: bool = True) -> None:
        """Cuts the old leader off from all but eve, and eve from all but the old leader."""
        for name in [*self.others, *self.cluster.config.journal.nodes, "ada"]:
            self.faults.cut(self.old, name)
        for name in self.others:
            self.faults.cut("eve", name)
        if from_coordination:
            self.faults.cut(self.old, "coordination")

    def at_lonely_follower(self, cut: bool = True) -> str:
        """The old leader's coordination server is a follower that only it uses; with `cut`, one that its own leader does not reach."""
        ensemble = self.cluster.ensemble
        assert ensemble.leader is not None
        follower = next(name for name in MEMBERS if name != ensemble.leader.name)
        ensemble.move(self.old, follower)
        for name in self.others:
            ensemble.move(name, ensemble.leader.name)
        self.run_ms(3_000)
        assert ensemble.member_of(self.old) == follower
        for member in MEMBERS:
            if cut and member != follower:
                self.faults.cut(follower, member)
        return follower

    def read_while_written(self, duration_ms: int, every_ms: int = 50) -> None:
        """Ada writes one directory through the serving leader; eve reads it all the time."""
        path = f"/new{self.cluster.now_ns}"
        self.begin(self.ada, Mkdir(path))
        for _ in range(duration_ms // every_ms):
            self.begin(self.eve, Stat(path))
            self.run_ms(every_ms)

    def served_after_ms(self) -> int:
        """Milliseconds from now until a server serves in a later epoch."""
        began_ns = self.cluster.now_ns
        self.await_next_active()
        return (self.cluster.now_ns - began_ns) // MILLISECOND

    def elected(self, epoch: int) -> bool:
        """Whether a server has written this epoch into the view."""
        roles = [each.event for each in self.cluster.events if type(each.event) is RoleChanged]
        return any((each.role, each.epoch) == ("elected", epoch) for each in roles)
