"""A data node's reports to the metadata servers of one group: heartbeats, one full report, then changes.

The active and the standbys receive the same reports (CFS §3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nodes.config import MILLISECOND
from nodes.wire.data_messages import Changes, FullReport, Heartbeat, ReplicaRow
from nodes.world import World

CHANGES_NS = 20 * MILLISECOND
PART_ROWS = 5_000
PARTS_APART_NS = 1 * MILLISECOND


class ReplicaLedger:
    """Counts the changes of the replicas of one group. Pure."""

    def __init__(self, boot: int):
        self.boot = boot
        self.version = 0
        self._fresh: dict[int, ReplicaRow | None] = {}
        self._changed_in: dict[int, int] = {}
        """By block: the version with which its replica last changed."""
        self._epoch_from = 0
        """The first version of the newest epoch."""

    def begin_epoch(self) -> None:
        """The epoch has risen, which makes a version of its own: an order that names an earlier one stays void though the epoch is forgotten."""
        self._epoch_from = self.version + 1

    def is_as_known(self, block: int, boot: int, version: int) -> bool:
        """Whether the replica is still as it was reported by this life with this version, in the newest epoch."""
        return boot == self.boot and max(self._changed_in.get(block, 0), self._epoch_from) <= version

    def changed(self, block: int, row: ReplicaRow | None) -> None:
        """Notes a changed replica; None for a removed one."""
        self._fresh[block] = row
        self._changed_in[block] = self.version + 1
        if row is None:
            del self._changed_in[block]

    def take(self) -> Changes | None:
        """The changes since the last call; None when there are none. A new epoch is one, too."""
        if not self._fresh and self._epoch_from <= self.version:
            return None
        fresh, self._fresh = self._fresh, {}
        self.version += 1
        rows = [row for row in fresh.values() if row is not None]
        removed = [block for block, row in fresh.items() if row is None]
        return Changes(self.boot, self.version - 1, self.version, rows, removed)

    def full(self, rows: list[ReplicaRow], part_rows: int = PART_ROWS) -> list[FullReport]:
        """The full report. Pending changes must be taken before."""
        starts = range(0, max(1, len(rows)), part_rows)
        return [
            FullReport(self.boot, self.version, part, len(starts), rows[start : start + part_rows])
            for part, start in enumerate(starts)
        ]


class Reporter:
    """The reports to one group."""

    def __init__(
        self,
        world: World,
        group: int,
        servers: Iterable[str],
        rows: Callable[[], list[ReplicaRow]],
        space: Callable[[], tuple[int, int]],
        heartbeat_ms: int,
        silence_ms: int,
    ):
        self._world = world
        self.group = group
        self.servers = dict.fromkeys(servers)
        """Every known server of the group."""
        self._configured = frozenset(servers)
        self._epoch = 0
        """The highest epoch that a configured server reported."""
        self._guest = (0, 0)
        """The epoch that another server reported last, and the time until which it is believed."""
        self._silence_ns = silence_ms * MILLISECOND
        self._rows = rows
        self._space = space
        self._heartbeat_ns = heartbeat_ms * MILLISECOND
        self._ledger = ReplicaLedger(world.rng.getrandbits(40) + 1)
        self._gathering = False
        self._in_reply: dict[str, None] = {}

    def changed(self, block: int, row: ReplicaRow | None) -> None:
        self._ledger.changed(block, row)
        if not self._gathering:
            self._gathering = True
            self._world.clock.call_later(CHANGES_NS, self._report_changes)

    def is_as_known(self, block: int, boot: int, version: int) -> bool:
        return self._ledger.is_as_known(block, boot, version)

    def _report_changes(self) -> None:
        self._gathering = False
        changes = self._ledger.take()
        if changes is not None and self._world.scope.open:
            for server in self.servers:
                self._world.network.send(server, changes)

    @property
    def epoch(self) -> int:
        """The highest epoch that is believed now. The epoch of a server that was added later expires when the server is silent."""
        epoch, until_ns = self._guest
        return max(self._epoch, epoch) if self._world.clock.monotonic_ns() < until_ns else self._epoch

    def on_epoch(self, server: str, epoch: int) -> bool:
        """Whether a command or message of this epoch is authorized."""
        known = self.epoch
        if epoch < known:
            return False
        if server in self._configured:
            self._epoch = epoch
        else:
            self._guest = (epoch, self._world.clock.monotonic_ns() + self._silence_ns)
        if epoch > known:
            self._ledger.begin_epoch()
            self.beat()
        return True

    def on_want(self, server: str) -> None:
        """Sends a server the full report, once if it asks again meanwhile."""
        self.servers[server] = None
        if server not in self._in_reply:
            self._in_reply[server] = None
            self._world.scope.spawn(self._report_all(server), "full report")

    async def _report_all(self, server: str) -> None:
        self._report_changes()
        self._world.network.send(server, self._beat())
        for part in self._ledger.full(self._rows()):
            self._world.network.send(server, part)
            await self._world.clock.sleep(PARTS_APART_NS)
        del self._in_reply[server]

    async def run(self) -> None:
        """Sends heartbeats as long as the data node runs."""
        for server in list(self.servers):
            self.on_want(server)
        while True:
            await self._world.clock.sleep(self._heartbeat_ns)
            self.beat()

    def beat(self) -> None:
        self._report_changes()  # So that the version stands for all that was done in the epoch before.
        for server in self.servers:
            self._world.network.send(server, self._beat())

    def _beat(self) -> Heartbeat:
        capacity, used = self._space()
        ledger, address = self._ledger, self._world.network.address
        return Heartbeat(ledger.boot, ledger.version, address, capacity, used, self.epoch)
