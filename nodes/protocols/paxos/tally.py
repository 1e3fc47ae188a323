"""The slots that each member has accepted in one ballot, and the members that a decision waits for (DCFS3; safety rules 8, 9 and 23). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from nodes.protocols.paxos.followers import Follower


class BallotTally:
    """One ballot's followers and view. `view` always holds the primary itself."""

    def __init__(
        self,
        name: str,
        configured: list[str],
        shrinks: bool,
        own: int,
        own_disk: int,
        disks: Mapping[str, int],
        any_disk: bool = False,
    ):
        """`any_disk`: the mutation `replaced_disk_votes`."""
        self._name = name
        self._own_disk = own_disk
        self.disks = disks
        """The disks on record. The others are in no majority: a takeover hears from so many of the disks on record that it misses no decision."""
        self._any_disk = any_disk
        self.configured = configured
        self._shrinks = shrinks
        """Safety rule 8's hole: the members of the view decide without a majority of the configured group."""
        self.own = own
        """Last slot of the prefix that the primary itself has accepted."""
        self.followers: dict[str, Follower] = {}
        self.view: list[str] = []
        """Members that every decision and answer waits for."""
        self.recorded: list[str] = []
        """Last decided view, whose members may hold leases."""
        self.changing: tuple[int, list[str]] | None = None
        """Slot and members of a change of the view that is under way."""
        self.changes = 0

    def change_view(self, slot: int, view: list[str]) -> None:
        """Decisions wait for new members at once, and for leaving ones until a majority has accepted the change."""
        self.view += [name for name in view if name not in self.view]
        self.changing = (slot, list(view))

    def record_view(self, slot: int) -> bool:
        """Whether a change of the view is among the slots decided up to this one."""
        if self.changing is None or slot < self.changing[0]:
            return False
        self.recorded, self.changing = self.changing[1], None
        self.changes += 1
        return True

    # --- counting --------------------------------------------------------------------------------------------------

    def _accepted(self, name: str) -> int:
        if name == self._name:
            return self.own
        follower = self.followers.get(name)
        return 0 if follower is None else follower.accepted

    def _counted(self, name: str) -> int:
        """What this member's disk counts for in a majority."""
        return self._accepted(name) if self._any_disk or self.on_record(name) else 0

    def on_record(self, name: str) -> bool:
        """Whether the disk that acknowledges, or the primary's own, is on record (safety rule 23)."""
        follower = self.followers.get(name)
        disk = self._own_disk if name == self._name else 0 if follower is None else follower.disk
        return bool(disk) and self.disks.get(name) == disk

    def may_be_recorded(self, name: str) -> bool:
        """Whether this follower's disk has every slot accepted by its predecessors, and is not on record."""
        follower = self.followers.get(name)
        whole = follower is not None and follower.whole
        return whole and name in self.configured and not self.on_record(name)

    def to_record(self) -> dict[str, int]:
        """The disks that may be recorded; the primary's own has everything that is redone."""
        found = {name: each.disk for name, each in self.followers.items() if self.may_be_recorded(name)}
        if self._name in self.configured and not self.on_record(self._name):
            found[self._name] = self._own_disk
        return found

    def _majority_has(self) -> int:
        """The last slot of the prefix that a majority of the configured group has accepted."""
        if self._shrinks:
            return self.own
        reached = sorted((self._counted(name) for name in self.configured), reverse=True)
        return reached[len(self.configured) // 2]

    def decided(self) -> int:
        """The last slot of the prefix that this majority and all of the view have accepted."""
        majority = self._majority_has()
        if self.changing is not None and majority >= self.changing[0]:
            self.view = list(self.changing[1])
        return min([majority, *(self._accepted(name) for name in self.view)])

    def executed(self, decided: int) -> int:
        """The last slot that every member of the view has executed. The primary executes decided slots at once."""
        followers = [self.followers.get(name) for name in self.view if name != self._name]
        return min([decided, *(0 if each is None else each.executed for each in followers)])

    def holders(self, slot: int) -> list[str]:
        """Servers that have accepted this slot, the primary first."""
        return [name for name in (self._name, *self.followers) if self._accepted(name) >= slot]

    def ahead_of_own(self) -> list[str]:
        """Followers that have accepted what the primary itself has not."""
        return self.holders(self.own + 1)

    def lacking(self) -> list[str]:
        """Followers that have to read an image first. With a new disk, one of them may be in the view."""
        return [name for name, follower in self.followers.items() if follower.lacks]

    # --- time ------------------------------------------------------------------------------------------------------

    def forgive(self) -> None:
        """Restarts all timeouts, because this server was frozen."""
        for follower in self.followers.values():
            follower.forgive()

    def silent(self, timeout_ns: int) -> list[str]:
        """Members of the view or about to join that are overdue."""
        return [name for name, follower in self.followers.items() if follower.silent(timeout_ns)]
