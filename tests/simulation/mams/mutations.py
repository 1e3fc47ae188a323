"""Schedules in which a seeded bug does its damage, by the name of its switch (nodes/mutations.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import MILLISECOND, SECOND
from nodes.faults.check import FaultUnsupported
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.mams.messages import Prepare, Promise
from nodes.protocols.mams.renewal import DIRECT_GAP
from nodes.sim.network import HeldMessages
from nodes.trace.events import Configured, Stamped, StepTaken
from tests.simulation.mams.lab import Lab

Schedule = Callable[[Lab], None]
SETTLES = "settles"
"""Pseudo-invariant: the schedule's awaited conditions come in time, and all servers are in step again after every fault has ended."""


def at_step(lab: Lab, procedure: str, step: str) -> list[str]:
    """A list that receives the server that takes this step first."""
    seen: list[str] = []

    def look(stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is StepTaken and (event.procedure, event.step) == (procedure, step):
            seen.append(stamped.server)

    lab.cluster.on_event(look)
    return seen


def drop_all(lab: Lab) -> None:
    for held in list(lab.cluster.net.holds):
        held.drop()


def configured(lab: Lab, members: int) -> list[str]:
    """A list that receives the members of the first record with so many members."""
    seen: list[str] = []

    def look(stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Configured and len(event.members) == members and not seen:
            seen.extend(event.members)

    lab.cluster.on_event(look)
    return seen


def hold_while(lab: Lab, begun: list[str], kind: type, *receivers: str) -> HeldMessages:
    """Holds messages of a kind on their way to these servers, once `begun` has an entry."""

    def match(sender: str, receiver: str, message: Any) -> bool:
        return bool(begun) and type(message) is kind and receiver in receivers

    return lab.cluster.hold(match)


def join_under_load(lab: Lab) -> None:
    """N grows from 3 to 4 while groups commit on two of three; those two die, the other two are a read quorum of four."""
    lab.ada.call(Mkdir("/a"))
    active, (first, second) = lab.active, lab.standbys
    lab.faults.delay(active, "coordination", ms=30)
    lab.faults.slow_disk(active, 30)
    begun = at_step(lab, "configuration", "both")
    lab.faults.add_server("g1")
    hold_while(lab, begun, Prepare, second, lab.faults.added)
    written = configured(lab, 4)
    while not written:
        lab.begin(lab.ada, Mkdir(f"/{len(lab.tasks)}"))
        lab.run_ms(2)
    lab.faults.crash(active)
    lab.faults.pause(first)
    drop_all(lab)
    lab.run_ms(12_000)
    lab.faults.resume(first)
    lab.run_ms(4_000)


def readmit_during_shrink(lab: Lab) -> None:
    """Both standbys were silent; while {A, S1} is written S2 returns, and a write commits on {A, S2}."""
    lab.ada.call(Mkdir("/a"))
    active, (first, second) = lab.active, lab.standbys
    for name in (first, second):
        lab.faults.cut(active, name)
    lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(1_500)
    lab.faults.delay(active, "coordination", ms=50)
    begun = at_step(lab, "configuration", "both")
    promised = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is Promise and sender == second
    )
    hold_while(lab, begun, Prepare, first)
    lab.faults.heal(active, first)
    lab.faults.heal(active, second)
    lab.cluster.run_until(lambda: bool(begun))
    promised.release()
    lab.begin(lab.eve, Mkdir("/lost"))
    lab.run_ms(1_000)
    lab.faults.crash(active)
    lab.faults.pause(second)
    drop_all(lab)
    lab.run_ms(12_000)
    lab.faults.resume(second)
    lab.begin(lab.ada, Stat("/lost"))
    lab.run_ms(2_000)


def off_by_one_quorum(lab: Lab) -> None:
    """Half of four counts as a quorum; the other half never received the group."""
    lab.ada.call(Mkdir("/a"))
    active, (first, *others) = lab.active, lab.standbys
    lab.hold_journals(*others)
    lab.begin(lab.ada, Mkdir("/lost"))
    lab.run_ms(50)
    lab.faults.crash(active)
    lab.faults.pause(first)
    drop_all(lab)
    lab.run_ms(12_000)
    lab.faults.resume(first)
    lab.begin(lab.eve, Stat("/lost"))
    lab.run_ms(2_000)


def commit_before_sync(lab: Lab) -> None:
    """The active's copy counts before its disk has it; its power fails, and the other copy is unreachable for a while."""
    lab.ada.call(Mkdir("/a"))
    active, (other,) = lab.active, lab.standbys
    lab.faults.slow_disk(active, 300)
    lab.begin(lab.ada, Mkdir("/forgotten"))
    lab.run_ms(50)
    lab.faults.power_loss(active)
    lab.faults.crash(other)
    lab.faults.slow_disk(active, 0)
    lab.run_ms(6_000)
    lab.faults.restart(active)
    lab.run_ms(12_000)
    lab.faults.restart(other)
    lab.begin(lab.eve, Stat("/forgotten"))
    lab.run_ms(2_000)


def ack_of_gap(lab: Lab) -> None:
    """One standby has group k and not k+1, the other acknowledges k+1 without k."""
    lab.ada.call(Mkdir("/a"))
    active, (first, second) = lab.active, lab.standbys
    lost = lab.hold_journals(second)
    lab.ada.call(Mkdir("/b"))
    lost.drop()
    lab.hold_journals(first)
    lab.begin(lab.ada, Mkdir("/c"))
    lab.run_ms(20)
    lab.faults.crash(active)
    drop_all(lab)
    lab.await_next_active()
    lab.begin(lab.eve, Stat("/c"))
    lab.run_ms(1_000)


def session_cuts_acknowledged(lab: Lab) -> None:
    """A copy of the message that opened an old renewing session reaches a member that alone has acknowledged the next write; the active dies."""
    lab.ada.call(Mkdir("/a"))
    active, (member, other) = lab.active, lab.standbys
    _, opened = lab.renewed(member, DIRECT_GAP + 1)
    lab.hold_journals(other)
    lab.ada.call(Mkdir("/c"))
    lab.hold_journals(member)
    lab.cluster.net.carry(active, member, [opened])
    lab.run_ms(20)
    lab.faults.crash(active)
    drop_all(lab)
    lab.await_next_active()
    lab.begin(lab.eve, Stat("/c"))
    lab.run_ms(1_000)


def reused_epoch(lab: Lab) -> None:
    """The old active is cut off with a group that no other server has; its successor writes another one under the same epoch and sn."""
    lab.ada.call(Mkdir("/a"))
    old = lab.active
    lab.hold_journals(*lab.standbys)
    lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(20)
    lab.faults.cut(old)
    drop_all(lab)
    lab.await_next_active()
    lab.begin(lab.eve, Mkdir("/c"))
    lab.run_ms(2_000)
    lab.faults.heal_all()
    lab.run_ms(3_000)
    lab.begin(lab.eve, Mkdir("/d"))


def forgotten_watch(lab: Lab) -> None:
    """A second take of the lock must be noticed as fast as the first; then the leader dies."""
    lab.ada.call(Mkdir("/a"))
    drew = at_step(lab, "election", "draw")
    for _ in range(4):
        lab.run_ms(2_345)
        before = len(drew)
        lab.faults.take_lock("g1")
        lab.cluster.run_until(lambda count=before: len(drew) > count, 50 * MILLISECOND)  # type: ignore[misc]
        lab.cluster.run_until(lab.cluster.settled)
    lab.faults.crash(lab.active)
    served = lab.begin(lab.eve, Mkdir("/b"))
    lab.cluster.run_until(served.done, 20 * SECOND)


def floor_without_way_back(lab: Lab) -> None:
    """1A2S: one standby dies, then the active's machine is lost for ever. The third server has everything, and is below the floor."""
    lab.ada.call(Mkdir("/a"))
    old, (first, second) = lab.active, lab.standbys
    lab.faults.crash(second)
    lab.ada.call(Mkdir("/b"))
    lab.run_ms(12_000)
    lab.faults.crash(old)
    lab.run_ms(15_000)
    try:
        lab.faults.force("g1", first)
    except FaultUnsupported:
        pass
    answered = lab.begin(lab.eve, Mkdir("/c"))
    lab.cluster.run_until(answered.done, 30 * SECOND)


SCHEDULES: dict[str, tuple[Schedule, int, set[str]]] = {
    "join_under_load": (join_under_load, 2, {"no lost write"}),
    "readmit_during_shrink": (readmit_during_shrink, 2, {"no lost write"}),
    "off_by_one_quorum": (off_by_one_quorum, 3, {"no lost write"}),
    "commit_before_sync": (commit_before_sync, 1, {"no lost write"}),
    "ack_of_gap": (ack_of_gap, 2, {"no lost write"}),
    "session_cuts_acknowledged": (session_cuts_acknowledged, 2, {"no lost write"}),
    "reused_epoch": (reused_epoch, 2, {"one active"}),
    "floor_without_way_back": (floor_without_way_back, 2, {SETTLES}),
    "forgotten_watch": (forgotten_watch, 2, {SETTLES}),
}
"""(schedule, standbys, invariants of which one must be violated) by switch."""
