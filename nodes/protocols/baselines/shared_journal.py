"""What the server of a family with a shared journal asks of the mechanism that keeps it: journal nodes, or bookies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from nodes.config import ClusterConfig
from nodes.metadata_server.own_journal import OwnJournal
from nodes.replicas.view import GlobalView
from nodes.slots import JournalSync
from nodes.wire.messages import Mark, Message
from nodes.world import World


class JournalLost(Exception):
    """The writer can write no more: too few nodes are there, or a later writer has been let in. One line says which."""


class BeginsLater(Exception):
    """What is asked for has been pruned: an image reaches further."""


class SharedWriter(JournalSync, Protocol):
    """The slot `journal_sync` of one tenure."""

    def on_own_durable(self, mark: Mark) -> None:
        """This server's own disk has it too."""

    def prune(self, sn: int) -> None:
        """Images of the servers reach beyond `sn`: the journal up to there may go, some time."""

    async def keep(self) -> None:
        """Sends again, leaves nodes out and takes them in, until the tenure ends. Raises JournalLost, CoordinationError, LostLock."""


class SharedJournal(Protocol):
    handlers: dict[type[Message], Callable[[str, Any], None]]
    promised: int
    """The highest epoch of which a node has said that it obeys nobody below: the next one is above it. 0 where nodes promise none."""

    async def recover(self, epoch: int, timeout_ns: int) -> int | None:
        """Shuts every earlier writer out and decides where its journal ends; the sn of the last group. None: too few answered in time.

        Raises CoordinationError, LostLock.
        """

    async def read(self, from_sn: int) -> list[bytes]:
        """Groups without gap from `from_sn` on that are surely committed; empty when there are none, or nobody answered.

        Raises BeginsLater, CoordinationError.
        """

    async def begin(self, epoch: int, last: Mark, timeout_ns: int) -> SharedWriter | None:
        """The next group will follow on `last`. None: too few nodes answered. Raises CoordinationError, LostLock."""


MakeSharedJournal = Callable[[World, ClusterConfig, GlobalView, OwnJournal, int], SharedJournal]
"""(world, cluster, view, own journal, patience with one node in nanoseconds)"""
