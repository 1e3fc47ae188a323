"""Messages among the actives of all groups while a checkpoint is marked (CFS §4.3, Algorithm 3; safety rule 13)."""

from __future__ import annotations

from nodes.wire.calls import Question, Reply
from nodes.wire.messages import Mark, Message


class BeginMarking(Question, array_like=True, tag=True, gc=False):
    """To the active that was drawn as time server (Algorithm 3, lines 9-12)."""

    name: str


class MarkingEnded(Reply, array_like=True, tag=True, gc=False):
    refused: str
    """Why nothing was begun, in one line; empty when the checkpoint was decided."""


class TellTime(Question, array_like=True, tag=True, gc=False):
    """Line 13, the other way round: the time server asks."""


class TimeTold(Reply, array_like=True, tag=True, gc=False):
    wall_ns: int


class Drain(Question, array_like=True, tag=True, gc=False):
    """Take no requests and begin nothing with another group; what is open is finished."""

    name: str


class Drained(Reply, array_like=True, tag=True, gc=False):
    epoch: int
    sn: int
    """Everything up to here is committed, and nothing is open."""


class WriteBarrier(Question, array_like=True, tag=True, gc=False):
    """All groups have drained: the barrier comes next in each journal."""

    name: str
    stamp_ns: int
    """What the groups agreed to call the present time."""
    at_once: bool
    """The paper's single phase: nobody was asked to drain, and nobody waits for the others."""


class BarrierStands(Reply, array_like=True, tag=True, gc=False):
    """The barrier is committed as the only record of this group of the journal."""

    mark: Mark
    digest: str
    """Of the namespace at the barrier, 16 hexadecimal digits."""
    next_block: int


class CheckpointDecided(Message, array_like=True, tag=True, gc=False):
    """The outcome can be read in the coordination service: a hint, which may be lost."""

    name: str


class AskReach(Question, array_like=True, tag=True, gc=False):
    """Before a recovery: could you go back to this barrier?"""

    barrier: Mark


class Reach(Reply, array_like=True, tag=True, gc=False):
    lacks: str
    """Why it could not, to be read after its name; empty when it could."""


TO_ACTIVE: tuple[type[Message], ...] = (Drain, WriteBarrier, CheckpointDecided)
MESSAGES: tuple[type[Message], ...] = (
    BeginMarking, MarkingEnded, TellTime, TimeTold, Drain, Drained, WriteBarrier, BarrierStands, CheckpointDecided,
    AskReach, Reach,
)  # fmt: skip
