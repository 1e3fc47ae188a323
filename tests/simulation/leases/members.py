"""Schedules in which a seeded bug about the members' leases allows a stale read, by the name of its switch (nodes/mutations.py; safety rule 26)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from nodes.config import Timing
from nodes.metadata.operations import Mkdir, Stat
from nodes.mutations import NO_MUTATIONS, Mutations
from nodes.replicas.messages import Granted
from nodes.trace.lease_events import LockRemoved
from nodes.wire.messages import Message
from tests.simulation.leases.lab import Lab
from tests.simulation.leases.mutations import drift

Schedule = Callable[[int, Mutations, str], Lab]
GRANT_MS = 400
OVER_MS = 460
"""A grant with its margin is over."""


class MembersLab(Lab):
    """A group whose members grant leases. Members that do not acknowledge stay in the configuration."""

    def __init__(
        self,
        seed: int,
        mutations: Mutations = NO_MUTATIONS,
        standbys: int = 2,
        ack_timeout_ms: int = 3_000,
        ends_recorded: bool = False,
        protocol: str = "mams",
    ):
        timing = Timing(ack_timeout_ms=ack_timeout_ms, grant_ms=GRANT_MS, client_timeout_ms=20)
        super().__init__(
            seed, protocol, mutations, standbys, timing=timing, detection="members", image_every=0
        )
        self.nodes = list(self.cluster.config.journal.nodes)
        self.cluster.conditions = replace(self.cluster.conditions, ends_recorded=ends_recorded)

    @property
    def granters(self) -> list[str]:
        """The others that grant the old leader its lease: journal nodes, or the other members."""
        return self.nodes or self.others

    @property
    def enough(self) -> list[str]:
        """Just so many of them that the old leader answers."""
        return self.granters[: (len(self.granters) + 1) // 2]

    def leave_behind(self, *grants: str) -> None:
        """The grants of all but these to the old leader run out. Then it is cut off, and does not learn that its session has ended."""
        for name in self.granters:
            if name not in grants:
                self.faults.cut(self.old, name)
        if len(grants) < len(self.granters):
            self.run_ms(OVER_MS)
        self.isolate()
        self.faults.expire_session(self.old)


def grant_forgotten(seed: int, mutations: Mutations, protocol: str) -> Lab:
    """Just enough grant. They restart, and promise the next epoch at once."""
    lab = MembersLab(seed, mutations, protocol=protocol)
    lab.await_heartbeat()
    lab.leave_behind(*lab.enough)
    for name in lab.enough:
        lab.faults.respawn(name)
    lab.read_while_written(1_500, 10)
    lab.finish()
    return lab


def grant_of_old_configuration(seed: int, mutations: Mutations, protocol: str) -> Lab:
    """A tenure begins with two members; two more join, and elect without them."""
    lab = MembersLab(seed, mutations, standbys=3, ack_timeout_ms=300, protocol=protocol)
    away = lab.others[1:]
    for name in away:
        lab.faults.crash(name)
    lab.run_ms(8_000)
    lab.faults.take_lock("g1")
    lab.await_next_active()
    lab.run_ms(1_000)
    for name in away:
        lab.faults.restart(name)
    lab.cluster.run_until(lab.cluster.settled)
    lab.run_ms(2_000)
    lab.begin_anew()
    keeps = next(name for name in lab.others if name not in away)
    lab.await_heartbeat()
    lab.leave_behind(keeps)
    lab.read_while_written(1_500, 10)
    lab.finish()
    return lab


def grant_from_arrival(seed: int, mutations: Mutations, protocol: str) -> Lab:
    """The acknowledgements of a heartbeat are late; no further one reaches these members."""
    lab = MembersLab(seed, mutations, protocol=protocol)
    lab.await_heartbeat()
    keeps = lab.enough
    for name in lab.granters:
        if name not in keeps:
            lab.faults.cut(lab.old, name)
    lab.run_ms(OVER_MS)

    def late(sender: str, receiver: str, message: Message) -> bool:
        return type(message) is Granted and sender in keeps and receiver == lab.old

    held = lab.cluster.hold(late)
    lab.cluster.run_until(lambda: len(held.messages) >= len(keeps))
    for name in keeps:
        lab.faults.cut(lab.old, name, direction="to")
    lab.run_ms(300)
    held.release()
    lab.run_ms(5)
    lab.isolate()
    lab.faults.expire_session(lab.old)
    lab.read_while_written(1_500, 10)
    lab.finish()
    return lab


def grant_outrun(seed: int, mutations: Mutations, protocol: str) -> Lab:
    """The others promise while their grants last."""
    lab = MembersLab(seed, mutations, protocol=protocol)
    lab.await_heartbeat()
    lab.leave_behind(*lab.granters)
    lab.read_while_written(1_500, 10)
    lab.finish()
    return lab


def grant_of_other_disk(seed: int, mutations: Mutations, protocol: str) -> Lab:
    """A member that promised the next epoch loses its disk, and with it the promise. It meets the old active first, which has a write open.

    A journal node meets a segment that begins. The next epoch does not reach the third node, and the old active does not reach the second.
    """
    lab = MembersLab(seed, mutations, ack_timeout_ms=800, protocol=protocol)
    lab.await_heartbeat()
    forgets, missed = lab.granters[0], lab.nodes[2:]
    for name in missed:
        for other in lab.others:
            lab.faults.cut(name, other)
    lab.leave_behind(*lab.granters)
    if not lab.nodes:
        lab.begin(lab.eve, Mkdir("/open"))
    lab.await_next_active()
    lab.begin_and_wait(lab.ada, Mkdir("/new"))
    for name in (*lab.others, *lab.nodes, "ada", "coordination"):
        if name != forgets:
            lab.faults.cut(forgets, name)
    lab.faults.new_disk(forgets)
    for name in (forgets, *missed):
        lab.faults.heal(lab.old, name)
    lab.faults.restart(forgets)
    for _ in range(130):
        lab.begin(lab.eve, Stat("/new"))
        lab.run_ms(10)
    lab.finish()
    return lab


def lease_without_margin(seed: int, mutations: Mutations, protocol: str) -> Lab:
    """The old active's clock is slow, the clocks of the others are fast."""
    lab = MembersLab(seed, mutations, protocol=protocol)
    drift(lab)
    lab.await_heartbeat()
    lab.leave_behind(*lab.granters)
    lab.read_while_written(1_500, 5)
    lab.finish()
    return lab


def end_of_any_generation(seed: int, mutations: Mutations, protocol: str) -> Lab:
    """The record of an end is late: the server has come back, leads again, and is cut off when the record lands."""
    lab = MembersLab(seed, mutations, protocol=protocol)
    lab.await_heartbeat()
    server = lab.cluster.servers[lab.old]
    lab.faults.crash(lab.old)
    late = lab.cluster.owner.prepare(server)
    for name in lab.others:
        lab.faults.crash(name)
    lab.run_ms(8_000)
    lab.faults.restart(lab.old)
    lab.run_ms(2_000)
    for name in lab.others:
        lab.faults.restart(name)
    lab.cluster.run_until(lab.cluster.settled)
    lab.begin_anew()
    assert lab.old == server.name
    lab.await_heartbeat()
    lab.isolate()
    lab.cluster.owner.write(server, late)
    lab.read_while_written(1_500, 10)
    lab.finish()
    return lab


SCHEDULES: dict[str, Schedule] = {
    "grant_forgotten": grant_forgotten,
    "grant_of_old_configuration": grant_of_old_configuration,
    "grant_from_arrival": grant_from_arrival,
    "grant_outrun": grant_outrun,
    "grant_of_other_disk": grant_of_other_disk,
    "end_of_any_generation": end_of_any_generation,
    "lease_without_margin": lease_without_margin,
}


OF_MEMBERS = ("grant_of_old_configuration",)
"""Bugs of groups whose members grant: the journal nodes are always the same."""


def switched(name: str) -> Mutations:
    on: dict[str, Any] = {name: True}
    return Mutations(**on)


def evidence(lab: MembersLab) -> list[str]:
    """What ended each role so far."""
    return [each.event.evidence for each in lab.cluster.events if type(each.event) is LockRemoved]


def silence(lab: MembersLab, fault: str) -> None:
    """The active falls silent by a fault of itself, or is cut off from all but coordination."""
    if fault == "cut":
        lab.isolate(from_coordination=False)
    else:
        lab.faults.do(fault, [lab.old])
