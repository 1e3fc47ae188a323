"""The coordination service of a fabric: the embedded server, which the fabric starts, or a real ensemble."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from backend.errors import FaultImpossible, Malformed, Unavailable
from backend.fabrics import launch
from backend.fabrics.children import Child, Roster
from backend.fabrics.home import Home
from backend.fabrics.sockets import ask, follow
from backend.fabrics.tree_watch import TreeClient, end_session, make_chroot
from backend.names import COORDINATION
from nodes.real.clock import monotonic_ns
from nodes.trace.base import Event
from nodes.trace.observer import Observer
from nodes.trace.present import UNKNOWN, Cause, cause_in
from nodes.wire.keys import coordination_identity

Report = Callable[[str, Event, int, Cause], None]
"""Server, event, and when it happened (0 for now)."""
Ask = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""A query to a server over the control path, which faults do not affect."""
ENDS = {"expire": "expired", "close": "closed"}
AGAIN_S = 0.1
SLEPT_NS = 1_000_000
"""Smallest difference of the two clocks that is a sleep of the machine."""


class Ensemble(Protocol):
    embedded: bool
    hosts: list[str]
    observer: Observer

    async def start(self, leftovers: dict[str, Child]) -> None: ...

    async def observe(self) -> None:
        """Emits the events of the global view until it is cancelled."""

    async def restart(self) -> None: ...

    async def nodes(self) -> list[dict[str, Any]]:
        """Every node by path in order, each with its data, owner session (0 for none) and version. Raises Unavailable."""

    async def sessions(self) -> list[dict[str, Any]] | None:
        """Every open session with its time-out and whether its client is connected; None where the service does not tell. Raises Unavailable."""

    def tree(self) -> TreeClient:
        """The control plane's own client; it connects at first use."""

    async def take_lock(self, group: str, owner: str) -> None: ...

    async def expire(self, server: str, session: int) -> None: ...

    async def close(self) -> None: ...


def ensemble_of(home: Home, children: Roster, report: Report, ask_server: Ask) -> Ensemble:
    if home.file.zookeeper:
        return RealEnsemble(home, home.file.zookeeper, report, ask_server)
    return EmbeddedEnsemble(home, children, report)


class EmbeddedEnsemble:
    """`python -m nodes.coordination` with its log in the data directory."""

    embedded = True

    def __init__(self, home: Home, children: Roster, report: Report):
        self.observer = Observer()
        self.hosts: list[str] = []
        self._home = home
        self._children = children
        self._report = report
        self._socket = home.socket_of(COORDINATION)
        self._client: TreeClient | None = None
        self._slept_ns = 0
        """Time that the machine has slept since its start, as known from the last line."""

    async def start(self, leftovers: dict[str, Child]) -> None:
        leftover = leftovers.get(COORDINATION)
        port = self._home.port_of(COORDINATION, in_use=leftover is not None)
        self.hosts = [launch.address(port)]
        if leftover is None:
            await self.restart()

    async def restart(self) -> None:
        port = self._home.port_of(COORDINATION)
        directory = self._home.directory(COORDINATION)
        await self._children.spawn(
            COORDINATION,
            "coordination",
            "nodes.coordination",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--data",
            str(directory),
            "--control",
            str(self._socket),
            "--owner",
            coordination_identity(self._home.coordination_password),
        )

    async def observe(self) -> None:
        while True:
            with contextlib.suppress(OSError, Unavailable):
                await self._compare()
                async for line in follow(self._socket, {"do": "follow"}):
                    self._on_line(line)
            await asyncio.sleep(AGAIN_S)

    async def _compare(self) -> None:
        """Emits the removal of nodes that vanished while the stream was down; a new stream begins with all nodes."""
        answer = await ask(self._socket, {"do": "tree"})
        there = {node["path"] for node in answer["nodes"]}
        for path in self.observer.known_paths():
            if path not in there:
                self._report_all(self.observer.changed(path, None))

    def _on_line(self, line: dict[str, Any]) -> None:
        """A change of one node, or (without a path) the end of a session. Coordination's clock stops while the machine sleeps, the servers'
        does not."""
        slept_ns = monotonic_ns() - time.monotonic_ns()
        # Two readings of the clocks differ by some 100 ns; changes of one moment keep one time.
        if abs(slept_ns - self._slept_ns) > SLEPT_NS:
            self._slept_ns = slept_ns
        at_ns = line["at_ns"] + self._slept_ns
        if line["path"]:
            data = None if line["data"] is None else line["data"].encode()
            self._report_all(
                self.observer.changed(line["path"], data, line["session"]), at_ns, cause_in(data)
            )
        elif line["op"] in ENDS:
            self._report_all(self.observer.session_ended(line["session"], ENDS[line["op"]]), at_ns)

    def _report_all(self, events: list[Event], at_ns: int = 0, cause: Cause = UNKNOWN) -> None:
        for event in events:
            self._report(COORDINATION, event, at_ns, cause)

    async def nodes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await ask(self._socket, {"do": "tree"}))["nodes"]
        return found

    async def sessions(self) -> list[dict[str, Any]] | None:
        found: list[dict[str, Any]] = (await ask(self._socket, {"do": "sessions"}))["sessions"]
        return found

    def tree(self) -> TreeClient:
        if self._client is None:
            self._client = TreeClient(",".join(self.hosts), self._home.coordination_password)
        return self._client

    async def take_lock(self, group: str, owner: str) -> None:
        await self.tree().take_lock(group, owner)

    async def expire(self, server: str, session: int) -> None:
        await ask(self._socket, {"do": "expire", "session": session})

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()


class RealEnsemble:
    """A ZooKeeper ensemble, watched through an ordinary session. `hosts` is `host:port,…` with an optional `/chroot`."""

    embedded = False

    def __init__(self, home: Home, hosts: str, report: Report, ask_server: Ask):
        self.observer = Observer()
        named, _, self._chroot = hosts.partition("/")
        self.hosts = [host.strip() for host in named.split(",")]
        self._home = home
        self._report = report
        self._ask = ask_server
        self._client = TreeClient(hosts, home.coordination_password)

    async def start(self, leftovers: dict[str, Child]) -> None:
        reachable = await asyncio.gather(*(asyncio.to_thread(answers, host) for host in self.hosts))
        if not any(reachable):
            raise Unavailable(
                f"no ZooKeeper answers at {','.join(self.hosts)}; start it or leave --zookeeper out"
            )
        if self._chroot:
            await make_chroot(self.hosts, self._chroot, self._home.coordination_password)
        await self._client.claim(self._home.name)

    async def observe(self) -> None:
        await self._client.watch(list(self._home.file.cluster.groups), self._on_node)
        await asyncio.Event().wait()

    def _on_node(self, path: str, data: bytes | None, owner: int) -> None:
        server = path.rpartition("/view/")[2]
        gone = self.observer.sessions.get(server, 0) if data is None else 0
        events = self.observer.changed(path, data, owner)
        if gone:
            events += self.observer.session_ended(gone, "expired")
        for event in events:
            self._report(COORDINATION, event, 0, cause_in(data))

    async def restart(self) -> None:
        raise FaultImpossible("the control plane does not manage the ZooKeeper ensemble")

    async def nodes(self) -> list[dict[str, Any]]:
        return await self._client.nodes()

    async def sessions(self) -> list[dict[str, Any]] | None:
        return None

    def tree(self) -> TreeClient:
        return self._client

    async def take_lock(self, group: str, owner: str) -> None:
        await self._client.take_lock(group, owner)

    async def expire(self, server: str, session: int) -> None:
        """Expires a session: a client with the session's password reopens and closes it, and its owner is notified. The server's present session
        may be newer than the one in the traces, or already over."""
        reported = await self._ask(server, {"do": "session"})
        if reported["session"]:
            await end_session(self.hosts, int(reported["session"]), bytes.fromhex(reported["password"]))

    async def close(self) -> None:
        await self._client.close()


def host_and_port(host: str) -> tuple[str, int]:
    """Raises Malformed for an address that is not `host:port`."""
    name, _, port = host.rpartition(":") if ":" in host else (host, "", "2181")
    if not name or not port.isdigit() or not 0 < int(port) < 65536:
        raise Malformed(f"--zookeeper needs host:port,host:port, not {host[:80]!r}")
    return name, int(port)


def answers(host: str) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(host_and_port(host), timeout=3):
        return True
    return False
