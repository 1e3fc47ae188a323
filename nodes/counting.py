"""What a server sends to the others, writes to its log and answers to clients, counted where it leaves for the world: no family counts by itself."""

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
"""Directories whose synced writes are writes of the log."""
CARRIED_OUT = frozenset((Made, Done, Opened, Granted))
"""Results of writes; a read has others, and what was refused has none."""


class Replicating(NamedTuple):
    """What of a family's traffic is counted."""

    messages: tuple[type[Message], ...]
    records: Callable[[Message], int | None] | None = None
    """How many records a message carries, None for one that is no batch; without it the journal groups are the batches."""


class Counts:
    """Of one life of a server."""

    def __init__(self) -> None:
        self.messages: Counter[type[Message]] = Counter()
        self.octets: Counter[type[Message]] = Counter()
        self.records_per_batch: Counter[int] = Counter()
        """How many batches, messages in Multi-Paxos and journal groups elsewhere, had so many records."""
        self.log_writes = 0
        self.operations = 0
        """Clients' writes that were carried out and that this server has answered; one that is asked again is answered again."""

    def told(self) -> dict[str, Any]:
        """For whoever asks."""
        return {
            "messages": {kind.__name__: number for kind, number in by_name(self.messages)},
            "octets": {kind.__name__: number for kind, number in by_name(self.octets)},
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
        """The last message and its octets: the same one often goes to several others."""

    def send(self, to: str, message: Message) -> None:
        kind = type(message)
        if kind in self._kinds:
            self._count(kind, message)
        elif isinstance(message, Answer) and type(message.result) in CARRIED_OUT:
            self._counts.operations += 1
        self._send(to, message)

    def _count(self, kind: type[Message], message: Message) -> None:
        measured, octets = self._measured
        if measured is not message:
            octets = len(self._encode(message))
            self._measured = (message, octets)
        counts = self._counts
        counts.messages[kind] += 1
        counts.octets[kind] += octets
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
    """`World` of nodes/world.py; the control question `replication` tells what was counted."""

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
        self.answer = getattr(world, "answer", None)
        if self.answer is not None:
            self.answer("replication", lambda question: counts.told())

    def when_idle(self, step: Callable[[], None]) -> None:
        self._world.when_idle(step)
