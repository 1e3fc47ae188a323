"""Counters of a server's messages, log writes and answers to clients. They are counted where they leave for the world, not by each family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from nodes.metadata.operations import Done, Granted, Made, Opened
from nodes.trace.base import Event
from nodes.trace.events import Durable
from nodes.wire.messages import Answer, Message
from nodes.world import AppendFile, Disk, Network, Trace, World

LOGS = ("journal", "decisions")
"""Directories whose synced writes count as log writes."""
CARRIED_OUT = frozenset((Made, Done, Opened, Granted))
"""Results of writes; reads have other results, and refused calls have none."""


class Replicating(NamedTuple):
    """The messages of a family that are counted."""

    messages: tuple[type[Message], ...]
    records: Callable[[Message], int | None] | None = None
    """Number of records that a message carries, None for one that is no batch; without it the journal groups are the batches."""


class Counts:
    """The counters of one process of a server."""

    def __init__(self) -> None:
        self.messages: Counter[type[Message]] = Counter()
        self.size: Counter[type[Message]] = Counter()
        self.records_per_batch: Counter[int] = Counter()
        """Number of batches by their number of records; a batch is a message in Multi-Paxos and a journal group elsewhere."""
        self.log_writes = 0
        self.operations = 0
        """Clients' writes that were carried out and that this server has answered; a repeated answer counts again."""

    def reported(self) -> dict[str, Any]:
        """The counters as the answer to a control question."""
        return {
            "messages": {kind.__name__: number for kind, number in by_name(self.messages)},
            "size": {kind.__name__: number for kind, number in by_name(self.size)},
            "records_per_batch": {str(n): number for n, number in sorted(self.records_per_batch.items())},
            "log_writes": self.log_writes,
            "operations": self.operations,
        }


def by_name(counter: Counter[type[Message]]) -> list[tuple[type[Message], int]]:
    return sorted(counter.items(), key=lambda counted: counted[0].__name__)


class CountedNetwork:
    """`Network` of nodes/world.py."""

    def __init__(self, network: Network, replicating: Replicating, counts: Counts):
        self.name = network.name
        self.address = network.address
        self.know = network.know
        self.receive = network.receive
        self._send = network.send
        self._kinds = frozenset(replicating.messages)
        self._records = replicating.records
        self._counts = counts
        self._encode = msgspec.msgpack.Encoder().encode
        self._measured: tuple[Message | None, int] = (None, 0)
        """The last message and its size in bytes: the same message is often sent to several peers."""

    def send(self, to: str, message: Message) -> None:
        kind = type(message)
        if kind in self._kinds:
            self._count(kind, message)
        elif isinstance(message, Answer) and type(message.result) in CARRIED_OUT:
            self._counts.operations += 1
        self._send(to, message)

    def _count(self, kind: type[Message], message: Message) -> None:
        measured, size = self._measured
        if measured is not message:
            size = len(self._encode(message))
            self._measured = (message, size)
        counts = self._counts
        counts.messages[kind] += 1
        counts.size[kind] += size
        records = self._records(message) if self._records is not None else None
        if records is not None:
            counts.records_per_batch[records] += 1


class CountedFile:
    """`AppendFile` of nodes/world.py, of a log."""

    def __init__(self, file: AppendFile, counts: Counts):
        self.append = file.append
        self.truncate = file.truncate
        self.close = file.close
        self._file = file
        self._counts = counts

    @property
    def size(self) -> int:
        return self._file.size

    async def sync(self) -> None:
        self._counts.log_writes += 1
        await self._file.sync()


class CountedDisk:
    """`Disk` of nodes/world.py."""

    def __init__(self, disk: Disk, counts: Counts):
        self.names = disk.names
        self.read = disk.read
        self.size = disk.size
        self.capacity = disk.capacity
        self.free = disk.free
        self.replace = disk.replace
        self.move = disk.move
        self.remove = disk.remove
        self._open_append = disk.open_append
        self._counts = counts

    def open_append(self, path: str) -> AppendFile:
        file = self._open_append(path)
        return CountedFile(file, self._counts) if path.partition("/")[0] in LOGS else file


class CountedTrace:
    """`Trace` of nodes/world.py."""

    def __init__(self, trace: Trace, counts: Counts):
        self.at = trace.at
        self.follows = trace.follows
        self._emit = trace.emit
        self._counts = counts

    def emit(self, event: Event) -> int:
        if type(event) is Durable:
            self._counts.records_per_batch[event.records] += 1
        return self._emit(event)


class CountedWorld:
    """`World` of nodes/world.py; the control question `replication` returns the counters."""

    def __init__(self, world: World, replicating: Replicating):
        counts = Counts()
        self.name = world.name
        self.clock = world.clock
        self.rng = world.rng
        self.network = CountedNetwork(world.network, replicating, counts)
        self.disk = CountedDisk(world.disk, counts)
        self.coordination = world.coordination
        self.trace = world.trace if replicating.records is not None else CountedTrace(world.trace, counts)
        self.scope = world.scope
        self._world = world
        self.answer = world.answer
        self.copies = world.copies
        self.answer("replication", lambda question: counts.reported())

    def when_idle(self, step: Callable[[], None]) -> None:
        self._world.when_idle(step)
