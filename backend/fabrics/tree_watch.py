"""The control plane's own session with coordination: it takes locks away, and watches a real ensemble.
kazoo's threads stay in here."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from backend.errors import CannotStart, Impossible, Unavailable
from nodes.config import GroupConfig

ROOT = "/cloverlab"
CONNECT_S = 20.0
"""Servers of an ensemble that have just started may still be choosing their leader."""
END_S = 5.0
ANSWER_S = 5.0
AGAIN_S = 0.25
OnNode = Callable[[str, bytes | None, int], None]


class TreeClient:
    """Connects at first use; every call runs in a thread."""

    def __init__(self, hosts: str):
        self._hosts = hosts
        self._client: KazooClient | None = None

    async def _connected(self) -> KazooClient:
        if self._client is None:
            client = KazooClient(self._hosts, timeout=10.0, logger=quiet())
            try:
                await asyncio.to_thread(client.start, CONNECT_S)
            except KazooTimeoutError:
                await asyncio.to_thread(client.stop)
                raise Unavailable(f"coordination at {self._hosts} does not answer") from None
            self._client = client
        return self._client

    async def ensure(self, path: str) -> None:
        """Raises Unavailable."""
        client = await self._connected()
        await answered(client.ensure_path, path)

    async def take_lock(self, group: str, owner: str) -> None:
        """One multi removes the lock and its owner's place (CFS Table 3, Test A: the global view is
        modified)."""
        client = await self._connected()
        answers = await answered(remove_lock, client, f"{ROOT}/groups/{group}", owner)
        if any(isinstance(answer, Exception) for answer in answers):
            raise Impossible(f"the lock of {group} was not taken: {owner} has lost it meanwhile")

    async def claim(self, cluster: str) -> None:
        """Raises CannotStart when another cluster lives in this ensemble, Unavailable when it does not answer."""
        try:
            client = await self._connected()
        except Unavailable as error:
            raise CannotStart(error.message) from None
        await answered(client.ensure_path, ROOT)
        found, _ = await answered(client.get, ROOT)
        if found and found != cluster.encode():
            raise CannotStart(
                f"{self._hosts} already holds the cluster {found.decode(errors='replace')[:40]}; "
                "use its --data or another ensemble"
            )
        await answered(client.set, ROOT, cluster.encode())

    async def watch(self, groups: list[GroupConfig], on_node: OnNode) -> None:
        """`on_node(path, octets or None, owning session)` is called in the event loop for each change that
        is seen. A connection that is lost on the way is waited for."""
        loop = asyncio.get_running_loop()
        client = await self._connected()

        def told(path: str, octets: bytes | None, owner: int) -> None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(on_node, path, octets, owner)

        for group in groups:
            while not await asyncio.to_thread(watched, client, f"{ROOT}/groups/{group.name}", told):
                await asyncio.sleep(AGAIN_S)

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            with contextlib.suppress(KazooException, KazooTimeoutError):
                await asyncio.to_thread(client.stop)
                await asyncio.to_thread(client.close)


async def make_chroot(hosts: list[str], name: str) -> None:
    """The node below which a cluster lives in an ensemble that others may use too. Raises CannotStart."""
    root = TreeClient(",".join(hosts))
    try:
        await root.ensure(f"/{name}")
    except Unavailable as error:
        raise CannotStart(error.message) from None
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
    """A call of kazoo's in a thread. Raises Unavailable when coordination does not answer it; it may have been done all the same."""
    try:
        return await asyncio.to_thread(step, *arguments)
    except (KazooException, KazooTimeoutError) as error:
        raise Unavailable(f"coordination did not answer: {type(error).__name__}") from None


def quiet() -> logging.Logger:
    """Connections that break are the faults' affair, not the log's."""
    logger = logging.getLogger("cloverlab.coordination")
    logger.setLevel(logging.CRITICAL)
    return logger


def remove_lock(client: KazooClient, base: str, owner: str) -> list[Any]:
    """Asks before it changes anything: nothing waits in the client to be done when a service that is gone comes back."""
    there = client.exists_async(f"{base}/view/{owner}").get(timeout=ANSWER_S)
    transaction = client.transaction()
    transaction.delete(f"{base}/lock")
    if there is not None:
        transaction.delete(f"{base}/view/{owner}")
    return list(transaction.commit_async().get(timeout=ANSWER_S))


def watched(client: KazooClient, base: str, told: OnNode) -> bool:
    """Whether all of a group is watched now. What is watched twice is told twice."""
    try:
        watch_group(client, base, told)
    except KazooException:
        return False
    return True


def watch_group(client: KazooClient, base: str, told: OnNode) -> None:
    watched: set[str] = set()

    def watch_node(path: str) -> None:
        @client.DataWatch(path)  # type: ignore[untyped-decorator]
        def changed(octets: bytes | None, stat: Any) -> None:
            told(path, octets, stat.ephemeralOwner if stat is not None else 0)

    for node in ("lock", "epoch", "configuration"):
        watch_node(f"{base}/{node}")
    client.ensure_path(f"{base}/view")

    @client.ChildrenWatch(f"{base}/view")  # type: ignore[untyped-decorator]
    def places(names: list[str]) -> None:
        for name in sorted(set(names) - watched):
            watched.add(name)
            watch_node(f"{base}/view/{name}")
