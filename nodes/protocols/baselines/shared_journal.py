"""The interface between the server of a family with a shared journal and the mechanism that keeps it: journal nodes, or bookies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from nodes.config import ClusterConfig
from nodes.metadata_server.own_journal import OwnJournal
from nodes.replicas.grants import Grants
from nodes.replicas.leader import TakeoverStopped
from nodes.replicas.view import GlobalView
from nodes.slots import JournalSync
from nodes.wire.messages import Mark, Message
from nodes.world import World


class JournalLost(TakeoverStopped):
    """The writer can write no more: too few nodes are left, or a later writer has been admitted. One line gives the reason."""


class BeginsLater(Exception):
    """The requested part has been pruned: an image reaches further."""


class SharedWriter(JournalSync, Protocol):
    """The slot `journal_sync` of one tenure."""

    def on_own_durable(self, mark: Mark) -> None:
        """This server's own disk also has the groups up to `mark`."""

    def prune(self, sn: int) -> None:
        """The servers' images reach beyond `sn`: the journal up to there may be pruned at any later time."""

    async def keep(self) -> None:
        """Sends again, leaves nodes out and readmits them, until the tenure ends. Raises JournalLost, CoordinationError, LostLock."""


class SharedJournal(Protocol):
    handlers: dict[type[Message], Callable[[str, Any], None]]
    promised: int
    """The highest epoch that a node has promised: the next epoch must be higher. 0 where nodes promise none."""
    grants_end_ns: int
    """Time when no earlier writer can have the grants of a majority of the nodes, as the last recovery found it; NEVER_NS where nodes grant none."""

    async def recover(self, epoch: int, timeout_ns: int) -> int | None:
        """Shuts every earlier writer out and decides the end of its journal; returns the sn of the last group. None: too few answered in time.

        Raises CoordinationError, LostLock.
        """

    async def read(self, from_sn: int) -> list[bytes]:
        """Groups without a gap from `from_sn` on that are surely committed; empty when there are none, or no node answered.

        Raises BeginsLater, CoordinationError.
        """

    async def begin(self, epoch: int, last: Mark, timeout_ns: int, grants: Grants) -> SharedWriter | None:
        """Begins the writer, whose first group follows on `last`, and counts its `grants` over the nodes. None: too few nodes answered.

        Raises CoordinationError, LostLock.
        """


MakeSharedJournal = Callable[[World, ClusterConfig, GlobalView, OwnJournal, int], SharedJournal]
"""(world, cluster, view, own journal, patience with one node in nanoseconds)"""
