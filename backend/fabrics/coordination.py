"""The coordination service as the fabric sees it: the embedded server, which is ours to start, or a real
ensemble."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from backend.errors import CannotStart, FaultUnsupported, Unavailable
from backend.fabrics import launch
from backend.fabrics.children import Child, Children
from backend.fabrics.home import Home
from backend.fabrics.names import COORDINATION
from backend.fabrics.sockets import ask, follow
from backend.fabrics.tree_watch import TreeClient, end_session, make_chroot
from nodes.real.clock import monotonic_ns
from nodes.trace.base import Event
from nodes.trace.observer import Observer

Tell = Callable[[str, Event, int], None]
"""Server, event, and when it happened (0 for now)."""
Ask = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""A question to a server, over the way that no fault touches."""
ENDS = {"expire": "expired", "close": "closed"}
AGAIN_S = 0.1


class Ensemble(Protocol):
    embedded: bool
    hosts: list[str]
    observer: Observer

    async def start(self, leftovers: dict[str, Child]) -> None: ...

    async def observe(self) -> None:
        """Tells the events of the global view until it is cancelled."""

    async def restart(self) -> None: ...

    async def take_lock(self, group: str, owner: str) -> None: ...

    async def expire(self, server: str, session: int) -> None: ...

    async def close(self) -> None: ...


def ensemble_of(home: Home, children: Children, tell: Tell, ask_server: Ask) -> Ensemble:
    if home.file.zookeeper:
        return RealEnsemble(home, home.file.zookeeper, tell, ask_server)
    return EmbeddedEnsemble(home, children, tell)


class EmbeddedEnsemble:
    """`python -m nodes.coordination` with its log in the data directory."""

    embedded = True

    def __init__(self, home: Home, children: Children, tell: Tell):
        self.observer = Observer()
        self.hosts: list[str] = []
        self._home = home
        self._children = children
        self._tell = tell
        self._socket = home.socket_of(COORDINATION)
        self._client: TreeClient | None = None
        self._skew_ns = 0
        """From coordination's clock, which stands still while the machine sleeps, to the servers'."""

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
        )

    async def observe(self) -> None:
        while True:
            with contextlib.suppress(OSError, Unavailable):
                await self._compare()
                self._skew_ns = monotonic_ns() - time.monotonic_ns()
                async for line in follow(self._socket, {"do": "follow"}):
                    self._on_line(line)
            await asyncio.sleep(AGAIN_S)

    async def _compare(self) -> None:
        """What vanished while nobody followed is told as removed; the stream begins with all there is."""
        answer = await ask(self._socket, {"do": "tree"})
        there = {node["path"] for node in answer["nodes"]}
        for path in self.observer.known_paths():
            if path not in there:
                self._tell_all(self.observer.changed(path, None))

    def _on_line(self, line: dict[str, Any]) -> None:
        """A change of one node, or (without a path) the end of a session."""
        at_ns = line["at_ns"] + self._skew_ns
        if line["path"]:
            octets = None if line["data"] is None else line["data"].encode()
            self._tell_all(self.observer.changed(line["path"], octets, line["session"]), at_ns)
        elif line["op"] in ENDS:
            self._tell_all(self.observer.session_ended(line["session"], ENDS[line["op"]]), at_ns)

    def _tell_all(self, events: list[Event], at_ns: int = 0) -> None:
        for event in events:
            self._tell(COORDINATION, event, at_ns)

    async def take_lock(self, group: str, owner: str) -> None:
        if self._client is None:
            self._client = TreeClient(",".join(self.hosts))
        await self._client.take_lock(group, owner)

    async def expire(self, server: str, session: int) -> None:
        await ask(self._socket, {"do": "expire", "session": session})

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()


class RealEnsemble:
    """A ZooKeeper ensemble: watched like any client does. `hosts` is `host:port,…` with an optional `/chroot`."""

    embedded = False

    def __init__(self, home: Home, hosts: str, tell: Tell, ask_server: Ask):
        self.observer = Observer()
        named, _, self._chroot = hosts.partition("/")
        self.hosts = [host.strip() for host in named.split(",")]
        self._home = home
        self._tell = tell
        self._ask = ask_server
        self._client = TreeClient(hosts)

    async def start(self, leftovers: dict[str, Child]) -> None:
        reachable = await asyncio.gather(*(asyncio.to_thread(answers, host) for host in self.hosts))
        if not any(reachable):
            raise CannotStart(
                f"no ZooKeeper answers at {','.join(self.hosts)}; start it or leave --zookeeper out"
            )
        if self._chroot:
            await make_chroot(self.hosts, self._chroot)
        await self._client.claim(self._home.name)

    async def observe(self) -> None:
        await self._client.watch(list(self._home.file.cluster.groups), self._on_node)
        await asyncio.Event().wait()

    def _on_node(self, path: str, octets: bytes | None, owner: int) -> None:
        server = path.rpartition("/view/")[2]
        gone = self.observer.sessions.get(server, 0) if octets is None else 0
        events = self.observer.changed(path, octets, owner)
        if gone:
            events += self.observer.session_ended(gone, "expired")
        for event in events:
            self._tell(COORDINATION, event, 0)

    async def restart(self) -> None:
        raise FaultUnsupported("the ZooKeeper ensemble is not ours to start")

    async def take_lock(self, group: str, owner: str) -> None:
        await self._client.take_lock(group, owner)

    async def expire(self, server: str, session: int) -> None:
        """Who knows a session's password may take it over and close it: its owner is told that it expired. The server's present session
        may be younger than the one whose traces are seen here, or be over already."""
        told = await self._ask(server, {"do": "session"})
        if told["session"]:
            await end_session(self.hosts, int(told["session"]), bytes.fromhex(told["password"]))

    async def close(self) -> None:
        await self._client.close()


def host_and_port(host: str) -> tuple[str, int]:
    """Raises CannotStart for what is no `host:port`."""
    name, _, port = host.rpartition(":") if ":" in host else (host, "", "2181")
    if not name or not port.isdigit() or not 0 < int(port) < 65536:
        raise CannotStart(f"--zookeeper wants host:port,host:port, got {host[:80]!r}")
    return name, int(port)


def answers(host: str) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(host_and_port(host), timeout=3):
        return True
    return False
