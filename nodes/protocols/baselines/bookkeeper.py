"""The shared journal in ledgers on bookies (BookKeeper, as HDFS used it): recovery and reading; `tenure_writer.py` writes.

Three numbers, E ≥ Qw ≥ Qa: entry i of a ledger goes to Qw of the E bookies of its ensemble, beginning at i mod E, and is acknowledged when Qa
of them have it durably.

- **The old writer is fenced off** when Qw - Qa + 1 bookies of every possible write set are fenced: fewer than Qa are left that would take an
  entry.
- **An entry was never acknowledged** when Qw - Qa + 1 of its write set, all of them fenced, lack it: at most Qa - 1 others can have it. The
  ledger ends before the first such entry, because entries are acknowledged in their order. Every question of a recovery also fences the
  bookie. A bookie that denied an entry and took it afterwards would count on both sides.
- **An entry that any bookie has** may have been acknowledged: it is written again, to Qa of its write set, before the ledger is closed.
- **A bookie is a witness with its recorded disk only**: the fragment names the disk of each. An empty disk lacks everything, and one whose
  journal lost its tail may lack what it acknowledged; that counts where the whole write set has answered (safety rule 23).
- **A reader** whose next entry was in a ledger that has been dropped begins with an image.
- **A reader** with answers of any E - Qw + 1 bookies has an answer of one of each write set. That bookie has the entry, unless it was one of
  the Qw - Qa that were not waited for. Then others are asked.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from nodes.calls import Calls
from nodes.config import MILLISECOND, ClusterConfig
from nodes.ignored_messages import Ignoring
from nodes.metadata_server.own_journal import OwnJournal
from nodes.protocols.baselines.ledger_writer import TICK_NS, LedgerWriter
from nodes.protocols.baselines.ledgers import Fragment, Ledger, LedgerMetadata, Ledgers, OwnBook
from nodes.protocols.baselines.shared_journal import BeginsLater, JournalLost
from nodes.protocols.baselines.tenure_writer import TenureWriter
from nodes.replicas.disks import Roll
from nodes.replicas.grants import NEVER_NS, Grants
from nodes.replicas.view import GlobalView, ViewMoved
from nodes.units import DiskId
from nodes.wire.journal_messages import EntriesRead, EntryAdded, LedgerFenced, ReadEntries
from nodes.wire.messages import Mark, Message
from nodes.world import ConnectionLoss, World

ASK_NS = 300 * MILLISECOND
LAST = 1 << 62


class BookKeeper:
    def __init__(
        self,
        world: World,
        cluster: ClusterConfig,
        view: GlobalView,
        local: OwnJournal,
        patience_ns: int,
    ):
        self._world = world
        self._cluster = cluster
        self._mutations = cluster.mutations
        self._bookies = cluster.journal.nodes
        self._local = local
        self._patience_ns = patience_ns
        self._ledgers = Ledgers(world.coordination, view)
        self._calls = Calls(world)
        self._ignoring = Ignoring(world)
        self._writer: LedgerWriter | None = None
        self._book = LedgerMetadata()
        self._turn = 0
        self.promised = 0
        self.grants_end_ns = NEVER_NS
        self.handlers: dict[type[Message], Callable[[str, Any], None]] = {
            EntryAdded: self._to_writer(LedgerWriter.on_added),
            LedgerFenced: self._to_writer(LedgerWriter.on_fenced),
            EntriesRead: self._calls.on_reply,
        }

    def _to_writer(self, step: Callable[[LedgerWriter, str, Any], None]) -> Callable[[str, Any], None]:
        def deliver(peer: str, message: Any) -> None:
            if peer not in self._bookies:
                self._ignoring.report(peer, message, "it keeps no journal of this cluster")
            elif self._writer is None:
                self._ignoring.report(peer, message, "this server writes no journal")
            else:
                step(self._writer, peer, message)

        return deliver

    async def _ask(self, bookie: str, ledger: int, from_sn: int, fence: bool = False) -> EntriesRead | None:
        reply = await self._calls.ask(bookie, ReadEntries(0, ledger, from_sn, LAST, fence), ASK_NS)
        return reply if isinstance(reply, EntriesRead) and fits(reply, from_sn) else None

    async def _find(self, but: dict[str, int]) -> dict[str, int]:
        """Bookies that answer now, with their disks. Those of the ensemble are left out, unless they have another disk."""
        others, found = list(self._bookies), dict[str, int]()
        self._world.rng.shuffle(others)
        for name in others:
            reply = await self._ask(name, 0, 0)
            if reply is not None and but.get(name) != reply.disk.instance:
                found[name] = reply.disk.instance
        return found

    # --- recovery ----------------------------------------------------------------------------------------------

    async def recover(self, epoch: int, timeout_ns: int) -> int | None:
        self._writer = None
        try:
            book, version = await self._ledgers.read_newest()
            if book.ledgers and not book.ledgers[-1].closed:
                await self._ledgers.write(LedgerMetadata(book.ledgers, book.ledgers[-1].number), version)
                book, version = await self._ledgers.read_newest()
                return await self._close(book, version, timeout_ns)
            return book.ledgers[-1].last_sn if book.ledgers else 0
        except (ViewMoved, ConnectionLoss, JournalLost):
            return None

    async def _close(self, book: LedgerMetadata, version: int, timeout_ns: int) -> int | None:
        """Closes the ledger before the first entry that was surely never acknowledged. Entries that may be missing on a quorum are written again.

        `timeout_ns` is the patience with the bookies in each of the three steps, so that slow coordination takes no time from them.
        """
        ledger, clock = book.ledgers[-1], self._world.clock
        confirmed_sn = await self._fence(ledger, clock.monotonic_ns() + timeout_ns)
        if confirmed_sn is None:
            return None
        entries = await self._unconfirmed(ledger, confirmed_sn, clock.monotonic_ns() + timeout_ns)
        if entries is None:
            return None
        own_book = OwnBook(self._ledgers, book, version)
        writer = self._writer = LedgerWriter(
            self._world, own_book, self._patience_ns, self._find, confirmed_sn, recovering=True,
            records_changes=self._mutations.ensemble_changed_while_closing,
        )  # fmt: skip
        end_sn = confirmed_sn + len(entries)
        for sn, data in enumerate(entries, confirmed_sn + 1):
            writer.add(sn, data)
        # A silent bookie is replaced once patience with it has run out.
        deadline_ns = clock.monotonic_ns() + timeout_ns + self._patience_ns
        while writer.confirmed_sn < end_sn:
            if clock.monotonic_ns() > deadline_ns:
                return None
            await writer.tend()
            await clock.sleep(TICK_NS)
        await own_book.write(own_book.book.with_last(replace(writer.ledger, last_sn=end_sn)))
        return end_sn

    async def _fence(self, ledger: Ledger, deadline_ns: int) -> int | None:
        """Fences the old writer off; returns the last sn surely acknowledged by then. None: too few bookies answered in time."""
        fragment = ledger.fragments[-1]
        confirmed_sn, fenced = fragment.from_sn - 1, list[str]()
        while not ledger.shut_by(fragment, fenced):
            if self._world.clock.monotonic_ns() > deadline_ns:
                return None
            for bookie in [each for each in fragment.bookies if each not in fenced]:
                reply = await self._ask(bookie, ledger.number, LAST, fence=True)
                if reply is not None:
                    fenced.append(bookie)
                    confirmed_sn = max(confirmed_sn, reply.confirmed_sn)
            await self._world.clock.sleep(MILLISECOND)
        return confirmed_sn

    async def _unconfirmed(self, ledger: Ledger, confirmed_sn: int, deadline_ns: int) -> list[bytes] | None:
        """The entries behind `confirmed_sn` that may have been acknowledged. None: too few bookies answered in time."""
        fragment = ledger.fragments[-1]
        found, reached = dict[int, bytes](), dict.fromkeys(fragment.bookies, confirmed_sn)
        disks: dict[str, DiskId] = {}
        sn = confirmed_sn + 1
        while True:
            while sn in found:
                sn += 1
            write_set = ledger.write_set(fragment, sn)
            lacking = {bookie: disks[bookie] for bookie in write_set if reached[bookie] >= sn}
            roll = Roll(write_set, fragment.disks, self._mutations.replaced_disk_votes)
            if roll.suffices(ledger.witnesses, lacking):
                return [found[each] for each in range(confirmed_sn + 1, sn)]
            if self._world.clock.monotonic_ns() > deadline_ns:
                return None
            for bookie in [each for each in fragment.bookies if reached[each] < LAST]:
                reply = await self._ask(bookie, ledger.number, reached[bookie] + 1, fence=True)
                if reply is not None:
                    found.update(zip(reply.numbers, reply.entries, strict=True))
                    reached[bookie], disks[bookie] = reply.covered_sn, reply.disk
            await self._world.clock.sleep(MILLISECOND)

    # --- reading -----------------------------------------------------------------------------------------------

    async def read(self, from_sn: int) -> list[bytes]:
        ledger = self._book.ledger_of(from_sn)
        if ledger is None or not ledger.closed:
            self._book, _ = await self._ledgers.read()
            ledger = self._book.ledger_of(from_sn)
        if ledger is None:
            if self._book.begins_behind(from_sn) and not self._mutations.dropped_ledger_awaited:
                raise BeginsLater(f"the ledger of entry {from_sn} has been dropped")
            return []
        fragment, last_sn = ledger.fragment_of(from_sn)
        found, confirmed_sn, answered = dict[int, bytes](), from_sn - 1, 0
        run: list[bytes] = []
        for _ in fragment.bookies:
            bookie = fragment.bookies[self._turn % len(fragment.bookies)]
            reply = await self._ask(bookie, ledger.number, from_sn)
            if reply is not None:
                answered += 1
                confirmed_sn = max(confirmed_sn, reply.confirmed_sn)
                found.update(zip(reply.numbers, reply.entries, strict=True))
                run = run_of(found, from_sn, confirmed_sn if last_sn < 0 else last_sn)
            if run and answered > len(fragment.bookies) - ledger.write_quorum:
                break
            self._turn += 1
        if not run:
            self._book = LedgerMetadata()  # The ledger may have been dropped since the book was read.
        return run

    # --- writing -----------------------------------------------------------------------------------------------

    async def begin(self, epoch: int, last: Mark, timeout_ns: int, grants: Grants) -> TenureWriter | None:
        deadline_ns = self._world.clock.monotonic_ns() + timeout_ns
        journal = self._cluster.journal
        while len(found := await self._find({})) < journal.ensemble:
            if self._world.clock.monotonic_ns() > deadline_ns:
                return None
        book, version = await self._ledgers.read_newest()
        if book.ledgers and book.ledgers[-1].last_sn != last.sn:
            return None
        ensemble = sorted(list(found)[: journal.ensemble])
        fragments = [Fragment(last.sn + 1, ensemble, {name: found[name] for name in ensemble})]
        ledger = Ledger(
            book.next_number(self._local.number),
            last.sn + 1,
            fragments,
            write_quorum=journal.write_quorum,
            ack_quorum=journal.ack_quorum,
        )
        book = LedgerMetadata([*book.ledgers, ledger])
        try:
            await self._ledgers.write(book, version)
        except (ViewMoved, ConnectionLoss):
            return None
        own_book = OwnBook(self._ledgers, book, version + 1)
        writer = self._writer = TenureWriter(
            self._world, self._cluster, own_book, self._local, self._patience_ns, self._find, last.sn
        )
        return writer


def fits(reply: EntriesRead, from_sn: int) -> bool:
    """Whether the reply answers a question for the entries from `from_sn` on."""
    bounds = [from_sn - 1, *reply.numbers, reply.covered_sn + 1]
    ascending = all(before < after for before, after in itertools.pairwise(bounds))
    return reply.from_sn == from_sn and ascending and len(reply.numbers) == len(reply.entries)


def run_of(found: dict[int, bytes], from_sn: int, to_sn: int) -> list[bytes]:
    """The entries found from `from_sn` to `to_sn`, up to the first gap."""
    return [found[sn] for sn in itertools.takewhile(found.__contains__, range(from_sn, to_sn + 1))]
