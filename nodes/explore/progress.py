"""Places in the progress of servers to which faults can be tied, by replication: the steps that they report, the messages that they send."""

from __future__ import annotations

JOURNAL_STEPS = tuple(f"upgrade/{step}" for step in range(1, 5))
STEPS = {
    "mams": (
        "election/draw",
        "election/lock",
        *(f"upgrade/{step}" for step in range(8)),
        "upgrade/2b",
        "configuration/both",
        "shrink/",
        "shrink/ACK",
        *(f"renewing/{step}" for step in ("open", "image", "journal", "standby")),
        *(f"image/{step}" for step in ("order", "taken", "failed", "full", "room", "alone")),
        *(f"checkpoint/{step}" for step in ("begin", "time", "drain", "drained", "decided", "resume")),
        "force/ordered",
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
        "force/2b",
    ),
}
"""Values of `StepTaken`, by replication."""
TAKEOVER = ("election", "upgrade", "view change", "configuration")
"""Procedures in which another server takes over the log."""
CLIENT_MESSAGES = ("Request", "Answer", "CheckOperation", "Checked")
MESSAGES = {
    "mams": (
        "Prepare",
        "Prepared",
        "Commit",
        "Recover",
        "Promise",
        "Register",
        "Renew",
        "Renewed",
        "TakeImage",
    ),
    "paxos": (
        "PaxosPrepare",
        "PaxosPromise",
        "Accept",
        "Accepted",
        "Success",
        "AskLease",
        "LeaseGranted",
        "PaxosJoin",
    ),
    "symmetric": (
        "Broadcast",
        "Held",
        "Missing",
        "Alive",
        "Leaving",
        "JoinView",
        "Welcome",
        "Flush",
        "Flushed",
        "Fetch",
        "Fetched",
        "Settle",
        "Settled",
        "Installed",
    ),
}
CROSSING = (
    "OpReq",
    "CommitReq",
    "AbortReq",
    "Ack",
    "DecisionReq",
    "VoteReq",
    "Vote",
    "Decision",
    "Decided",
    "OutcomeReq",
)
"""Messages between the actives of two groups that carry out one operation."""
JOURNAL_MESSAGES = (
    "NewEpoch",
    "EpochPromised",
    "WriteJournal",
    "JournalWritten",
    "AcceptJournal",
    "FinishSegment",
    "AddEntry",
    "EntryAdded",
    "LedgerFenced",
)
WRITES = ("lock", "epoch", "configuration", "generation")
"""Last parts of coordination paths with the most important changes."""


def messages_of(replication: str) -> tuple[str, ...]:
    """Messages between servers of one group, or a server and the journal nodes."""
    return MESSAGES.get(replication, JOURNAL_MESSAGES)
