"""Messages between the actives of groups that share an operation (DCFS2 §4.2, Fig. 3). `(group, seq)` names it; `at_ns` is the sender's clock."""

from __future__ import annotations

from nodes.metadata.changes import Change
from nodes.wire.messages import CrossGroupMessage, about


class OpReq(CrossGroupMessage, array_like=True, tag=True, gc=False):
    """The participant's part; the coordinator has voted yes (S2PC-MP), or asks for the vote later (two-phase)."""

    group: int
    seq: int
    epoch: int
    finished_below: int
    """Every operation of this coordinator below this number has ended; further messages about them are late."""
    changes: list[Change]
    at_ns: int


class CommitReq(CrossGroupMessage, array_like=True, tag=True, gc=False):
    """The participant has decided Commit; includes the numbers of the inodes it made."""

    group: int
    seq: int
    voter: int
    numbers: list[int]
    at_ns: int


class AbortReq(CrossGroupMessage, array_like=True, tag=True, gc=False):
    group: int
    seq: int
    voter: int
    error: str
    at_ns: int


class Ack(CrossGroupMessage, array_like=True, tag=True, gc=False):
    """The coordinator has logged the decision."""

    group: int
    seq: int
    at_ns: int


class DecisionReq(CrossGroupMessage, array_like=True, tag=True, gc=False):
    """A coordinator that took over asks for the outcome of an operation. A participant without a record of it decides Abort (rule 11)."""

    group: int
    seq: int
    epoch: int
    finished_below: int
    at_ns: int


class VoteReq(CrossGroupMessage, array_like=True, tag=True, gc=False):
    """Coordinated operations: request to promise this part. `moves` is the count under which its paths were resolved."""

    call: int
    group: int
    seq: int
    epoch: int
    finished_below: int
    moves: int
    changes: list[Change]
    at_ns: int


class Vote(CrossGroupMessage, array_like=True, tag=True, gc=False):
    call: int
    group: int
    seq: int
    voter: int
    yes: bool
    numbers: list[int]
    error: str
    """POSIX name and text; `busy` when the vote may be requested again; `moved` when the paths must be resolved again."""
    at_ns: int
    moves: int = 0
    """The voter's count of moves."""


class Decision(CrossGroupMessage, array_like=True, tag=True, gc=False):
    group: int
    seq: int
    commit: bool
    numbers: list[int]
    at_ns: int


class Decided(CrossGroupMessage, array_like=True, tag=True, gc=False):
    """The participant has logged the decision, and acknowledges it (DCFS2 §4.1)."""

    group: int
    seq: int
    voter: int
    at_ns: int


class OutcomeReq(CrossGroupMessage, array_like=True, tag=True, gc=False):
    """A participant that promised asks for the decision."""

    group: int
    seq: int
    voter: int
    at_ns: int


class LookUp(CrossGroupMessage, array_like=True, tag=True, gc=False):
    """A rename or link asks which object has the new name."""

    call: int
    group: int
    parent: int
    name: str
    at_ns: int


class Found(CrossGroupMessage, array_like=True, tag=True, gc=False):
    call: int
    child: int
    """Inode number; 0 when the name is free."""
    error: str
    at_ns: int


class RecoverBegin(CrossGroupMessage, array_like=True, tag=True, gc=False):
    """A restarted server recovers: no server takes requests (DCFS2 §4.4, unreplicated `paper` variant only)."""

    group: int
    epoch: int
    at_ns: int


class RecoverBegun(CrossGroupMessage, array_like=True, tag=True, gc=False):
    """The sender takes no requests, and its log is flushed."""

    group: int
    epoch: int
    answering: int
    at_ns: int


class RecoverEnd(CrossGroupMessage, array_like=True, tag=True, gc=False):
    """All records are handled. The receiver must undo undecided operations that it began with this server (DCFS2 §4.4, Recover-END)."""

    group: int
    epoch: int
    at_ns: int


class RecoverEnded(CrossGroupMessage, array_like=True, tag=True, gc=False):
    group: int
    epoch: int
    answering: int
    at_ns: int


MESSAGES = about(
    "crossing", OpReq, Ack, DecisionReq, VoteReq, Decision, OutcomeReq, LookUp, RecoverBegin, RecoverBegun,
    RecoverEnd, RecoverEnded, replies=(CommitReq, AbortReq, Vote, Decided, Found),
)  # fmt: skip
