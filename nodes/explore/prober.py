"""The client of a trial's audit."""

from __future__ import annotations

import asyncio
from typing import Any

from nodes.config import SECOND
from nodes.errors import FsError
from nodes.explore.stage import Stage
from nodes.metadata.operations import Create, Mkdir, Operation, Stat
from nodes.units import home_group

READ_NS = 600 * SECOND
PROBES = 3
"""Number of directories in which the core is written to, at least."""
PLACES = 12
UNANSWERED = ("ETIMEDOUT", "ESTALE", "EAGAIN", "EROFS")
"""Errors of calls that no group has carried out, as far as the client knows."""


class Prober:
    """The audit's own client. Its calls are checked like all others. It is ended with its part of the audit: the renewals of several sessions could
    keep replicas in states that are too short to be seen on both."""

    def __init__(self, cluster: Stage, name: str):
        self._cluster = cluster
        self.client = cluster.start_client(name, reports_calls=True)
        self.name = name

    def begin_writes(self, groups: int) -> asyncio.Task[Any]:
        """Writes in new directories until so many groups have one, with placements that bring them together until `PLACES` have been written in."""

        async def write() -> None:
            homes = set[int]()
            for number in range(PLACES):
                path = f"/{self.name}-{number}"
                for operation in (Mkdir(path), Create(f"{path}/f")):
                    while not await self.succeeds(operation):
                        pass
                homes.add(await self.home_of(path))
                if number + 1 >= PROBES and len(homes) >= groups:
                    return

        return self.client.begin(write())

    async def succeeds(self, operation: Operation) -> bool:
        try:
            await self.client.client.call(operation)
        except FsError as error:
            return error.name not in UNANSWERED
        return True

    async def home_of(self, path: str) -> int:
        """The number of the group at which an object is at home; 0 when it does not exist."""
        while True:
            try:
                found: Any = (await self.client.client.call(Stat(path))).result
                return home_group(found.inode)
            except FsError as error:
                if error.name not in UNANSWERED:
                    return 0

    def run(self, procedure: Any) -> Any:
        """Runs the cluster until a procedure has returned. Raises Stuck, FsError."""
        task = self.client.begin(procedure)
        self._cluster.run_until(task.done, READ_NS)
        return task.result()
