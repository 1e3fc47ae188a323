"""`saa-fig11`, `saa-fig12`: time of file operations at the metadata server and at the data nodes, and of reads and writes at the metadata server
(SAA §7.5, Fig. 11 and 12). In virtual time, with real bytes: PostMark, Iozone and BTIO made smaller, on one metadata server and three data nodes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from random import Random

from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from benchmarks._simulation import MESSAGE_NS, charge, charge_writes
from nodes.config import SECOND, DataConfig, one_group
from nodes.invariants.calls import WRITES, tag_of
from nodes.metadata.operations import Delete
from nodes.sim.cluster import SimClient, SimCluster
from nodes.sim.service_time import ServiceTimeModel
from nodes.trace.events import Called, Stamped
from nodes.wire.data_messages import Choose, Chosen, Locate, Located, Packet, ReadBlock
from nodes.wire.messages import Message

DATA_NODES = 3
BYTES_PER_S = 12_500_000
"""Bytes per second that a data node takes or gives: the paper's Fast Ethernet of 100 Mbit/s."""
MIB = 1 << 20
BLOCK = 64 * MIB
"""A block holds a whole file: the paper's file system asks its metadata server nothing for a part of a file."""
POSTMARK_FILES, POSTMARK_TRANSACTIONS = 8, 16
IOZONE_MIB = 64
IOZONE_KIB = (4, 32, 128)
BTIO_CLIENTS, BTIO_STEPS, BTIO_MIB = 4, 10, 2
SMALL = 8
"""Divisor of sizes and numbers of a quick run."""
SEED = 1
LIMIT_NS = 36_000 * SECOND
PAPER_11 = {"mds_share_most": 0.01}
"""An upper bound, which the paper states for most of the workloads."""
PAPER_12 = {"read_share_least": 0.20}
"""PostMark's."""


class Bandwidth:
    """Data nodes that take time for each message and for each byte of content. Bytes are charged when they are sent to a node or asked of it."""

    def __init__(self, cluster: SimCluster, nodes: list[str], bytes_per_s: int = BYTES_PER_S):
        self._bytes_per_s = bytes_per_s
        self._owed_ns: Counter[str] = Counter()
        for name in nodes:
            machine = cluster.servers[name].machine
            assert machine is not None
            cluster.net.hosts[name].desk = ServiceTimeModel(machine, MESSAGE_NS, partial(self._take, name))
        cluster.net.on_sent.subscribe(self._on_sent)

    def _on_sent(self, sender: str, receiver: str, message: Message) -> None:
        if type(message) is Packet:
            self._owed_ns[receiver] += len(message.data) * SECOND // self._bytes_per_s
        elif type(message) is ReadBlock:
            self._owed_ns[receiver] += message.length * SECOND // self._bytes_per_s

    def _take(self, name: str) -> int:
        return self._owed_ns.pop(name, 0)


class Times:
    """Sums over the operations of all clients, in nanoseconds: in all, and what metadata calls took of it, as the clients see both."""

    def __init__(self, cluster: SimCluster):
        self._cluster = cluster
        self._asked_ns: dict[tuple[str, int], int] = {}
        self.whole = self.reads = self.writes = 0
        cluster.on_event(self._on_event)
        cluster.net.on_sent.subscribe(self._on_sent)

    def _on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Called:
            took_ns = event.returned_ns - event.invoked_ns
            if tag_of(event.operation) in WRITES:
                self.writes += took_ns
            else:
                self.reads += took_ns

    def _on_sent(self, sender: str, receiver: str, message: Message) -> None:
        """Questions about the locations of blocks are reads. They count until the reply leaves."""
        if type(message) in (Locate, Choose):
            self._asked_ns[sender, message.call] = self._cluster.now_ns  # type: ignore[attr-defined]
        elif type(message) in (Located, Chosen):
            key = (receiver, message.call)  # type: ignore[attr-defined]
            self.reads += self._cluster.now_ns - self._asked_ns.pop(key, self._cluster.now_ns)

    async def of(self, operation: Awaitable[object]) -> None:
        began_ns = self._cluster.now_ns
        await operation
        self.whole += self._cluster.now_ns - began_ns

    @property
    def mds_share(self) -> float:
        return (self.reads + self.writes) / self.whole

    @property
    def read_share(self) -> float:
        return self.reads / (self.reads + self.writes)


class WorkloadFileSystem:
    """The file system of one workload."""

    def __init__(self) -> None:
        nodes = [f"dn{number}" for number in range(1, DATA_NODES + 1)]
        self.cluster = SimCluster(one_group(0, protocol="symmetric", data=DataConfig(nodes=nodes)), SEED)
        self.cluster.run_until(self.cluster.settled)
        self.cluster.run_for(2 * SECOND)
        charge(self.cluster)
        charge_writes(self.cluster)
        Bandwidth(self.cluster, nodes)
        self.times = Times(self.cluster)
        self.rng = Random(SEED)

    async def put(self, client: SimClient, path: str, size: int, part: int) -> None:
        await self.times.of(client.files.put(path, self._parts(size, part), BLOCK))

    async def append(self, client: SimClient, path: str, size: int, part: int) -> None:
        await self.times.of(client.files.append(path, self._parts(size, part), block_size=BLOCK))

    async def get(self, client: SimClient, path: str) -> None:
        await self.times.of(self._read(client, path))

    async def delete(self, client: SimClient, path: str) -> None:
        await self.times.of(client.client.call(Delete(path)))

    async def _read(self, client: SimClient, path: str) -> None:
        async for _ in client.files.get(path):
            pass

    async def _parts(self, size: int, part: int) -> AsyncIterator[bytes]:
        content = self.rng.randbytes(min(part, size))
        for start in range(0, size, part):
            yield content[: size - start]


async def postmark(bench: WorkloadFileSystem, clients: list[SimClient], small: int) -> None:
    """A pool of files of 1 to 64 MiB, then transactions: one is read or appended to, and one is created or deleted."""
    client, rng, files = clients[0], bench.rng, list[str]()
    part = 512

    def size() -> int:
        return rng.randrange(MIB, 64 * MIB) // small

    async def create() -> None:
        files.append(f"/mail{len(files)}-{rng.random()}")
        await bench.put(client, files[-1], size(), part)

    for _ in range(max(2, POSTMARK_FILES // small)):
        await create()
    for _ in range(max(4, POSTMARK_TRANSACTIONS // small)):
        chosen = rng.choice(files)
        if rng.random() < 0.5:
            await bench.get(client, chosen)
        else:
            await bench.append(client, chosen, size() // 64, part)
        if rng.random() < 0.5 or len(files) < 2:
            await create()
        else:
            await bench.delete(client, files.pop(rng.randrange(len(files))))


async def iozone(bench: WorkloadFileSystem, clients: list[SimClient], small: int, part: int) -> None:
    """Write, re-write, read and re-read of one file. Content is only appended here, so that re-writing replaces the file."""
    client, size = clients[0], IOZONE_MIB * MIB // small
    await bench.put(client, "/file", size, part)
    await bench.delete(client, "/file")
    await bench.put(client, "/file", size, part)
    for _ in range(2):
        await bench.get(client, "/file")


async def btio(bench: WorkloadFileSystem, clients: list[SimClient], small: int) -> None:
    """Every client writes its share of each time step to a file of its own, since a file has one writer here, and reads it in the end."""
    size = BTIO_MIB * MIB // small

    async def part(number: int) -> None:
        client, path = clients[number], f"/share{number}"
        await bench.put(client, path, size, size)
        for _ in range(BTIO_STEPS - 1):
            await bench.append(client, path, size, size)
        await bench.get(client, path)

    await asyncio.gather(*(part(number) for number in range(len(clients))))


Workload = Callable[[WorkloadFileSystem, list[SimClient], int], Awaitable[None]]
WORKLOADS: dict[str, tuple[Workload, int]] = {
    "PostMark": (postmark, 1),
    **{f"Iozone {kib} KB": (partial(iozone, part=kib << 10), 1) for kib in IOZONE_KIB},
    "BTIO": (btio, BTIO_CLIENTS),
}
"""Workloads with their numbers of clients."""


def times_of(name: str, small: int) -> Times:
    workload, count = WORKLOADS[name]
    bench = WorkloadFileSystem()
    clients = [bench.cluster.start_client(f"client{number + 1}") for number in range(count)]
    running = clients[0].begin(workload(bench, clients, small))  # type: ignore[arg-type]
    bench.cluster.run_until(running.done, LIMIT_NS)
    running.result()
    return bench.times


def measured(quick: bool) -> dict[str, Times]:
    return {name: times_of(name, SMALL if quick else 1) for name in WORKLOADS}


def config_of(quick: bool) -> dict[str, object]:
    return {
        "fabric": "simulated",
        "data_nodes": DATA_NODES,
        "bytes_per_s": BYTES_PER_S,
        "message_us": MESSAGE_NS / 1000,
        "divisor": SMALL if quick else 1,
    }


def key_of(name: str) -> str:
    return name.lower().replace(" ", "_")


def by_server(quick: bool) -> ExperimentOutcome:
    found = measured(quick)
    figures = {f"mds_share_{key_of(name)}": round(times.mds_share, 5) for name, times in found.items()}
    figures["mds_share_most"] = max(figures.values())
    series: dict[str, list[Point]] = {
        "metadata server": [(float(place), times.mds_share) for place, times in enumerate(found.values())],
        "data nodes": [(float(place), 1 - times.mds_share) for place, times in enumerate(found.values())],
    }
    chart = Chart("Time of file operations", "", "share of the time", series, "bars", list(found))
    return ExperimentOutcome(config_of(quick), figures, PAPER_11, chart, [NOTE])


def by_kind(quick: bool) -> ExperimentOutcome:
    found = measured(quick)
    figures = {f"read_share_{key_of(name)}": round(times.read_share, 3) for name, times in found.items()}
    figures["read_share_least"] = min(figures.values())
    series: dict[str, list[Point]] = {
        "reads": [(float(place), times.read_share) for place, times in enumerate(found.values())],
        "writes": [(float(place), 1 - times.read_share) for place, times in enumerate(found.values())],
    }
    chart = Chart("Time at the metadata server", "", "share of the time", series, "bars", list(found))
    return ExperimentOutcome(config_of(quick), figures, PAPER_12, chart, [NOTE])


NOTE = (
    "Modelled: a data node gives and takes 12.5 MB/s, the paper's Fast Ethernet; every message takes 50 us. The calls, pipelines and bytes are real. "
    "The time of an operation is the client's; the metadata server's part of it is the time of its calls, the rest is the data nodes'."
)

EXPERIMENTS = [
    Experiment("saa-fig11", "SAA §7.5, Fig. 11", "time at the metadata server and at the data nodes, by workload", by_server),
    Experiment("saa-fig12", "SAA §7.5, Fig. 12", "time of reads and writes at the metadata server, by workload", by_kind),
]  # fmt: skip
