"""State that is kept for checkpoints: an image at or below each barrier, the journal from there, and the blocks that it names (safety rule 14)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from nodes.metadata.records import BarrierRecord, rollback_in
from nodes.metadata_server.checkpoints.ledger import ASIDE, COMPLETE, VOID, Checkpoint, CheckpointLedger
from nodes.slots import ImageStore
from nodes.wire.messages import JournalGroup


class Pin(NamedTuple):
    """A barrier in this group's journal."""

    sn: int
    next_block: int


class Pins:
    """A barrier is pinned as soon as it is in the journal. It is released when its checkpoint is void, quarantined or deleted."""

    def __init__(self, images: ImageStore, group: str, next_block: Callable[[], int], unpinned: bool):
        self._images = images
        self._group = group
        self._next_block = next_block
        self._unpinned = unpinned
        self._pins: dict[str, Pin] = {}
        self._version = -1
        """Version of the list of checkpoints that was read last."""
        self._unread: set[str] = set()
        """Barriers that came since: they may be old ones, whose checkpoints were decided or deleted before."""
        self.blocks_below = 0
        """Blocks with lower numbers may be named by a kept checkpoint: their replicas stay though the namespace has freed them."""

    def on_group(self, group: JournalGroup) -> None:
        records = group.records
        if len(records) == 1 and type(records[0]) is BarrierRecord:
            self._pins[records[0].name] = Pin(group.sn, self._next_block())
            self._unread.add(records[0].name)
            self._pin()
        rollback = rollback_in(records)
        if rollback is not None and not self._unpinned:
            self._images.rollbacks[group.sn] = rollback.barrier_sn

    async def keep_up(self, ledger: CheckpointLedger) -> None:
        """Raises CoordinationError."""
        version, unread = await ledger.version(), set(self._unread)
        if version != self._version or unread:
            mine = list(self._pins)
            self.refresh(await ledger.all(), mine)
            self._version = version
            self._unread -= unread

    def refresh(self, known: list[Checkpoint], mine: list[str]) -> None:
        """Updates the pins from the coordination service's list `known`. Barriers in `mine` were pinned before the list was read; those that it
        lacks are deleted."""
        for name in {*mine} - {each.name for each in known}:
            self._pins.pop(name, None)
        for each in known:
            if each.state == COMPLETE:
                barrier = each.barriers[self._group]
                self._pins[each.name] = Pin(barrier.mark.sn, barrier.next_block)
            elif each.state in (VOID, ASIDE):
                self._pins.pop(each.name, None)
        self._pin()

    def _pin(self) -> None:
        if not self._unpinned:
            self._images.pinned = {pin.sn for pin in self._pins.values()}
            self.blocks_below = max((pin.next_block for pin in self._pins.values()), default=0)
