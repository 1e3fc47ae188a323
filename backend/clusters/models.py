"""The cluster in the API's responses."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from backend.fabrics import counters
from backend.served import served_as
from nodes.metadata import pages

ProcessState = Literal["running", "paused", "stopped"]
Role = Literal["active", "standby", "junior", "primary", "secondary", "member", "joining", "down"]
Direction = Literal["both", "to", "from"]
Counters = served_as(pages.Counters)
Replicated = served_as(counters.Replicated)
Pipeline = served_as(counters.Pipeline)


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ErrorLine(BaseModel):
    error: str


class Configuration(BaseModel):
    number: int
    members: list[str]


class Group(BaseModel):
    name: str
    epoch: int
    active: str
    lock_owner: str
    commit_sn: int
    configuration: Configuration


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


class Server(NodeProcess):
    group: str
    role: Role = Field(description="Its place in the global view; down has none.")
    believes: str = Field(description="What it says of itself: one of those, elected or none.")
    epoch: int
    sn: int = Field(description="Sn of the last durable journal group.")
    applied_sn: int
    commit_sn: int
    lag: int = Field(description="Committed groups that are not durable on this server.")
    faults: list[int]
    warning: str
    fenced: bool = Field(
        description="The server serves no client: its coordination session is not confirmed."
    )


class Node(NodeProcess):
    """A process of a kind of nodes/kinds.py."""

    kind: str
    figures: dict[str, int] = Field(description="Numbers that it reports, by the columns of its kind.")
    faults: list[int]
    warning: str


class Client(NodeProcess):
    rate_per_s: float
    paused: bool
    clients: int = Field(description="Concurrent calls.")


class EnsembleServer(NodeProcess):
    """One server of a ZooKeeper ensemble that is ours."""

    role: Literal["leader", "follower", "looking", "down"]


class Coordination(BaseModel):
    pid: int
    address: str
    process: ProcessState
    embedded: bool
    servers: list[EnsembleServer] = Field(description="Empty unless they are ours one by one.")


class Link(BaseModel):
    a: str
    b: str
    direction: Direction
    rule: str


class Fault(BaseModel):
    fault: int
    verb: str
    targets: list[str]
    options: dict[str, Any]
    at_ns: int


class InvariantStatus(BaseModel):
    invariant: str
    meaning: str
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
    trouble: str = Field(
        description="One line with the reason why the cluster could not start; empty otherwise."
    )
    variant: str = Field(description="safe, or paper: the protocol's literal text with all of its holes.")
    holes: list[str] = Field(description="The paper's holes that are open: the cluster is not safe.")
    timing: dict[str, int]
    groups: list[CountedGroup]
    replicated: dict[str, Replicated] = Field(  # type: ignore[valid-type]
        description="By server and journal node; who does not answer is left out."
    )
    pipelines: dict[str, Pipeline] = Field(  # type: ignore[valid-type]
        description="By server; empty where the family has no jobs and locks."
    )
    servers: list[Server]
    nodes: list[Node]
    data_nodes: list[dict[str, Any]] = Field(description="Rows of `nodes`, with their numbers as fields.")
    journal_nodes: list[dict[str, Any]]
    clients: list[Client]
    coordination: Coordination
    links: list[Link]
    faults: list[Fault]
    invariants: list[InvariantStatus]


class PictureOut(BaseModel):
    """The state of one moment, reduced from events alone."""

    at_ns: int
    seq: int
    servers: dict[str, Server]
    groups: dict[str, Group]
    nodes: dict[str, Node]
    faults: list[Fault]
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
