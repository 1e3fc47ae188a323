"""Events of journal nodes and bookies."""

from __future__ import annotations

from nodes.trace.base import Event


class JournalStored(Event, frozen=True, array_like=True, gc=False):
    """Journal groups of a metadata server are durable on this node."""

    sn: int
    """Sn of the last group."""
    epoch: int
    """Epoch of the writer; at a bookie the number of the ledger."""
    groups: int
    group: int = 0
    """Number of the group whose journal it is; 0 at a bookie, where the ledger determines it."""


class WriterFenced(Event, frozen=True, array_like=True, gc=False):
    """This node refuses earlier writers from now on."""

    epoch: int
    """Epoch of the later writer; at a bookie the number of the ledger that is being closed."""


class LedgersForgotten(Event, frozen=True, array_like=True, gc=False):
    """A bookie has durably forgotten a group's ledgers below a number, and refuses them from now on."""

    below: int
    first_record: int
    """Number of the first record of its journal: those before were of forgotten ledgers and are removed."""
