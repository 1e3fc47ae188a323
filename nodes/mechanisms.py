"""The one list of mechanisms: which code stands behind each name, and every message that may travel."""

from __future__ import annotations

from nodes.config import ServerConfig
from nodes.protocols.dcfs2 import mechanism as dcfs2
from nodes.protocols.dcfs2 import messages as dcfs2_messages
from nodes.protocols.mams import mechanism as mams
from nodes.protocols.mams import messages as mams_messages
from nodes.protocols.mams.checkpoints import messages as checkpoint_messages
from nodes.protocols.vssp import mechanism as vssp
from nodes.protocols.vssp import messages as vssp_messages
from nodes.slots import MakeImageStore
from nodes.wire.data_messages import DATA_MESSAGES
from nodes.wire.messages import CLIENT_MESSAGES, Message
from nodes.world import World

MESSAGES: tuple[type[Message], ...] = (
    CLIENT_MESSAGES
    + DATA_MESSAGES
    + mams_messages.MESSAGES
    + checkpoint_messages.MESSAGES
    + dcfs2_messages.MESSAGES
    + vssp_messages.MESSAGES
)

IMAGE_STORES: dict[str, MakeImageStore] = {"vssp": vssp.vssp, "hdfs_pipeline": vssp.hdfs_pipeline}
"""Slot `image_store`: where an image lies, how it is moved and repaired."""


def start_mams(world: World, config: ServerConfig) -> None:
    cluster = config.cluster
    mams.start(world, config, IMAGE_STORES[cluster.image_store], CROSS_GROUP[cluster.cross_group])


REPLICATION = {"mams": start_mams}
"""Slot `replication`: how one replica group agrees on the next record."""

CROSS_GROUP = {"s2pc_mp": dcfs2.s2pc_mp, "two_phase": dcfs2.two_phase}
"""Slot `cross_group`: how two groups commit one operation."""


def start_server(world: World, config: ServerConfig) -> None:
    """Starts a metadata server of the cluster's family in this world. Raises KeyError for an unknown one."""
    REPLICATION[config.cluster.protocol](world, config)
