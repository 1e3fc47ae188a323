"""Messages among the actives of all groups while a checkpoint is marked (CFS §4.3, Algorithm 3; safety rule 13)."""

from __future__ import annotations

from nodes.wire.messages import Mark, Message, Question, Reply, about


class BeginMarking(Question, array_like=True, tag=True, gc=False):
    """Request to the active that was drawn as time server (Algorithm 3, lines 9-12)."""

    name: str


class MarkingEnded(Reply, array_like=True, tag=True, gc=False):
    refused: str
    """Reason why no marking began, in one line; empty when the checkpoint was decided."""


class TimeQuestion(Question, array_like=True, tag=True, gc=False):
    """Line 13 with the direction reversed: the time server asks for the time."""


class TimeReply(Reply, array_like=True, tag=True, gc=False):
    wall_ns: int


class Drain(Question, array_like=True, tag=True, gc=False):
    """Order to take no requests and to begin no operation with another group; open operations are finished."""

    name: str


class Drained(Reply, array_like=True, tag=True, gc=False):
    epoch: int
    sn: int
    """Everything up to this sn is committed, and no operation is open."""


class WriteBarrier(Question, array_like=True, tag=True, gc=False):
    """All groups have drained: the barrier comes next in each journal."""

    name: str
    stamp_ns: int
    """The present time on which the groups agreed."""
    at_once: bool
    """The paper's single phase: no group was asked to drain first, and no group waits for the others."""


class BarrierStands(Reply, array_like=True, tag=True, gc=False):
    """The barrier is committed as the only record of this group of the journal."""

    mark: Mark
    digest: str
    """Digest of the namespace at the barrier, 16 hexadecimal digits."""
    next_block: int


class CheckpointDecided(Message, array_like=True, tag=True, gc=False):
    """The outcome can be read in the coordination service: a hint, which may be lost."""

    name: str


class AskReach(Question, array_like=True, tag=True, gc=False):
    """Question before a recovery: can this server roll back to this barrier?"""

    barrier: Mark


class Reach(Reply, array_like=True, tag=True, gc=False):
    lacks: str
    """Reason why the server cannot roll back, worded to follow its name; empty when it can."""


TO_ACTIVE: tuple[type[Message], ...] = (Drain, WriteBarrier, CheckpointDecided)
MESSAGES = about(
    "crossing", BeginMarking, MarkingEnded, TimeQuestion, TimeReply, Drain, Drained, WriteBarrier, BarrierStands,
    CheckpointDecided, AskReach, Reach,
)  # fmt: skip
