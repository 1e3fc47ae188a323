"""`cfs-fig10`: a write of a file during which the active dies at 30 and at 60 % (CFS §5.5.1, Fig. 10). In virtual time, with real bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from nodes.config import SECOND, DataConfig, one_group
from nodes.metadata.operations import BLOCK_SIZE
from nodes.sim.cluster import SimClient, SimCluster

BLOCKS = 512
STANDBYS, DATA_NODES = 3, 4
DEATHS = (0.3, 0.6)
SEED = 1
LIMIT_NS = 600 * SECOND
PATH = "/file"
PAPER = {"same_bytes": 1.0}


class Writing:
    """Content of the file, and the time at which the writer asked for each block; its client waits for acknowledgements."""

    def __init__(self, cluster: SimCluster, data: bytes):
        self._cluster = cluster
        self._data = data
        self.asked_ns: list[int] = []

    async def blocks(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._data), BLOCK_SIZE):
            self.asked_ns.append(self._cluster.now_ns)
            yield self._data[start : start + BLOCK_SIZE]


async def read(client: SimClient) -> bytes:
    return b"".join([data async for data in client.files.get(PATH)])


def run(quick: bool) -> ExperimentOutcome:
    count = BLOCKS // 8 if quick else BLOCKS
    nodes = [f"dn{number}" for number in range(1, DATA_NODES + 1)]
    cluster = SimCluster(one_group(STANDBYS, data=DataConfig(nodes=nodes)), SEED)
    cluster.run_until(cluster.settled)
    data = Random(SEED).randbytes(count * BLOCK_SIZE)
    writer, reader = cluster.start_client("client1"), cluster.start_client("client2")
    writing = Writing(cluster, data)
    began_ns = cluster.now_ns
    put = writer.begin(writer.files.put(PATH, writing.blocks()))
    died: list[int] = []
    for share in DEATHS:
        cluster.run_until(lambda share=share: len(writing.asked_ns) >= share * count, LIMIT_NS)  # type: ignore[misc]
        active = next(name for name, letter in cluster.view().items() if letter == "A")
        cluster.faults.crash(active)
        died.append(cluster.now_ns)
    cluster.run_until(put.done, LIMIT_NS)
    ended_ns = cluster.now_ns
    put.result()
    reading = reader.begin(read(reader))
    cluster.run_until(reading.done, LIMIT_NS)
    moments = [*writing.asked_ns, ended_ns]
    figures = {
        "same_bytes": float(reading.result() == data),
        "s_in_all": round((ended_ns - began_ns) / SECOND, 3),
    }
    for number, at_ns in enumerate(died, 1):
        before = max(moment for moment in moments if moment <= at_ns)
        after = next(moment for moment in moments if moment - before > SECOND)
        figures[f"pause_{number}_s"] = round((after - before) / SECOND, 3)
    points: list[Point] = [
        ((moment - began_ns) / SECOND, 100 * place / count) for place, moment in enumerate(moments)
    ]
    chart = Chart("The active dies at 30 and 60 %", "seconds", "per cent written", {"file": points})
    config = {
        "fabric": "simulated",
        "standbys": STANDBYS,
        "data_nodes": DATA_NODES,
        "blocks": count,
        "block_bytes": BLOCK_SIZE,
        "session_timeout_ms": cluster.config.timing.session_timeout_ms,
    }
    return ExperimentOutcome(config, figures, PAPER, chart, [NOTE])


NOTE = (
    "A pause is the end of the dead active's session and the takeover: data nodes report to the standbys too, "
    "so that no server collects block reports then. The paper's curve of block reports is cfs-fig10-reports."
)

EXPERIMENTS = [
    Experiment("cfs-fig10", "CFS §5.5.1, Fig. 10", "a file is written while the active dies twice", run)
]
