"""A cluster of operating-system processes on this machine: coordination, relays, metadata servers, nodes
and the workload's client."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable
from typing import Any

import msgspec

from backend.code_digest import code_digest
from backend.errors import Impossible, Unavailable
from backend.fabrics import launch
from backend.fabrics.children import Child, Roster
from backend.fabrics.coordination import ensemble_of
from backend.fabrics.driver import DrivenProcess
from backend.fabrics.ends import EndRecorder
from backend.fabrics.fabric import ClusterFabric
from backend.fabrics.home import Home
from backend.fabrics.links import transport_rules
from backend.fabrics.relay_manager import RelayManager
from backend.fabrics.sockets import ask
from backend.fabrics.targets import natural
from backend.fabrics.watched_cluster import GENTLE
from backend.names import CLIENT, CONTROL, COORDINATION, RELAYS
from backend.picture import Picture
from backend.shape import SERVERS_MAX
from nodes.config import WorkloadConfig
from nodes.real.control import BadQuestion
from nodes.real.disk_replacement import wipe
from nodes.real.rot import corrupt
from nodes.real.synced_lengths import lose_power
from nodes.trace.events import Stamped, Warned
from nodes.trace.lease_events import LockRemoved
from nodes.trace.reader import TraceReader


class ProcessFabric(ClusterFabric):
    kind = "processes"

    def __init__(
        self,
        home: Home,
        on_events: Callable[[list[Stamped]], None],
        workload: WorkloadConfig | None = GENTLE,
        positions: dict[str, int] | None = None,
        boot: int = 1,
        last: Picture | None = None,
    ):
        super().__init__(home, on_events, workload, positions, boot, last)
        self.children = Roster(home.path)
        self.ensemble = ensemble_of(home, self.children, self.report, self.ask)
        self.relays = RelayManager(home, self.children)
        self.ends = EndRecorder(
            home.file.cluster.detection == "members", self.ensemble.tree, home.servers,
            lambda name: self.ensemble.observer.sessions.get(name, 0), self.ensemble.expire, self._on_end,
        )  # fmt: skip

    # --- life -------------------------------------------------------------------------------------

    async def start(self) -> None:
        leftovers = await self._leftovers()
        for child in leftovers.values():
            await child.resume()
            self.children.adopt(child)
            self.recall(child.name)
        await self.ensemble.start(leftovers)
        await self.relays.start(leftovers, list(self.home.servers()), self.ensemble.hosts)
        await self.ends.connect()
        names = [*self.home.servers(), *self.home.nodes()]
        before = dict(self.home.file.ports)
        for name in names:
            self._follow(name)
            self.home.port_of(name, in_use=name in leftovers)
        self._follow(CLIENT)
        self.watch()
        await asyncio.gather(*(self._server(name, leftovers.get(name)) for name in names))
        for name in names:
            if name in before and self.home.file.ports[name] != before[name]:
                await self._report_address(name)
        if self.workload is not None:
            await self.start_client()

    async def _leftovers(self) -> dict[str, Child]:
        """The processes of an earlier control plane that can be adopted. If any runs other code than this, all of them are ended instead: they
        would not understand those that are started from now on."""
        leftovers = self.children.leftovers()
        if all(child.code == code_digest() for child in leftovers.values()):
            return leftovers
        self.notice = f"{len(leftovers)} processes of another version of the code were running: started anew"
        self.report(CONTROL, Warned(self.notice))
        for last in (False, True):
            await stop_all(leftovers, last)
        return {}

    async def stop(self) -> None:
        """Ends every process, dependencies last."""
        self.ending = True
        self.ends.close()
        await stop_all(self.children.by_name, last=False)
        self.report_rest()
        await self.end_watching()
        await stop_all(self.children.by_name, last=True)
        self.report_rest()

    def _follow(self, name: str) -> None:
        self.traces.follow(
            name, TraceReader(launch.trace_directory(self.home, name), self.traces.position(name))
        )

    async def _server(self, name: str, leftover: Child | None) -> None:
        """Adopts a running server or node, or starts it."""
        if leftover is not None:
            with contextlib.suppress(Unavailable):
                await self.ask(name, {"do": "rules", "rules": []})
                self.ends.watch(leftover)
                return
            await leftover.kill()
        await self.start_process(name)

    def _on_end(self, name: str) -> None:
        self.report(CONTROL, LockRemoved(self.home.servers()[name], name, "death", []))

    async def launch(self, name: str, role: str, config: msgspec.Struct, coordination: str = "") -> None:
        port = self.home.file.ports.get(name)
        moved = port is not None and self.home.port_of(name) != port
        file = launch.process_file(self.home, name, role, config, coordination)
        await self.ends.before_start(name)
        self.ends.watch(await self.children.spawn(name, role, "nodes", role, "--config", str(file)))
        await self.apply_rules([name])
        if moved:
            await self._report_address(name)

    async def _report_address(self, name: str) -> None:
        """Tells all running processes where to find one whose port another program has taken."""
        address = self.peers()[name]
        for other in (*self.home.servers(), *self.home.nodes(), CLIENT):
            child = self.children.by_name.get(other)
            if other != name and child is not None and child.running:
                with contextlib.suppress(Unavailable):
                    await self.ask(other, {"do": "peers", "peers": {name: address}})

    def coordination_of(self, name: str) -> str:
        return self.relays.address_of(name)

    def next_server(self) -> str:
        if len(self.home.servers()) >= SERVERS_MAX:
            raise Impossible(f"{SERVERS_MAX} servers are the most that run on one machine here")
        return f"mds{max(natural(name)[1] for name in self.home.ever()) + 1}"

    async def join(self, name: str) -> None:
        self.home.port_of(name)
        await self.relays.add(name)
        self._follow(name)
        await self.start_process(name)

    # --- rules and queries ------------------------------------------------------------------------

    def process(self, name: str) -> DrivenProcess | None:
        return self.children.by_name.get(name)

    async def ask(self, name: str, question: dict[str, Any], timeout_s: float = 2.0) -> dict[str, Any]:
        return await ask(self.home.socket_of(name), question, timeout_s)

    def peers(self) -> dict[str, str]:
        return launch.peers(self.home)

    async def apply_rules(self, names: list[str] | None = None) -> None:
        links = self.ledger.links()
        wanted = names if names is not None else [*self.home.servers(), *self.home.nodes(), CLIENT]
        for name in wanted:
            child = self.children.by_name.get(name)
            if child is not None and child.state == "running":
                with contextlib.suppress(Unavailable):
                    await self.ask(name, {"do": "rules", "rules": transport_rules(links, name)})
        for name in wanted:
            if name in self.home.servers():
                await self.relays.apply(links, name)

    async def lose_power(self, name: str) -> list[str]:
        child = self.children.by_name[name]
        await child.kill()
        return lose_power(launch.server_directory(self.home, name), random.Random(self.rng.random()))

    async def new_disk(self, name: str) -> None:
        child = self.children.by_name.get(name)
        if child is not None and child.running:
            await child.kill()
        try:
            wipe(launch.server_directory(self.home, name))
        except OSError as error:
            raise Impossible(f"the disk of {name} cannot be emptied: {error.strerror}") from None

    async def corrupt(self, name: str, what: str) -> str:
        try:
            return corrupt(launch.server_directory(self.home, name), what)
        except BadQuestion as error:
            raise Impossible(f"{name}: {error}") from None


async def stop_all(children: dict[str, Child], last: bool) -> None:
    """Stops the processes on which the others depend, or all others."""
    await asyncio.gather(
        *(child.stop() for name, child in children.items() if (name in (COORDINATION, RELAYS)) == last)
    )
