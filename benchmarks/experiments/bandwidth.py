"""`s2pc-fig14`: bandwidth of writing and reading files with logging and without (DCFS2 §5.2.1, Fig. 14). In virtual time, with real bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from benchmarks._simulation import MESSAGE_NS, charge, charge_writes
from benchmarks.experiments.operation_times import BLOCK, MIB, Bandwidth
from nodes.config import SECOND, DataConfig, Holes, many_groups
from nodes.metadata.operations import Mkdir
from nodes.sim.cluster import SimClient, SimCluster

GROUPS, DATA_NODES = 2, 1
"""The paper's numbers of metadata servers and of storage servers."""
BYTES_PER_S = 125_000_000
"""Gigabit Ethernet."""
CLIENTS = (4, 16)
"""The paper has 16 client nodes."""
BYTES, QUICK_BYTES = 528 * MIB, 32 * MIB
"""Of all clients together, as in the paper."""
REQUEST = MIB
"""Bytes of each write, as in the paper."""
SEED = 1
LIMIT_NS = 3_600 * SECOND
PAPER = {"loss_write": 0.0, "loss_read": 0.0}
"""The paper: no obvious difference, except in a few cases."""
WAYS = {"with logging": False, "without": True}
"""Whether no call waits for a disk (hole `async_flush`)."""


class BandwidthPhase:
    """Clients that write or read at once, until the first of them has ended: Iozone's stonewall mode, which is the paper's."""

    def __init__(self, cluster: SimCluster, clients: list[SimClient]):
        self._cluster = cluster
        self._clients = clients
        self._bytes = 0

    def mib_per_s(self, step: Callable[[SimClient, int], Coroutine[Any, Any, None]]) -> float:
        """MiB per second of all clients together."""
        began_ns, self._bytes = self._cluster.now_ns, 0
        running = [client.begin(step(client, number)) for number, client in enumerate(self._clients)]
        self._cluster.run_until(lambda: any(task.done() for task in running), LIMIT_NS)
        rate = self._bytes / MIB / ((self._cluster.now_ns - began_ns) / SECOND)
        self._cluster.run_until(lambda: all(task.done() for task in running), LIMIT_NS)
        for task in running:
            task.result()
        return rate

    async def write(self, client: SimClient, number: int, size: int) -> None:
        await client.files.put(path_of(number), self._parts(size), BLOCK)

    async def read(self, client: SimClient, number: int) -> None:
        async for data in client.files.get(path_of(number)):
            self._bytes += len(data)

    async def _parts(self, size: int) -> AsyncIterator[bytes]:
        for start in range(0, size, REQUEST):
            data = bytes(min(REQUEST, size - start))
            yield data
            self._bytes += len(data)


def path_of(number: int) -> str:
    return f"/d{number}/file"


def rates(flushes_late: bool, clients: int, size: int) -> tuple[float, float]:
    """MiB per second of all clients together, written and read."""
    nodes = [f"dn{number}" for number in range(1, DATA_NODES + 1)]
    config = many_groups(
        GROUPS, 0, holes=Holes(async_flush=flushes_late), data=DataConfig(nodes=nodes), image_every=0
    )
    cluster = SimCluster(config, SEED)
    cluster.run_until(cluster.settled)
    asking = [cluster.start_client(f"client{number + 1}") for number in range(clients)]
    for number, client in enumerate(asking):
        client.call(Mkdir(f"/d{number}"))
    cluster.run_for(2 * SECOND)
    charge(cluster)
    charge_writes(cluster)
    Bandwidth(cluster, nodes, BYTES_PER_S)
    phase = BandwidthPhase(cluster, asking)
    written = phase.mib_per_s(lambda client, number: phase.write(client, number, size // clients))
    return written, phase.mib_per_s(phase.read)


def run(quick: bool) -> ExperimentOutcome:
    counts, size = (CLIENTS[:1], QUICK_BYTES) if quick else (CLIENTS, BYTES)
    found = {name: {count: rates(late, count, size) for count in counts} for name, late in WAYS.items()}
    figures: dict[str, float] = {}
    for place, word in enumerate(("write", "read")):
        losses: dict[int, float] = {
            n: 1 - found["with logging"][n][place] / found["without"][n][place] for n in counts
        }
        worst: float = max(losses.values(), key=abs)
        figures[f"loss_{word}"] = round(worst, 4)
        figures |= {f"loss_{word}_{n}_clients": round(loss, 4) for n, loss in losses.items()}
    series: dict[str, list[Point]] = {
        f"{word}, {name}": [(float(n), by[n][place]) for n in counts]
        for place, word in enumerate(("write", "read"))
        for name, by in found.items()
    }
    chart = Chart("Bandwidth of files", "clients", "MiB per second", series)
    config = {
        "fabric": "simulated",
        "groups": GROUPS,
        "data_nodes": DATA_NODES,
        "bytes": size,
        "request_bytes": REQUEST,
        "bytes_per_s": BYTES_PER_S,
        "message_us": MESSAGE_NS / 1000,
    }
    return ExperimentOutcome(config, figures, PAPER, chart, [NOTE])


NOTE = (
    "loss_…: the largest of all numbers of clients. Modelled: the data node takes and gives 125 MB/s, every message takes 50 us. "
    "The paper's curves are pictures; its text says that there is no obvious difference."
)

EXPERIMENTS = [
    Experiment("s2pc-fig14", "DCFS2 §5.2.1, Fig. 14", "bandwidth of files with logging and without", run)
]
