"""`cfs-table2-crossover`: time without service over the size of the namespace, of MAMS and of a backup node that collects the locations of all blocks
before it serves (CFS §5.4, Table 2). In virtual time, with a cost for each reported block."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from benchmarks._simulation import MESSAGE_NS
from benchmarks.experiments.block_reports import SERVERS, reported_s
from nodes.config import SECOND, DataConfig, Timing, one_group
from nodes.metadata.operations import CHUNK_BYTES, Create, SetReplication
from nodes.sim.cluster import SimClient, SimCluster
from nodes.sim.network import HeldMessages
from nodes.sim.service_time import ServiceTimeModel
from nodes.trace.events import Serving
from nodes.wire.data_messages import LOCATED_MAX, Changes, FullReport, Heartbeat
from nodes.wire.messages import Message

SIZES_MB = (16, 32, 64, 128, 256, 512, 1024)
FILES_PER_MB = 7_000_000 / 1024
"""The paper: `more than 7 million files when it is about 1 GB`. A file has one block."""
REPLICAS = 3
MEASURED, MEASURED_QUICK = 250_000, 20_000
"""Blocks of which the reports are measured to know what one replica costs."""
EACH = 20_000
"""Number of blocks that one block here stands for."""
DATA_NODES = 4
TIMING = Timing(heartbeat_ms=2_000, session_timeout_ms=5_000)
"""Timeouts of the paper."""
PATH = "/blocks"
SEED = 1
LIMIT_NS = 1_000 * SECOND
PAPER_S = {
    "mams": dict(zip(SIZES_MB, (5.893, 6.376, 6.531, 5.742, 5.436, 6.795, 6.081), strict=True)),
    "backupnode": dict(zip(SIZES_MB, (2.784, 5.326, 9.653, 22.928, 36.431, 78.365, 142.513), strict=True)),
}
STANDBYS = {"mams": 3, "backupnode": 1}


class BlockReportCosts:
    """The server takes `block_ns` for each block that a data node reports to it for the first time."""

    def __init__(self, cluster: SimCluster, server: str, block_ns: float):
        machine = cluster.servers[server].machine
        assert machine is not None
        self._server = server
        self._block_ns = block_ns
        self._owed_ns = 0
        self._charged: set[str] = set()
        cluster.net.hosts[server].desk = ServiceTimeModel(machine, MESSAGE_NS, self._take)
        cluster.net.on_sent.subscribe(self._on_sent)

    def _on_sent(self, sender: str, receiver: str, message: Message) -> None:
        if receiver == self._server and type(message) is FullReport and sender not in self._charged:
            self._charged.add(sender)
            self._owed_ns += round(len(message.rows) * EACH * self._block_ns)

    def _take(self) -> int:
        owed_ns, self._owed_ns = self._owed_ns, 0
        return owed_ns


async def parts(blocks: int) -> AsyncIterator[bytes]:
    for _ in range(blocks):
        yield bytes(CHUNK_BYTES)


async def write(client: SimClient, blocks: int) -> None:
    """Writes a file of so many blocks, each on one data node."""
    await client.client.call(Create(PATH))
    await client.client.call(SetReplication(PATH, 1))
    await client.files.append(PATH, parts(blocks), block_size=CHUNK_BYTES)


async def located(client: SimClient, blocks: int) -> None:
    """Returns when the metadata servers locate every block of the file."""
    for first in range(0, blocks, LOCATED_MAX):
        places: list[list[object]] = [[]]
        while not all(places):
            _, found = await client.files.places(PATH, first, LOCATED_MAX)
            places = [list(each) for each in found]
            if not all(places):
                await client.clock.sleep(SECOND // 100)


def seconds(family: str, mb: int, block_ns: float) -> float:
    """Seconds from the death of the active until every block is located again."""
    blocks = max(1, round(mb * FILES_PER_MB / EACH))
    nodes = [f"dn{number}" for number in range(1, DATA_NODES + 1)]
    config = one_group(STANDBYS[family], protocol=family, timing=TIMING, data=DataConfig(nodes=nodes))
    cluster = SimCluster(config, SEED)
    cluster.run_until(cluster.settled)
    cluster.run_for(2 * SECOND)
    client = cluster.start_client("client1")
    writing = client.begin(write(client, blocks))
    held = _withheld(cluster) if family == "backupnode" else None
    cluster.run_until(writing.done, LIMIT_NS)
    writing.result()
    cluster.run_for(SECOND)
    active = next(name for name, letter in cluster.view().items() if letter == "A")
    died_ns, before = cluster.now_ns, len(cluster.events)
    cluster.faults.crash(active)
    if held is not None:
        (standby,) = (name for name in cluster.view() if name != active)
        cluster.faults.expire_session(active)
        cluster.run_until(partial(_serves, cluster, before), LIMIT_NS)
        held.drop()
        BlockReportCosts(cluster, standby, block_ns)
    locating = client.begin(located(client, blocks))
    cluster.run_until(locating.done, LIMIT_NS)
    locating.result()
    return (cluster.now_ns - died_ns) / SECOND


def _withheld(cluster: SimCluster) -> HeldMessages:
    """Withholds the data nodes' reports from the standby, as HDFS sends them to the primary alone."""
    (standby,) = (name for name, letter in cluster.view().items() if letter != "A")

    def match(sender: str, receiver: str, message: Message) -> bool:
        return receiver == standby and type(message) in (Heartbeat, FullReport, Changes)

    return cluster.hold(match)


def _serves(cluster: SimCluster, before: int) -> bool:
    """Whether a server began to serve after so many events."""
    return any(type(stamped.event) is Serving for stamped in cluster.events[before:])


def run(quick: bool) -> ExperimentOutcome:
    sizes = (SIZES_MB[0], SIZES_MB[5]) if quick else SIZES_MB
    count = MEASURED_QUICK if quick else MEASURED
    block_ns = REPLICAS * reported_s(count) * SECOND / (count * SERVERS)
    found = {family: {mb: seconds(family, mb, block_ns) for mb in sizes} for family in STANDBYS}
    faster = [mb for mb in sizes if found["backupnode"][mb] < found["mams"][mb]]
    paper = {f"backupnode_over_mams_{mb}mb": ratio(PAPER_S, mb) for mb in sizes}
    paper["largest_mb_with_faster_backupnode"] = 32.0
    figures = {f"backupnode_over_mams_{mb}mb": ratio(found, mb) for mb in sizes}
    figures["largest_mb_with_faster_backupnode"] = float(max(faster, default=0))
    figures |= {f"{family}_s_{mb}mb": round(s, 3) for family, by in found.items() for mb, s in by.items()}
    series: dict[str, list[Point]] = {
        "ours": [(float(mb), ratio(found, mb)) for mb in sizes],
        "the paper's": [(float(mb), ratio(PAPER_S, mb)) for mb in sizes],
    }
    chart = Chart(
        "The active dies", "MB of image", "backup node's time without service over that of MAMS", series, logarithmic=True
    )  # fmt: skip
    config = {
        "fabric": "simulated",
        "standbys": STANDBYS,
        "session_timeout_ms": TIMING.session_timeout_ms,
        "block_us": round(block_ns / 1000, 2),
        "blocks_per_block": EACH,
        "data_nodes": DATA_NODES,
    }
    return ExperimentOutcome(config, figures, paper, chart, [NOTE])


def ratio(found: dict[str, dict[int, float]], mb: int) -> float:
    return round(found["backupnode"][mb] / found["mams"][mb], 3)


NOTE = (
    "Modelled: the backup node receives no block report before it leads, and the death is noticed at once. "
    "Each block that is then reported to it takes the processor time that three replicas of it take in cfs-fig10-reports on this machine. "
    "One block stands for 20,000."
)

EXPERIMENTS = [
    Experiment(
        "cfs-table2-crossover",
        "CFS §5.4, Table 2",
        "time without service of MAMS and of a backup node that first collects the locations of all blocks",
        run,
    )
]
