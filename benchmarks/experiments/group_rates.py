"""`cfs-fig8e`, `cfs-fig9`, `vssp-fig6d`, `s2pc-fig15`: rates of metadata operations by replicas, families, groups and logging (CFS §5.2, §5.3;
VSSP §IV.A; DCFS2 §5.2.1).

In virtual time. A server takes a fixed time for each message and the same for each write that it carries out. Every client has its own files:
it creates, stats, renames and deletes them, and makes directories.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from statistics import mean

from benchmarks._cluster import group_of
from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from benchmarks._simulation import MESSAGE_NS, call_on, charge, charge_writes
from nodes.config import SECOND, ClusterConfig, Holes, many_groups
from nodes.metadata.operations import Create, Delete, Mkdir, Operation, Rename, Stat
from nodes.sim.cluster import SimClient, SimCluster
from nodes.trace.events import Called

CLIENTS = 32
FILES = 200
"""Files of each client."""
CALLS = 4
"""Open calls of each client."""
DIRECTORIES, EACH = 64, 4
"""Directories in all, and directories of each client."""
SEEDS = (1, 2)
LIMIT_NS = 600 * SECOND
ONE_SERVER = "single"
OPERATIONS = ("create", "getfileinfo", "rename", "delete", "mkdir")
"""Operations in the order of the phases; `delete` removes the files that `create` made."""
FAMILIES = {"backupnode": 1, "avatar": 1, "hadoop-ha": 1}
"""Families with one standby, as in the paper."""
GROUPS = {
    "mams_1A1S": (1, 1),
    "mams_1A2S": (1, 2),
    "mams_1A3S": (1, 3),
    "mams_1A4S": (1, 4),
    "mams_2A6S": (2, 3),
    "mams_3A9S": (3, 3),
}
"""Groups and standbys of each configuration."""
REPLICAS = {"1 replica": (1, 0), "2 replicas": (1, 1), "3 replicas": (1, 2)}
CREATING = {f"{standbys + 1} replicas" if standbys else "1 replica": (1, standbys) for standbys in range(4)}
PAPER_9 = {
    "loss_mams_1A2S": 0.0387,
    "loss_mams_1A3S": 0.0406,
    "loss_mams_1A4S": 0.0325,
    "time_create_mams_3A9S": 0.2698,
    "time_getfileinfo_mams_3A9S": 0.2247,
}
PAPER_8E = {"loss_3_replicas": 0.061}
PAPER_6D = {"loss_2_replicas": 0.0286, "loss_3_replicas": 0.0299, "loss_4_replicas": 0.0245}
PAPER_15 = {"loss_create": 0.1, "loss_delete": 0.1}
Rates = dict[str, float]
"""Operations per second, by operation."""


def operations(kind: str, client: int, caller: int) -> Iterator[Operation]:
    for number in range(caller, FILES, CALLS):
        directory = (client + number // CALLS % EACH * DIRECTORIES // EACH) % DIRECTORIES
        path = f"/d{directory}/{client}-{number}"
        match kind:
            case "create":
                yield Create(path)
            case "getfileinfo":
                yield Stat(path)
            case "rename":
                yield Rename(path, f"{path}-")
            case "delete":
                yield Delete(f"{path}-")
            case _:
                yield Mkdir(f"{path}+")


def rates(
    config: ClusterConfig, seed: int, kinds: tuple[str, ...] = OPERATIONS, clients: int = CLIENTS
) -> Rates:
    """Rates by operation; each phase lasts until the last client is done."""
    cluster = SimCluster(config, seed)
    cluster.run_until(cluster.settled)
    asking = [cluster.start_client(f"client{number + 1}") for number in range(clients)]
    for number in range(DIRECTORIES):
        asking[0].call(Mkdir(f"/d{number}"))
    charge(cluster)
    charge_writes(cluster)
    return {kind: rate(cluster, asking, kind) for kind in kinds}


def rate(cluster: SimCluster, asking: list[SimClient], kind: str) -> float:
    began_ns, left = cluster.now_ns, len(asking) * FILES

    def all_answered() -> bool:
        nonlocal left
        left -= sum(type(stamped.event) is Called for stamped in cluster.events)
        cluster.events.clear()
        return left <= 0

    cluster.events.clear()
    for number, client in enumerate(asking):
        for caller in range(CALLS):
            call_on(cluster, client, operations(kind, number, caller), 0, random.Random())
    cluster.run_until(all_answered, LIMIT_NS)
    return len(asking) * FILES * SECOND / (cluster.now_ns - began_ns)


def over_seeds(
    configs: dict[str, ClusterConfig], seeds: tuple[int, ...], kinds: tuple[str, ...], clients: int = CLIENTS
) -> dict[str, Rates]:
    found = {
        name: [rates(config, seed, kinds, clients) for seed in seeds] for name, config in configs.items()
    }
    return {name: {kind: mean(each[kind] for each in by) for kind in kinds} for name, by in found.items()}


def loss(less: Rates, more: Rates) -> float:
    """Loss of the mean rate over the operations, as a share."""
    return round(1 - mean(less.values()) / mean(more.values()), 4)


def by_groups(quick: bool) -> ExperimentOutcome:
    configs = {ONE_SERVER: group_of(ONE_SERVER, 0)}
    if not quick:
        configs |= {name: group_of(name, standbys) for name, standbys in FAMILIES.items()}
    wanted = {name: GROUPS[name] for name in ("mams_1A3S", "mams_3A9S")} if quick else GROUPS
    configs |= {name: many_groups(groups, standbys) for name, (groups, standbys) in wanted.items()}
    seeds, kinds = (SEEDS[:1], OPERATIONS[:2]) if quick else (SEEDS, OPERATIONS)
    found = over_seeds(configs, seeds, kinds)
    alone = found[ONE_SERVER]
    figures = {
        f"time_{kind}_{name}": round(alone[kind] / by[kind], 4)
        for name, by in found.items()
        if name != ONE_SERVER
        for kind in kinds
    }
    rising = [f"mams_1A{standbys}S" for standbys in range(1, 5)]
    figures |= {
        f"loss_{after}": loss(found[after], found[before])
        for before, after in pairwise(rising)
        if before in found and after in found
    }
    bars: dict[str, list[Point]] = {
        name: [(float(place), round(by[kind] / alone[kind], 3)) for place, kind in enumerate(kinds)]
        for name, by in found.items()
    }
    chart = Chart("Metadata operations", "operation", "rate over one server's", bars, "bars", list(kinds))
    return ExperimentOutcome(config_of(seeds), figures, PAPER_9, chart, [NOTE_9])


def by_replicas(quick: bool) -> ExperimentOutcome:
    configs = {ONE_SERVER: group_of(ONE_SERVER, 0)}
    configs |= {name: many_groups(*size) for name, size in REPLICAS.items()}
    seeds, kinds = (SEEDS[:1], OPERATIONS[:2]) if quick else (SEEDS, OPERATIONS)
    found = over_seeds(configs, seeds, kinds)
    first, *more = REPLICAS
    figures = {f"loss_{name.replace(' ', '_')}": loss(found[name], found[first]) for name in more}
    figures["loss_1_replica_over_single"] = loss(found[first], found[ONE_SERVER])
    bars: dict[str, list[Point]] = {
        name: [(float(place), round(by[kind])) for place, kind in enumerate(kinds)]
        for name, by in found.items()
    }
    chart = Chart("Metadata operations", "operation", "per second", bars, "bars", list(kinds))
    return ExperimentOutcome(config_of(seeds), figures, PAPER_8E, chart)


def creating(quick: bool) -> ExperimentOutcome:
    """Rate of creates by replicas of the journal."""
    wanted = dict(list(CREATING.items())[:2]) if quick else CREATING
    seeds, clients = (SEEDS[:1], CLIENTS // 2) if quick else (SEEDS, CLIENTS)
    configs = {name: many_groups(*size) for name, size in wanted.items()}
    found = over_seeds(configs, seeds, OPERATIONS[:1], clients)
    figures = {
        f"loss_{more.replace(' ', '_')}": loss(found[more], found[less]) for less, more in pairwise(wanted)
    }
    bars: dict[str, list[Point]] = {
        "creates": [(float(place), round(found[name]["create"])) for place, name in enumerate(wanted)]
    }
    chart = Chart("Creates", "", "per second", bars, "bars", list(wanted))
    return ExperimentOutcome({**config_of(seeds), "clients": clients}, figures, PAPER_6D, chart, [NOTE_6D])


def by_logging(quick: bool) -> ExperimentOutcome:
    """Rates with and without logging: two servers and sixteen clients, as in the paper. Without logging (hole `async_flush`) no call waits for a
    disk."""
    seeds = SEEDS[:1] if quick else SEEDS
    found = {
        name: [
            rates(many_groups(2, 0, holes=Holes(async_flush=flushes_late)), seed, clients=CLIENTS // 2)
            for seed in seeds
        ]
        for name, flushes_late in (("with logging", False), ("without", True))
    }
    means = {
        name: {kind: mean(each[kind] for each in by) for kind in OPERATIONS} for name, by in found.items()
    }
    figures = {
        f"loss_{kind}": round(1 - means["with logging"][kind] / means["without"][kind], 4)
        for kind in OPERATIONS
    }
    bars: dict[str, list[Point]] = {
        name: [(float(place), round(by[kind])) for place, kind in enumerate(OPERATIONS)]
        for name, by in means.items()
    }
    chart = Chart("Two servers", "operation", "per second", bars, "bars", list(OPERATIONS))
    return ExperimentOutcome(
        {**config_of(seeds), "clients": CLIENTS // 2}, figures, PAPER_15, chart, [NOTE_15]
    )


def config_of(seeds: tuple[int, ...]) -> dict[str, object]:
    return {
        "fabric": "simulated",
        "clients": CLIENTS,
        "calls_at_once_per_client": CALLS,
        "files_per_client": FILES,
        "directories": DIRECTORIES,
        "placement": "hash",
        "message_us": MESSAGE_NS / 1000,
        "seeds": list(seeds),
    }


NOTE_9 = (
    "time_KIND_X: the time that X takes for these operations over that of one server. loss_mams_1AnS: what the n-th standby takes away, "
    "mean over the kinds. "
    "A file is at home with its directory here, so that only mkdir concerns two groups."
)

NOTE_6D = "loss_N_replicas: what the N-th replica takes away. Servers have a processor and a disk each; only messages cost the active anything."

NOTE_15 = (
    "A log write of many calls costs the processor nothing here and the calls wait for it together. The paper's PostMark transactions, "
    "which logging does not change, are not repeated."
)

EXPERIMENTS = [
    Experiment("cfs-fig8e", "CFS §5.2, Fig. 8e", "metadata operations with 1 to 3 replicas of the journal", by_replicas),
    Experiment("cfs-fig9", "CFS §5.3, Fig. 9", "metadata operations by standbys, groups and other families", by_groups),
    Experiment("vssp-fig6d", "VSSP §IV.A, Fig. 6d", "creates with 1 to 4 replicas of the journal", creating),
    Experiment("s2pc-fig15", "DCFS2 §5.2.1, Fig. 15", "metadata operations with logging and without", by_logging),
]  # fmt: skip
