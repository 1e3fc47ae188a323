"""The Paxos coordination queue (DCFS3, PCQ): what a member has of the slots that are not decided yet, and the reads that wait behind them.

A slot is Success (decided, and executed in order), Accept (a record is there), or Empty (a later one is there). Pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from nodes.mutations import NO_MUTATIONS, Mutations
from nodes.protocols.paxos.messages import LogRecord

SLOTS_MAX = 8_192
"""Slots behind the success pointer that a member takes; a primary never has so many open."""
READS_MAX = 10_000
SUCCESS, ACCEPT, EMPTY = "success", "accept", "empty"

Read = Callable[[], None]


class CoordinationQueue:
    """`success`: every slot up to here is decided. `current`: the last slot in which there is a record."""

    def __init__(self, mutations: Mutations = NO_MUTATIONS) -> None:
        self._mutations = mutations
        self.success = 0
        self.current = 0
        self.ballot = 0
        """Under which `reach` and `latest` count."""
        self.reach = 0
        """Every slot up to here is decided or accepted under `ballot`: what an acceptor may acknowledge."""
        self.latest = 0
        """The last slot accepted under `ballot`: no read that comes now is answered before it is executed."""
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
        """Those of them up to a slot that `succeed` would yield, in order."""
        return [self._slots[each][1] for each in range(self.success + 1, min(slot, self.reach) + 1)]

    def ballot_at(self, slot: int) -> int:
        """0 where nothing is accepted."""
        held = self._slots.get(slot)
        return 0 if held is None else held[0]

    # --- records ---------------------------------------------------------------------------------------------------

    def begin_behind(self, slot: int) -> None:
        """An image holds everything up to this slot: all of it is decided. What is accepted above stays."""
        for each in [each for each in self._slots if each <= slot]:
            del self._slots[each]
        self.success, self.current = max(self.success, slot), max(self.current, slot)
        self.reach, self.latest = max(self.reach, slot), max(self.latest, slot)
        self._extend()

    def begin(self, ballot: int) -> None:
        """A higher ballot: only what is accepted under it counts. Reads that waited under a lower one are looked at now."""
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
        """Whether a record for this slot is wanted and has room."""
        return self.success < slot <= self.success + SLOTS_MAX

    def accept(self, ballot: int, record: LogRecord) -> None:
        """A record takes its slot, in place of one of a lower ballot; `takes` says whether it may."""
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
        """Under this ballot everything up to `slot` is decided: yields, in order, the records that may be executed now."""
        while ballot == self.ballot and self.success < min(slot, self._executable):
            yield from self._next()

    def recall(self, slot: int) -> Iterator[LogRecord]:
        """The disk says that everything up to `slot` was decided; ends early where a record is missing."""
        while self.success < slot and self.success + 1 in self._slots:
            yield from self._next()

    @property
    def _executable(self) -> int:
        """The last slot that may be executed when it is decided: no slot before it is empty."""
        if self._mutations.executes_past_hole:
            return self.current
        return self.reach

    def _next(self) -> list[LogRecord]:
        """The record of the next slot; none where the mutation passes over an empty one."""
        self.success += 1
        self.reach = max(self.reach, self.success)
        self.latest = max(self.latest, self.success)
        held = self._slots.pop(self.success, None)
        return [] if held is None else [held[1]]

    # --- reads -----------------------------------------------------------------------------------------------------

    def read(self, step: Read) -> bool:
        """Runs `step` once every slot that is known now is executed; False when too many reads wait."""
        if self.latest <= self.success:
            step()
            return True
        if len(self._reads) >= READS_MAX:
            return False
        self._reads.append((self.latest, step))
        return True

    def run_reads(self) -> None:
        """Those that waited for slots that are executed now."""
        while self._reads and self._reads[0][0] <= self.success:
            self._reads.popleft()[1]()
