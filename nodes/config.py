"""Validated configuration of clusters, servers and workloads: one definition for files, scenarios, command line and API."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from nodes.metadata.placement import Granularity
from nodes.mutations import Mutations

MILLISECOND = 1_000_000
SECOND = 1_000_000_000
JOURNAL_NODES_MAX = 9

Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9-]{0,31}$")]
Milliseconds = Annotated[int, msgspec.Meta(ge=1, le=3_600_000)]


class Holes(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The papers' holes, each closed unless opened by name; the rule that closes it is in docs/safety.md."""

    election_ignores_sn: bool = False
    no_fencing: bool = False
    junior_election_eager: bool = False
    short_duplicate_memory: bool = False
    silent_shrink: bool = False
    sn_without_epoch: bool = False
    late_watch: bool = False
    configuration_is_liveness: bool = False
    reads_before_flush: bool = False
    stale_view_write: bool = False
    async_flush: bool = False
    one_phase_barrier: bool = False
    checkpoint_unpinned: bool = False
    abort_without_record: bool = False
    dentry_locks_only: bool = False
    checksum_vote: bool = False
    redo_without_phase_one: bool = False
    no_read_lease: bool = False
    answer_set_shrinks: bool = False
    memory_only_accept: bool = False
    fast_literal_order: bool = False
    fast_not_uniform: bool = False
    views_without_agreement: bool = False
    answer_before_stable: bool = False


def opened(holes: Holes) -> tuple[str, ...]:
    """The switches of those that are open."""
    return tuple(name for name in Holes.__struct_fields__ if getattr(holes, name))


class Timing(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """CFS §5.4 for heartbeat and session; everything else is ours. All in milliseconds."""

    heartbeat_ms: Milliseconds = 2_000
    session_timeout_ms: Milliseconds = 5_000
    ack_timeout_ms: Milliseconds = 500
    draw_wait_ms: Milliseconds = 100
    """How long the holder of the largest number is given before anybody in step may take the lock."""
    renew_scan_ms: Milliseconds = 200
    """How often the active looks for juniors (CFS §4.2.3); a session begins with one that two scans in a row have seen."""
    client_timeout_ms: Milliseconds = 400
    """How long the smart client waits for an answer before it asks the next server."""
    call_deadline_ms: Milliseconds = 60_000
    """After this the smart client returns "outcome unknown"."""


class GroupConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One replica group."""

    name: Name
    number: int
    members: list[Name]
    """The servers of the first configuration, in order."""


class DataConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The data nodes of a cluster and their timing."""

    nodes: list[Name] = []
    heartbeat_ms: Milliseconds = 1_000
    silence_ms: Milliseconds = 6_000
    """A data node of which nothing was heard for so long is dead."""
    scrub_ms: Milliseconds = 1_000
    """How often the scrubber reads on: 1 MiB each time."""


class JournalConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The nodes that keep the journal in families whose servers share one: journal nodes or bookies.

    The three numbers are BookKeeper's, each no greater than the one before. Raises ValueError.
    """

    nodes: list[Name] = []
    ensemble: Annotated[int, msgspec.Meta(ge=1, le=JOURNAL_NODES_MAX)] = 3
    """Bookies over which the entries of a ledger are spread."""
    write_quorum: Annotated[int, msgspec.Meta(ge=1, le=JOURNAL_NODES_MAX)] = 3
    """Bookies of the ensemble that each entry is sent to."""
    ack_quorum: Annotated[int, msgspec.Meta(ge=1, le=JOURNAL_NODES_MAX)] = 3
    """So many of them have an entry durably before anybody is answered."""

    def __post_init__(self) -> None:
        if not self.ensemble >= self.write_quorum >= self.ack_quorum >= 1:
            quorums = f"{self.ensemble}-{self.write_quorum}-{self.ack_quorum}"
            raise ValueError(
                f"of ensemble, write quorum and acknowledgement quorum {quorums} each is no greater than the one before"
            )


class Knobs(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Sizes inside the servers that change no promise; tiny ones bring rare paths about. 0 is what is built in."""

    segment_bytes: Annotated[int, msgspec.Meta(ge=0, le=1 << 30)] = 0
    """A journal's file takes no more records beyond this size."""
    recent_records: Annotated[int, msgspec.Meta(ge=0, le=1 << 20)] = 0
    """Records of a journal that are kept in memory."""
    records_per_group: Annotated[int, msgspec.Meta(ge=0, le=1 << 16)] = 0
    """A journal group takes no more records than this."""
    broadcasts: Annotated[int, msgspec.Meta(ge=0, le=1 << 10)] = 0
    """Broadcasts of a symmetric member that may be under way at once."""
    direct_groups: Annotated[int, msgspec.Meta(ge=0, le=1 << 20)] = 0
    """Groups that the active sends a junior by itself; who lacks more reads from others first."""


class ClusterConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    cluster: Name = "clover"
    protocol: str = "mams"
    variant: Literal["safe", "paper"] = "safe"
    """`paper`: the family's literal text, all of its holes at once (nodes/families.py: PAPER). What is open stands in `holes`."""
    placement: Literal["hash", "random", "subtree", "ddg"] = "hash"
    """Which group is home to a new object."""
    granularity: Granularity = Granularity()
    """Of `ddg`."""
    ddg_as_printed: bool = False
    """A directory inherits `file_mds` from its parent, as DCFS2 Fig. 2 has it; §3.3 begins with its own unit."""
    cross_group: Literal["s2pc_mp", "two_phase"] = "s2pc_mp"
    """How two groups commit one operation."""
    groups: list[GroupConfig] = []
    order: Literal["fast", "plain"] = "fast"
    """How symmetric members come to a total order: an idle one speaks up at once, or with its next heartbeat."""
    timing: Timing = Timing()
    holes: Holes = Holes()
    mutations: Mutations = Mutations()
    session_ttl_ms: Milliseconds = 600_000
    """A client of which nothing was recorded for so long, by the stamps of records, is dead: its session ends, and its hold on files.
    Clients renew their sessions every third of it."""
    min_in_step: int = 0
    """Size below which a group answers reads only; 0 means half of the first configuration, rounded up (safety rule 19)."""
    image_gap: int = 5_000
    """A junior behind by more groups than this is given the image first."""
    image_every: Annotated[int, msgspec.Meta(ge=0)] = 20_000
    """A standby writes an image to the pool after so many groups; 0 means only when a junior needs one."""
    log_octets: Annotated[int, msgspec.Meta(ge=4_096, le=1 << 40)] = 50 << 20
    """So much of a group's journal may lie behind its newest image (DCFS2 §4.3): from half of it on an image is taken at once, and when it is
    full, writes wait."""
    image_partitions: Annotated[int, msgspec.Meta(ge=1, le=64)] = 8
    """Streams of an image that are written and read in parallel (VSSP §III.D)."""
    image_store: str = "vssp"
    """The mechanism that moves images: vssp, hdfs_pipeline."""
    data: DataConfig = DataConfig()
    journal: JournalConfig = JournalConfig()
    knobs: Knobs = Knobs()


class ServerConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What one metadata server is told; names are resolved by the world."""

    name: Name
    group: Name
    cluster: ClusterConfig


class DataNodeConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What one data node is told."""

    name: Name
    cluster: ClusterConfig
    capacity: Annotated[int, msgspec.Meta(ge=0)] = 1 << 40
    """Octets of blocks that it takes at most."""


class JournalNodeConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What one journal node or bookie is told."""

    name: Name
    cluster: ClusterConfig


class WorkloadConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    clients: Annotated[int, msgspec.Meta(ge=1, le=1024)] = 4
    """Concurrent calls."""
    rate_per_s: Annotated[float, msgspec.Meta(ge=0)] = 50.0
    """Total; 0 means as fast as answers come."""
    mix: dict[str, float] = msgspec.field(default_factory=lambda: {"create": 9, "mkdir": 1})
    """Weights by operation: create mkdir stat list rename link delete set_permission; move gives a file another directory,
    rmdir and move_directory do it to directories; put, append and get are calls to files with content."""
    directories: Annotated[int, msgspec.Meta(ge=1)] = 16
    remembered: Annotated[int, msgspec.Meta(ge=1, le=10_000_000)] = 1024
    """Files whose names are kept to be read, renamed and deleted."""
    size: Annotated[int, msgspec.Meta(ge=1, le=1 << 23)] = 65_536
    """Octets of a put or append, on the average: half to one and a half times as many are drawn."""
    block_size: Annotated[int, msgspec.Meta(ge=512, le=1 << 27, multiple_of=512)] = 65_536
    """Of files with content."""
    count: int | None = None
    """Stop after so many calls; None means go on."""
    root: str = "/work"
    """The directory under which the generator works; made first."""


class ClientConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a client process is told."""

    name: Name
    cluster: ClusterConfig
    workload: WorkloadConfig | None = None


def group_of(cluster: ClusterConfig, name: str) -> GroupConfig:
    """Raises KeyError when there is no such group."""
    for group in cluster.groups:
        if group.name == name:
            return group
    raise KeyError(name)


def one_group(standbys: int = 3, cluster: str = "clover", **settings: object) -> ClusterConfig:
    """A cluster of one group g1 with servers mds1 … mdsN."""
    members = [f"mds{i}" for i in range(1, standbys + 2)]
    return ClusterConfig(cluster=cluster, groups=[GroupConfig("g1", 1, members)], **settings)  # type: ignore[arg-type]


def many_groups(groups: int, standbys: int = 1, cluster: str = "clover", **settings: object) -> ClusterConfig:
    """A cluster of groups g1 … gN, with servers mds1 … counted through."""
    size = standbys + 1
    each = [
        GroupConfig(f"g{number}", number, [f"mds{(number - 1) * size + i}" for i in range(1, size + 1)])
        for number in range(1, groups + 1)
    ]
    return ClusterConfig(cluster=cluster, groups=each, **settings)  # type: ignore[arg-type]
