"""What journal nodes and bookies tell of themselves."""

from __future__ import annotations

from nodes.trace.base import Event


class JournalStored(Event, frozen=True, array_like=True, gc=False):
    """Journal groups of somebody else's are durable on this node."""

    sn: int
    """Of the last one."""
    epoch: int
    """Of the writer; at a bookie the number of the ledger."""
    groups: int
    group: int = 0
    """The number of the one whose journal it is; 0 at a bookie, where the ledger says so."""


class WriterFenced(Event, frozen=True, array_like=True, gc=False):
    """Earlier writers are refused from now on."""

    epoch: int
    """The later writer's; at a bookie the number of the ledger that is being closed."""
