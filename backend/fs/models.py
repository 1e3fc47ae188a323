"""File system calls through the control plane's smart client."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from backend.clusters.models import Strict
from nodes.metadata.plans import MODE_MAX

PATH_CHARACTERS = 8192


class FsRequest(Strict):
    do: Literal["ls", "mkdir", "create", "touch", "chmod", "mv", "ln", "rm", "stat", "du"]
    path: str = Field(max_length=PATH_CHARACTERS)
    to: str | None = Field(
        default=None, max_length=PATH_CHARACTERS, description="mv: the new path. ln: the other name."
    )
    parents: bool = Field(default=False, description="mkdir: create missing parents, too.")
    recursive: bool = Field(default=False, description="rm: remove a directory with its content.")
    overwrite: bool = Field(default=False, description="mv: replace an existing object.")
    mode: int = Field(default=0o644, ge=0, le=MODE_MAX, description="chmod: the permission bits.")
    after: str = Field(default="", max_length=PATH_CHARACTERS, description="ls: names after this one.")
    limit: int = Field(default=1000, ge=1, le=1000)


class Entry(BaseModel):
    """A name in a directory, and the object that it refers to."""

    name: str
    kind: Literal["file", "directory"]
    home: str = Field(description="Home group of the object.")
    branch_point: bool = Field(description="Whether the home group differs from the directory's.")
    entries: int = Field(description="Number of names in a directory; 0 for a file.")
    length: int = Field(description="Bytes in a file's finished blocks; 0 for a directory.")
    mode: int
    owner: str
    mtime_ns: int = Field(description="Time of the last change, in nanoseconds since 1970.")


class Directory(BaseModel):
    path: str
    home: str
    entries: list[Entry] = Field(description="Entries, ordered by the code points of their names.")
    more: bool = Field(description="Whether more names follow.")


class FileBlock(BaseModel):
    """A finished block, and what data nodes that live have of it."""

    number: str = Field(
        description="Block number in hexadecimal; the first four digits name the group that allocated it."
    )
    stamp: int
    length: int
    health: Literal["whole", "under", "over", "missing"]
    replicas: dict[str, Literal["good", "stale", "damaged", "writing"]] = Field(
        description="State of each replica by data node."
    )


class FileBlocks(BaseModel):
    path: str
    length: int
    replication: int
    block_size: int = Field(description="Block size; 0 for a file without content.")
    writing: bool = Field(description="Whether a writer holds the file.")
    more: bool
    blocks: list[FileBlock]


class FsAnswer(BaseModel):
    result: Any = Field(description="Result of the operation by field name.")
    server: str
    epoch: int
    sn: int


class Written(BaseModel):
    size: int = Field(description="Number of bytes written.")


class CheckedOut(BaseModel):
    """The namespaces of all groups, compared with one another."""

    objects: int = Field(description="Number of files and directories.")
    still: bool = Field(
        description="Whether no call changed a namespace meanwhile; otherwise, what several passes found is a fault."
    )
    faults: list[str] = Field(
        description="Orphan inodes, dangling dentries, wrong counts; at most a hundred."
    )
