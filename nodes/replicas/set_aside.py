"""Groups that leave a journal are copied under `aside/` first, never deleted (CFS §4.3; safety rule 14)."""

from __future__ import annotations

from nodes.metadata.records import call_of
from nodes.replicas.log import ReplicaLog, decode_group
from nodes.storage.journal_file import Journal
from nodes.world import Disk

SYNC_EVERY = 256
"""Number of groups that are written at once."""


async def set_groups_aside(disk: Disk, log: ReplicaLog, sn: int, directory: str) -> tuple[int, int]:
    """Copies the groups after `sn` under `directory`; returns the (groups, operations) that are there then. Raises OSError.

    When no such groups exist any more, an earlier attempt has copied and cut them.
    """
    kept = Journal.open(disk, f"{directory}/journal")
    if log.last.sn > sn:
        kept.restart_at(max(sn, log.base.sn) + 1)
        for first in range(kept.first_sn, log.last.sn + 1, SYNC_EVERY):
            for data in log.encoded(first, first + SYNC_EVERY - 1):
                group = decode_group(data)
                kept.append(group.sn, group.epoch, data)
            await kept.sync()
    groups = operations = 0
    for _, data in kept.entries(kept.first_sn, kept.last_sn):
        groups += 1
        operations += sum(call_of(record) != ("", 0) for record in decode_group(data).records)
    return groups, operations
