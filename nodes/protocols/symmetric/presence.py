"""Who is there: leases that the members of a view grant each other, and who has fallen silent (safety rules 7, 9): pure.

A member reads under a lease from every other one. A grant runs from when its receiver *sent* the message that is echoed, and whoever grants
counts it from when that message arrived, which is later: when the granting side says that it has ended, it has.
"""

from __future__ import annotations

from nodes.replicas.lease import Term


class Presence:
    """One member's knowledge of the others in a view; all times on this server's monotonic clock."""

    def __init__(self, own: int, size: int, now_ns: int, term: Term, never_ends: bool):
        self._own = own
        self._held_ns = term.held_ns
        self._silence_ns = term.outlived_ns
        """How long nothing must be heard."""
        self._never_ends = never_ends
        self.grants = True
        """Whether what is heard from others lengthens their leases."""
        self._heard_ns = [now_ns] * size
        self._granted_ns = [now_ns] * size
        """When a member was heard last that could have been granted anything for it."""
        self._newest_ns = [0] * size
        """The last `sent_ns` of each, on its own clock."""
        self._until_ns = [0] * size
        """The end of each one's grant to us."""
        self._left = [False] * size
        """Who has said that it answers nothing any more."""

    def heard(self, member: int, sent_ns: int, echo_ns: int, now_ns: int) -> None:
        """Something came from a member, with an echo of ours."""
        self._heard_ns[member] = now_ns
        if self.grants:
            self._granted_ns[member] = now_ns
        self._newest_ns[member] = max(self._newest_ns[member], sent_ns)
        if 0 < echo_ns <= now_ns:
            self._until_ns[member] = max(self._until_ns[member], echo_ns + self._held_ns)

    def left(self, member: int) -> None:
        """That member has stopped: it uses no lease."""
        self._left[member] = True

    def echo_for(self, member: int) -> int:
        return self._newest_ns[member] if self.grants else 0

    def granted_by(self, member: int, now_ns: int) -> bool:
        return now_ns < self._until_ns[member]

    def lease_holds(self, now_ns: int) -> bool:
        """Asked in the same step that answers a read."""
        if self._never_ends:
            return True
        return all(now_ns < until for member, until in enumerate(self._until_ns) if member != self._own)

    def late_ns(self, now_ns: int) -> int:
        """How long ago the lease ended."""
        others = [until for member, until in enumerate(self._until_ns) if member != self._own]
        return now_ns - min(others, default=now_ns)

    def silent(self, now_ns: int) -> list[int]:
        """Members of whom nothing has come for longer than a lease, and those who have left."""
        return [
            member
            for member, heard in enumerate(self._heard_ns)
            if member != self._own and (self._left[member] or now_ns - heard > self._silence_ns)
        ]

    def free_ns(self, now_ns: int) -> list[int]:
        """For each member, how long what we granted it may still last."""
        return [
            0 if left else max(0, heard + self._silence_ns - now_ns)
            for heard, left in zip(self._granted_ns, self._left, strict=True)
        ]


def lease_ends_in(excluded: list[int], granted: dict[int, list[int]]) -> int:
    """How long the longest lease of the excluded members may last, in nanoseconds.

    `granted` is what each of those who answered has said of its grants; a lease ends with the first grant that does. Nobody grants itself
    anything, so what an excluded member says of itself does not count.
    """
    return max(
        (
            min((grants[member] for granter, grants in granted.items() if granter != member), default=0)
            for member in excluded
        ),
        default=0,
    )
