"""The keys of a scenario file. The reader refuses an unknown key and names its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from nodes.config import Seed
from nodes.explore.files import plan_of
from nodes.explore.plan import Plan
from nodes.families import family_named
from nodes.kinds import KINDS

Count = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(gt=0)]


class _ScenarioPart(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    pass


if TYPE_CHECKING:
    _NodeCounts = _ScenarioPart
else:
    _NodeCounts = msgspec.defstruct(
        "_NodeCounts",
        [
            (kind.table, Annotated[int, msgspec.Meta(ge=kind.least, le=kind.most)] | None, None)
            for kind in KINDS.values()
        ],
        bases=(_ScenarioPart,), forbid_unknown_fields=True, kw_only=True, frozen=True,
    )  # fmt: skip
    """`data_nodes`, `journal_nodes`, …: numbers of nodes by kind. The default is the number that the family needs."""


class ClusterPart(_NodeCounts, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The cluster that the scenario makes."""

    protocol: str = "mams"
    """The family: a name of nodes/families.py."""
    variant: Literal["safe", "paper"] | None = None
    """`paper` opens all holes of the family's literal text. `safe` opens none, and `holes` must be empty. Without a variant only `holes` are
    open."""
    groups: Annotated[int, msgspec.Meta(ge=1, le=8)] = 1
    standbys: Annotated[int, msgspec.Meta(ge=0, le=14)] = 3
    """Standbys of each group, beside the active."""
    placement: Literal["hash", "random", "subtree", "ddg"] = "hash"
    granularity: str = "2-16-2048"
    """`DirDep-DirWid-FileWid` of the placement ddg."""
    ddg_as_printed: bool | None = None
    """A directory inherits `file_mds`, as DCFS2 Fig. 2 has it (placement ddg)."""
    cross_group: Literal["s2pc_mp", "two_phase"] = "s2pc_mp"
    order: Literal["fast", "plain"] = "fast"
    """Order mechanism of the protocol symmetric."""
    quorums: str | None = None
    """`E-Qw-Qa` of the protocol bookkeeper: ensemble, write quorum, acknowledgement quorum (3-3-3)."""
    detection: Literal["session", "members"] = "session"
    """What ends a silent active's role: its coordination session, or the members, which grant it a short lease."""
    grant: str = "400ms"
    """Length of a member's grant (`detection: members`)."""
    session_timeout: str = "5s"
    heartbeat: str = "2s"
    ack_timeout: str = "500ms"
    client_timeout: str = "400ms"
    renew_scan: str = "200ms"
    min_in_step: Count = 0
    image_gap: Annotated[int, msgspec.Meta(ge=1)] = 5_000
    image_every: Count = 20_000
    """Groups after which a standby writes an image; 0 means only when a junior needs one."""
    log_bytes: Annotated[int, msgspec.Meta(ge=4_096)] = 50 << 20
    """Bytes of journal after a group's newest image at which the group writes another one."""
    image_store: Literal["vssp", "hdfs_pipeline"] = "vssp"
    holes: list[str] = []
    """Switches of the paper's holes to open, beside those of the variant."""
    mutations: list[str] = []
    """Known bugs to switch on (nodes/mutations.py)."""

    def counts(self) -> dict[str, int]:
        """Number of nodes by kind. Raises ValueError for an unknown family."""
        family = family_named(self.protocol)
        given = {kind: getattr(self, kind.table) for kind in KINDS.values()}
        return {kind.name: kind.needed(family) if count is None else count for kind, count in given.items()}


class WorkloadPart(_ScenarioPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    clients: Annotated[int, msgspec.Meta(ge=1, le=1024)] = 4
    """Concurrent calls."""
    rate: str = "50/s"
    mix: dict[str, Share] = msgspec.field(default_factory=lambda: {"create": 9.0, "mkdir": 1.0})
    directories: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 16
    size: Annotated[int, msgspec.Meta(ge=1, le=1 << 23)] = 65_536
    """Mean size of a put or append, in bytes."""
    block_size: Annotated[int, msgspec.Meta(ge=512, le=1 << 27, multiple_of=512)] = 65_536
    """Block size of files with content, in bytes."""


class ThrottlePart(_ScenarioPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    rate: str | None = None
    paused: bool | None = None


class RowsPart(_ScenarioPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """State rows of the global view, in order. Servers with the same role letter may exchange their places in later rows."""

    roles: list[str]
    any_order_of: Literal["standbys", "nobody"] = "standbys"


class ExpectPart(_ScenarioPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    roles: str | None = None
    """Row of roles now, or within the step's `within`: `A S S S`."""
    any_order_of: Literal["standbys", "nobody"] = "nobody"
    group: str = "g1"
    """Group that `roles` and `rows` refer to."""
    serving: bool | None = None
    """Whether the group has an active that serves."""
    settled: bool | None = None
    """Whether the group has an active and all running servers are in step."""
    failed_calls: Count | None = None
    """Most calls that may return an operating error."""
    longest_outage: str | None = None
    invariants: Literal["all"] | list[str] | None = None
    """`all`, or the invariants that must hold."""
    broken: list[str] | None = None
    """Invariants of which at least one must be violated (a lab with an open hole)."""
    rows: RowsPart | None = None
    checkpoints: dict[str, Literal["complete", "void", "aside", "incomplete"]] = {}
    """States of checkpoints by name. `incomplete` means void or never begun."""
    rolled_back: str | None = None
    """Checkpoint to which the last recovery of every running server rolled back."""
    quarantined: Count | None = None
    """Least number of client operations that the last recovery quarantined."""
    fsck: Literal["clean"] | None = None
    """The namespaces of all groups agree. At the end the workload is held until no operation is under way."""
    blocks: Literal["whole"] | None = None
    """Every block of a file is present and has the right number of replicas."""
    reported: dict[str, Annotated[int, msgspec.Meta(ge=1)]] = {}
    """Least number of events since the workload began, by kind."""


class StepPart(_ScenarioPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """One step of a scenario: its time and its action."""

    at: str | None = None
    """Time since the workload began."""
    after: str | None = None
    """Time since the step before."""
    when: str | None = None
    """Condition at which the step begins."""
    fault: str | None = None
    target: str | list[str] | None = None
    options: dict[str, Any] = {}
    span: str | None = msgspec.field(default=None, name="for")
    """Time after which the step is undone."""
    workload: ThrottlePart | None = None
    mark: str | None = None
    """Name of the checkpoint that the step begins to mark. `expect` says whether it must complete."""
    recover: str | None = None
    """Checkpoint to which the step begins to roll the cluster back. A refused recovery counts as an expectation that does not hold."""
    expect: ExpectPart | None = None
    within: str | None = None

    def left_out(self) -> StepPart:
        """The same step without its action: it expects nothing. The other steps keep their numbers, so that targets like `target of step 3` keep
        their meaning."""
        return StepPart(at=self.at, after=self.after, expect=ExpectPart())


class EndPart(_ScenarioPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    at: str | None = None
    when: str | None = None
    within: str = "60s"


class Scenario(_ScenarioPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    name: str
    teaches: str
    paper: str = ""
    cluster: ClusterPart = ClusterPart()
    workload: WorkloadPart | None = WorkloadPart()
    steps: list[StepPart] = []
    end: EndPart = EndPart(when="settled")
    expect: ExpectPart = ExpectPart(failed_calls=0, invariants="all")
    seed: Seed = 1
    """Used unless another is given."""
    matrix: dict[str, list[str]] = {}
    """Values by name; the file runs once for each value, and `{step}` in a step's text is replaced by it."""
    trial: dict[str, Any] | None = None
    """A trial of the explorer (docs/testing.md) in place of cluster, workload, steps and end; for the simulator only."""

    def plan(self) -> Plan:
        """The trial with this file's seed. Raises ValueError."""
        return plan_of({**(self.trial or {}), "seed": self.seed})
