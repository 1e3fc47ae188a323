"""The servers of a shared journal, by role."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import JournalNodeConfig
from nodes.counting import CountedWorld, Replicating
from nodes.servers.bookie import start_bookie
from nodes.servers.journal_node import start_journal_node
from nodes.wire.journal_messages import JOURNAL_MESSAGES
from nodes.world import World

JOURNAL_ROLES: dict[str, Callable[[World, JournalNodeConfig], None]] = {
    "journal-node": start_journal_node,
    "bookie": start_bookie,
}


def start_journal(role: str, world: World, config: JournalNodeConfig) -> None:
    """Starts a node of this role in this world. Raises Damaged, OSError of the disk's content."""
    JOURNAL_ROLES[role](CountedWorld(world, Replicating(JOURNAL_MESSAGES)), config)
