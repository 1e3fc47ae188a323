"""The mechanisms behind each name, and every type of message. A family of replication is found by its folder in `nodes/protocols`."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from types import ModuleType

from nodes import protocols
from nodes.config import ClusterConfig, ServerConfig
from nodes.counters import CountedWorld, Replicating
from nodes.families import family_named
from nodes.metadata_server import messages as image_messages
from nodes.metadata_server.checkpoints import messages as checkpoint_messages
from nodes.metadata_server.tenure import ChosenMechanisms
from nodes.protocols.dcfs2 import mechanism as dcfs2
from nodes.protocols.dcfs2 import messages as dcfs2_messages
from nodes.protocols.vssp import messages as vssp_messages
from nodes.protocols.vssp.acknowledgement import STRATEGIES
from nodes.protocols.vssp.mechanism import PoolImageStore
from nodes.replicas import messages as lease_messages
from nodes.slots import MakeImageStore
from nodes.wire.data_messages import DATA_FROM_CLIENTS, DATA_MESSAGES
from nodes.wire.journal_messages import JOURNAL_MESSAGES
from nodes.wire.messages import CLIENT_MESSAGES, AskView, CheckOperation, Message, Request
from nodes.workloads.journal_load import answer_load
from nodes.world import World

Start = Callable[[World, ServerConfig, ChosenMechanisms], None]


def _agreements() -> Iterator[ModuleType]:
    """The module `mechanism` of each folder that has one for the slot `replication`, by the folders' names."""
    for folder in sorted(each.name for each in pkgutil.iter_modules(protocols.__path__)):
        mechanism = import_module(f"{protocols.__name__}.{folder}.mechanism")
        if hasattr(mechanism, "REPLICATION"):
            yield mechanism


AGREEMENTS = tuple(_agreements())

REPLICATION: dict[str, Start] = {
    name: start for each in AGREEMENTS for name, start in each.REPLICATION.items()
}
"""Slot `replication`: how one replica group agrees on the next record."""

REPLICATING: dict[str, Replicating] = {
    name: Replicating((*each.COUNTED, *dcfs2_messages.MESSAGES), getattr(each, "RECORDS_OF", None))
    for each in AGREEMENTS
    for name in each.REPLICATION
}

IMAGE_MESSAGES = (*image_messages.MESSAGES, *vssp_messages.MESSAGES)
CHECKPOINT_MESSAGES = checkpoint_messages.MESSAGES
CROSSING_MESSAGES = dcfs2_messages.MESSAGES
LEASE_MESSAGES = lease_messages.MESSAGES
MESSAGES: tuple[type[Message], ...] = (
    *CLIENT_MESSAGES,
    *DATA_MESSAGES,
    *JOURNAL_MESSAGES,
    *IMAGE_MESSAGES,
    *CHECKPOINT_MESSAGES,
    *CROSSING_MESSAGES,
    *LEASE_MESSAGES,
    *(message for each in AGREEMENTS for message in each.MESSAGES),
)

OF_CLIENTS: tuple[type[Message], ...] = (Request, CheckOperation, AskView, *DATA_FROM_CLIENTS)
"""What a server or node accepts from a client."""

IMAGE_STORES: dict[str, MakeImageStore] = {
    name: partial(PoolImageStore, way) for name, way in STRATEGIES.items()
}
"""Slot `image_store`: storage, transfer and repair of images."""

CROSS_GROUP = {"s2pc_mp": dcfs2.s2pc_mp, "two_phase": dcfs2.two_phase}
"""Slot `cross_group`: the protocol by which two groups commit one operation."""


def choice_of(cluster: ClusterConfig) -> ChosenMechanisms:
    return ChosenMechanisms(IMAGE_STORES[cluster.image_store], CROSS_GROUP[cluster.cross_group], answer_load)


def start_server(world: World, config: ServerConfig) -> None:
    """Starts a metadata server of the cluster's family in this world. Raises ValueError for an unknown one."""
    start_with(REPLICATION[family_named(config.cluster.protocol).replication], world, config)


def start_with(start: Start, world: World, config: ServerConfig) -> None:
    """Starts a metadata server with this agreement, in place of the one that its family names."""
    replication = family_named(config.cluster.protocol).replication
    counted = CountedWorld(world, REPLICATING.get(replication, Replicating(())))
    start(counted, config, choice_of(config.cluster))
