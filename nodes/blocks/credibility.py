"""Validation of data nodes' reports: contents that cannot be true. Pure."""

from __future__ import annotations

from nodes.metadata.operations import BLOCK_SIZE_MAX
from nodes.storage.block_store import STAMP_MAX
from nodes.units import home_group
from nodes.wire.data_messages import DAMAGED, FINAL, WRITING, Heartbeat, ReplicaRow


def validate_heartbeat(beat: Heartbeat) -> str:
    """The fault of a heartbeat; empty when it may be true."""
    if 0 <= beat.used <= beat.capacity:
        return ""
    return f"says that {beat.used} of {beat.capacity} bytes are used"


def wrong_row(group: int, row: ReplicaRow) -> str:
    """The fault of a row; empty when this group may have such a block, and a data node such a replica of it."""
    if row.block <= 0 or home_group(row.block) != group:
        return f"reports block {row.block:x}, which is none of this group"
    if not 0 <= row.length <= BLOCK_SIZE_MAX:
        return f"reports block {row.block:016x} with {row.length} bytes; {BLOCK_SIZE_MAX} are the most"
    if row.state == DAMAGED:
        return ""
    if row.state not in (WRITING, FINAL) or not 0 < row.stamp <= STAMP_MAX:
        return f"reports block {row.block:016x} with stamp {row.stamp} in state {row.state}"
    return ""
