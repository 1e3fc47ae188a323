"""Schedules in which a known bug of ours does its damage, by the name of its switch (nodes/mutations.py)."""

from __future__ import annotations

from collections.abc import Callable

from nodes.metadata.operations import Mkdir, Stat
from nodes.mutations import Mutations
from nodes.wire.journal_messages import AcceptJournal, AddEntry, JournalRead
from nodes.wire.messages import Message
from tests.simulation.baselines.lab import lab_of, ledgers_on
from tests.simulation.mams.lab import Lab

Schedule = Callable[[int, Mutations], Lab]


def ensemble_changed_while_closing(seed: int, mutations: Mutations) -> Lab:
    """Who closes a ledger takes a fourth bookie for one that is silent, and dies before that has the entry; the next one can ask the fourth alone."""
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
    """Copies of the message that ended the recovery come to two nodes behind what the active has written since; no standby has read that yet."""
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


SCHEDULES: dict[str, Schedule] = {
    "ensemble_changed_while_closing": ensemble_changed_while_closing,
    "late_acceptance_cuts": late_acceptance_cuts,
}
