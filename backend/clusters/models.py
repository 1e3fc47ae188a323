"""The cluster in the API's responses."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from backend.fabrics import counters
from backend.picture import FaultState, NodeState, ServerState
from backend.served_models import served_as
from nodes.metadata import pages
from nodes.states import ProcessState

Direction = Literal["both", "to", "from"]
Counters = served_as(pages.Counters)
Replicated = served_as(counters.Replicated)
Pipeline = served_as(counters.Pipeline)


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ErrorLine(BaseModel):
    error: str


class ConfigurationOut(BaseModel):
    number: int
    members: list[str]


class Group(BaseModel):
    name: str
    epoch: int
    active: str
    lock_owner: str
    commit_sn: int
    configuration: ConfigurationOut


class CountedGroup(Group):
    counters: Counters | None = Field(  # type: ignore[valid-type]
        description="null while the group's active does not answer."
    )


class NodeProcess(BaseModel):
    """Who runs where."""

    name: str
    process: ProcessState
    pid: int
    address: str
    container: str = Field(description="Short id; empty on processes and in the past.")
    image: str


Server = served_as(ServerState, "Server")
Node = served_as(NodeState, "Node")
Fault = served_as(FaultState, "Fault")


class Client(NodeProcess):
    rate_per_s: float
    paused: bool
    clients: int = Field(description="Concurrent calls.")


class EnsembleServer(NodeProcess):
    """One server of a ZooKeeper ensemble that is ours."""

    role: Literal["leader", "follower", "looking", "down"]


class CoordinationOut(BaseModel):
    pid: int
    address: str
    process: ProcessState
    embedded: bool
    servers: list[EnsembleServer] = Field(description="Empty unless they are ours one by one.")


class LinkOut(BaseModel):
    a: str
    b: str
    direction: Direction
    rule: str


class InvariantStatus(BaseModel):
    invariant: str
    meaning: str
    counts: str = Field(description="What `checked` counts, in the plural.")
    state: Literal["grey", "green", "red"]
    checked: int
    explanation: str
    evidence: list[tuple[str, int]]


class Cluster(BaseModel):
    cluster: str
    protocol: str
    fabric: str
    run: int
    seq: int
    clock: str
    now_ns: int
    settled: bool = Field(
        description="Every server runs and is in step, and the active, or a member, serves."
    )
    start_s: float | None = Field(description="Seconds from `up` to the first settled moment.")
    kept_s: int = Field(description="Age in seconds beyond which runs and their events are removed.")
    trouble: str = Field(
        description="One line with the reason why the cluster could not start; empty otherwise."
    )
    variant: str = Field(description="safe, or paper: the protocol's literal text with all of its holes.")
    holes: list[str] = Field(description="The paper's holes that are open: the cluster is not safe.")
    detection: str = Field(
        description="What ends a silent leader's role: `session` (its coordination session), or `members` (they grant it a lease)."
    )
    timing: dict[str, int]
    groups: list[CountedGroup]
    replicated: dict[str, Replicated] = Field(  # type: ignore[valid-type]
        description="By server and journal node; who does not answer is left out."
    )
    pipelines: dict[str, Pipeline] = Field(  # type: ignore[valid-type]
        description="By server; empty where the family has no jobs and locks."
    )
    servers: list[Server]  # type: ignore[valid-type]
    nodes: list[Node]  # type: ignore[valid-type]
    data_nodes: list[dict[str, Any]] = Field(description="Rows of `nodes`, with their numbers as fields.")
    journal_nodes: list[dict[str, Any]]
    clients: list[Client]
    coordination: CoordinationOut
    links: list[LinkOut]
    faults: list[Fault]  # type: ignore[valid-type]
    invariants: list[InvariantStatus]


class StatusOut(BaseModel, extra="allow"):
    """The cluster in short; nodes of each kind have a field of their own."""

    cluster: str
    protocol: str
    settled: bool
    problems: list[str]
    rows: list[dict[str, Any]]
    """A row for each process, as `./cloverlab status` prints it."""


class PictureOut(BaseModel):
    """The state of one moment, reduced from events alone."""

    at_ns: int
    seq: int
    servers: dict[str, Server]  # type: ignore[valid-type]
    groups: dict[str, Group]
    nodes: dict[str, Node]  # type: ignore[valid-type]
    faults: list[Fault]  # type: ignore[valid-type]
    invariants: dict[str, str] = Field(description="Invariants violated by then, with the explanation.")


_changes: dict[str, Any] = {name: (field.annotation, None) for name, field in PictureOut.model_fields.items()}
PictureChanges = create_model("PictureChanges", __base__=Strict, **_changes)
"""Rows of a picture that have changed, and whole values of everything else."""


class WorkloadChange(Strict):
    rate_per_s: float | None = Field(default=None, ge=0, le=1_000_000, allow_inf_nan=False)
    paused: bool | None = None
    clients: int | None = Field(default=None, ge=1, le=1024)


class WorkloadState(BaseModel):
    rate_per_s: float
    paused: bool
    clients: int
