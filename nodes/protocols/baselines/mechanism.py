"""The families with a shared journal: the nodes that keep it, and the way a standby reads it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nodes.config import MILLISECOND, SECOND, ServerConfig
from nodes.metadata_server.tenure import ChosenMechanisms
from nodes.protocols.baselines.bookkeeper import BookKeeper
from nodes.protocols.baselines.quorum_journal import QuorumJournal
from nodes.protocols.baselines.server import start
from nodes.protocols.baselines.shared_journal import MakeSharedJournal
from nodes.wire.journal_messages import JOURNAL_MESSAGES
from nodes.wire.messages import Message
from nodes.world import World

OFTEN_NS = 100 * MILLISECOND
HADOOP_NS = 1 * SECOND
HADOOP_SEGMENT_NS = 2 * SECOND


Start = Callable[[World, ServerConfig, ChosenMechanisms], None]


def _starts(make: MakeSharedJournal, tail_ns: int) -> Start:
    return lambda world, config, choice: start(world, config, choice, make, tail_ns)


REPLICATION: dict[str, Start] = {
    "shared-qjm": _starts(QuorumJournal, OFTEN_NS),
    "shared-filer": _starts(QuorumJournal, OFTEN_NS),
    "shared-hadoop": _starts(
        partial(QuorumJournal, finished_only=True, segment_ns=HADOOP_SEGMENT_NS), HADOOP_NS
    ),
    "shared-bookkeeper": _starts(BookKeeper, OFTEN_NS),
}
"""Avatar's filer is a quorum of one."""

MESSAGES: tuple[type[Message], ...] = ()
"""The families have no messages of their own: servers and nodes use nodes/wire/journal_messages.py."""
COUNTED = JOURNAL_MESSAGES
