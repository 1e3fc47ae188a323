"""File system operations through a smart client of the control plane."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import msgspec

from backend.errors import Malformed
from backend.fs.models import FsRequest
from backend.running_cluster import Running
from nodes.errors import FsError
from nodes.metadata.operations import (
    Attributes,
    ContentSummary,
    Create,
    Delete,
    Link,
    List,
    Listing,
    Mkdir,
    Operation,
    Rename,
    SetPermission,
    SetTimes,
    Stat,
)
from nodes.units import home_group

PLAIN: dict[str, type[Create | Stat | ContentSummary]] = {
    "create": Create,
    "touch": Create,
    "stat": Stat,
    "du": ContentSummary,
}


def operation_of(request: FsRequest) -> Operation:
    """The operation for the client. Raises Malformed for `mv` and `ln` without a new path."""
    path = request.path
    if request.do in ("mv", "ln"):
        if request.to is None:
            raise Malformed(f"{request.do} needs the new path as `to`")
        return Link(path, request.to) if request.do == "ln" else Rename(path, request.to, request.overwrite)
    if request.do == "ls":
        return List(path, after=request.after, limit=request.limit)
    if request.do == "mkdir":
        return Mkdir(path, parents=request.parents)
    if request.do == "rm":
        return Delete(path, recursive=request.recursive)
    if request.do == "chmod":
        return SetPermission(path, request.mode)
    return PLAIN[request.do](path)


async def call(lab: Running, request: FsRequest) -> dict[str, Any]:
    """Raises FsError; the session is opened with the first call."""
    operation = operation_of(request)
    client = lab.client.smart()
    try:
        answer = await client.call(operation)
    except FsError as error:
        if request.do != "touch" or error.name != "EEXIST":
            raise
        now_ns = time.time_ns()
        answer = await client.call(SetTimes(request.path, now_ns, now_ns))
    assert answer.result is not None
    return {
        "result": msgspec.to_builtins(msgspec.structs.asdict(answer.result)),
        "server": client.believed_active,
        "epoch": answer.epoch,
        "sn": answer.sn,
    }


async def directory(lab: Running, path: str, after: str, limit: int) -> dict[str, Any]:
    """Raises FsError. A name that goes while its object is asked for is left out."""
    client = lab.client.smart()
    own = (await client.call(Stat(path))).result
    listing = (await client.call(List(path, after, limit))).result
    assert isinstance(own, Attributes) and isinstance(listing, Listing)
    below = [f"{path.rstrip('/')}/{name}" for name in listing.names]
    reported = await asyncio.gather(*(client.call(Stat(each)) for each in below), return_exceptions=True)
    homes = {group.number: group.name for group in lab.home.file.cluster.groups}
    entries = []
    for name, answer in zip(listing.names, reported, strict=True):
        if isinstance(answer, FsError) and answer.name == "ENOENT":
            continue
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer.result, Attributes)
        entries.append(entry(name, answer.result, own, homes))
    home = homes[home_group(own.inode)]
    return {"path": path, "home": home, "entries": entries, "more": listing.more}


def entry(name: str, found: Attributes, parent: Attributes, homes: dict[int, str]) -> dict[str, Any]:
    """`homes`: names of groups by number."""
    home = home_group(found.inode)
    return {
        "name": name,
        "kind": found.kind,
        "home": homes[home],
        "branch_point": home != home_group(parent.inode),
        "entries": found.entries,
        "length": found.length,
        "mode": found.mode,
        "owner": found.owner,
        "mtime_ns": found.mtime_ns,
    }
