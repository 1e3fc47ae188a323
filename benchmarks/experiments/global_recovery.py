"""`cfs-fig13`: recovery of 5 GB of metadata to a global checkpoint, by groups and standbys (CFS §5.6, Fig. 13).

In virtual time, with a cost for each byte that a server reads. The namespace is small: a byte of it stands for so many that one server alone reads
5 GB.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import msgspec

from benchmarks._cluster import group_of
from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from nodes.config import SECOND, ClusterConfig, Knobs, many_groups
from nodes.metadata.operations import Create, Mkdir
from nodes.sim.cluster import SimCluster
from nodes.trace.checkpoints import TakenBack

BYTES = 5_000_000_000
"""Metadata of all groups together, one replica of each counted."""
DISK_BYTES_PER_S, NETWORK_BYTES_PER_S = 100_000_000, 117_000_000
"""One disk, and one Gigabit Ethernet. A filer's bytes pass its disk and then the network."""
DIRECTORIES, FILES = 96, 20
QUICK_DIRECTORIES, QUICK_FILES = 24, 4
KNOBS = Knobs(recent_records=1)
"""Servers read their journals from disk, as with journals that do not fit into memory. All metadata is in journals: no image is taken."""
CHECKPOINT = "everything"
SEED = 1
LIMIT_NS = 600 * SECOND
LOCAL, FILER = "hdfs", "hdfs_nfs"
CONFIGS: dict[str, tuple[int, int]] = {
    "cfs_1A1S": (1, 1),
    "cfs_1A3S": (1, 3),
    "cfs_2A6S": (2, 3),
    "cfs_3A9S": (3, 3),
}
"""Groups and standbys of each."""
PAPER = {"time_hdfs_nfs": 2.0, "time_cfs_1A1S": 1.0, "time_cfs_1A3S": 1.0}
"""Times over one local server's: `nearly two times`, `approximately equal`; with more groups `less`."""


class MeasuredRecovery(msgspec.Struct, frozen=True):
    bytes_read: int
    """The largest number of bytes that a server read."""
    protocol_s: float
    """Virtual time of the messages and syncs of the recovery."""

    def seconds(self, scale: float, per_byte_s: float = 1 / DISK_BYTES_PER_S) -> float:
        return self.bytes_read * scale * per_byte_s + self.protocol_s


class MeasuredCluster:
    def __init__(self, config: ClusterConfig):
        self.cluster = SimCluster(config, SEED)
        self.cluster.run_until(self.cluster.settled)
        self.client = self.cluster.start_client("client1")

    def fill(self, directories: int, files: int) -> None:
        """Makes directories, by the policy of placement in all groups, and files in them."""

        async def make(number: int) -> None:
            await self.client.client.call(Mkdir(f"/d{number}"))
            for file in range(files):
                await self.client.client.call(Create(f"/d{number}/client1.abcdef0123-{file}"))

        making = self.client.begin(_all([make(number) for number in range(directories)]))
        self.cluster.run_until(making.done, LIMIT_NS)
        making.result()
        self.cluster.run_for(SECOND)

    def ask(self, do: str) -> dict[str, Any]:
        group = self.cluster.config.groups[0].name
        active = self.cluster.ensemble.observer.holders[group]
        task = self.cluster.begin_asking(active, {"do": do, "name": CHECKPOINT})
        self.cluster.run_until(task.done, LIMIT_NS)
        answer: dict[str, Any] = task.result()
        return answer

    def recover(self) -> MeasuredRecovery:
        cluster, began_ns = self.cluster, self.cluster.now_ns
        before = self._bytes_read()
        answer = self.ask("recover")
        if answer.get("checkpoint") != CHECKPOINT:
            raise RuntimeError(f"the recovery was refused: {answer}")
        cluster.run_until(self._back, LIMIT_NS)
        most = max(read - before[name] for name, read in self._bytes_read().items())
        cluster.run_until(cluster.settled, LIMIT_NS)
        return MeasuredRecovery(most, (cluster.now_ns - began_ns) / SECOND)

    def _bytes_read(self) -> dict[str, int]:
        return {name: self.cluster.servers[name].store.bytes_read for name in self.cluster.view()}

    def _back(self) -> bool:
        """Whether every server is back at the checkpoint."""
        back = {stamped.server for stamped in self.cluster.events if type(stamped.event) is TakenBack}
        return back >= set(self.cluster.view())


def recovered(config: ClusterConfig, quick: bool) -> MeasuredRecovery:
    cluster = MeasuredCluster(config)
    cluster.fill(*((QUICK_DIRECTORIES, QUICK_FILES) if quick else (DIRECTORIES, FILES)))
    state = cluster.ask("mark_checkpoint")["checkpoint"]["state"]
    if state != "complete":
        raise RuntimeError(f"the checkpoint is {state}")
    return cluster.recover()


def run(quick: bool) -> ExperimentOutcome:
    wanted = ("cfs_1A1S", "cfs_2A6S") if quick else tuple(CONFIGS)
    alone = recovered(group_of("single", 0, image_every=0, knobs=KNOBS), quick)
    found = {
        name: recovered(many_groups(*CONFIGS[name], image_every=0, knobs=KNOBS), quick) for name in wanted
    }
    scale = BYTES / alone.bytes_read
    seconds = {
        LOCAL: alone.seconds(scale),
        FILER: alone.seconds(scale, 1 / DISK_BYTES_PER_S + 1 / NETWORK_BYTES_PER_S),
    }
    seconds |= {name: recovery.seconds(scale) for name, recovery in found.items()}
    figures = {f"time_{name}": round(s / seconds[LOCAL], 3) for name, s in seconds.items() if name != LOCAL}
    figures |= {f"protocol_s_{name}": round(recovery.protocol_s, 3) for name, recovery in found.items()}
    points: list[Point] = [(float(place), s / seconds[LOCAL]) for place, s in enumerate(seconds.values())]
    chart = Chart(
        "Recovery of 5 GB of metadata",
        "",
        "time over one local server's",
        {"recovery": points},
        "bars",
        list(seconds),
    )
    config = {
        "fabric": "simulated",
        "bytes": BYTES,
        "bytes_read_by_one_server": alone.bytes_read,
        "disk_bytes_per_s": DISK_BYTES_PER_S,
        "network_bytes_per_s": NETWORK_BYTES_PER_S,
        "placement": "hash",
    }
    return ExperimentOutcome(config, figures, PAPER, chart, [NOTE])


async def _all(calls: list[Coroutine[Any, Any, None]]) -> None:
    await asyncio.gather(*calls)


NOTE = (
    "time_X: over the time of one server with its own disk. Modelled: a disk gives 100 MB/s, and a filer's bytes also pass a network of 117 MB/s; "
    "a byte here stands for many. Checkpoint, messages, syncs and replay are the real code's; the servers of all groups read at the same time."
)

EXPERIMENTS = [Experiment("cfs-fig13", "CFS §5.6, Fig. 13", "global recovery by groups and standbys", run)]
