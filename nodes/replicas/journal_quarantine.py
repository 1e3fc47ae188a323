"""Groups that leave a journal are copied under `aside/` first, never deleted (CFS §4.3; safety rule 14)."""

from __future__ import annotations

from nodes.metadata.records import call_of
from nodes.replicas.log import decode_group
from nodes.slots import GroupLog
from nodes.storage.journal_file import CorruptJournal, Journal, UnknownJournal
from nodes.storage.quarantine import move_aside, unused_directory
from nodes.storage.sealed_file import SealBroken, UnknownSeal
from nodes.trace.events import Warned
from nodes.world import World

SYNC_EVERY = 256
"""Number of groups that are written at once."""


async def open_or_begin_anew(world: World, directory: str) -> Journal:
    """Opens a journal that is kept for a person. A damaged one is moved aside, and an empty one takes its place: its server needs no renewal, because
    no server reads it. Raises UnknownJournal, UnknownSeal, OSError."""
    disk = world.disk
    try:
        return Journal.open(disk, directory)
    except (UnknownJournal, UnknownSeal):
        raise
    except (CorruptJournal, SealBroken) as damaged:
        beyond = unused_directory(disk, (directory,))
        world.trace.emit(Warned(f"{damaged}; it is moved to {beyond}"))
        await move_aside(disk, [f"{directory}/{name}" for name in disk.names(directory)], beyond)
        return Journal.open(disk, directory)


async def copy_groups_aside(world: World, log: GroupLog, sn: int, last_sn: int, directory: str) -> Journal:
    """Copies the groups after `sn` up to `last_sn` under `directory`, unless they are there. Raises OSError."""
    kept = await open_or_begin_anew(world, f"{directory}/journal")
    if kept.last_sn != last_sn and last_sn > sn:
        kept.restart_at(max(sn, log.base.sn) + 1)
        for first in range(kept.first_sn, last_sn + 1, SYNC_EVERY):
            for data in log.encoded(first, min(last_sn, first + SYNC_EVERY - 1)):
                group = decode_group(data)
                kept.append(group.sn, group.epoch, data)
            await kept.sync()
    return kept


async def set_groups_aside(world: World, log: GroupLog, sn: int, directory: str) -> tuple[int, int]:
    """Copies the groups after `sn` under `directory`; returns the (groups, operations) that are there then. Raises OSError.

    When no such groups exist any more, an earlier attempt has copied and cut them.
    """
    kept = await copy_groups_aside(world, log, sn, log.last.sn, directory)
    groups = operations = 0
    for _, data in kept.entries(kept.first_sn, kept.last_sn):
        groups += 1
        operations += sum(call_of(record) != ("", 0) for record in decode_group(data).records)
    return groups, operations
