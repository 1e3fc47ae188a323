"""Messages about the leases that members or journal nodes grant the holder of the lock (safety rule 26)."""

from __future__ import annotations

from nodes.wire.messages import Message, about


class AskGrant(Message, array_like=True, tag=True, gc=False):
    """The holder of the lock asks for a grant."""

    epoch: int
    generation: int
    """Generation of its lock."""
    number: int
    """Number of this heartbeat in its tenure; the grant names it."""
    journal: int = 0
    """Number of the group: a journal node keeps a journal for each, and grants the holder of each."""


class Granted(Message, array_like=True, tag=True, gc=False):
    """The sender reports no promise of a higher epoch without the rest of this grant."""

    epoch: int
    number: int
    disk: int
    """Instance of the sender's disk. A replaced disk does not know what the former one promised."""


class AskSilence(Message, array_like=True, tag=True, gc=False):
    """The sender has received nothing from the holder of this lock for a whole grant."""

    generation: int
    journal: int = 0
    """Number of the group."""


class Silent(Message, array_like=True, tag=True, gc=False):
    """Neither has this server."""

    generation: int


MESSAGES = about("view", AskGrant, AskSilence, replies=(Granted, Silent))
