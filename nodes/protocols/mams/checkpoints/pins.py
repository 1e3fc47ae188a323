"""What this server keeps for checkpoints: an image at or below each barrier, and the journal from there (safety rule 14)."""

from __future__ import annotations

from nodes.metadata.records import BarrierRecord
from nodes.protocols.mams.checkpoints.ledger import ASIDE, COMPLETE, VOID, Checkpoint
from nodes.slots import ImageStore
from nodes.wire.messages import JournalGroup


class Pins:
    """A barrier is pinned as soon as it is in the journal, and let go when its checkpoint is known to be void or set aside."""

    def __init__(self, images: ImageStore, group: str, unpinned: bool):
        self._images = images
        self._group = group
        self._unpinned = unpinned
        self._barriers: dict[str, int] = {}
        """Checkpoint to the sn of its barrier in this group's journal."""

    def on_group(self, group: JournalGroup) -> None:
        records = group.records
        if len(records) == 1 and type(records[0]) is BarrierRecord:
            self._barriers[records[0].name] = group.sn
            self._pin()

    def refresh(self, known: list[Checkpoint]) -> None:
        """As the coordination service has them."""
        for each in known:
            if each.state == COMPLETE:
                self._barriers[each.name] = each.barriers[self._group].mark.sn
            elif each.state in (VOID, ASIDE):
                self._barriers.pop(each.name, None)
        self._pin()

    def _pin(self) -> None:
        if not self._unpinned:
            self._images.pinned = set(self._barriers.values())
