"""Places in the progress of servers to which faults can be tied, by replication: the steps that they report, the messages that they send."""

from __future__ import annotations

from collections.abc import Iterable

from nodes.config import ClusterConfig
from nodes.families import family_named
from nodes.mechanisms import (
    AGREEMENTS,
    CHECKPOINT_MESSAGES,
    CROSSING_MESSAGES,
    IMAGE_MESSAGES,
    LEASE_MESSAGES,
)
from nodes.wire import messages as wire
from nodes.wire.data_messages import DATA_MESSAGES
from nodes.wire.journal_messages import JOURNAL_MESSAGES, LEDGER_MESSAGES


def names_of(messages: Iterable[type[wire.Message]]) -> tuple[str, ...]:
    return tuple(message.__name__ for message in messages)


JOURNAL_STEPS = tuple(f"upgrade/{step}" for step in range(1, 5))
STEPS = {
    "mams": (
        "election/draw",
        "election/lock",
        *(f"upgrade/{step}" for step in range(8)),
        "upgrade/3b",
        "configuration/both",
        "shrink/",
        "shrink/ACK",
        *(f"renewing/{step}" for step in ("open", "image", "journal", "standby")),
        *(f"image/{step}" for step in ("order", "taken", "failed", "full", "room", "alone")),
        *(f"checkpoint/{step}" for step in ("begin", "time", "drain", "drained", "decided", "resume")),
        "force/ordered",
        *(f"handover/{step}" for step in ("ask", "pass", "void")),
    ),
    **dict.fromkeys(("shared-qjm", "shared-bookkeeper", "shared-hadoop", "shared-filer"), JOURNAL_STEPS),
    "paxos": (
        "election/draw",
        "election/lock",
        *(f"upgrade/{step}" for step in range(1, 5)),
        "view/",
    ),
    "symmetric": (
        *(f"view change/{step}" for step in ("propose", "flush", "settle", "leases", "install")),
        "force/ordered",
        "force/3b",
    ),
}
"""Values of `StepTaken`, by replication."""
TAKEOVER = ("election", "upgrade", "view change", "configuration", "handover")
"""Procedures in which another server takes over the log."""
CLIENT_MESSAGES = ("Request", "Answer", "CheckOperation", "Checked")
CROSSING = ("OpReq", "CommitReq", "AbortReq", "Ack", "DecisionReq", "VoteReq", "Vote", "Decision", "Decided", "OutcomeReq")  # fmt: skip
"""Messages between the actives of two groups that carry out one operation."""
WRITES = ("lock", "epoch", "configuration", "generation")
"""Last parts of coordination paths with the most important changes."""


OF_REPLICATION: dict[str, tuple[str, ...]] = {
    replication: names_of(each.COUNTED) for each in AGREEMENTS for replication in each.REPLICATION
}


def messages_of(replication: str) -> tuple[str, ...]:
    """Messages between servers of one group, or a server and the journal nodes."""
    mine = OF_REPLICATION[replication]
    if mine != names_of(JOURNAL_MESSAGES):
        return mine
    ledgers = names_of(LEDGER_MESSAGES)
    return (
        ledgers if replication == "shared-bookkeeper" else tuple(name for name in mine if name not in ledgers)
    )


def every_message(cluster: ClusterConfig) -> tuple[str, ...]:
    """All kinds of messages that can travel in a cluster, each once."""
    family = family_named(cluster.protocol)
    found = [*messages_of(family.replication), *names_of(wire.CLIENT_MESSAGES), *names_of(IMAGE_MESSAGES)]
    for travels, messages in (
        (family.checkpoints, CHECKPOINT_MESSAGES),
        (len(cluster.groups) > 1, CROSSING_MESSAGES),
        (bool(cluster.data.nodes), DATA_MESSAGES),
        (cluster.detection == "members", LEASE_MESSAGES),
    ):
        found += names_of(messages) if travels else ()
    return tuple(dict.fromkeys(found))
