"""A kind of node written from scratch: it keeps one number on its disk, which grows at each start and at each second."""

from __future__ import annotations

from nodes.config import SECOND, NodeConfig
from nodes.storage.journal_file import Journal
from nodes.trace.journal_events import JournalStored
from nodes.world import World


def start(world: World, config: NodeConfig) -> None:
    journal = Journal.open(world.disk, "journal", config.cluster.mutations, config.cluster.knobs)
    world.scope.spawn(count(world, journal), "count")


async def count(world: World, journal: Journal) -> None:
    while True:
        number = journal.last_sn + 1
        journal.append(number, 0, b"")
        await journal.sync()
        world.trace.emit(JournalStored(number, 0, 1))
        await world.clock.sleep(SECOND)
