"""Messages among the servers of one replica group: SSP (CFS §4.1.2) and MAMS (CFS §4.2)."""

from __future__ import annotations

from nodes.units import DiskId
from nodes.wire.messages import Mark, Message, Question, Reply, about


class Prepare(Message, array_like=True, tag=True, gc=False):
    """Journal groups in order, the first directly after `previous`. Every group up to `commit_sn` is committed."""

    epoch: int
    commit_sn: int
    previous: Mark
    groups: list[bytes]


class Prepared(Message, array_like=True, tag=True, gc=False):
    """Everything up to `mark` matches the writer's journal and is durable here."""

    epoch: int
    mark: Mark
    disk: int = 0
    """Instance of the disk that holds them. Acknowledgements of a replaced disk do not count for its successor."""


class Mismatch(Message, array_like=True, tag=True, gc=False):
    """The groups do not follow on the sender's journal. `tails` are the ends of its epochs, newest last."""

    epoch: int
    commit_sn: int
    tails: list[Mark]


class Commit(Message, array_like=True, tag=True, gc=False):
    """The commit of everything up to sn, sent when no next group carries it."""

    epoch: int
    sn: int


class CommitDecision(Message, array_like=True, tag=True, gc=False):
    """Second phase of the classic 2PC: every participant has voted for everything up to `mark`."""

    epoch: int
    mark: Mark


class DecisionLogged(Message, array_like=True, tag=True, gc=False):
    """The decision up to sn is durable here."""

    epoch: int
    sn: int


class Recover(Message, array_like=True, tag=True, gc=False):
    """The elected asks a member of the last configuration for its promise and its journal (safety rules 1-3)."""

    epoch: int
    incarnation: int = 0


class Promise(Message, array_like=True, tag=True, gc=False):
    """The sender refuses every lower epoch from now on. `tails` are the ends of its journal's epochs, newest last."""

    epoch: int
    commit_sn: int
    tails: list[Mark]
    disk: DiskId = DiskId(0)
    grant_ns: int = 0
    """Time until the sender's grants of leases to earlier holders of the lock have surely run out (safety rule 26)."""


class Stale(Message, array_like=True, tag=True, gc=False):
    """The sender has promised a later epoch."""

    promised: int


class FetchGroups(Question, array_like=True, tag=True, gc=False):
    epoch: int
    """Epoch of the elected, which may also read uncommitted groups; 0 asks for committed groups only."""
    from_sn: int
    to_sn: int


class Groups(Reply, array_like=True, tag=True, gc=False):
    """Encoded groups from `from_sn` on; empty when the sender has none of them."""

    from_sn: int
    groups: list[bytes]


class Register(Message, array_like=True, tag=True, gc=False):
    """A server that is not in step registers with the active (CFS §4.2.2 step 5)."""

    epoch: int
    commit_sn: int
    tails: list[Mark]
    incarnation: int = 0
    disk: DiskId = DiskId(0)


class Renew(Message, array_like=True, tag=True, gc=False):
    """The active opens a renewing session with one junior (CFS §4.2.3)."""

    epoch: int
    keep_sn: int
    """Sn up to which the junior's journal agrees. The junior cuts the groups after it."""
    goal_sn: int
    sources: list[str]
    """The pool nodes to read from."""
    image: bool
    image_sn: int = 0
    """Largest sn of the image, so that the junior also copies what a kept checkpoint needs; 0 for no limit."""
    anew: bool = False
    """The journals have nothing in common, and the active's is whole: the junior begins with its first group."""


class Renewed(Message, array_like=True, tag=True, gc=False):
    """The junior's progress; `phase` is image, journal, done or failed."""

    epoch: int
    phase: str
    mark: Mark


class HandOver(Question, array_like=True, tag=True, gc=False):
    """The active asks a standby to take the lock when it is released: its journal ends with `mark`, and everything is committed."""

    epoch: int
    mark: Mark


class HandOverReply(Reply, array_like=True, tag=True, gc=False):
    """`refused` is empty when the sender's journal is equal and it will take the lock."""

    refused: str


TO_WRITER: tuple[type[Message], ...] = (Prepared, Mismatch, DecisionLogged)
"""Replies of participants to the writer of journal groups."""
OF_WRITER: tuple[type[Message], ...] = (Prepare, Commit, CommitDecision, Recover)
"""Messages of the writer of journal groups to its participants."""

MESSAGES = (
    *about("journal", Prepare, Commit, CommitDecision, replies=(Prepared, Mismatch, DecisionLogged)),
    *about("takeover", Recover, HandOver, HandOverReply, replies=(Promise, Stale)),
    *about("renewing", FetchGroups, Groups, Register, Renew, replies=(Renewed,)),
)
