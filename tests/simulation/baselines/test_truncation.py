"""The journal of bookkeeper is truncated: ledgers that images cover are dropped from the record, and bookies forget them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nodes.config import SECOND, JournalConfig, Knobs, one_group
from nodes.families import family_named
from nodes.mutations import Mutations
from nodes.protocols.baselines.ledgers import Ledger, LedgerMetadata
from nodes.trace.events import Ignored, Renewing
from nodes.trace.journal_events import LedgersForgotten
from nodes.wire.journal_messages import LEDGERS_SHIFT, AddEntry, EntriesRead, ForgetLedgers, ReadEntries
from tests.simulation.at_work import AtWork
from tests.simulation.mams.lab import SETTLE_NS

BOOK = "/cloverlab/groups/g1/ledgers"
KNOBS = Knobs(ledger_entries=6, segment_bytes=1_000)


class Group(AtWork):
    """A group under load whose ledgers and files of the journal are short."""

    def __init__(self, seed: int = 1, standbys: int = 1, knobs: Knobs = KNOBS, **settings: Any):
        journal = JournalConfig(nodes=family_named("bookkeeper").journal_names())
        config = one_group(
            standbys, protocol="bookkeeper", journal=journal, image_every=30, knobs=knobs, **settings
        )
        super().__init__(config, seed, rate_per_s=60)
        self.run_s(1)

    @property
    def bookies(self) -> list[str]:
        return self.cluster.config.journal.nodes

    @property
    def ledgers(self) -> list[Ledger]:
        return msgspec.json.decode(self.cluster.ensemble.tree.nodes[BOOK].data, type=LedgerMetadata).ledgers

    def stored(self, bookie: str) -> int:
        """Bytes on the disk of a bookie."""
        return self.cluster.servers[bookie].store.used()

    def run_s(self, seconds: float) -> None:
        self.cluster.run_for(int(seconds * SECOND))

    def await_dropped(self, below: int) -> None:
        """Waits until ledgers below this number are dropped from the record."""
        self.cluster.run_until(lambda: self.ledgers[0].number >= below, SETTLE_NS)

    def finish(self) -> None:
        for name, server in self.cluster.servers.items():
            if server.process == "stopped":
                self.cluster.faults.restart(name)
            elif server.process == "paused":
                self.cluster.faults.resume(name)
        self.cluster.faults.heal_all()
        super().finish()


def test_what_images_cover_goes() -> None:
    group = Group()
    group.run_s(10)
    assert group.ledgers[0].number > 1 and len(group.ledgers) < 40
    before = {name: group.stored(name) for name in group.bookies}
    group.run_s(20)
    assert all(group.stored(name) < 2 * before[name] for name in group.bookies)
    assert {s.server for s in group.cluster.events if type(s.event) is LedgersForgotten} == {*group.bookies}
    group.finish()


def test_no_ledger_goes_that_a_server_without_an_image_needs() -> None:
    group = Group(standbys=2)
    group.cluster.faults.do("crash", [group.of("S")])
    group.run_s(15)
    assert group.ledgers[0].number == 1
    group.finish()


@pytest.mark.parametrize("waits", [False, True])
def test_who_lacks_what_is_dropped_reads_an_image(waits: bool) -> None:
    """The disk of a standby is replaced."""
    group = Group(mutations=Mutations(dropped_ledger_awaited=waits))
    standby = group.of("S")
    group.await_dropped(5)
    group.cluster.faults.do("new_disk", [standby])
    group.run_s(1)
    group.cluster.faults.restart(standby)
    group.run_s(5)
    assert [each.phase for each in group.reported(Renewing, standby)] == ([] if waits else ["image"])
    if not waits:
        group.crash_and_restart(group.of("A"))
        group.finish()


def test_a_reader_whose_ledger_is_dropped_while_it_reads_begins_from_an_image() -> None:
    """It has read the record, and reads no ledger for as long as it is cut off from the bookies."""
    group = Group(2, standbys=2)
    standby = group.of("S")
    link = group.cluster.hold(
        lambda sender, receiver, message: (
            standby in (sender, receiver) and {sender, receiver} & {*group.bookies} != set()
        )
    )
    group.run_s(1)
    first = group.ledgers[-1].number
    group.await_dropped(first + 1)
    link.drop()
    group.run_s(3)
    assert [each.phase for each in group.reported(Renewing, standby)] == ["image"]
    group.crash_and_restart(group.of("A"))
    group.finish()


@pytest.mark.parametrize("verb", ["crash", "power_loss", "new_disk"])
def test_a_bookie_that_was_down_forgets_too(verb: str) -> None:
    group = Group()
    away = group.bookies[0]
    group.run_s(1)
    group.cluster.faults.do(verb, [away])
    group.await_dropped(10)
    group.cluster.faults.restart(away)
    group.run_s(5)
    assert group.reported(LedgersForgotten, away)[-1].below >= 10
    group.finish()


def test_a_forgotten_ledger_stays_forgotten_over_a_restart() -> None:
    """Its old writer is refused: the fence is not forgotten with the ledger."""
    group = Group()
    group.await_dropped(5)
    group.run_s(1)
    group.cluster.hold(lambda sender, receiver, message: type(message) is ForgetLedgers)
    for bookie in group.bookies:
        group.cluster.faults.do("power_loss", [bookie])
        group.run_s(1)
        group.cluster.faults.restart(bookie)
        group.run_s(3)
    for bookie in group.bookies:
        group.cluster.net.carry("mds9", bookie, [AddEntry(2, 30, 29, recovering, b"old") for recovering in (False, True)])  # fmt: skip
    group.run_s(1)
    reasons = [
        each.reason for each in group.reported(Ignored) if each.kind == "AddEntry" and each.sender == "mds9"
    ]
    assert reasons == ["ledger 2 is forgotten"] * len(reasons) and len(reasons) >= len(group.bookies)
    group.finish()


def test_an_active_that_missed_its_end_finds_its_ledger_forgotten() -> None:
    group = Group(standbys=2)
    old = group.of("A")
    group.cluster.faults.do("pause", [old])
    mine = group.ledgers[-1].number
    late = group.cluster.hold(lambda sender, receiver, message: sender == old and type(message) is AddEntry)
    group.run_s(8)
    group.cluster.faults.resume(old)
    group.await_dropped(mine + 1)
    group.run_s(1)
    late.release()
    group.run_s(5)
    group.finish()


@pytest.mark.parametrize("seed", range(4))
def test_a_takeover_while_ledgers_are_begun_at_every_entry(seed: int) -> None:
    group = Group(seed, standbys=2, knobs=Knobs(ledger_entries=1, segment_bytes=300))
    for _ in range(4):
        group.run_s(2)
        group.crash_and_restart(group.of("A"))
    group.finish()


def changes_of_book(changes: list[Any]) -> bool:
    return any(getattr(change, "path", "") == BOOK for change in changes)


@pytest.mark.parametrize("fault", ["crash", "pause"])
@pytest.mark.parametrize("ordinal", [1, 2, 3])
def test_the_active_is_gone_between_the_record_and_the_message(fault: str, ordinal: int) -> None:
    """The record has been written. No bookie is told before another server serves."""
    group = Group(standbys=2)
    group.await_dropped(3)
    active, dropped = group.of("A"), group.ledgers[0].number
    unsent = group.cluster.hold(
        lambda sender, receiver, message: sender == active and type(message) is ForgetLedgers
    )
    group.await_dropped(dropped + ordinal)
    group.cluster.faults.do(fault, [active])
    unsent.drop()
    known = group.ledgers[0].number
    group.run_s(10)
    group.finish()
    lows = {name: group.reported(LedgersForgotten, name)[-1].below for name in group.bookies}
    assert min(lows.values()) >= known


@pytest.mark.parametrize("lands", [True, False])
def test_the_write_of_the_record_has_an_unknown_outcome(lands: bool) -> None:
    """Coordination's answer comes too late, or the write itself."""
    group = Group(standbys=2)
    group.run_s(2)
    active = group.of("A")
    held = group.cluster.hold_write(active, changes_of_book)
    group.cluster.run_until(lambda: bool(held.held), SETTLE_NS)
    if lands:
        held.release()
    group.cluster.faults.do("cut", [active, "coordination"])
    group.run_s(8)
    if not lands:
        held.release()
    group.finish()


def test_the_ledger_of_an_idle_group_keeps_nothing_behind_it() -> None:
    """It is the first on every bookie, and stays readable."""
    group = Group()
    idle = 1 << LEDGERS_SHIFT | 1
    for bookie in group.bookies:
        entries = [AddEntry(idle, sn, 0, False, b"idle" * 20) for sn in range(1, 20)]
        group.cluster.net.carry("mds8", bookie, entries)
    group.run_s(10)
    before = {name: group.stored(name) for name in group.bookies}
    group.run_s(20)
    assert all(group.stored(name) < 2 * before[name] for name in group.bookies)
    replies = group.cluster.hold(
        lambda sender, receiver, message: receiver == "mds8" and type(message) is EntriesRead
    )
    for verb in ("power_loss", "restart"):
        for bookie in group.bookies:
            group.cluster.net.carry("mds8", bookie, [ReadEntries(0, idle, 1, 99, False)])
        group.run_s(1)
        for bookie in group.bookies:
            getattr(group.cluster.faults, verb)(bookie)
    group.run_s(3)
    assert [message.numbers for _, _, message in replies.messages] == [list(range(1, 20))] * 4
    group.finish()


def test_a_mark_that_cannot_be_is_refused() -> None:
    group = Group()
    for below in (1 << 39, 0, -1, 1 << 62 | 1 << 30):
        group.cluster.net.carry("mds9", "bookie1", [ForgetLedgers(below)])
    group.run_s(3)
    assert group.reported(LedgersForgotten, "bookie1")[-1].below < 100
    assert {each.kind for each in group.reported(Ignored, "bookie1")} == {"ForgetLedgers"}
    group.finish()
