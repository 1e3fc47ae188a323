"""The control plane's own session with coordination: it removes locks, and watches a real ensemble. kazoo's threads stay in this module."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoAuthError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from backend.errors import ClusterCannotStart, Impossible, Unavailable
from nodes.config import GroupConfig
from nodes.real.authentication import authenticated
from nodes.replicas.ends import Read, paths_of
from nodes.world import Change, CheckNode, DeleteNode, SetNode

ROOT = "/cloverlab"
CONNECT_S = 20.0
"""Connect timeout: servers of an ensemble that have just started may still elect their leader."""
END_S = 5.0
ANSWER_S = 5.0
AGAIN_S = 0.25
NODES_MOST = 10_000
OnNode = Callable[[str, bytes | None, int], None]


class TreeClient:
    """A client that connects at first use; every call runs in a thread."""

    def __init__(self, hosts: str, password: str):
        self._hosts = hosts
        self._password = password
        self._client: KazooClient | None = None

    async def _connected(self) -> KazooClient:
        if self._client is None:
            client = authenticated(self._hosts, self._password, timeout=10.0, logger=quiet())
            try:
                await asyncio.to_thread(client.start, CONNECT_S)
            except KazooTimeoutError:
                await asyncio.to_thread(client.stop)
                raise Unavailable(f"coordination at {self._hosts} does not answer") from None
            self._client = client
        return self._client

    async def connect(self) -> None:
        """Connects ahead of the first use. Raises Unavailable."""
        await self._connected()

    async def read_end(self, group: str, server: str) -> Read:
        """The nodes by which the end of a server's process is recorded, read after a sync. Raises Unavailable."""
        client = await self._connected()
        found: Read = await answered(read_end, client, group, server)
        return found

    async def write(self, changes: list[Change]) -> bool:
        """One transaction; False when a version has changed. Raises Unavailable."""
        client = await self._connected()
        answers = await answered(commit, client, changes)
        return not any(isinstance(answer, Exception) for answer in answers)

    async def ensure(self, path: str) -> None:
        """Raises Unavailable."""
        client = await self._connected()
        await answered(client.ensure_path, path)

    async def nodes(self) -> list[dict[str, Any]]:
        """The cluster's nodes by path in order. Raises Unavailable."""
        client = await self._connected()
        found: list[dict[str, Any]] = await answered(walked, client)
        return found

    async def take_lock(self, group: str, owner: str) -> None:
        """Removes the lock and its owner's place in one multi (CFS Table 3, Test A: the global view is modified)."""
        client = await self._connected()
        answers = await answered(remove_lock, client, f"{ROOT}/groups/{group}", owner)
        if any(isinstance(answer, Exception) for answer in answers):
            raise Impossible(f"the lock of {group} was not taken: {owner} has lost it meanwhile")

    async def claim(self, cluster: str) -> None:
        """Raises ClusterCannotStart when another cluster uses this ensemble, Unavailable when it does not answer."""
        try:
            client = await self._connected()
        except Unavailable as error:
            raise ClusterCannotStart(error.message) from None
        try:
            await asyncio.to_thread(client.ensure_path, ROOT)
            found, _ = await asyncio.to_thread(client.get, ROOT)
        except NoAuthError:
            raise ClusterCannotStart(
                f"{self._hosts} holds a cluster with another token; use its --data or another ensemble"
            ) from None
        except (KazooException, KazooTimeoutError) as error:
            raise Unavailable(f"coordination did not answer: {type(error).__name__}") from None
        if found and found != cluster.encode():
            raise ClusterCannotStart(
                f"{self._hosts} already holds the cluster {found.decode(errors='replace')[:40]}; "
                "use its --data or another ensemble"
            )
        await answered(client.set, ROOT, cluster.encode())

    async def watch(self, groups: list[GroupConfig], on_node: OnNode) -> None:
        """Watches the groups: `on_node(path, data or None, owning session)` is called in the event loop for each change. A lost connection is
        opened again."""
        loop = asyncio.get_running_loop()
        client = await self._connected()

        def reported(path: str, data: bytes | None, owner: int) -> None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(on_node, path, data, owner)

        for group in groups:
            while not await asyncio.to_thread(watched, client, f"{ROOT}/groups/{group.name}", reported):
                await asyncio.sleep(AGAIN_S)

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            with contextlib.suppress(KazooException, KazooTimeoutError):
                await asyncio.to_thread(client.stop)
                await asyncio.to_thread(client.close)


async def make_chroot(hosts: list[str], name: str, password: str) -> None:
    """Creates the node below which a cluster lives in a shared ensemble. Raises ClusterCannotStart."""
    root = TreeClient(",".join(hosts), password)
    try:
        await root.ensure(f"/{name}")
    except Unavailable as error:
        raise ClusterCannotStart(error.message) from None
    finally:
        await root.close()


async def end_session(hosts: list[str], session: int, password: bytes) -> None:
    """Raises Unavailable."""
    client = KazooClient(",".join(hosts), timeout=4.0, client_id=(session, password), logger=quiet())
    try:
        await asyncio.to_thread(client.start, END_S)
    except KazooTimeoutError:
        raise Unavailable(f"coordination at {','.join(hosts)} does not answer") from None
    finally:
        await asyncio.to_thread(client.stop)
        await asyncio.to_thread(client.close)


async def answered(step: Callable[..., Any], *arguments: Any) -> Any:
    """Runs a call of kazoo in a thread. Raises Unavailable when coordination does not answer; the call may have taken effect all the same."""
    try:
        return await asyncio.to_thread(step, *arguments)
    except (KazooException, KazooTimeoutError) as error:
        raise Unavailable(f"coordination did not answer: {type(error).__name__}") from None


def quiet() -> logging.Logger:
    """A silent logger: broken connections are the effect of faults."""
    logger = logging.getLogger("cloverlab.coordination")
    logger.setLevel(logging.CRITICAL)
    return logger


def remove_lock(client: KazooClient, base: str, owner: str) -> list[Any]:
    """Reads before it changes anything, so that no change waits in the client for a service that returns later."""
    there = client.exists_async(f"{base}/view/{owner}").get(timeout=ANSWER_S)
    transaction = client.transaction()
    transaction.delete(f"{base}/lock")
    if there is not None:
        transaction.delete(f"{base}/view/{owner}")
    return list(transaction.commit_async().get(timeout=ANSWER_S))


def read_end(client: KazooClient, group: str, server: str) -> Read:
    generation, lock, confirmation = paths_of(group, server)
    client.sync_async(f"{ROOT}/groups/{group}").get(timeout=ANSWER_S)

    def got(path: str) -> tuple[bytes, int] | None:
        try:
            data, stat = client.get_async(path).get(timeout=ANSWER_S)
        except NoNodeError:
            return None
        return data, stat.version

    counted, held = got(generation), got(lock)
    return Read(counted[1] if counted else -1, held[0] if held else None, got(confirmation))


def commit(client: KazooClient, changes: list[Change]) -> list[Any]:
    transaction = client.transaction()
    for change in changes:
        if isinstance(change, CheckNode):
            transaction.check(change.path, change.version)
        elif isinstance(change, DeleteNode):
            transaction.delete(change.path, change.version)
        elif isinstance(change, SetNode):
            transaction.set_data(change.path, change.data, change.version)
        else:
            transaction.create(change.path, change.data, ephemeral=change.ephemeral)
    return list(transaction.commit_async().get(timeout=ANSWER_S))


def walked(client: KazooClient) -> list[dict[str, Any]]:
    """A node that goes meanwhile is left out."""
    found: list[dict[str, Any]] = []
    ahead = [ROOT]
    while ahead and len(found) < NODES_MOST:
        path = ahead.pop()
        with contextlib.suppress(NoNodeError):
            data, stat = client.get(path)
            node = {"path": path, "data": data.decode(errors="replace"), "version": stat.version}
            found.append({**node, "owner": stat.ephemeralOwner, "mtime_ms": stat.mtime})
            ahead += [f"{path}/{name}" for name in client.get_children(path)]
    return sorted(found, key=lambda node: node["path"])


def watched(client: KazooClient, base: str, reported: OnNode) -> bool:
    """Whether the whole group is watched now. A node that is watched twice is reported twice."""
    try:
        watch_group(client, base, reported)
    except KazooException:
        return False
    return True


def watch_group(client: KazooClient, base: str, reported: OnNode) -> None:
    watched: set[str] = set()

    def watch_node(path: str) -> None:
        @client.DataWatch(path)  # type: ignore[untyped-decorator]
        def changed(data: bytes | None, stat: Any) -> None:
            reported(path, data, stat.ephemeralOwner if stat is not None else 0)

    for node in ("lock", "epoch", "configuration"):
        watch_node(f"{base}/{node}")
    client.ensure_path(f"{base}/view")

    @client.ChildrenWatch(f"{base}/view")  # type: ignore[untyped-decorator]
    def places(names: list[str]) -> None:
        for name in sorted(set(names) - watched):
            watched.add(name)
            watch_node(f"{base}/view/{name}")
