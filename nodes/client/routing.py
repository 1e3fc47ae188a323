"""Which server the smart client asks next (CFS §4.4, Fig. 6 left)."""

from __future__ import annotations

from nodes.config import SECOND

SILENT_NS = 2 * SECOND
"""So long after a question that was not answered in time one read at most tries the same server again."""


class Routes:
    """The servers of one group, the one believed to be active, and the largest epoch seen."""

    def __init__(self, servers: list[str], first: int = 0, reads_anywhere: bool = False):
        assert servers, "a group has servers"
        self._servers = list(servers)
        self._reads_anywhere = reads_anywhere
        self._turn = first
        self._silent_until_ns: dict[str, int] = {}
        self._followed: dict[str, int] = {}
        """Servers that were asked because they had been named, and for how many steps in order that is not done again."""
        self.believed = servers[first % len(servers)]
        self.epoch_seen = 0
        self.opened = False
        """Whether the client's session is open at this group."""
        self.sent = 0
        """The largest number of a change that this group was ever asked for."""
        self.used_ns = 0
        """When the session was last renewed, by a change or by itself."""

    def first(self, writes: bool, now_ns: int) -> str:
        """Who is asked first: the one believed to be active; for a read that any may answer, each in turn that is not silent."""
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
        """It was asked, and did not answer in time."""
        self._silent_until_ns[server] = now_ns + SILENT_NS

    def accept(self, server: str, epoch: int, writes: bool = True) -> bool:
        """Whether an answer of this epoch may be believed: no client accepts an older epoch than it has seen."""
        self._silent_until_ns.pop(server, None)
        if epoch < self.epoch_seen:
            return False
        self.epoch_seen = epoch
        self._followed.clear()
        if writes or not self._reads_anywhere:
            self.believed = server
        return True

    def knows(self, server: str) -> bool:
        return server in self._servers

    def learn(self, server: str) -> None:
        """One that was added since is remembered."""
        if server and server not in self._servers:
            self._servers.append(server)

    @property
    def count(self) -> int:
        """How many servers are known."""
        return len(self._servers)

    def after(self, server: str, hint: str) -> str:
        """Who is asked after this server failed or refused: the one it named, else the next in order."""
        if hint and hint != server and hint in self._servers:
            return hint
        return self._servers[(self._servers.index(server) + 1) % len(self._servers)]

    def next(self, failed: str, hint: str) -> str:
        """Follows whoever has been answered meanwhile, else the server that was named, else the next in order.

        Nobody who was named is asked for that again before everybody has been: two servers that are cut off name each other for ever.
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
