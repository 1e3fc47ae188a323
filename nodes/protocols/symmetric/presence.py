"""Presence of members: the leases that members of a view grant each other, and the silent members (safety rules 7, 9). Pure.

A member reads under a lease from every other one. The receiver counts a grant from the time it *sent* the echoed message. The granting member
counts from the arrival of that message, which is later. So a grant that the granting member considers expired has expired.
"""

from __future__ import annotations

from nodes.replicas.lease import Term


class Presence:
    """One member's knowledge of the others in a view; all times on this server's monotonic clock."""

    def __init__(self, own: int, size: int, now_ns: int, term: Term, never_ends: bool):
        self._own = own
        self._held_ns = term.held_ns
        self._silence_ns = term.outlived_ns
        """Silence after which a member counts as silent."""
        self._never_ends = never_ends
        self.grants = True
        """Whether messages of others extend their leases, and theirs this one's. A member that has settled the next view reads on under the lease
        that it has, and takes no more: who is left out may go on granting, and nobody in the next view knows of that."""
        self._received_ns = [now_ns] * size
        self._granted_ns = [now_ns] * size
        """Time of each member's last message that could extend its lease."""
        self._newest_ns = [0] * size
        """Newest `sent_ns` of each member, on its own clock."""
        self._until_ns = [0] * size
        """End of each member's grant to this one."""
        self._left = [False] * size
        """Whether each member has announced that it stops."""

    def received(self, member: int, sent_ns: int, echo_ns: int, now_ns: int) -> None:
        """Takes a member's message with its echo of this member's `sent_ns`."""
        self._received_ns[member] = now_ns
        if self.grants:
            self._granted_ns[member] = now_ns
        self._newest_ns[member] = max(self._newest_ns[member], sent_ns)
        if self.grants and 0 < echo_ns <= now_ns:
            self._until_ns[member] = max(self._until_ns[member], echo_ns + self._held_ns)

    def left(self, member: int) -> None:
        """Notes that a member has stopped, so that it uses no lease."""
        self._left[member] = True

    def echo_for(self, member: int) -> int:
        return self._newest_ns[member] if self.grants else 0

    def granted_by(self, member: int, now_ns: int) -> bool:
        return now_ns < self._until_ns[member]

    def lease_holds(self, now_ns: int) -> bool:
        """Whether this member's lease holds; checked in the same step that answers a read."""
        if self._never_ends:
            return True
        return all(now_ns < until for member, until in enumerate(self._until_ns) if member != self._own)

    def late_ns(self, now_ns: int) -> int:
        """How long ago the lease ended."""
        others = [until for member, until in enumerate(self._until_ns) if member != self._own]
        return now_ns - min(others, default=now_ns)

    def silent(self, now_ns: int) -> list[int]:
        """The members that sent no message for longer than a lease, and those that have left."""
        return [
            member
            for member, received in enumerate(self._received_ns)
            if member != self._own and (self._left[member] or now_ns - received > self._silence_ns)
        ]

    def free_ns(self, now_ns: int) -> list[int]:
        """The remaining time of this member's grant to each member."""
        return [
            0 if left else max(0, received + self._silence_ns - now_ns)
            for received, left in zip(self._granted_ns, self._left, strict=True)
        ]


def lease_ends_in(excluded: list[int], granted: dict[int, list[int]]) -> int:
    """How long the longest lease of the excluded members may last, in nanoseconds.

    `granted` holds the remaining grants of each member that answered. A lease ends with the first of its grants to end. No member grants
    itself a lease, so an excluded member's own entry for itself does not count.
    """
    return max(
        (
            min((grants[member] for granter, grants in granted.items() if granter != member), default=0)
            for member in excluded
        ),
        default=0,
    )
