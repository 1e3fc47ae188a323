"""Schedules in which a disk that is replaced, rots or fails does its damage, by family and by the name of the switch (nodes/mutations.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from nodes.config import Knobs
from nodes.metadata.operations import Mkdir, Stat
from nodes.trace.journal_events import JournalStored
from tests.simulation.mams.lab import Lab

Schedule = Callable[[Lab], None]


def drop_all(lab: Lab) -> None:
    for held in list(lab.cluster.net.holds):
        held.drop()


def replaced_disk_votes(lab: Lab) -> None:
    """One of two servers gets an empty disk, and the other dies before the first is renewed."""
    lab.ada.call(Mkdir("/lost"))
    active, (other,) = lab.active, lab.standbys
    lab.faults.new_disk(other)
    lab.faults.crash(active)
    lab.faults.restart(other)
    lab.run_ms(14_000)
    lab.faults.restart(active)
    lab.begin(lab.eve, Stat("/lost"))
    lab.run_ms(6_000)


def cut_is_forgotten(lab: Lab) -> None:
    """Two of three hold the last group; the tail of one rots while the other is down."""
    lab.ada.call(Mkdir("/a"))
    active, (first, second) = lab.active, lab.standbys
    lab.hold_journals(second)
    lab.ada.call(Mkdir("/lost"))
    lab.faults.crash(active)
    lab.faults.crash(first)
    drop_all(lab)
    lab.faults.corrupt(first, "journal_tail")
    lab.faults.restart(first)
    lab.run_ms(14_000)
    lab.faults.restart(active)
    lab.begin(lab.eve, Stat("/lost"))
    lab.run_ms(6_000)


def sync_failed_then_trusted(lab: Lab) -> None:
    """A standby's sync fails; its next life acknowledges data that is only in the page cache, and loses it with its power."""
    lab.ada.call(Mkdir("/a"))
    active, (other,) = lab.active, lab.standbys
    lab.faults.slow_disk(other, 20)
    written = lab.begin(lab.ada, Mkdir("/lost"))
    lab.run_ms(5)
    lab.faults.fail_disk(other)
    lab.run_ms(100)
    lab.faults.fail_disk(other, False)
    lab.faults.slow_disk(other, 0)
    lab.faults.restart(other)
    lab.cluster.run_until(lambda: written.done() and bool(lab.standbys))
    lab.faults.crash(active)
    lab.faults.power_loss(other, torn="nothing")
    lab.faults.restart(other)
    lab.run_ms(14_000)
    lab.faults.restart(active)
    lab.begin(lab.eve, Stat("/lost"))
    lab.run_ms(6_000)


def old_rot_unseen(lab: Lab) -> None:
    """One byte of an old record rots on the leader's disk; then a server that was down is to receive the whole journal."""
    other = lab.standbys[0]
    lab.faults.crash(other)
    lab.ada.call(Mkdir("/rotten"))
    for number in range(8):
        lab.ada.call(Mkdir(f"/{number}"))
    lab.run_ms(500)
    rot(lab, lab.active, b"rotten")
    lab.faults.restart(other)
    lab.run_ms(14_000)


def rot(lab: Lab, server: str, word: bytes) -> None:
    """Changes the last byte of a word, wherever the server's journal has it."""
    files = lab.cluster.servers[server].store.files
    for data in (file.data for path, file in files.items() if path.startswith("journal")):
        if word in data:
            data[data.index(word) + len(word) - 1] ^= 1


def secondary_is_replaced(lab: Lab) -> None:
    """Paxos: two of three have accepted the last slot; one of them gets an empty disk while the other is down."""
    active, first = two_of_three_have_it(lab)
    lab.faults.new_disk(first)
    go_on_without(lab, active, first)


def secondary_rots(lab: Lab) -> None:
    """Paxos: two of three have accepted the last slot; the tail of one of them rots while the other is down."""
    active, first = two_of_three_have_it(lab)
    lab.faults.corrupt(first, "journal_tail")
    go_on_without(lab, active, first)


def two_of_three_have_it(lab: Lab) -> tuple[str, str]:
    """The third server is out of the view and stopped; the other two are stopped after an answered write."""
    lab.ada.call(Mkdir("/a"))
    active, (first, second) = lab.active, lab.standbys
    lab.faults.crash(second)
    lab.ada.call(Mkdir("/lost"))
    lab.faults.crash(active)
    lab.faults.crash(first)
    lab.faults.restart(second)
    return active, first


def go_on_without(lab: Lab, active: str, first: str) -> None:
    lab.faults.restart(first)
    lab.run_ms(20_000)
    lab.faults.restart(active)
    lab.begin(lab.eve, Stat("/lost"))
    lab.run_ms(6_000)


def node_is_replaced(lab: Lab) -> None:
    """A shared journal: two of three nodes have the last group; one of those gets an empty disk while the other is down."""
    standby, have, lack = two_of_three_nodes(lab)
    lab.faults.new_disk(have[1])
    shared_without(lab, standby, have, lack)


def node_rots(lab: Lab) -> None:
    """A shared journal: two of three nodes have the last group; the tail of one of those rots while the other is down."""
    standby, have, lack = two_of_three_nodes(lab)
    lab.faults.corrupt(have[1], "journal_tail")
    shared_without(lab, standby, have, lack)


def two_of_three_nodes(lab: Lab) -> tuple[str, list[str], str]:
    """A standby without the last group, the nodes that have it, and the one that lacks it; all are stopped."""
    [standby] = lab.standbys
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(500)
    *have, lack = lab.cluster.config.journal.nodes
    lab.faults.crash(lack)
    lab.ada.call(Mkdir("/lost"))
    for name in [*lab.cluster.view(), *have]:
        lab.faults.crash(name)
    return standby, have, lack


def shared_without(lab: Lab, standby: str, have: list[str], lack: str) -> None:
    for name in [lack, have[1], standby]:
        lab.faults.restart(name)
    lab.run_ms(20_000)
    lab.faults.restart(have[0])
    lab.begin(lab.eve, Stat("/lost"))
    lab.run_ms(6_000)


def bookie_is_replaced(lab: Lab) -> None:
    """All bookies have the last entry; one gets an empty disk, and so does the standby; the bookie answers first, alone."""
    standby, one = all_bookies_have_it(lab)
    lab.faults.new_disk(one)
    lab.faults.new_disk(standby)
    bookies_return(lab, standby, one)


def bookie_rots(lab: Lab) -> None:
    """All bookies have the last entry; the tail of one rots, and it answers first, alone."""
    standby, one = all_bookies_have_it(lab)
    lab.faults.corrupt(one, "journal_tail")
    bookies_return(lab, standby, one)


def all_bookies_have_it(lab: Lab) -> tuple[str, str]:
    """A standby without the last entry, and a bookie of the ensemble; all are stopped."""
    [standby] = lab.standbys
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(500)
    lab.ada.call(Mkdir("/lost"))
    for name in [*lab.cluster.view(), *lab.cluster.config.journal.nodes]:
        lab.faults.crash(name)
    written = {each.server for each in lab.cluster.events if type(each.event) is JournalStored}
    return standby, min(written)


def bookies_return(lab: Lab, standby: str, one: str) -> None:
    """Starts the bookie and enough idle ones for a new ledger; the others of the old ensemble return later."""
    idle = [name for name in lab.cluster.config.journal.nodes if name not in ensemble(lab)]
    for name in [one, *idle, standby]:
        lab.faults.restart(name)
    lab.run_ms(20_000)
    for name in lab.cluster.config.journal.nodes:
        if lab.cluster.servers[name].process == "stopped":
            lab.faults.restart(name)
    lab.begin(lab.eve, Stat("/lost"))
    lab.run_ms(10_000)


def ensemble(lab: Lab) -> set[str]:
    return {each.server for each in lab.cluster.events if type(each.event) is JournalStored}


class Case(NamedTuple):
    """`checks`: one of these invariants must be violated."""

    mutation: str
    protocol: str
    standbys: int
    schedule: Schedule
    nodes: int = 0
    """Number of journal nodes or bookies; 0 for the family's own number."""
    checks: frozenset[str] = frozenset({"no lost write"})
    knobs: Knobs = Knobs()


SAME_STATE = frozenset({"same sn same state"})
FORGETFUL = Knobs(recent_records=1)
"""Settings with a small cache, so that repeated reads reach the disk."""
SCHEDULES = [
    Case("replaced_disk_votes", "mams", 1, replaced_disk_votes),
    Case("cut_is_forgotten", "mams", 2, cut_is_forgotten),
    Case("sync_failed_then_trusted", "mams", 1, sync_failed_then_trusted),
    Case("old_rot_unseen", "mams", 2, old_rot_unseen, 0, SAME_STATE, FORGETFUL),
    Case("replaced_disk_votes", "qjm", 1, node_is_replaced),
    Case("cut_is_forgotten", "qjm", 1, node_rots),
    Case("replaced_disk_votes", "bookkeeper", 1, bookie_is_replaced, 6),
    Case("cut_is_forgotten", "bookkeeper", 1, bookie_rots, 6),
    Case("replaced_disk_votes", "packed-paxos", 2, secondary_is_replaced),
    Case("cut_is_forgotten", "packed-paxos", 2, secondary_rots),
]
