"""The cluster of a trial: family, sizes, timings and knobs, tiny and large ones alike."""

from __future__ import annotations

import random

from msgspec.structs import replace

from nodes.config import (
    ClusterConfig,
    DataConfig,
    GroupConfig,
    Holes,
    JournalConfig,
    Knobs,
    Timing,
)
from nodes.families import Family, family_named
from nodes.metadata.placement import Granularity
from nodes.mutations import NO_MUTATIONS, Mutations

SERVERS_MAX = 6
GROUPS_MAX = 4
DATA_NODES_MAX = 4
JOURNAL_NODES = (3, 4, 5)
NO_HOLES = Holes()


def draw_cluster(
    rng: random.Random, protocol: str, holes: Holes = NO_HOLES, mutations: Mutations = NO_MUTATIONS
) -> ClusterConfig:
    """A cluster of this family; small ones are the likelier."""
    family = family_named(protocol)
    groups = _groups(rng, family)
    size = _size(rng, family, groups)
    return ClusterConfig(
        protocol=protocol,
        placement=rng.choice(("hash", "random", "subtree", "ddg")),
        granularity=Granularity(rng.randint(1, 3), rng.choice((1, 2, 16)), rng.choice((1, 4, 2048))),
        cross_group=rng.choice(("s2pc_mp", "two_phase")),
        groups=named_groups(groups, size),
        order=rng.choice(("fast", "fast", "plain")),
        timing=draw_timing(rng),
        holes=holes,
        mutations=mutations,
        min_in_step=rng.choice((0, 0, 0, min(2, size))),
        image_gap=rng.choice((1, 2, 20, 5_000)),
        image_every=rng.choice((0, 2, 5, 5, 20, 300)),
        log_bytes=rng.choice((1 << 12, 1 << 13, 1 << 16, 50 << 20)),
        image_partitions=rng.choice((1, 2, 8)),
        image_store=rng.choice(("vssp", "vssp", "hdfs_pipeline")),
        session_ttl_ms=rng.choice((2_000, 20_000, 600_000)),
        knobs=draw_knobs(rng),
        data=draw_data(rng),
        journal=_journal(rng, family),
    )


def named_groups(groups: int, size: int) -> list[GroupConfig]:
    return [
        GroupConfig(f"g{g}", g, [f"mds{(g - 1) * size + i}" for i in range(1, size + 1)])
        for g in range(1, groups + 1)
    ]


def sized(cluster: ClusterConfig, groups: int, size: int) -> ClusterConfig:
    """The same cluster with so many groups of this size, as far as its family allows."""
    family = family_named(cluster.protocol)
    size = min(size, family.standbys_max + 1)
    fits = named_groups(min(groups, family.groups_max), size)
    return replace(cluster, groups=fits, min_in_step=min(cluster.min_in_step, size))


def _groups(rng: random.Random, family: Family) -> int:
    if family.groups_max == 1:
        return 1
    return min(rng.choice((1, 1, 1, 1, 2, 2, 3, GROUPS_MAX)), family.groups_max)


def _size(rng: random.Random, family: Family, groups: int) -> int:
    most = min(family.standbys_max + 1, SERVERS_MAX, 3 if groups > 2 else SERVERS_MAX)
    return min(most, rng.choice((1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6)))


def draw_timing(rng: random.Random) -> Timing:
    """Draws timings relative to the session time-out: parts of it, or far from it."""
    session = rng.choice((600, 600, 1_000, 1_000, 2_000, 5_000))
    return Timing(
        heartbeat_ms=session // rng.choice((3, 4, 5)),
        session_timeout_ms=session,
        ack_timeout_ms=rng.choice((60, 200, 500, 1_200)),
        draw_wait_ms=rng.choice((10, 50, 100)),
        renew_scan_ms=rng.choice((50, 200, 500)),
        client_timeout_ms=rng.choice((30, 100, 400, 1_500)),
        call_deadline_ms=rng.choice((10_000, 60_000)),
    )


def draw_knobs(rng: random.Random) -> Knobs:
    """Draws knobs; in half of the seeds these are the defaults."""
    if rng.random() < 0.5:
        return Knobs()
    return Knobs(
        segment_bytes=rng.choice((0, 300, 2_000)),
        recent_records=rng.choice((0, 1, 8)),
        records_per_group=rng.choice((0, 1, 2, 5)),
        broadcasts=rng.choice((0, 1, 2)),
        direct_groups=rng.choice((0, 1, 4)),
        ledger_entries=rng.choice((0, 1, 3, 20)),
        open_slots=rng.choice((0, 1, 4, 32)),
        open_calls=rng.choice((0, 1, 2, 16)),
        cached_directories=rng.choice((0, 1, 3)),
        images_kept=rng.choice((2, 3, 5)),
    )


def draw_data(rng: random.Random) -> DataConfig:
    count = rng.choice((0, 0, 0, 1, 2, 3, DATA_NODES_MAX))
    beat = rng.choice((200, 1_000))
    return DataConfig([f"dn{n}" for n in range(1, count + 1)], beat, beat * 6, rng.choice((200, 1_000)))


def _journal(rng: random.Random, family: Family) -> JournalConfig:
    """Draws the number of nodes, odd or even; for bookies also the three quorums."""
    usual = family.journal_nodes
    if usual < 3:
        return JournalConfig(family.journal_names())
    names = family.journal_names(rng.choice((usual, usual, *JOURNAL_NODES)))
    if family.journal_role != "bookie":
        return JournalConfig(names)
    ensemble = rng.randint(2, min(4, len(names)))
    write_quorum = rng.randint(2, ensemble)
    return JournalConfig(names, ensemble, write_quorum, rng.randint(max(1, write_quorum - 1), write_quorum))
