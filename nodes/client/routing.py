"""The smart client's choice of the next server to ask (CFS §4.4, Fig. 6 left)."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.config import SECOND

SILENT_NS = 2 * SECOND
"""Time after an unanswered question within which at most one read tries the same server again."""


class Routes:
    """The servers of one group, the one believed to be active, and the largest epoch seen."""

    def __init__(self, servers: list[str], first: int = 0, reads_anywhere: bool = False):
        assert servers, "a group has servers"
        self._servers = list(servers)
        self._reads_anywhere = reads_anywhere
        self._turn = first
        self._silent_until_ns: dict[str, int] = {}
        self._followed: dict[str, int] = {}
        """Servers that were followed as hints, each with the number of steps in order during which it is not followed again."""
        self.believed = servers[first % len(servers)]
        self.epoch_seen = 0
        self._epoch_led = 0
        """The largest epoch of a view, or of an answer."""
        self.asks_views = False
        """Whether all known servers were asked for their views, and for the ones to come."""
        self.opened = False
        """Whether the client's session is open at this group."""
        self.sent = 0
        """The largest call number of a change that was ever sent to this group."""
        self.used_ns = 0
        """Time of the session's last renewal, by a change or by a renewal record."""

    def first(self, writes: bool, now_ns: int) -> str:
        """The first server to ask: the one believed to be active. For a read that any server may answer: each in turn that is not silent."""
        if not writes and self._reads_anywhere:
            for _ in self._servers:
                self._turn += 1
                server = self._servers[self._turn % len(self._servers)]
                until_ns = self._silent_until_ns.get(server)
                if until_ns is None:
                    return server
                if now_ns >= until_ns:
                    self.unanswered(server, now_ns)
                    return server
        return self.believed

    def unanswered(self, server: str, now_ns: int) -> None:
        """The server did not answer in time."""
        self._silent_until_ns[server] = now_ns + SILENT_NS

    def accept(self, server: str, epoch: int, writes: bool = True) -> bool:
        """Whether an answer of this epoch may be believed: no client accepts an older epoch than it has seen."""
        self._silent_until_ns.pop(server, None)
        if epoch < self.epoch_seen:
            return False
        self.epoch_seen = epoch
        self._epoch_led = max(self._epoch_led, epoch)
        self._followed.clear()
        if writes or not self._reads_anywhere:
            self.believed = server
        return True

    def accept_view(self, epoch: int, active: str) -> bool:
        """Whether a server's view is the first of its epoch that names the active of the group, which is asked from now on."""
        if epoch <= self._epoch_led or active not in self._servers:
            return False
        self._epoch_led, self.believed, self.asks_views = epoch, active, False
        self._followed.clear()
        return True

    @property
    def servers(self) -> Sequence[str]:
        return self._servers

    def knows(self, server: str) -> bool:
        return server in self._servers

    def learn(self, server: str) -> None:
        """Remembers a server that was added since."""
        if server and server not in self._servers:
            self._servers.append(server)
            self.asks_views = False

    @property
    def count(self) -> int:
        """Number of known servers."""
        return len(self._servers)

    def after(self, server: str, hint: str) -> str:
        """The server to ask after this one failed or refused: the one that it named, perhaps itself, else the next in order."""
        if hint in self._servers:
            return hint
        return self._servers[(self._servers.index(server) + 1) % len(self._servers)]

    def next(self, failed: str, hint: str) -> str:
        """The next server: the named one, else the one that was found active meanwhile, else the next in order.

        A server that was followed as a hint is not followed again before all others have been asked: two cut-off servers may name each other
        for ever.
        """
        if hint in self._followed:
            hint = ""
        if hint:
            self._followed[hint] = len(self._servers)
        else:
            self._followed = {name: steps - 1 for name, steps in self._followed.items() if steps > 1}
        believed = self.believed
        if believed != failed and not hint:
            self.believed = self.after(believed, "")
            return believed
        self.believed = self.after(failed, hint)
        return self.believed
