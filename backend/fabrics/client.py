"""The one smart client of the control plane, behind `/api/fs`."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from typing import Protocol

from backend.fabrics.fabric import ClusterFabric
from backend.names import CONTROL
from nodes.client.files import FileClient
from nodes.client.smart_client import SmartClient
from nodes.metadata.operations import BLOCK_SIZE, Contents, Operation
from nodes.real.process import RealWorld, client_world
from nodes.trace.base import Event
from nodes.trace.present import Causeless
from nodes.wire.data_messages import Location
from nodes.wire.messages import Answer


class OperationCalls(Protocol):
    """Calls of operations by one client."""

    @property
    def believed_active(self) -> str: ...

    async def call(self, operation: Operation) -> Answer:
        """Raises FsError."""


class ContentCalls(Protocol):
    """The content of files by one client. Each raises FsError."""

    async def places(self, path: str, first: int, limit: int) -> tuple[Contents, list[list[Location]]]: ...

    async def put(self, path: str, source: AsyncIterator[bytes], block_size: int = BLOCK_SIZE) -> int: ...

    async def append(self, path: str, source: AsyncIterator[bytes], force: bool = False) -> int: ...

    def get(self, path: str, start: int = 0) -> AsyncIterator[bytes]: ...


class FileSystemClient(Protocol):
    """The control plane's client of its cluster."""

    def smart(self) -> OperationCalls: ...

    def files(self) -> ContentCalls: ...


class FsClient:
    """Made at the first call; each call makes known the servers that were added since."""

    def __init__(self, fabric: ClusterFabric):
        self._fabric = fabric
        self._made: tuple[RealWorld, SmartClient, FileClient] | None = None

    def smart(self) -> SmartClient:
        return self._known()[0]

    def files(self) -> FileClient:
        """The content of files by the same client."""
        return self._known()[1]

    def _known(self) -> tuple[SmartClient, FileClient]:
        peers = self._fabric.peers()
        if self._made is None:
            self._made = self._make(peers)
        world, smart, files = self._made
        for peer, address in peers.items():
            world.network.know(peer, address)
        return smart, files

    def _make(self, peers: dict[str, str]) -> tuple[RealWorld, SmartClient, FileClient]:
        config, keys = self._fabric.home.file.cluster, self._fabric.home.client_keys
        world = client_world(CONTROL, config.cluster, keys, peers)
        world.trace = ClientTrace(self._fabric)
        smart = SmartClient(world, config, f"{CONTROL}.{secrets.token_hex(5)}")
        return world, smart, FileClient(world, config, smart)


class ClientTrace(Causeless):
    """The trace of a client in this very process: its calls are reported like those of any other client, or the checks could not go on."""

    def __init__(self, fabric: ClusterFabric):
        self._fabric = fabric

    def emit(self, event: Event) -> int:
        self._fabric.report(CONTROL, event)
        return 0
