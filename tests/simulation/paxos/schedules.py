"""The counterexamples of the holes of this family, one schedule each, by the name of the switch.

Each ends where the damage is done if the hole is open; `Lab.finish` does the rest.
"""

from __future__ import annotations

from collections.abc import Callable

from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.paxos.messages import PaxosPromise
from nodes.wire.messages import Request
from tests.simulation.paxos.lab import Lab


def redo_without_phase_one(lab: Lab) -> None:
    """A secondary outside the view wins the election; another one has writes that were answered without it."""
    lab.ada.call(Mkdir("/a"))
    old, (first, second) = lab.primary, lab.secondaries
    lab.faults.cut(old, second)
    lab.await_letter(second, "J")
    lab.ada.call(Mkdir("/lost"))
    lab.faults.pause(first)
    lab.faults.crash(old)
    lab.faults.heal_all()
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is PaxosPromise)
    lab.cluster.run_until(lambda: lab.cluster.ensemble.observer.holders.get("g1") == second)
    lab.faults.resume(first)
    lab.cluster.run_until(lambda: any(sender == first for sender, _, _ in held.messages))
    held.release()
    lab.run_ms(3_000)
    lab.begin(lab.eve, Stat("/lost"))
    lab.run_ms(1_000)


def no_read_lease(lab: Lab) -> None:
    """A secondary that was removed from the view continues to answer."""
    lab.ada.call(Mkdir("/a"))
    old, second = lab.primary, lab.secondaries[1]
    lab.faults.cut(old, second)
    lab.await_letter(second, "J")
    lab.ada.call(Mkdir("/b"))
    lab.cluster.hold(
        lambda sender, receiver, message: (
            type(message) is Request and type(message.operation) is Stat and receiver != second
        )
    )
    lab.begin(lab.eve, Stat("/b"))
    lab.run_ms(2_000)


def answer_set_shrinks(lab: Lab) -> None:
    """The primary removes all others from its view, answers alone, and dies."""
    lab.ada.call(Mkdir("/a"))
    old = lab.primary
    for name in lab.secondaries:
        lab.faults.cut(old, name)
    lab.begin(lab.ada, Mkdir("/alone"))
    lab.run_ms(4_000)
    lab.faults.crash(old)
    lab.faults.heal_all()
    lab.await_next_primary()
    lab.begin(lab.eve, Stat("/alone"))
    lab.run_ms(1_000)


def memory_only_accept(lab: Lab) -> None:
    """All servers lose power before any disk has the answered write, and by chance none of it reached a medium."""
    lab.ada.call(Mkdir("/a"))
    names = [lab.primary, *lab.secondaries]
    for name in names:
        lab.faults.slow_disk(name, ms=300)
    lab.begin(lab.ada, Mkdir("/lost"))
    lab.run_ms(100)
    for name in names:
        lab.faults.power_loss(name, torn="nothing")
    for name in names:
        lab.faults.slow_disk(name, ms=0)
        lab.faults.restart(name)
    lab.await_next_primary()
    lab.begin(lab.eve, Stat("/lost"))
    lab.run_ms(1_000)


SCHEDULES: dict[str, tuple[Callable[[Lab], None], set[str]]] = {
    "redo_without_phase_one": (redo_without_phase_one, {"no lost write"}),
    "no_read_lease": (no_read_lease, {"linearisable"}),
    "answer_set_shrinks": (answer_set_shrinks, {"no lost write"}),
    "memory_only_accept": (memory_only_accept, {"no lost write"}),
}
"""(schedule, invariants of which one must be violated) by switch."""
