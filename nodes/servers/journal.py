"""The servers of a shared journal: journal nodes or bookies, as the cluster's family has them."""

from __future__ import annotations

from nodes.config import NodeConfig
from nodes.counters import CountedWorld, Replicating
from nodes.families import family_named
from nodes.servers.bookie import start_bookie
from nodes.servers.journal_node import start_journal_node
from nodes.wire.journal_messages import JOURNAL_MESSAGES
from nodes.world import World

SERVERS = {"journal-node": start_journal_node, "bookie": start_bookie}


def start(world: World, config: NodeConfig) -> None:
    """Starts a node in this world. Raises Damaged, OSError of the disk's content."""
    role = family_named(config.cluster.protocol).journal_role
    SERVERS[role](CountedWorld(world, Replicating(JOURNAL_MESSAGES)), config)
