"""The storage pool in the API's responses."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from backend.clusters.models import Strict
from backend.pool.volume import Pool
from backend.served_models import served_as

PoolOut = served_as(Pool)


class PoolOrder(Strict):
    group: str = Field(max_length=100)
    do: Literal["check", "image"] = Field(
        description="check: every node reads all its files again, and they are compared; image: take one now."
    )


class Ordered(BaseModel):
    server: str = Field(description="The active that carries it out.")


class LookedIn(BaseModel):
    """One image that the lookup used."""

    group: str
    server: str = Field(description="Server whose disk has the image.")
    sn: int
    partitions: int
    loaded: list[int] = Field(description="The partitions that were loaded.")
    size: int = Field(description="Bytes in the loaded partitions.")
    of_bytes: int = Field(description="Bytes in the whole image.")


class AttributesOut(BaseModel):
    """Attributes of a file or directory at the time of the image."""

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
    found: AttributesOut | None = Field(description="Attributes; null when the image does not have the path.")
    names: list[str] = Field(description="The first hundred names of a directory.")
    steps: list[LookedIn] = Field(description="Images in which the path was looked up, group by group.")
