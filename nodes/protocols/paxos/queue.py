"""The Paxos coordination queue (DCFS3, PCQ): a member's undecided slots, and the reads that wait for them.

A slot is Success (decided, and executed in order), Accept (it has a record), or Empty (it has none yet). Pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from nodes.mutations import NO_MUTATIONS, Mutations
from nodes.protocols.paxos.messages import LogRecord

SLOTS_MAX = 8_192
"""Most slots after the success pointer that a member accepts; more than a primary ever has open."""
OPEN_TIMES = 4
"""That limit as a multiple of the open slots, and with room for views."""
VIEWS_OPEN = 256
"""Views proposed beyond the open slots. A takeover proposes one, and another after each member that leaves; the next takeover may redo them all."""
READS_MAX = 10_000
SUCCESS, ACCEPT, EMPTY = "success", "accept", "empty"

Read = Callable[[], None]


class CoordinationQueue:
    """Slots up to `success` are decided; `current` is the last slot with a record."""

    def __init__(self, mutations: Mutations = NO_MUTATIONS, open_slots: int = 0) -> None:
        """`open_slots`: most slots that a primary has open; 0 selects the built-in limit."""
        self._mutations = mutations
        self._slots_max = min(SLOTS_MAX, OPEN_TIMES * open_slots + VIEWS_OPEN) if open_slots else SLOTS_MAX
        self.success = 0
        self.current = 0
        self.ballot = 0
        """Ballot of `reach` and `latest`."""
        self.reach = 0
        """Last slot of the prefix decided or accepted under `ballot`, which an acceptor may acknowledge."""
        self.latest = 0
        """Last slot accepted under `ballot`. A new read waits until it is executed."""
        self._slots: dict[int, tuple[int, LogRecord]] = {}
        self._reads: deque[tuple[int, Read]] = deque()

    def state_of(self, slot: int) -> str:
        if slot <= self.success:
            return SUCCESS
        return ACCEPT if slot in self._slots else EMPTY

    def waiting(self) -> Iterator[LogRecord]:
        """The records in state Accept."""
        return (record for _, record in self._slots.values())

    def waiting_up_to(self, slot: int) -> list[LogRecord]:
        """The waiting records up to a slot that `succeed` would yield, in order."""
        return [self._slots[each][1] for each in range(self.success + 1, min(slot, self.reach) + 1)]

    def ballot_at(self, slot: int) -> int:
        """The ballot under which a slot was accepted; 0 without an accepted record."""
        held = self._slots.get(slot)
        return 0 if held is None else held[0]

    # --- records ---------------------------------------------------------------------------------------------------

    def begin_behind(self, slot: int) -> None:
        """Begins after an image, whose slots are all decided. Accepted slots above it stay."""
        for each in [each for each in self._slots if each <= slot]:
            del self._slots[each]
        self.success, self.current = max(self.success, slot), max(self.current, slot)
        self.reach, self.latest = max(self.reach, slot), max(self.latest, slot)
        self._extend()

    def begin(self, ballot: int) -> None:
        """Begins a higher ballot. Only slots accepted under it count, and reads that waited under a lower one run now."""
        if ballot <= self.ballot:
            return
        self.ballot = ballot
        self.reach = self.latest = self.success
        self._extend()
        self.latest = max(
            (slot for slot in self._slots if self.ballot_at(slot) == ballot), default=self.latest
        )
        reads, self._reads = self._reads, deque()
        for _, step in reads:
            step()

    def takes(self, slot: int) -> bool:
        """Whether this slot is undecided and within the queue's bound."""
        return self.success < slot <= self.success + self._slots_max

    def accept(self, ballot: int, record: LogRecord) -> None:
        """Puts a record into its slot, in place of one of a lower ballot. The caller has checked `takes`."""
        slot = record.sn
        if self.ballot_at(slot) > ballot:
            return
        self._slots[slot] = (ballot, record)
        self.current = max(self.current, slot)
        if ballot == self.ballot:
            self.latest = max(self.latest, slot)
            self._extend()

    def _extend(self) -> None:
        while self.ballot and self.ballot_at(self.reach + 1) == self.ballot:
            self.reach += 1

    def succeed(self, ballot: int, slot: int) -> Iterator[LogRecord]:
        """Slots up to `slot` are decided under this ballot. Yields, in order, the records that may be executed now."""
        while ballot == self.ballot and self.success < min(slot, self._executable):
            yield from self._next()

    def recall(self, slot: int) -> Iterator[LogRecord]:
        """Yields the records up to `slot`, the success pointer on disk. Ends early at a missing record."""
        while self.success < slot and self.success + 1 in self._slots:
            yield from self._next()

    @property
    def _executable(self) -> int:
        """The last slot with no empty slot before it, so that it may be executed when decided."""
        if self._mutations.executes_past_hole:
            return self.current
        return self.reach

    def _next(self) -> list[LogRecord]:
        """The record of the next slot; empty where the mutation executes past an empty slot."""
        self.success += 1
        self.reach = max(self.reach, self.success)
        self.latest = max(self.latest, self.success)
        held = self._slots.pop(self.success, None)
        return [] if held is None else [held[1]]

    # --- reads -----------------------------------------------------------------------------------------------------

    def read(self, step: Read) -> bool:
        """Runs `step` once every slot accepted so far is executed. Returns False when too many reads wait."""
        if self.latest <= self.success:
            step()
            return True
        if len(self._reads) >= READS_MAX:
            return False
        self._reads.append((self.latest, step))
        return True

    def run_reads(self) -> None:
        """Runs the reads whose slots are executed."""
        while self._reads and self._reads[0][0] <= self.success:
            self._reads.popleft()[1]()
