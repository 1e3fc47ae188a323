"""What a scenario file may say. Every key is here; an unknown one is refused with its line."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from nodes.explore.files import plan_of
from nodes.explore.plan import Plan

Count = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(gt=0)]


class _Part(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    pass


class ClusterPart(_Part, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The cluster that the scenario makes."""

    protocol: str = "mams"
    """The family: a name of nodes/families.py."""
    variant: Literal["safe", "paper"] | None = None
    """paper: the family's literal text, with all of its holes; safe: none, and `holes` must be empty. Without a word it is safe but for `holes`."""
    groups: Annotated[int, msgspec.Meta(ge=1, le=8)] = 1
    standbys: Annotated[int, msgspec.Meta(ge=0, le=14)] = 3
    """In each group, beside the active."""
    placement: Literal["hash", "random", "subtree", "ddg"] = "hash"
    granularity: str = "2-16-2048"
    """`DirDep-DirWid-FileWid` of the placement ddg."""
    ddg_as_printed: bool | None = None
    """A directory inherits `file_mds`, as DCFS2 Fig. 2 has it (placement ddg)."""
    cross_group: Literal["s2pc_mp", "two_phase"] = "s2pc_mp"
    data_nodes: Annotated[int, msgspec.Meta(ge=0, le=9)] = 0
    order: Literal["fast", "plain"] = "fast"
    """Of the protocol symmetric."""
    journal_nodes: Annotated[int, msgspec.Meta(ge=1, le=9)] | None = None
    """Journal nodes or bookies, in a family whose servers share a journal; as many as the family has by itself."""
    quorums: str | None = None
    """`E-Qw-Qa` of the protocol bookkeeper: ensemble, write quorum, acknowledgement quorum (3-3-3)."""
    session_timeout: str = "5s"
    heartbeat: str = "2s"
    ack_timeout: str = "500ms"
    client_timeout: str = "400ms"
    renew_scan: str = "200ms"
    min_in_step: Count = 0
    image_gap: Annotated[int, msgspec.Meta(ge=1)] = 5_000
    image_every: Count = 20_000
    """Groups after which a standby writes an image; 0 means only when a junior needs one."""
    log_octets: Annotated[int, msgspec.Meta(ge=4_096)] = 50 << 20
    """Of journal that may lie behind a group's newest image."""
    image_store: Literal["vssp", "hdfs_pipeline"] = "vssp"
    holes: list[str] = []
    """The paper's holes to open, by their switches; beside those of the variant."""
    mutations: list[str] = []
    """Known bugs to switch on (nodes/mutations.py)."""


class WorkloadPart(_Part, forbid_unknown_fields=True, kw_only=True, frozen=True):
    clients: Annotated[int, msgspec.Meta(ge=1, le=1024)] = 4
    """Concurrent calls."""
    rate: str = "50/s"
    mix: dict[str, Share] = msgspec.field(default_factory=lambda: {"create": 9.0, "mkdir": 1.0})
    directories: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 16
    size: Annotated[int, msgspec.Meta(ge=1, le=1 << 23)] = 65_536
    """Octets of a put or append, on the average."""
    block_size: Annotated[int, msgspec.Meta(ge=512, le=1 << 27, multiple_of=512)] = 65_536
    """Of files with content."""


class ThrottlePart(_Part, forbid_unknown_fields=True, kw_only=True, frozen=True):
    rate: str | None = None
    paused: bool | None = None


class RowsPart(_Part, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """State rows of the global view, in order; servers with the same letter may stand for one another from that row on."""

    letters: list[str]
    any_order_of: Literal["standbys", "nobody"] = "standbys"


class ExpectPart(_Part, forbid_unknown_fields=True, kw_only=True, frozen=True):
    letters: str | None = None
    """The row now, or within the step's `within`: `A S S S`."""
    any_order_of: Literal["standbys", "nobody"] = "nobody"
    group: str = "g1"
    """Whose letters, and rows."""
    serving: bool | None = None
    """Whether an active answers."""
    settled: bool | None = None
    """Whether there is an active and all who run are in step."""
    failed_calls: Count | None = None
    """At most so many calls returned an operating error."""
    longest_outage: str | None = None
    invariants: Literal["all"] | list[str] | None = None
    """`all`, or the invariants that must hold."""
    broken: list[str] | None = None
    """Invariants of which at least one must be found broken (a lab with an open hole)."""
    rows: RowsPart | None = None
    checkpoints: dict[str, Literal["complete", "void", "aside", "incomplete"]] = {}
    """The states of checkpoints by name; incomplete: it is void, or was never begun."""
    taken_back: str | None = None
    """Every server that runs was taken back to this checkpoint, and to no other since."""
    set_aside: Count | None = None
    """The last recovery set at least so many operations of clients aside."""
    fsck: Literal["clean"] | None = None
    """The namespaces of all groups fit together. At the end the workload is held until nothing is under way."""
    blocks: Literal["whole"] | None = None
    """No block of a file is missing, has too few replicas or too many."""
    told: dict[str, Annotated[int, msgspec.Meta(ge=1)]] = {}
    """Events by kind: at least so many were told since the workload began."""


class StepPart(_Part, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """One step: when it begins, and what it does."""

    at: str | None = None
    """Since the workload began."""
    after: str | None = None
    """Since the step before."""
    when: str | None = None
    """As soon as this is so."""
    fault: str | None = None
    target: str | list[str] | None = None
    options: dict[str, Any] = {}
    span: str | None = msgspec.field(default=None, name="for")
    """Undone after this time."""
    workload: ThrottlePart | None = None
    mark: str | None = None
    """Begins to mark a checkpoint of this name; whether it becomes one is for `expect` to say."""
    recover: str | None = None
    """Begins to take the whole cluster back to this checkpoint; refused, it counts as not held."""
    expect: ExpectPart | None = None
    within: str | None = None

    def left_out(self) -> StepPart:
        """Does nothing at its time: the other steps keep their numbers, and words like `target of step 3` their meaning."""
        return StepPart(at=self.at, after=self.after)


class EndPart(_Part, forbid_unknown_fields=True, kw_only=True, frozen=True):
    at: str | None = None
    when: str | None = None
    within: str = "60s"


class Scenario(_Part, forbid_unknown_fields=True, kw_only=True, frozen=True):
    name: str
    teaches: str
    paper: str = ""
    cluster: ClusterPart = ClusterPart()
    workload: WorkloadPart | None = WorkloadPart()
    steps: list[StepPart] = []
    end: EndPart = EndPart(when="settled")
    expect: ExpectPart = ExpectPart(failed_calls=0, invariants="all")
    seed: Count = 1
    """Used unless another is given."""
    matrix: dict[str, list[str]] = {}
    """Runs the file once for each value: `{step}` in a step's text is replaced by it."""
    trial: dict[str, Any] | None = None
    """A trial of the explorer (docs/testing.md), which takes the place of cluster, workload, steps and end: on the simulator only."""

    def plan(self) -> Plan:
        """The trial with this file's seed. Raises ValueError."""
        return plan_of({**(self.trial or {}), "seed": self.seed})
