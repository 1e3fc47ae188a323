"""Which servers count, by their disks (safety rule 23): pure.

A record names the disk of each member. While it names none, the group has never acknowledged anything, or was made by a version that knew no disks:
then everybody counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nodes.storage.identity import DiskId

WHOLE, DOUBTFUL, OTHER = "whole", "doubtful", "other"


class Roll:
    """Members and their recorded disks. `replaced_disk_votes` is the mutation."""

    def __init__(self, members: Iterable[str], disks: Mapping[str, int], replaced_disk_votes: bool):
        self.members = list(members)
        self.disks = disks
        self._replaced_votes = replaced_disk_votes

    def standing(self, member: str, disk: DiskId) -> str:
        """WHOLE: has all that it ever acknowledged. DOUBTFUL: may lack the end of it. OTHER: is not the member's disk."""
        recorded = self.disks.get(member, 0)
        if recorded == disk.instance:
            return WHOLE
        if disk.before and (recorded in disk.before or not self.disks):
            return DOUBTFUL
        return WHOLE if self._replaced_votes or not self.disks else OTHER

    def whole(self, heard: Mapping[str, DiskId]) -> list[str]:
        """The members that count, of those heard."""
        return [m for m in self.members if m in heard and self.standing(m, heard[m]) == WHOLE]

    def suffices(self, quorum: int, heard: Mapping[str, DiskId]) -> bool:
        """Whether nothing that was acknowledged can lie elsewhere: so many that count have been heard, or all members have.

        A doubtful one counts for nothing by itself; where all have been heard there is nobody left to ask. One whose recorded disk is gone is
        never heard.
        """
        return len(self.whole(heard)) >= quorum or all(self._heard(member, heard) for member in self.members)

    def _heard(self, member: str, heard: Mapping[str, DiskId]) -> bool:
        if member not in heard:
            return False
        return member not in self.disks or self.standing(member, heard[member]) != OTHER
