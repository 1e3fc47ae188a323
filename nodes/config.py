"""Validated configuration of clusters, servers and workloads: one definition for files, scenarios, command line and API."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from nodes.metadata.placement import Granularity
from nodes.mutations import Mutations

MILLISECOND = 1_000_000
SECOND = 1_000_000_000
SEED_MAX = (1 << 63) - 1
NODES_MAX = 9
"""Largest number of nodes of one kind (nodes/kinds.py)."""

Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9-]{0,31}$")]
Milliseconds = Annotated[int, msgspec.Meta(ge=1, le=3_600_000)]
Seed = Annotated[int, msgspec.Meta(ge=0, le=SEED_MAX)]


class Holes(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The papers' holes, each closed unless opened by name; the rule that closes it is in docs/safety.md."""

    election_ignores_sn: bool = False
    """The random number alone decides the draw, and the winner trusts its own journal."""
    no_fencing: bool = False
    """A server never stops serving: its lease does not end."""
    junior_election_eager: bool = False
    """A junior that wins the draw trusts its own journal."""
    short_duplicate_memory: bool = False
    """Only the newest result of a client is remembered."""
    silent_shrink: bool = False
    """The active counts only participants that it still sends to."""
    sn_without_epoch: bool = False
    """Journals are compared by sn alone."""
    late_watch: bool = False
    """A replica answers the recovery question without promising the epoch."""
    configuration_is_liveness: bool = False
    """A quorum counts only the servers that have a role in the view now."""
    reads_before_flush: bool = False
    """Reads and errors show uncommitted groups."""
    stale_view_write: bool = False
    """Writes of the view do not name the lock that allows them."""
    async_flush: bool = False
    """A participant acknowledges before its disk has the group, unless that has records of operations on several groups (DCFS2 §4.3.2)."""
    one_phase_barrier: bool = False
    """Groups write the barrier without having drained, and resume at once."""
    checkpoint_unpinned: bool = False
    """No file is kept for checkpoints: pruning removes the journal below them, data nodes remove the blocks."""
    abort_without_record: bool = False
    """A participant knows an operation by its log alone: a late or repeated request is carried out after all."""
    dentry_locks_only: bool = False
    """Only names are locked: a directory is removed, or moves below itself, while a name in it is undecided."""
    checksum_vote: bool = False
    """Equal checksums of the last group outvote a longer journal."""
    redo_without_phase_one: bool = False
    """The elected server continues with its own slots, whatever a majority reports."""
    no_read_lease: bool = False
    """Reads are answered without a lease."""
    answer_set_shrinks: bool = False
    """The remaining members of the view decide alone."""
    memory_only_accept: bool = False
    """A record is acknowledged before the disk has it."""
    fast_literal_order: bool = False
    """Delivery does not wait for members of larger id (SAA Fig. 3 as printed)."""
    fast_not_uniform: bool = False
    """A member shows every delivered group, whether others have it or not."""
    views_without_agreement: bool = False
    """A view is written without comparing."""
    answer_before_stable: bool = False
    """A write is answered when a majority holds it."""


def opened(holes: Holes) -> tuple[str, ...]:
    """Names of the open holes."""
    return tuple(name for name in Holes.__struct_fields__ if getattr(holes, name))


class Timing(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """CFS §5.4 defines heartbeat and session; all other values are Cloverlab's own. All in milliseconds."""

    heartbeat_ms: Milliseconds = 2_000
    session_timeout_ms: Milliseconds = 5_000
    ack_timeout_ms: Milliseconds = 500
    draw_wait_ms: Milliseconds = 100
    """Time for the server with the largest number to take the lock, before any server in step may take it."""
    renew_scan_ms: Milliseconds = 200
    """Interval of the active's scans for juniors (CFS §4.2.3); renewing begins with one that two scans in a row have seen."""
    client_timeout_ms: Milliseconds = 400
    """Time that the smart client waits for an answer before it asks the next server."""
    grant_ms: Milliseconds = 400
    """With `detection: members`, the length of a member's grant to the holder of the lock, before margins."""
    call_deadline_ms: Milliseconds = 60_000
    """Time after which the smart client returns "outcome unknown"."""


class GroupConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    name: Name
    number: int
    members: list[Name]
    """The servers of the first configuration, in order."""


class DataConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The data nodes of a cluster and their timing."""

    nodes: list[Name] = []
    heartbeat_ms: Milliseconds = 1_000
    silence_ms: Milliseconds = 6_000
    """A data node counts as dead after this time without a message."""
    scrub_ms: Milliseconds = 1_000
    """Interval of the scrubber's reads, of 1 MiB each."""


class JournalConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The nodes that keep the journal in families with a shared one: journal nodes or bookies.

    The three numbers are BookKeeper's, each no greater than the one before. Raises ValueError.
    """

    nodes: list[Name] = []
    ensemble: Annotated[int, msgspec.Meta(ge=1, le=NODES_MAX)] = 3
    """Bookies over which the entries of a ledger are spread."""
    write_quorum: Annotated[int, msgspec.Meta(ge=1, le=NODES_MAX)] = 3
    """Number of bookies of the ensemble that each entry is sent to."""
    ack_quorum: Annotated[int, msgspec.Meta(ge=1, le=NODES_MAX)] = 3
    """Number of bookies that have an entry durably before its calls are answered."""

    def __post_init__(self) -> None:
        if not self.ensemble >= self.write_quorum >= self.ack_quorum >= 1:
            quorums = f"{self.ensemble}-{self.write_quorum}-{self.ack_quorum}"
            raise ValueError(
                f"of ensemble, write quorum and acknowledgement quorum {quorums} each is no greater than the one before"
            )


class Knobs(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Sizes inside servers and clients that change no promise; tiny ones make rare paths frequent. 0 selects the built-in value."""

    segment_bytes: Annotated[int, msgspec.Meta(ge=0, le=1 << 30)] = 0
    """Size in bytes beyond which a journal's file takes no more records."""
    recent_records: Annotated[int, msgspec.Meta(ge=0, le=1 << 20)] = 0
    """Number of a journal's records that are kept in memory."""
    records_per_group: Annotated[int, msgspec.Meta(ge=0, le=1 << 16)] = 0
    broadcasts: Annotated[int, msgspec.Meta(ge=0, le=1 << 10)] = 0
    """Largest number of a symmetric member's broadcasts under way."""
    direct_groups: Annotated[int, msgspec.Meta(ge=0, le=1 << 20)] = 0
    """Groups that the active itself sends a junior. A junior that lacks more committed ones first reads from other servers."""
    ledger_entries: Annotated[int, msgspec.Meta(ge=0, le=1 << 30)] = 0
    """Number of entries after which a writer begins a new ledger."""
    open_slots: Annotated[int, msgspec.Meta(ge=0, le=2_048)] = 0
    """Largest number of slots that a Paxos primary has open. Members accept some multiples of it ahead of what is decided."""
    open_calls: Annotated[int, msgspec.Meta(ge=0, le=1 << 16)] = 0
    """Largest number of open calls of one client, and so of results that a session remembers."""
    cached_directories: Annotated[int, msgspec.Meta(ge=0, le=1 << 20)] = 0
    """Largest number of directories in a client's dentry cache."""
    images_kept: Annotated[int, msgspec.Meta(ge=2, le=64)] = 2
    """Number of images that a server keeps beside the pinned ones: at least the newest and the one to begin from when that has rotted."""


NO_KNOBS = Knobs()


Variant = Literal["safe", "paper"]


class ClusterConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    cluster: Name = "clover"
    protocol: str = "mams"
    variant: Variant = "safe"
    """`paper`: the family's literal text, with all of its holes (nodes/families.py: PAPER). `holes` lists the open ones."""
    placement: Literal["hash", "random", "subtree", "ddg"] = "hash"
    """Policy that selects the home group of a new object."""
    granularity: Granularity = Granularity()
    """Distribution units of `ddg`."""
    ddg_as_printed: bool = False
    """A directory inherits `file_mds` from its parent, as DCFS2 Fig. 2 has it; §3.3 begins with its own unit."""
    cross_group: Literal["s2pc_mp", "two_phase"] = "s2pc_mp"
    """Protocol by which two groups commit one operation."""
    groups: list[GroupConfig] = []
    order: Literal["fast", "plain"] = "fast"
    """Way in which symmetric members reach a total order: an idle member sends a message at once, or with its next heartbeat."""
    timing: Timing = Timing()
    detection: Literal["session", "members"] = "session"
    """What ends a silent leader's role: its coordination session (CFS §5.4), or the members, which grant it a short lease (safety rule 26)."""
    holes: Holes = Holes()
    mutations: Mutations = Mutations()
    session_ttl_ms: Milliseconds = 600_000
    """Time without a record, by the stamps of records, after which a client counts as dead: its session ends, and its hold on files. Clients
    renew their sessions every third of it."""
    min_in_step: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Size below which a group answers reads only; 0 means half of the first configuration, rounded up (safety rule 19)."""
    image_gap: Annotated[int, msgspec.Meta(ge=1)] = 5_000
    """Number of groups by which a junior must be behind to be given the image first."""
    image_every: Annotated[int, msgspec.Meta(ge=0)] = 20_000
    """Number of groups after which a standby writes an image to the pool; 0 means only when a junior needs one."""
    log_bytes: Annotated[int, msgspec.Meta(ge=4_096, le=1 << 40)] = 50 << 20
    """Largest number of bytes of a group's journal behind its newest image (DCFS2 §4.3): from half of it on, an image is taken at once; when it
    is full, writes wait."""
    image_partitions: Annotated[int, msgspec.Meta(ge=1, le=64)] = 8
    """Streams of an image that are written and read in parallel (VSSP §III.D)."""
    image_store: str = "vssp"
    """The mechanism that moves images: vssp, hdfs_pipeline."""
    data: DataConfig = DataConfig()
    journal: JournalConfig = JournalConfig()
    nodes: dict[str, list[Name]] = {}
    """Nodes by kind, of kinds without settings of their own."""
    knobs: Knobs = Knobs()

    def floor(self, members: int) -> int:
        """Size below which a group that began with so many members never counts (safety rule 19)."""
        return self.min_in_step or (members + 1) // 2


class ServerConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Configuration of one metadata server; the world resolves names."""

    name: Name
    group: Name
    cluster: ClusterConfig


class NodeConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Configuration of a node of any kind (nodes/kinds.py)."""

    name: Name
    cluster: ClusterConfig
    capacity: Annotated[int, msgspec.Meta(ge=0)] = 1 << 40
    """Largest number of bytes of blocks that it keeps."""


class WorkloadConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    clients: Annotated[int, msgspec.Meta(ge=1, le=1024)] = 4
    """Number of concurrent calls."""
    rate_per_s: Annotated[float, msgspec.Meta(ge=0)] = 50.0
    """Total rate; 0 means as fast as answers come."""
    mix: dict[str, float] = msgspec.field(default_factory=lambda: {"create": 9, "mkdir": 1})
    """Weights by operation: create mkdir stat list rename link delete set_permission. `move` moves a file to another directory; `rmdir` and
    `move_directory` remove and move directories; `put`, `append` and `get` are calls on files with content."""
    directories: Annotated[int, msgspec.Meta(ge=1)] = 16
    remembered: Annotated[int, msgspec.Meta(ge=1, le=10_000_000)] = 1024
    """Number of files whose names are kept to be read, renamed and deleted."""
    objects: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0
    """Largest number of objects below `root`, those of earlier starts included: at it, a call that would make one deletes one. 0 means no bound."""
    size: Annotated[int, msgspec.Meta(ge=1, le=1 << 23)] = 65_536
    """Mean size in bytes of a put or append; sizes are drawn between half of it and one and a half times as many."""
    block_size: Annotated[int, msgspec.Meta(ge=512, le=1 << 27, multiple_of=512)] = 65_536
    """Block size of files with content."""
    count: int | None = None
    """Number of calls after which the workload stops; None means no limit."""
    root: str = "/work"
    """Directory of the generator's files, created first."""


class ClientConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
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
