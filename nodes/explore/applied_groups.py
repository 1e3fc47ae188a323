"""The journal groups that servers have applied, and the state of the namespace after each."""

from __future__ import annotations

from nodes.explore.stage import Stage
from nodes.trace.events import Applied, Stamped


class AppliedGroups:
    """Follows what servers apply. One that begins from an image reports nothing; the server that took the image did."""

    def __init__(self, cluster: Stage):
        self._cluster = cluster
        self._digests: dict[str, dict[int, int]] = {}
        """By server and sn."""

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if isinstance(event, Applied):
            self._digests.setdefault(stamped.server, {})[event.sn] = event.digest

    def contain(self, server: str, sn: int, digests: set[str]) -> bool:
        """Whether a server that has shown the states with these digests has every group up to `sn`, in its journal and in its namespace.

        `digests`: in hex, as in the pages of a tree.
        """
        if sn < 1:
            return True
        group = self._cluster.servers[server].group
        members = [name for name, each in self._cluster.servers.items() if each.group == group]
        reached = {
            f"{digest:016x}"
            for name in members
            for applied_sn, digest in self._digests.get(name, {}).items()
            if applied_sn >= sn
        }
        return journal_end(self._cluster, server) >= sn and not reached.isdisjoint(digests)


def journal_end(cluster: Stage, server: str) -> int:
    """Sn of the last group in the journal of a metadata server."""
    return int(cluster.ask(server, {"do": "standing"})["sn"])
