"""The nodes that keep a shared journal, by their role."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import JournalNodeConfig
from nodes.servers.bookie import start_bookie
from nodes.servers.journal_node import start_journal_node
from nodes.world import World

JOURNAL_ROLES: dict[str, Callable[[World, JournalNodeConfig], None]] = {
    "journal-node": start_journal_node,
    "bookie": start_bookie,
}
