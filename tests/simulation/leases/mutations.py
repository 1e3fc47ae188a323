"""Schedules in which a seeded bug about leases allows a stale read, by the name of its switch (nodes/mutations.py)."""

from __future__ import annotations

from collections.abc import Callable

from nodes.metadata.operations import Stat
from nodes.mutations import Mutations
from nodes.protocols.paxos.messages import LeaseGranted
from nodes.wire.messages import Message
from tests.simulation.leases.lab import LOCKED, Lab

Schedule = Callable[[int, str, Mutations], Lab]
PAXOS = ("packed-paxos", "multi-paxos")
FASTER_PPM, SLOWER_PPM = 90_000, -90_000


def session_ended_early(seed: int, protocol: str, mutations: Mutations) -> Lab:
    """An operator ends the session of an active that is cut off and does not learn of it; its lease continues."""
    lab = Lab(seed, protocol, mutations)
    lab.await_heartbeat()
    lab.isolate()
    lab.faults.expire_session(lab.old)
    lab.read_while_written(4_500)
    lab.finish()
    return lab


def heartbeat_by_follower_read(seed: int, protocol: str, mutations: Mutations) -> Lab:
    """The active's coordination server is cut off from the ensemble. It answers reads up to the sync limit, but the ensemble does not count the
    session as alive.

    A primary of Paxos also syncs several times a second: its reads wait behind a sync that is not answered. There an operator ends the
    session.
    """
    lab = Lab(seed, protocol, mutations)
    lab.run_ms(2_000)
    lab.at_lonely_follower()
    if protocol in PAXOS:
        lab.faults.expire_session(lab.old)
    else:
        lab.run_ms(4_500)
    lab.isolate(from_coordination=False)
    lab.read_while_written(5_000)
    lab.finish()
    return lab


def lease_without_margin(seed: int, protocol: str, mutations: Mutations) -> Lab:
    """The old active's clock is slow, the clocks of the others are fast. It is cut off late in its lease: its present proposals are undecided."""
    lab = Lab(seed, protocol, mutations)
    drift(lab)
    lab.await_heartbeat()
    lab.faults.cut(lab.old, "coordination")
    lab.run_ms(2_800)
    lab.isolate()
    lab.faults.expire_session(lab.old)
    lab.read_while_written(2_000, 10)
    lab.finish()
    return lab


def drift(lab: Lab) -> None:
    lab.faults.drift_clock(lab.old, SLOWER_PPM)
    for name in (*lab.others, *lab.cluster.config.journal.nodes):
        lab.faults.drift_clock(name, FASTER_PPM)


def await_grant(lab: Lab, secondary: str) -> None:
    """Waits until a secondary has just been granted a lease."""
    granted: list[str] = []

    def look(sender: str, receiver: str, message: Message) -> bool:
        if type(message) is LeaseGranted and receiver == secondary:
            granted.append(receiver)
        return False

    held = lab.cluster.hold(look)
    lab.cluster.run_until(lambda: bool(granted))
    held.drop()
    lab.run_ms(1)


def read_lease_without_margin(seed: int, protocol: str, mutations: Mutations) -> Lab:
    """A secondary with a slow clock is cut off from a primary with a fast one, which removes it from the view and continues."""
    lab = Lab(seed, protocol, mutations)
    slow, other = lab.others
    lab.faults.drift_clock(slow, SLOWER_PPM)
    lab.faults.drift_clock(lab.old, FASTER_PPM)
    for name in (lab.old, other):
        lab.faults.cut("eve", name)
    lab.eve.call(Stat("/"))
    await_grant(lab, slow)
    for name in (lab.old, other, "ada"):
        lab.faults.cut(slow, name)
    lab.read_while_written(1_000, 5)
    lab.finish()
    return lab


def configured_not_negotiated(seed: int, protocol: str, mutations: Mutations) -> Lab:
    """The service grants sessions of 2 s where 5 s are configured."""
    lab = Lab(seed, protocol, mutations)
    lab.negotiate(2_000)
    lab.await_heartbeat()
    if mutations.configured_not_negotiated:
        lab.run_ms(1_200)
    lab.isolate()
    lab.faults.expire_session(lab.old)
    lab.read_while_written(3_000)
    lab.finish()
    return lab


SCHEDULES: dict[str, tuple[Schedule, tuple[str, ...]]] = {
    "session_ended_early": (session_ended_early, LOCKED),
    "heartbeat_by_follower_read": (heartbeat_by_follower_read, LOCKED),
    "lease_without_margin": (lease_without_margin, LOCKED),
    "lease_without_margin of secondaries": (read_lease_without_margin, PAXOS),
    "configured_not_negotiated": (configured_not_negotiated, LOCKED),
}
"""(schedule, families that run it) by switch; for a switch with several effects the key also names the effect."""
