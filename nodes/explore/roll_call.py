"""Servers in step that do not count: outside the configuration, or with a disk that it does not name (safety rules 3 and 23).

A group answers and survives as long as it need not lose anybody, so such a server would show only when another one is lost.
"""

from __future__ import annotations

from nodes.explore.audit import Audited
from nodes.families import Family
from nodes.roles import IN_STEP
from nodes.trace.events import Configured, JournalOpened, Placed, Stamped


class RollCall:
    """Follows configurations, places and disks."""

    def __init__(self, family: Family) -> None:
        self._is_fixed = family.replication == "paxos"
        """Whether servers that are added follow without counting."""
        self._configured: dict[str, Configured] = {}
        """Newest configuration of each group. It names disks of journal nodes, or none, in families whose members do not count."""
        self._disks: dict[str, int] = {}
        """Instance of the disk of each server that has started since the trial began."""
        self._places: dict[str, Placed] = {}

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if isinstance(event, Configured):
            self._configured[event.group] = event
        elif isinstance(event, JournalOpened):
            self._disks[stamped.server] = event.disk
        elif isinstance(event, Placed):
            self._places[event.server] = event

    def missing(self) -> list[str]:
        """The servers that are in step and do not count, sorted."""
        return sorted(
            name for name, place in self._places.items() if place.state in IN_STEP and not self._counts(place)
        )

    def _counts(self, place: Placed) -> bool:
        configured = self._configured.get(place.group)
        if configured is None or not configured.disks.keys() & set(configured.members):
            return True
        disk = configured.disks.get(place.server)
        if disk is None:
            return self._is_fixed and place.server not in configured.members
        return disk == self._disks.get(place.server, disk)


def check_counts(trial: Audited, roll: RollCall, within_ns: int) -> None:
    """Waits so long for all servers in step to count: the record follows a little later."""
    if not trial.cluster.reaches(trial.cluster.now_ns + within_ns, lambda: not roll.missing()):
        trial.fail("service", "counted", f"in step, but without counting: {', '.join(roll.missing())}")
