"""The storage pool as the API tells it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from backend.clusters.models import Strict


class ReplicaOut(BaseModel):
    """One file on one pool node, as that node or the active said last."""

    size: int
    valid: int = Field(description="Octets from the beginning that are whole.")
    checksum: int
    epoch: int
    first_sn: int
    last_sn: int
    state: Literal["agrees", "behind", "damaged", "disputed", "repairing", "repaired"]
    reason: str
    source: str = Field(description="Whose replica it is repaired from.")
    began: int = Field(description="Where the repair began: what lies before was good.")
    offset: int


class RenewalOut(BaseModel):
    phase: str
    sn: int
    goal_sn: int


class PoolNode(BaseModel):
    name: str
    told_ns: int = Field(description="When its last report came; 0 when none has.")
    files: int
    octets: int
    refused: str = Field(description="Why its last report was not believed.")
    renewal: RenewalOut | None
    struck: str = Field(description="What a person has damaged here while no server has noticed.")


class ImageOut(BaseModel):
    name: str
    sn: int
    octets: int
    partitions: int
    writer: str = Field(description="Empty when it was not seen being written.")
    took_ms: int
    whole: list[str] = Field(description="Nodes where it counts.")
    refused: dict[str, str] = Field(description="Nodes that found it damaged, and why.")


class PoolOut(BaseModel):
    group: str
    nodes: dict[str, PoolNode]
    images: dict[str, ImageOut]
    files: dict[str, dict[str, ReplicaOut]] = Field(description="Replicas by file and node.")


class PoolOrder(Strict):
    group: str = Field(max_length=100)
    do: Literal["check", "image"] = Field(
        description="check: every node reads all its files again, and they are compared; image: take one now."
    )


class Ordered(BaseModel):
    server: str = Field(description="The active that carries it out.")


class LookedIn(BaseModel):
    """One image that was looked into."""

    group: str
    server: str = Field(description="On whose disk it lies.")
    sn: int
    partitions: int
    loaded: list[int] = Field(description="The partitions that were loaded.")
    octets: int = Field(description="Of these.")
    of_octets: int = Field(description="Of the whole image.")


class Attributes(BaseModel):
    """Of a file or directory at the moment of the image."""

    inode: int
    kind: Literal["file", "directory"]
    mode: int
    owner: str
    group: str
    mtime_ns: int
    atime_ns: int
    length: int
    replication: int
    entries: int
    nlink: int


class Looked(BaseModel):
    path: str
    found: Attributes | None = Field(description="None when the image does not have it.")
    names: list[str] = Field(description="The first hundred of a directory.")
    steps: list[LookedIn] = Field(description="Group by group, as the path goes.")
