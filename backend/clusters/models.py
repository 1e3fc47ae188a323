"""The cluster as the API tells it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

ProcessState = Literal["running", "paused", "stopped"]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ErrorLine(BaseModel):
    error: str


class Configuration(BaseModel):
    number: int
    members: list[str]


class Counters(BaseModel):
    """What the active of a group counts; what is of several groups, since it began to serve."""

    objects: int
    branch_points: int = Field(description="Names whose object is at home in another group.")
    open: int = Field(description="Operations on several groups that are not ended in this group.")
    done: int = Field(description="Operations on several groups that this group coordinated and committed.")
    aborted: int = Field(description="The same, aborted; one that is tried again counts each time.")
    sent: int = Field(description="Messages to other groups.")
    log_octets: int = Field(description="Octets of the group's journal behind its newest image.")
    log_full: bool = Field(description="Whether writes wait until an image is taken.")
    periodic: int = Field(description="Images taken because there were so many journal groups.")
    forced: int = Field(description="Images taken because the log was half full.")
    protocol: int = Field(
        description="Records of operations on several groups, on the disks before anybody is told."
    )


class Group(BaseModel):
    name: str
    epoch: int
    active: str
    lock_owner: str
    commit_sn: int
    configuration: Configuration


class CountedGroup(Group):
    counters: Counters | None = Field(description="null while the group's active does not answer.")


class Replicated(BaseModel):
    """What one life of a metadata server, journal node or bookie spent on replication."""

    messages: dict[str, int] = Field(description="By kind.")
    octets: dict[str, int] = Field(description="By kind.")
    records_per_batch: dict[str, int] = Field(
        description="How many batches, messages in Multi-Paxos and journal groups elsewhere, had so many records."
    )
    log_writes: int = Field(description="Synced writes of its log.")
    operations: int = Field(description="Clients' writes that were carried out and that it answered.")


class Pipeline(BaseModel):
    """What is under way at one server whose family has jobs and locks."""

    active: int = Field(description="Jobs that wait for nothing but to be scheduled.")
    idle: int = Field(description="Jobs that wait for disks, locks or a lease.")
    decided: int = Field(description="Transactions that wait for the disks of all.")
    waiting: int = Field(description="Transactions that wait for locks.")
    read: int = Field(description="Read locks held.")
    update: int = Field(description="Update locks held.")
    write: int = Field(description="Write locks held.")


class Server(BaseModel):
    name: str
    group: str
    role: Literal["active", "standby", "junior", "primary", "secondary", "member", "joining", "down"] = Field(
        description="Its place in the global view; down has none."
    )
    believes: str = Field(description="What it says of itself: one of those, elected or none.")
    process: ProcessState
    epoch: int
    sn: int = Field(description="The last durable journal group.")
    applied_sn: int
    commit_sn: int
    lag: int = Field(description="Committed groups that are not durable here.")
    pid: int
    address: str
    container: str = Field(default="", description="Short id; empty on processes.")
    image: str = ""
    faults: list[int]
    warning: str = ""


class DataNode(BaseModel):
    """Keeps replicas of blocks."""

    name: str
    process: ProcessState
    pid: int
    address: str
    container: str = Field(default="", description="Short id; empty on processes.")
    image: str = ""
    blocks: int = Field(description="Replicas that it has.")
    octets: int
    damaged: int = Field(description="Replicas that are known to be.")
    faults: list[int]
    warning: str = ""


class JournalNode(BaseModel):
    """A journal node or bookie: keeps the journal that a family's servers share."""

    name: str
    process: ProcessState
    pid: int
    address: str
    container: str = ""
    image: str = ""
    sn: int = Field(description="Of the last journal group that it stored.")
    epoch: int = Field(description="Of the last writer; at a bookie the number of the ledger.")
    faults: list[int]
    warning: str = ""


class Client(BaseModel):
    name: str
    pid: int
    process: ProcessState
    address: str = ""
    container: str = ""
    image: str = ""
    rate_per_s: float
    paused: bool
    clients: int = Field(description="Concurrent calls.")


class CoordinationServer(BaseModel):
    """One server of a ZooKeeper ensemble that is ours."""

    name: str
    role: Literal["leader", "follower", "looking", "down"]
    process: ProcessState
    pid: int
    address: str
    container: str
    image: str


class CoordinationService(BaseModel):
    pid: int
    address: str
    process: ProcessState
    embedded: bool
    servers: list[CoordinationServer] = Field(description="Empty unless they are ours one by one.")


class Link(BaseModel):
    a: str
    b: str
    direction: Literal["both", "to", "from"]
    rule: str


class Fault(BaseModel):
    fault: int
    verb: str
    targets: list[str]
    options: dict[str, Any]
    at_ns: int


class Lamp(BaseModel):
    invariant: str
    meaning: str
    state: Literal["grey", "green", "red"]
    checked: int
    explanation: str
    evidence: list[tuple[str, int]] = []


class Cluster(BaseModel):
    cluster: str
    protocol: str
    fabric: str
    run: int
    seq: int
    clock: str
    now_ns: int
    settled: bool = Field(
        description="Every server runs and has its place, and the active, or a member, serves."
    )
    start_s: float | None = Field(description="Seconds from `up` to the first settled moment.")
    trouble: str = Field(description="Why the cluster could not start, in one line; else empty.")
    variant: str = Field(description="safe, or paper: the protocol's literal text with all of its holes.")
    holes: list[str] = Field(description="The paper's holes that are open: the cluster is not safe.")
    timing: dict[str, int]
    groups: list[CountedGroup]
    replicated: dict[str, Replicated] = Field(
        description="By server and journal node; who does not answer is left out."
    )
    pipelines: dict[str, Pipeline] = Field(
        description="By server; empty where the family has no jobs and locks."
    )
    servers: list[Server]
    data_nodes: list[DataNode]
    journal_nodes: list[JournalNode]
    clients: list[Client]
    coordination: CoordinationService
    links: list[Link]
    faults: list[Fault]
    lamps: list[Lamp]


class PictureOut(BaseModel):
    """The state at one moment, made from events alone."""

    at_ns: int
    seq: int
    servers: dict[str, Server]
    groups: dict[str, Group]
    data_nodes: dict[str, DataNode]
    journal_nodes: dict[str, JournalNode]
    faults: list[Fault]
    lamps: dict[str, str] = Field(description="Invariants broken by then, and why.")


class WorkloadChange(Strict):
    rate_per_s: float | None = Field(default=None, ge=0, le=1_000_000, allow_inf_nan=False)
    paused: bool | None = None
    clients: int | None = Field(default=None, ge=1, le=1024)


class WorkloadState(BaseModel):
    rate_per_s: float
    paused: bool
    clients: int
