"""Runs one file system operation through a smart client of the control plane's own."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import msgspec

from backend.errors import Malformed
from backend.fabrics.fabric import ClusterFabric
from backend.fs.models import FsRequest
from backend.lab import Lab
from nodes.client.files import FileClient
from nodes.client.smart_client import SmartClient
from nodes.errors import FsError
from nodes.metadata.operations import (
    Attributes,
    Create,
    Delete,
    Link,
    List,
    Listing,
    Mkdir,
    Operation,
    Rename,
    Stat,
)
from nodes.real.process import client_world
from nodes.trace.base import Event
from nodes.trace.present import Causeless
from nodes.units import home_group

NAME = "control"


def operation_of(request: FsRequest) -> Operation:
    """The operation as it travels. Raises Malformed for `mv` and `ln` without a new path."""
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
    return Create(path) if request.do == "create" else Stat(path)


async def call(lab: Lab, request: FsRequest) -> dict[str, Any]:
    """Raises FsError; the session is opened with the first call."""
    operation = operation_of(request)
    client = client_of(lab)
    answer = await client.call(operation)
    assert answer.result is not None
    return {
        "result": msgspec.to_builtins(msgspec.structs.asdict(answer.result)),
        "server": client.believed_active,
        "epoch": answer.epoch,
        "sn": answer.sn,
    }


async def directory(lab: Lab, path: str, after: str, limit: int) -> dict[str, Any]:
    """Raises FsError. A name that goes while its object is asked for is left out."""
    client = client_of(lab)
    own = (await client.call(Stat(path))).result
    listing = (await client.call(List(path, after, limit))).result
    assert isinstance(own, Attributes) and isinstance(listing, Listing)
    below = [f"{path.rstrip('/')}/{name}" for name in listing.names]
    told = await asyncio.gather(*(client.call(Stat(each)) for each in below), return_exceptions=True)
    homes = {group.number: group.name for group in lab.home.file.cluster.groups}
    entries = []
    for name, answer in zip(listing.names, told, strict=True):
        if isinstance(answer, FsError) and answer.name == "ENOENT":
            continue
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer.result, Attributes)
        entries.append(entry(name, answer.result, own, homes))
    home = homes[home_group(own.inode)]
    return {"path": path, "home": home, "entries": entries, "more": listing.more}


def entry(name: str, found: Attributes, parent: Attributes, homes: dict[int, str]) -> dict[str, Any]:
    """`homes`: the names of the groups by number."""
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


def client_of(lab: Lab) -> SmartClient:
    """The one client of this control plane; it learns of servers that were added since."""
    if lab.client is None:
        world = client_world(NAME, lab.home.file.cluster.cluster, lab.home.token, lab.fabric.peers())
        world.trace = Told(lab.fabric)
        lab.client = SmartClient(world, lab.home.file.cluster, f"{NAME}.{secrets.token_hex(5)}")
        lab.client_world = world
        lab.files = FileClient(world, lab.home.file.cluster, lab.client)
    for peer, address in lab.fabric.peers().items():
        lab.client_world.network.know(peer, address)
    client: SmartClient = lab.client
    return client


class Told(Causeless):
    """The trace of a client in this very process: what it calls is told like any other client's, or the checks could not go on."""

    def __init__(self, fabric: ClusterFabric):
        self._fabric = fabric

    def emit(self, event: Event) -> int:
        self._fabric.tell(NAME, event)
        return 0


def files_of(lab: Lab) -> FileClient:
    """The content of files by the same client."""
    client_of(lab)
    files: FileClient = lab.files
    return files
