"""The one list of mechanisms: which code stands behind each name, and every message that may travel."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import ClusterConfig, ServerConfig
from nodes.counting import CountedWorld, Replicating
from nodes.families import family_named
from nodes.metadata_server import messages as image_messages
from nodes.metadata_server.checkpoints import messages as checkpoint_messages
from nodes.metadata_server.tenure import Choice
from nodes.protocols.baselines import mechanism as baselines
from nodes.protocols.dcfs2 import mechanism as dcfs2
from nodes.protocols.dcfs2 import messages as dcfs2_messages
from nodes.protocols.mams import mechanism as mams
from nodes.protocols.mams import messages as mams_messages
from nodes.protocols.mams.ssp import Ssp
from nodes.protocols.mams.stream import Stream
from nodes.protocols.mams.two_phase import TwoPhase
from nodes.protocols.paxos import mechanism as paxos
from nodes.protocols.paxos import messages as paxos_messages
from nodes.protocols.symmetric import mechanism as symmetric
from nodes.protocols.symmetric import messages as symmetric_messages
from nodes.protocols.vssp import mechanism as vssp
from nodes.protocols.vssp import messages as vssp_messages
from nodes.slots import MakeImageStore
from nodes.wire.data_messages import DATA_MESSAGES
from nodes.wire.journal_messages import JOURNAL_MESSAGES
from nodes.wire.messages import CLIENT_MESSAGES, Message
from nodes.world import World

MESSAGES: tuple[type[Message], ...] = (
    CLIENT_MESSAGES
    + DATA_MESSAGES
    + JOURNAL_MESSAGES
    + image_messages.MESSAGES
    + mams_messages.MESSAGES
    + checkpoint_messages.MESSAGES
    + dcfs2_messages.MESSAGES
    + paxos_messages.MESSAGES
    + vssp_messages.MESSAGES
    + symmetric_messages.MESSAGES
)

IMAGE_STORES: dict[str, MakeImageStore] = {"vssp": vssp.vssp, "hdfs_pipeline": vssp.hdfs_pipeline}
"""Slot `image_store`: where an image lies, how it is moved and repaired."""


def choice_of(cluster: ClusterConfig) -> Choice:
    return Choice(IMAGE_STORES[cluster.image_store], CROSS_GROUP[cluster.cross_group])


def start_mams(world: World, config: ServerConfig, choice: Choice) -> None:
    mams.start(world, config, choice, JOURNAL_SYNC[family_named(config.cluster.protocol).journal_sync])


REPLICATION: dict[str, Callable[[World, ServerConfig, Choice], None]] = {
    "mams": start_mams,
    "paxos": paxos.start,
    "symmetric": lambda world, config, choice: symmetric.start(world, config),
    **baselines.REPLICATION,
}
"""Slot `replication`: how one replica group agrees on the next record."""

JOURNAL_SYNC: dict[str, type[Ssp]] = {"ssp": Ssp, "two_phase": TwoPhase, "backupnode": Stream}
"""Slot `journal_sync` of `mams`: when is a journal group safe?"""

REPLICATING: dict[str, Replicating] = {
    "mams": Replicating(mams_messages.MESSAGES + dcfs2_messages.MESSAGES),
    "paxos": Replicating(paxos_messages.MESSAGES + dcfs2_messages.MESSAGES, paxos_messages.records_of),
    "symmetric": Replicating(symmetric_messages.MESSAGES),
    **dict.fromkeys(baselines.REPLICATION, Replicating(JOURNAL_MESSAGES)),
}
"""What is counted of each replication's traffic; of one that is not here, only its log and its answers."""

CROSS_GROUP = {"s2pc_mp": dcfs2.s2pc_mp, "two_phase": dcfs2.two_phase}
"""Slot `cross_group`: how two groups commit one operation."""


def start_server(world: World, config: ServerConfig) -> None:
    """Starts a metadata server of the cluster's family in this world. Raises ValueError for an unknown one."""
    replication = family_named(config.cluster.protocol).replication
    counted = CountedWorld(world, REPLICATING.get(replication, Replicating(())))
    REPLICATION[replication](counted, config, choice_of(config.cluster))
