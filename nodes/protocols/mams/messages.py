"""Messages among the servers of one replica group: SSP (CFS §4.1.2) and MAMS (CFS §4.2)."""

from __future__ import annotations

from nodes.storage.identity import DiskId
from nodes.wire.calls import Question, Reply
from nodes.wire.messages import Mark, Message


class Prepare(Message, array_like=True, tag=True, gc=False):
    """Journal groups in order, the first of them right after `previous`; doubles as the commit of what went before."""

    epoch: int
    commit_sn: int
    previous: Mark
    groups: list[bytes]


class Prepared(Message, array_like=True, tag=True, gc=False):
    """Everything up to `mark` matches the writer's journal and is durable here."""

    epoch: int
    mark: Mark
    disk: int = 0
    """The instance of the disk that has it: what a disk acknowledged that is gone does not count for the next one."""


class Mismatch(Message, array_like=True, tag=True, gc=False):
    """The groups do not join on to this journal, whose ends by epoch are `tails`, newest last."""

    epoch: int
    commit_sn: int
    tails: list[Mark]


class Commit(Message, array_like=True, tag=True, gc=False):
    """Sent when no next group is there to carry it."""

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
    """The elected asks a member of the last configuration what it has (safety rules 1-3)."""

    epoch: int
    incarnation: int = 0


class Promise(Message, array_like=True, tag=True, gc=False):
    """The asked one refuses every lower epoch from now on, and this is its journal."""

    epoch: int
    commit_sn: int
    tails: list[Mark]
    disk: DiskId = DiskId(0)


class Stale(Message, array_like=True, tag=True, gc=False):
    """The sender has promised a later epoch."""

    promised: int


class FetchGroups(Question, array_like=True, tag=True, gc=False):
    epoch: int
    """The elected's own, who may have all there is; 0 asks for committed groups only."""
    from_sn: int
    to_sn: int


class Groups(Reply, array_like=True, tag=True, gc=False):
    """Encoded groups from `from_sn` on; empty when the sender has none of them."""

    from_sn: int
    groups: list[bytes]


class Register(Message, array_like=True, tag=True, gc=False):
    """A server that is not in step offers itself to the active (CFS §4.2.2 step 5)."""

    epoch: int
    commit_sn: int
    tails: list[Mark]
    incarnation: int = 0
    disk: DiskId = DiskId(0)


class Renew(Message, array_like=True, tag=True, gc=False):
    """The active opens a renewing session with one junior (CFS §4.2.3)."""

    epoch: int
    keep_sn: int
    """The junior's journal agrees up to here and is cut behind it."""
    goal_sn: int
    sources: list[str]
    """The pool nodes to read from."""
    image: bool
    image_sn: int = 0
    """The image may not reach further, so that what a kept checkpoint needs is copied too; 0 for any."""


class Renewed(Message, array_like=True, tag=True, gc=False):
    """The junior's progress; `phase` is image, journal, done or failed."""

    epoch: int
    phase: str
    mark: Mark


TO_WRITER: tuple[type[Message], ...] = (Prepared, Mismatch, DecisionLogged)
"""What participants say of journal groups."""

MESSAGES: tuple[type[Message], ...] = (
    Prepare, Prepared, Mismatch, Commit, CommitDecision, DecisionLogged, Recover, Promise, Stale, FetchGroups, Groups,
    Register, Renew, Renewed,
)  # fmt: skip
