"""The counterexamples of the papers' holes, one schedule each, by the name of the switch.

Each ends where the damage is done if the hole is open; `Lab.finish` does the rest.
"""

from __future__ import annotations

from collections.abc import Callable

from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.ensemble import COORDINATION
from tests.simulation.symmetric.lab import SymmetricLab


def begin_sessions(lab: SymmetricLab) -> None:
    lab.ada.call(Mkdir("/ada"))
    lab.eve.call(Mkdir("/eve"))
    lab.run_ms(50)


def fast_literal_order(lab: SymmetricLab) -> None:
    """p1 broadcasts twice, p2 meanwhile once (safety rule 5)."""
    begin_sessions(lab)
    first, last = lab.names
    held = [lab.hold_broadcasts(first, last), lab.hold_broadcasts(last, first)]
    for name in ("/a", "/b"):
        lab.begin(lab.ada, Mkdir(name))
        lab.run_ms(1)
    lab.begin(lab.eve, Mkdir("/c"))
    lab.run_ms(1)
    for each in held:
        each.release()
    lab.run_ms(50)


def fast_not_uniform(lab: SymmetricLab) -> None:
    """p1 delivers its own message and answers; its packets are lost, and it dies (safety rule 6)."""
    begin_sessions(lab)
    first, last = lab.names
    held = lab.hold_broadcasts(first, last)
    lab.begin(lab.ada, Mkdir("/lost"))
    lab.run_ms(1)
    lab.begin(lab.eve, Mkdir("/other"))
    lab.run_ms(20)
    lab.faults.crash(first)
    held.drop()
    lab.await_view_of(last)
    lab.eve.call(Mkdir("/next"))


def views_without_agreement(lab: SymmetricLab) -> None:
    """Two members without contact to each other continue separately (safety rule 7)."""
    begin_sessions(lab)
    first, last = lab.names
    lab.cluster.hold_watch(first)
    lab.cluster.hold_watch(last)
    lab.faults.cut(first, last)
    lab.run_ms(1_500)
    lab.begin(lab.ada, Mkdir("/a"))
    lab.begin(lab.eve, Mkdir("/b"))
    lab.run_ms(1_500)


def answer_before_stable(lab: SymmetricLab) -> None:
    """p1 answers a write that p3 has not delivered; a read there is stale (safety rule 20, `local_reads`)."""
    begin_sessions(lab)
    first, _, last = lab.names
    lab.hold_broadcasts(first, last)
    lab.begin(lab.ada, Mkdir("/a"))
    lab.run_ms(1)
    lab.begin(lab.eve, Mkdir("/other"))
    lab.run_ms(50)
    lab.begin(lab.eve, Stat("/a"))
    lab.run_ms(50)


def no_read_lease(lab: SymmetricLab) -> None:
    """A member that has lost all but one client continues to read (safety rule 9)."""
    begin_sessions(lab)
    *others, last = lab.names
    for other in (*others, COORDINATION, "ada"):
        lab.faults.cut(last, other)
    lab.await_view_of(*others)
    lab.ada.call(Mkdir("/a"))
    lab.begin(lab.eve, Stat("/a"))
    lab.run_ms(50)


SCHEDULES: dict[str, tuple[Callable[[SymmetricLab], None], int, set[str], str]] = {
    "fast_literal_order": (fast_literal_order, 2, {"same order", "dense journal"}, "where mds1 delivered"),
    "fast_not_uniform": (fast_not_uniform, 2, {"no lost write"}, "lost: call"),
    "views_without_agreement": (views_without_agreement, 2, {"one primary view"}, "there are two views"),
    "answer_before_stable": (
        answer_before_stable,
        3,
        {"linearisable"},
        "had been answered before it was invoked",
    ),
    "no_read_lease": (no_read_lease, 3, {"linearisable"}, "had been answered before it was invoked"),
}
"""Schedule, number of members, invariants of which some must be violated, and the text of one violation, by switch."""
