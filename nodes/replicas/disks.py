"""The servers that count, by their disks (safety rule 23). Pure.

A record names the disk of each member. While it names none, the group has never acknowledged anything, or was made by a version without disk
identities; then every member counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nodes.units import DiskId

WHOLE, DOUBTFUL, OTHER = "whole", "doubtful", "other"


class Roll:
    """Members and their recorded disks. `replaced_disk_votes` is the mutation."""

    def __init__(self, members: Iterable[str], disks: Mapping[str, int], replaced_disk_votes: bool):
        self.members = list(members)
        self.disks = disks
        self._replaced_votes = replaced_disk_votes

    def standing(self, member: str, disk: DiskId) -> str:
        """WHOLE: the disk has all that the member ever acknowledged. DOUBTFUL: it may lack the end of it. OTHER: it is not the member's disk."""
        recorded = self.disks.get(member, 0)
        if recorded == disk.instance:
            return WHOLE
        if disk.before and (recorded in disk.before or not self.disks):
            return DOUBTFUL
        return WHOLE if self._replaced_votes or not self.disks else OTHER

    def whole(self, received: Mapping[str, DiskId]) -> list[str]:
        """The members in `received` that count."""
        return [m for m in self.members if m in received and self.standing(m, received[m]) == WHOLE]

    def suffices(self, quorum: int, received: Mapping[str, DiskId]) -> bool:
        """Whether no other server can hold anything acknowledged: enough members that count have answered, or all members have.

        A doubtful member does not count by itself; when all members have answered, no other copy exists. A member whose recorded disk is gone
        never answers.
        """
        return len(self.whole(received)) >= quorum or all(
            self._received(member, received) for member in self.members
        )

    def _received(self, member: str, received: Mapping[str, DiskId]) -> bool:
        if member not in received:
            return False
        return member not in self.disks or self.standing(member, received[member]) != OTHER
