"""Removals that a person orders while a machine is lost for ever of which the servers cannot know yet.

A leader removes a server only when enough of the others have everything and have just answered. A member may be lost a moment later. The group
that is left may be too small to go on, and no protocol can rule that out.
Such a removal is the person's, as if the machine had been lost just after it. Two kinds of removals are judged: those that servers decide by
themselves, and those after which too many are gone whose silence must have been noticed.
"""

from __future__ import annotations

from nodes.config import MILLISECOND, ClusterConfig, Timing


def unnoticed_ns(timing: Timing) -> int:
    """Time in which a lost member may still count: a leader asks all members before it removes one, and then the record is on its way to
    coordination."""
    return (timing.session_timeout_ms + timing.ack_timeout_ms) * MILLISECOND


class OrderedRemovals:
    """Follows orders, lost machines and configurations."""

    def __init__(self, cluster: ClusterConfig):
        self._unnoticed_ns = unnoticed_ns(cluster.timing)
        self._members = {group.name: list(group.members) for group in cluster.groups}
        self._epochs: dict[str, int] = {}
        self._ordered: set[str] = set()
        """Servers that a person has asked to remove, in the present tenure of their leaders."""
        self._gone: dict[str, int] = {}
        """Times at which machines were lost for ever, by server."""

    def note(self, verb: str, names: list[str], at_ns: int) -> None:
        if verb == "remove_server":
            self._ordered.update(names)
        elif verb == "gone":
            for name in names:
                self._gone.setdefault(name, at_ns)

    def begin_tenure(self, group: str, epoch: int) -> None:
        """An order ends with the tenure of the leader that has it. What the next one removes, it removes by itself."""
        if epoch > self._epochs.get(group, 0):
            self._epochs[group] = epoch
            self._ordered.difference_update(self._members.get(group, []))

    def configure(self, group: str, members: list[str], at_ns: int, survives: int) -> str:
        """A sentence when an ordered removal leaves more lost members than so many `survives`, and not all of them can have been noticed."""
        before = self._members.get(group, [])
        self._members[group] = members
        removed = [name for name in before if name in self._ordered and name not in members]
        gone = [name for name in members if name in self._gone]
        noticed = [name for name in gone if at_ns - self._gone[name] > self._unnoticed_ns]
        if not removed or len(noticed) > survives or len(gone) <= survives:
            return ""
        return f"{', '.join(removed)} was removed on request, and {group} counted {', '.join(gone)}, which had just been lost"
