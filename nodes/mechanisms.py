"""The one list of mechanisms: which code stands behind each name, and every message that may travel."""

from __future__ import annotations

from nodes.config import ServerConfig
from nodes.protocols.mams import mechanism as mams
from nodes.protocols.mams import messages as mams_messages
from nodes.wire.data_messages import DATA_MESSAGES
from nodes.wire.messages import CLIENT_MESSAGES, Message
from nodes.world import World

MESSAGES: tuple[type[Message], ...] = CLIENT_MESSAGES + DATA_MESSAGES + mams_messages.MESSAGES

REPLICATION = {"mams": mams.start}
"""Slot `replication`: how one replica group agrees on the next record."""


def start_server(world: World, config: ServerConfig) -> None:
    """Starts a metadata server of the cluster's family in this world. Raises KeyError for an unknown one."""
    REPLICATION[config.cluster.protocol](world, config)
