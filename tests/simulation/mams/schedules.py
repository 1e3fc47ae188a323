"""The counterexamples of the papers' holes, one schedule each, by the name of the switch.

Each ends where the damage is done if the hole is open; `Lab.finish` does the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.coordination.operations import DeleteZnode
from nodes.coordination.tree import OPERATOR
from nodes.metadata.operations import Mkdir, SetPermission, Stat
from nodes.protocols.mams.messages import Prepare, Promise, Recover
from nodes.wire.messages import Answer
from nodes.world import SetNode
from tests.simulation.mams.lab import Lab


def election_ignores_sn(lab: Lab) -> None:
    """A standby without the last acknowledged group may win the draw."""
    lab.ada.call(Mkdir("/a"))
    behind = lab.standbys[0]
    lab.hold_journals(behind)
    lab.ada.call(Mkdir("/lost"))
    lab.faults.crash(lab.active)
    for held in list(lab.cluster.net.holds):
        held.drop()
    lab.await_next_active()
    lab.begin(lab.eve, Stat("/lost"))
    lab.run_ms(1_000)


def sn_without_epoch(lab: Lab) -> None:
    """An old active returns with the same largest sn and another group under it."""
    lab.ada.call(Mkdir("/a"))
    old = lab.active
    lab.hold_journals(*lab.standbys)
    lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(20)
    lab.faults.cut(old)
    for held in list(lab.cluster.net.holds):
        held.drop()
    lab.await_next_active()
    lab.faults.heal_all()
    lab.run_ms(3_000)
    lab.eve.call(Mkdir("/c"))


def late_watch(lab: Lab) -> None:
    """A member continues to acknowledge the old active after it answered the candidate."""
    lab.ada.call(Mkdir("/a"))
    old, cluster = lab.active, lab.cluster
    release_watches = cluster.hold_watch(old)
    promised: list[str] = []
    epoch_two = cluster.hold(
        lambda sender, receiver, message: type(message) is Prepare and message.epoch == 2
    )
    cluster.hold(lambda sender, receiver, message: note(promised, sender, message))
    cluster.hold(lambda sender, receiver, message: type(message) is Recover and receiver == old)
    lab.faults.take_lock("g1")
    cluster.run_until(lambda: bool(promised))
    lab.begin(lab.ada, Mkdir("/late"))
    lab.run_ms(100)
    epoch_two.release()
    lab.run_ms(100)
    release_watches()
    lab.faults.heal_all()
    lab.run_ms(8_000)
    lab.begin(lab.eve, Stat("/late"))
    lab.run_ms(1_000)


def note(promised: list[str], sender: str, message: Any) -> bool:
    if type(message) is Promise:
        promised.append(sender)
    return False


def configuration_is_liveness(lab: Lab) -> None:
    """Both holders of the last group die; the third server takes N to be one."""
    lab.ada.call(Mkdir("/a"))
    old, (first, second) = lab.active, lab.standbys
    lab.hold_journals(second)
    lab.ada.call(Mkdir("/lost"))
    lab.faults.crash(old)
    lab.faults.crash(first)
    for held in list(lab.cluster.net.holds):
        held.drop()
    lab.run_ms(14_000)
    lab.begin(lab.eve, Stat("/lost"))
    lab.run_ms(2_000)


def silent_shrink(lab: Lab) -> None:
    """The active counts only the servers that it still reaches."""
    lab.ada.call(Mkdir("/a"))
    old = lab.active
    for name in lab.standbys:
        lab.faults.cut(old, name)
    lab.begin(lab.ada, Mkdir("/alone"))
    lab.run_ms(2_000)
    lab.faults.crash(old)
    lab.faults.heal_all()
    lab.await_next_active()
    lab.begin(lab.eve, Stat("/alone"))
    lab.run_ms(1_000)


def junior_election_eager(lab: Lab) -> None:
    """The active continues alone and dies; a junior that is behind takes over."""
    lab.ada.call(Mkdir("/a"))
    old, (other,) = lab.active, lab.standbys
    lab.faults.crash(other)
    lab.run_ms(8_000)
    lab.ada.call(Mkdir("/alone"))
    lab.hold_journals(other)
    lab.faults.restart(other)
    lab.cluster.run_until(lambda: lab.cluster.view()[other] == "J")
    lab.faults.crash(old)
    lab.run_ms(12_000)
    lab.begin(lab.eve, Stat("/alone"))
    lab.run_ms(2_000)


def short_duplicate_memory(lab: Lab) -> None:
    """Two calls in flight, both answers lost: only one of them is remembered."""
    lab.ada.call(Mkdir("/a"))
    answers = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is Answer and receiver == "ada"
    )
    lab.begin(lab.ada, SetPermission("/a", 0o700))
    lab.run_ms(10)
    lab.begin(lab.ada, SetPermission("/a", 0o711))
    lab.run_ms(100)
    answers.drop()
    lab.run_ms(3_000)


def reads_before_flush(lab: Lab) -> None:
    """A read shows a group that no other server has."""
    lab.ada.call(Mkdir("/a"))
    lab.eve.call(Stat("/a"))
    old = lab.active
    lab.hold_journals(*lab.standbys)
    lab.cluster.servers["ada"].machine.call_later(60_000_000, lambda: None)  # type: ignore[union-attr]
    lab.begin(lab.ada, Mkdir("/early"))
    lab.run_ms(20)
    lab.begin(lab.eve, Stat("/early"))
    lab.run_ms(20)
    lab.faults.cut("ada")
    lab.faults.crash(old)
    for held in list(lab.cluster.net.holds):
        held.drop()
    lab.await_next_active()
    lab.begin(lab.eve, Stat("/early"))
    lab.run_ms(2_000)


def no_fencing(lab: Lab) -> None:
    """An active that reaches only a client, which reaches no other server, continues to answer it."""
    lab.ada.call(Mkdir("/a"))
    lab.eve.call(Stat("/a"))
    old = lab.active
    for name in lab.standbys:
        lab.faults.cut("eve", name)
    for name in [*lab.standbys, "coordination", "ada"]:
        lab.faults.cut(old, name)
    lab.await_next_active()
    lab.ada.call(Mkdir("/new"))
    lab.begin(lab.eve, Stat("/new"))
    lab.run_ms(3_000)


def stale_view_write(lab: Lab) -> None:
    """The old "write epoch 2" of one elected server takes effect after another has taken the lock."""
    lab.ada.call(Mkdir("/a"))
    cluster = lab.cluster
    late: list[Any] = []
    held = {
        name: cluster.hold_write(name, lambda changes: not late and raises_epoch(changes))
        for name in lab.standbys
    }
    lab.faults.take_lock("g1")
    cluster.run_until(lambda: any(write.held for write in held.values()))
    slow = next(name for name, write in held.items() if write.held)
    late.append(slow)
    release_watches = cluster.hold_watch(slow)
    cluster.ensemble.submit(OPERATOR, DeleteZnode("/cloverlab/groups/g1/lock"))
    lab.await_next_active()
    held[slow].release()
    lab.run_ms(2_000)
    lab.begin(lab.eve, Mkdir("/b"))
    lab.run_ms(3_000)
    release_watches()


def raises_epoch(changes: list[Any]) -> bool:
    return any(type(change) is SetNode and change.path.endswith("/epoch") for change in changes)


def async_flush(lab: Lab) -> None:
    """A write is acknowledged before any disk has it; then the power fails everywhere."""
    lab.ada.call(Mkdir("/a"))
    names = list(lab.cluster.view())
    for name in names:
        lab.faults.slow_disk(name, 300)
    lab.begin(lab.ada, Mkdir("/forgotten"))
    lab.run_ms(100)
    for name in names:
        lab.faults.power_loss(name, torn="nothing")
        lab.faults.slow_disk(name, 0)
    lab.run_ms(6_000)
    for name in names:
        lab.faults.restart(name)
    lab.run_ms(6_000)
    lab.begin(lab.eve, Stat("/forgotten"))
    lab.run_ms(2_000)


def checksum_vote(lab: Lab) -> None:
    """Two replicas that stopped early outvote the only copy of later acknowledged groups; the elected server is one of them."""
    lab.ada.call(Mkdir("/a"))
    old, (first, copy, *behind) = lab.active, lab.standbys
    lab.hold_journals(*behind)
    lab.ada.call(Mkdir("/lost"))
    lab.faults.crash(old)
    lab.faults.crash(first)
    for held in list(lab.cluster.net.holds):
        held.drop()
    lab.faults.pause(copy)
    lab.cluster.run_until(lambda: any(lab.cluster.view()[name] == "A" for name in behind))
    lab.faults.resume(copy)
    lab.await_next_active()
    lab.begin(lab.eve, Stat("/lost"))
    lab.run_ms(2_000)


Schedule = Callable[[Lab], None]
SCHEDULES: dict[str, tuple[Schedule, int, set[str]]] = {
    "election_ignores_sn": (election_ignores_sn, 3, {"no lost write"}),
    "sn_without_epoch": (sn_without_epoch, 3, {"same sn same state", "dense journal", "no lost write"}),
    "late_watch": (late_watch, 2, {"no lost write"}),
    "configuration_is_liveness": (configuration_is_liveness, 2, {"no lost write"}),
    "silent_shrink": (silent_shrink, 3, {"no lost write"}),
    "junior_election_eager": (junior_election_eager, 1, {"no lost write"}),
    "short_duplicate_memory": (short_duplicate_memory, 3, {"exactly once"}),
    "reads_before_flush": (reads_before_flush, 3, {"linearisable"}),
    "no_fencing": (no_fencing, 3, {"linearisable", "one active"}),
    "stale_view_write": (stale_view_write, 3, {"one active", "dense journal", "no lost write"}),
    "async_flush": (async_flush, 3, {"no lost write"}),
    "checksum_vote": (checksum_vote, 4, {"no lost write"}),
}
"""(schedule, standbys, invariants of which one must be violated) by switch."""
