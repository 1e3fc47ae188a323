"""File system calls through the control plane's smart client."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from backend.clusters.models import Strict

PATH_CHARACTERS = 8192


class FsRequest(Strict):
    do: Literal["ls", "mkdir", "create", "mv", "ln", "rm", "stat"]
    path: str = Field(max_length=PATH_CHARACTERS)
    to: str | None = Field(
        default=None, max_length=PATH_CHARACTERS, description="mv: the new path. ln: the other name."
    )
    parents: bool = Field(default=False, description="mkdir: make missing parents too.")
    recursive: bool = Field(default=False, description="rm: a directory with all in it.")
    overwrite: bool = Field(default=False, description="mv: replace what is there.")
    after: str = Field(default="", max_length=PATH_CHARACTERS, description="ls: names after this one.")
    limit: int = Field(default=1000, ge=1, le=1000)


class Entry(BaseModel):
    """A name in a directory, and the object that it leads to."""

    name: str
    kind: Literal["file", "directory"]
    home: str = Field(description="The group that is home to the object.")
    branch_point: bool = Field(description="Whether that is another group than the directory's own.")
    entries: int = Field(description="Names in a directory; 0 for a file.")
    length: int = Field(description="Octets of a file's finished blocks; 0 for a directory.")
    mode: int
    owner: str
    mtime_ns: int = Field(description="Nanoseconds since 1970.")


class Directory(BaseModel):
    path: str
    home: str
    entries: list[Entry] = Field(description="In the order of their names' code points.")
    more: bool = Field(description="Whether there are names behind the last one.")


class BlockOut(BaseModel):
    """A finished block, and what data nodes that live have of it."""

    number: str = Field(description="In hexadecimal; the first four figures name the group that gave it.")
    stamp: int
    length: int
    health: Literal["whole", "under", "over", "missing"]
    replicas: dict[str, Literal["good", "stale", "damaged", "writing"]] = Field(description="By data node.")


class Blocks(BaseModel):
    path: str
    length: int
    replication: int
    block_size: int = Field(description="0 for a file that has never been written.")
    writing: bool = Field(description="A writer holds the file.")
    more: bool
    blocks: list[BlockOut]


class FsAnswer(BaseModel):
    result: Any = Field(description="What the operation returns, by field name.")
    server: str
    epoch: int
    sn: int


class Written(BaseModel):
    octets: int = Field(description="How many were written.")
