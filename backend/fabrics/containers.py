"""A cluster in containers: each server behind the supervisor of its container, coordination by a ZooKeeper ensemble."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from backend.errors import ClusterCannotStart, FaultImpossible, Impossible, Unavailable
from backend.fabrics.coordination import RealEnsemble
from backend.fabrics.driver import DrivenProcess
from backend.fabrics.fabric import ClusterFabric
from backend.fabrics.home import Home
from backend.fabrics.host import ContainerHost
from backend.fabrics.inventory import TOKEN_FILE, Inventory
from backend.fabrics.links import LinkFault, transport_rules
from backend.fabrics.watched_cluster import GENTLE, wait_until
from backend.names import CLIENT, CONTROL, EVERYBODY
from backend.picture import Picture
from nodes.config import ClusterConfig, WorkloadConfig
from nodes.kinds import KINDS, names_of, nodes_of
from nodes.supervisor.messages import Status
from nodes.trace.events import Stamped, Warned

REACH_S = 60.0
REACH_AGAIN_S = 10.0
"""Time in which the hosts of a cluster that ran before must be reached; a later host is adopted when it appears."""
HOLD_BACK_NS = 120_000_000
"""Time for which an event waits for older ones: events of containers come through their supervisors."""
MEMORY_MUCH = 0.8
"""Share of a container's memory from which on a warning is emitted."""
SPACE_BYTES = 32 << 20
"""Free space in a volume below which a warning is emitted."""


class ContainerFabric(ClusterFabric):
    """Servers go on when the control plane ends, unless `ends_servers`.

    Many methods: it does everything in `Driver` its own way.
    """

    kind = "containers"

    def __init__(
        self,
        inventory: Inventory,
        home: Home,
        on_events: Callable[[list[Stamped]], None],
        workload: WorkloadConfig | None = GENTLE,
        positions: dict[str, int] | None = None,
        boot: int = 1,
        last: Picture | None = None,
        ends_servers: bool = False,
    ):
        super().__init__(home, on_events, workload, positions, boot, last)
        self.traces.hold_back_ns = HOLD_BACK_NS
        self.picture.ensemble = inventory.zookeepers
        self.inventory = inventory
        self.ensemble = RealEnsemble(home, inventory.coordination(home.name), self.report, self.ask)
        self.hosts = {
            name: ContainerHost(
                name, inventory.supervisor_of(name), home.token, self._on_status, inventory.host_of(name)
            )
            for name in inventory.processes()
        }
        self._ends_servers = ends_servers
        self._warned: dict[tuple[str, str], bool] = {}
        self._ruled: asyncio.Task[None] | None = None

    # --- life -------------------------------------------------------------------------------------

    async def start(self) -> None:
        self._tasks += [asyncio.create_task(host.keep_connected()) for host in self.hosts.values()]
        names = [*self.home.servers(), *self.home.nodes()]
        wanted = [*self.inventory.zookeepers, *names, CLIENT]
        await wait_until(lambda: not self._missing(wanted), REACH_S if self.boot == 1 else REACH_AGAIN_S)
        await wait_until(self._has_majority, REACH_S)
        there = [name for name in self.inventory.zookeepers if self.hosts[name].status is not None]
        if not self._has_majority():
            missing = self._missing(self.inventory.zookeepers)[0]
            raise Unavailable(f"the container of {missing} cannot be reached: {self.hosts[missing].trouble}")
        await asyncio.gather(*(self._zookeeper(name) for name in there))
        await wait_until(self._has_quorum, REACH_S)
        await self.ensemble.start({})
        for name in names:
            if self._runs_ours(name):
                self.recall(name)
        self.watch()
        for name in self._missing(wanted):
            self.report(
                CONTROL, Warned(f"{name}: its container cannot be reached: {self.hosts[name].trouble}")
            )
        await self.apply_rules()
        if self._ends_servers:
            others = [*self.inventory.servers(), *chain.from_iterable(self.inventory.nodes.values())]
            await asyncio.gather(*(self._clear(name) for name in others if name not in names))
        await asyncio.gather(*(self._server(name) for name in names))
        self._follow(CLIENT)
        if self.workload is not None and self.hosts[CLIENT].status is not None:
            await self.start_client()

    def _missing(self, names: list[str]) -> list[str]:
        return [name for name in names if self.hosts[name].status is None]

    async def stop(self) -> None:
        self.ending = True
        if self._ends_servers:
            self.ledger.heal(None, None)
            with contextlib.suppress(Unavailable):
                await self.apply_rules()
            ours = [CLIENT, *self.home.servers(), *self.home.nodes()]
            await asyncio.gather(*(self._end(name) for name in ours))
        self.report_rest()
        await self.end_watching()
        for host in self.hosts.values():
            host.close()

    async def _end(self, name: str) -> None:
        with contextlib.suppress(Unavailable):
            await self.hosts[name].stop()
            await self.hosts[name].ask("forget", {"cluster": self.home.name})

    def _has_majority(self) -> bool:
        """Whether a majority of the ensemble's containers answers, whatever runs in them."""
        return 2 * len(self._missing(self.inventory.zookeepers)) < len(self.inventory.zookeepers)

    def _has_quorum(self) -> bool:
        serving = [name for name in self.inventory.zookeepers if self.role_of(name) in ("leader", "follower")]
        return len(serving) > len(self.inventory.zookeepers) // 2

    def _follow(self, name: str) -> None:
        host = self.hosts[name]
        host.follow(self.home.name, self.traces.position(name))
        self.traces.follow(name, host)

    def _runs_ours(self, name: str) -> bool:
        status = self.hosts[name].status
        return status is not None and status.state != "stopped" and status.cluster == self.home.name

    async def _clear(self, name: str) -> None:
        """Stops a process of another cluster that still runs here, while this cluster has the containers."""
        with contextlib.suppress(Unavailable):
            await self.hosts[name].stop()

    async def _zookeeper(self, name: str) -> None:
        host = self.hosts[name]
        if host.paused:
            await host.resume()
        if not host.running:
            await host.start({})

    async def _server(self, name: str) -> None:
        """Adopts a running process of this cluster, or starts it; an unreachable one is adopted once it answers."""
        host = self.hosts[name]
        status = host.status
        self._follow(name)
        if status is None:
            return
        if status.state != "stopped":
            if self._runs_ours(name):
                if host.paused:
                    await host.resume()
                return
            await host.stop()
        await self.start_process(name)

    # --- processes --------------------------------------------------------------------------------

    def process(self, name: str) -> DrivenProcess | None:
        return self.hosts.get(name)

    def coordination_of(self, name: str) -> str:
        return self.inventory.coordination(self.home.name)

    async def launch(self, name: str, role: str, config: msgspec.Struct, coordination: str = "") -> None:
        await self.hosts[name].start(
            {
                "kind": role,
                "config": msgspec.to_builtins(config),
                "coordination": coordination,
                "cluster": self.home.name,
                "peers": {peer: where for peer, where in self.peers().items() if peer != name},
                "seed": self.home.file.seed,
            }
        )
        await self.apply_rules([name])

    def peers(self) -> dict[str, str]:
        names = [*self.home.servers(), *self.home.nodes()]
        return {name: self.inventory.data_address(name) for name in names}

    async def restart(self, name: str) -> None:
        if name in self.inventory.zookeepers:
            await self.hosts[name].start({})
            await self.apply_rules([name])
        else:
            await super().restart(name)

    def next_server(self) -> str:
        free = [name for name in self.inventory.spares if name not in self.home.ever()]
        if not free:
            raise Impossible("no container is free for another server; compose.yaml sets their number")
        return free[0]

    async def join(self, name: str) -> None:
        await self._server(name)

    async def lose_power(self, name: str) -> list[str]:
        reported = await self.hosts[name].ask("lose_power", {"seed": self.rng.getrandbits(32)}, 8.0)
        return list(reported["lost"])

    async def new_disk(self, name: str) -> None:
        try:
            await self.hosts[name].ask("new_disk", {}, 8.0)
        except Unavailable as error:
            raise Impossible(error.message) from None

    async def corrupt(self, name: str, what: str) -> str:
        try:
            return str((await self.hosts[name].ask("corrupt", {"what": what}))["where"])
        except Unavailable as error:
            raise Impossible(error.message) from None

    @property
    def coordination_servers(self) -> list[str]:
        return self.inventory.zookeepers

    def role_of(self, name: str) -> str:
        status = self.hosts[name].status
        return status.role if status is not None else "down"

    def is_unseen(self, name: str) -> bool:
        return self.hosts[name].status is None

    def life_of(self, name: str) -> int:
        return self.hosts[name].life

    def box(self, name: str) -> dict[str, str]:
        reported = self.hosts[name].last if name in self.hosts else None
        if reported is None:
            return super().box(name)
        return {"container": reported.container, "image": reported.image, "address": reported.address}

    # --- rules and queries ------------------------------------------------------------------------

    async def ask(self, name: str, question: dict[str, Any], timeout_s: float = 2.0) -> dict[str, Any]:
        if name not in self.hosts:
            raise Unavailable(f"{name} has no container")
        return await self.hosts[name].ask("ask", {"question": question, "within_s": timeout_s}, timeout_s)

    def check_links(self, links: list[LinkFault]) -> None:
        """A ZooKeeper server's own packets can be delayed only where the kernel does it, and cannot be damaged."""
        for link in links:
            ours = [name for name in (link.a, link.b) if name in self.inventory.zookeepers]
            if link.damage and ours:
                raise FaultImpossible(
                    f"messages of {ours[0]} have no checksums of this project; damage a link between servers"
                )
            other = [name for name in (link.a, link.b) if name not in self.inventory.zookeepers]
            slow = link.delay_ms or link.loss
            host = self.hosts.get(ours[0]) if ours else None
            if (
                slow
                and host is not None
                and other in ([], [EVERYBODY])
                and not (host.status and host.status.netem)
            ):
                raise FaultImpossible(
                    f"this kernel has no netem: packets of {ours[0]} cannot be delayed; delay a server's link to it"
                )

    async def apply_rules(self, names: list[str] | None = None) -> None:
        """Sends each process its rules. Every end of a broken link treats its own packets, so a partition needs no agreement."""
        links = self.ledger.links()
        there = [
            name for name in names or self.hosts if name in self.hosts and self.hosts[name].status is not None
        ]
        reported = [self.hosts[name].ask("rules", {"rules": transport_rules(links, name)}) for name in there]
        for answer in await asyncio.gather(*reported, return_exceptions=True):
            if isinstance(answer, Unavailable) and "refused" in answer.message:
                raise answer

    def _on_status(self, host: ContainerHost, before: Status | None, now: Status | None) -> None:
        if now is None or self.ending:
            return
        if (before is None or before.address != now.address) and self.ledger.links():
            self._ruled = asyncio.get_running_loop().create_task(self._rule_again())
        self._warn_once(
            host.name,
            "clock",
            host.clock_apart_ns,
            "its wall clock is {:.1f} s from the control plane's",
            1e9,
        )
        short = max(0, SPACE_BYTES - now.free_bytes) and now.free_bytes + 1
        self._warn_once(host.name, "space", short, "its volume has {:.1f} MiB left", 1 << 20)
        used = now.memory_share if now.memory_share >= MEMORY_MUCH else 0.0
        self._warn_once(host.name, "memory", round(used * 100), "{:.0f} % of its memory is used", 1)

    def _warn_once(self, name: str, what: str, amount: int, words: str, unit: float) -> None:
        """Emits a warning when the condition begins, and another each time it begins again."""
        if amount and not self._warned.get((name, what)):
            self.report(CONTROL, Warned(f"{name}: {words.format(amount / unit)}"))
        self._warned[name, what] = bool(amount)

    async def _rule_again(self) -> None:
        with contextlib.suppress(Unavailable):
            await self.apply_rules()


def in_containers(
    directory: Path,
    config: ClusterConfig,
    on_events: Callable[[list[Stamped]], None],
    workload: WorkloadConfig | None,
    seed: int = 0,
) -> ContainerFabric:
    """A cluster with a name of its own in the containers of the environment; its data is removed when it ends.

    Raises ClusterCannotStart when there are too few.
    """
    reported = Inventory.reported(os.environ)
    groups = [list(group.members) for group in config.groups]
    wanted = list(chain.from_iterable(groups))
    own = [(names_of(config, KINDS[kind]), hosts) for kind, hosts in reported.nodes.items()]
    for names, there in ((wanted, reported.servers()), *own):
        missing = [name for name in names if name not in there]
        if missing:
            raise ClusterCannotStart(
                f"{missing[0]} has no container here; there are {', '.join(there) or 'none'}"
            )
    free = [name for name in reported.servers() if name not in wanted]
    inventory = msgspec.structs.replace(reported, groups=groups, spares=free).carrying(
        [name for name, kind in nodes_of(config).items() if not kind.own_hosts]
    )
    named = msgspec.structs.replace(config, cluster=f"run-{secrets.token_hex(4)}")
    home = Home.make(directory, named, seed, TOKEN_FILE)
    return ContainerFabric(inventory, home, on_events, workload, ends_servers=True)
