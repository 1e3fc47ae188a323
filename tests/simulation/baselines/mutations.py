"""Schedules in which a seeded bug does its damage, by the name of its switch (nodes/mutations.py)."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.mutations import Mutations
from nodes.sim.network import HeldMessages
from nodes.wire.journal_messages import AcceptJournal, AddEntry, FinishSegment, JournalRead, StartSegment
from nodes.wire.messages import Message
from tests.simulation.baselines.lab import lab_of, ledgers_on
from tests.simulation.mams.lab import Lab

Schedule = Callable[[int, Mutations], Lab]


def ensemble_changed_while_closing(seed: int, mutations: Mutations) -> Lab:
    """The server that closes a ledger replaces a silent bookie by a fourth one, and dies before that has the entry; the next server may query
    the fourth alone."""
    lab = lab_of("bookkeeper", seed, standbys=2, journal=ledgers_on(4, 3, 3, 3), mutations=mutations)
    used: list[str] = []
    lab.cluster.hold(
        lambda sender, receiver, message: type(message) is AddEntry and used.append(receiver) is not None
    )
    lab.ada.call(Mkdir("/a"))
    lab.ada.call(Mkdir("/lost"))
    ensemble = sorted(set(used))
    [spare] = [name for name in lab.cluster.config.journal.nodes if name not in ensemble]
    late = lab.cluster.hold(lambda sender, receiver, message: type(message) is AddEntry and receiver == spare)
    lab.faults.crash(lab.active)
    lab.faults.pause(ensemble[0])
    lab.cluster.run_until(lambda: bool(late.messages))
    closing = late.messages[0][0]
    lab.faults.crash(closing)
    late.drop()
    for bookie in ensemble:
        if bookie != ensemble[0]:
            lab.faults.pause(bookie)
    lab.run_ms(9_000)
    lab.mend()
    lab.eve.call(Mkdir("/b"))
    lab.begin(lab.eve, Stat("/lost"))
    lab.finish()
    return lab


def late_acceptance_cuts(seed: int, mutations: Mutations) -> Lab:
    """Delayed copies of the message that ended the recovery reach two nodes after later writes of the active, which no standby has read yet."""
    lab = lab_of("qjm", seed, standbys=2, mutations=mutations)
    accepted: dict[str, tuple[str, Message]] = {}

    def seen(sender: str, receiver: str, message: Message) -> bool:
        if type(message) is AcceptJournal:
            accepted[receiver] = sender, message
        return False

    watch = lab.cluster.hold(seen)
    lab.faults.crash(lab.active)
    lab.await_next_active()
    watch.drop()
    reading = lab.cluster.hold(lambda sender, receiver, message: type(message) is JournalRead)
    lab.ada.call(Mkdir("/lost"))
    for node in ("jn1", "jn2"):
        sender, message = accepted[node]
        lab.cluster.net.carry(sender, node, [message])
    lab.run_ms(100)
    lab.faults.crash(lab.active)
    lab.faults.crash("jn3")
    reading.drop()
    lab.await_next_active()
    lab.begin(lab.eve, Stat("/lost"))
    lab.finish()
    return lab


def late_start_cuts(seed: int, mutations: Mutations) -> Lab:
    """The start of a segment reaches a node after entries that it has stored in that segment; then the node decides the end of the journal."""
    lab = lab_of("qjm", seed, mutations=mutations)
    lab.ada.call(Mkdir("/a"))
    held = lab.cluster.hold(starts_of("jn1"))
    lab.cluster.run_for(31 * SECOND)
    lab.ada.call(Mkdir("/b"))
    lab.cluster.run_for(1 * SECOND)
    lab.faults.crash("jn3")
    active, [standby] = lab.active, lab.standbys
    reading = lab.cluster.hold(
        lambda sender, receiver, message: receiver == standby and type(message) is JournalRead
    )
    lab.ada.call(Mkdir("/lost"))
    lab.faults.crash(active)
    held.release()
    lab.run_ms(100)
    return decided_by_jn1_and_jn3(lab, reading)


def missed_start_passed_over(seed: int, mutations: Mutations) -> Lab:
    """A node misses the end of a segment and the start of the next; it has the later writes, and helps to decide the end of the journal."""
    lab = lab_of("qjm", seed, mutations=mutations)
    lab.ada.call(Mkdir("/a"))
    lab.cluster.run_for(1 * SECOND)
    lost = lab.cluster.hold(starts_of("jn1"))
    lab.cluster.run_until(lambda: len(lost.messages) >= 2)
    lab.run_ms(500)
    lost.drop()
    active, [standby] = lab.active, lab.standbys
    lab.faults.crash("jn3")
    reading = lab.cluster.hold(
        lambda sender, receiver, message: receiver == standby and type(message) is JournalRead
    )
    lab.ada.call(Mkdir("/lost"))
    lab.faults.crash(active)
    return decided_by_jn1_and_jn3(lab, reading)


def starts_of(node: str) -> Callable[[str, str, Message], bool]:
    """Matches messages by which a node learns that a segment ends and the next one begins."""
    return lambda sender, receiver, message: (
        receiver == node and isinstance(message, FinishSegment | StartSegment)
    )


def decided_by_jn1_and_jn3(lab: Lab, reading: HeldMessages) -> Lab:
    lab.faults.restart("jn3")
    lab.faults.crash("jn2")
    reading.drop()
    lab.cluster.run_for(30 * SECOND)
    lab.finish_somehow()
    return lab


SCHEDULES: dict[str, Schedule] = {
    "ensemble_changed_while_closing": ensemble_changed_while_closing,
    "late_acceptance_cuts": late_acceptance_cuts,
    "late_start_cuts": late_start_cuts,
    "missed_start_passed_over": missed_start_passed_over,
}
