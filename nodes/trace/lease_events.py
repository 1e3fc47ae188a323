"""Events about the lease of an active, and about evidence against it (safety rules 16 and 26)."""

from __future__ import annotations

from nodes.trace.base import Event


class LeaseLost(Event, frozen=True, array_like=True, gc=False):
    """The active sends no answers: its coordination session has not been confirmed in time (safety rule 16)."""

    epoch: int
    late_ns: int


class LeaseConfirmed(Event, frozen=True, array_like=True, gc=False):
    """The active sends answers again."""

    epoch: int


class LockRemoved(Event, frozen=True, array_like=True, gc=False):
    """The lock of a suspected holder was removed on evidence, before its session ended (safety rule 26)."""

    group: str
    holder: str
    evidence: str
    """`silence`: the members receive nothing from it; `death`: the owner of its process recorded its end."""
    agreed: list[str]
    """The members that agreed; for a death, none."""
