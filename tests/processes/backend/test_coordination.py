"""The fabric's view of the coordination tree: the embedded server, and a kazoo client in the role of a server."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient

from backend.errors import ClusterCannotStart, Impossible, Malformed, Unavailable
from backend.fabrics import tree_watch
from backend.fabrics.children import Roster
from backend.fabrics.coordination import EmbeddedEnsemble, RealEnsemble, host_and_port
from backend.fabrics.home import Home
from backend.fabrics.watched_cluster import wait_until
from nodes.real.authentication import authenticated
from nodes.trace.base import Event
from nodes.trace.events import LockHeld, Placed, SessionEnded
from nodes.trace.present import UNKNOWN, Cause

G = "/cloverlab/groups/g1"


class Played:
    """An observed ensemble, its events, and a client."""

    def __init__(self, home: Home, children: Roster):
        self.reported: list[tuple[int, Event]] = []
        self.children = children
        self.home = home
        self.ensemble = EmbeddedEnsemble(home, children, self.report)
        self.client: KazooClient = None

    def report(self, server: str, event: Event, at_ns: int, cause: Cause = UNKNOWN) -> None:
        self.reported.append((at_ns, event))

    async def become_active(self) -> None:
        self.client = authenticated(self.ensemble.hosts[0], self.home.coordination_password, timeout=4.0)
        await asyncio.to_thread(self.client.start, 10)
        for path, fields in (
            ("lock", {"owner": "mds1"}),
            ("view/mds1", {"state": "active", "epoch": 1, "sn": 3}),
        ):
            await asyncio.to_thread(
                self.client.create, f"{G}/{path}", json.dumps(fields).encode(), ephemeral=True, makepath=True
            )
        await self.await_reported(
            lambda: self.events()[-2:] == [LockHeld("g1", "mds1"), Placed("g1", "mds1", "active", 1, 3)]
        )

    def events(self) -> list[Event]:
        return [event for _, event in self.reported]

    async def await_reported(self, true: Callable[[], bool]) -> None:
        assert await wait_until(true, 15), self.events()


@contextlib.asynccontextmanager
async def played(data: Path) -> AsyncIterator[Played]:
    home = Home.open(data)
    play = Played(home, Roster(home.path))
    await play.ensemble.start({})
    observing = asyncio.create_task(play.ensemble.observe())
    try:
        yield play
    finally:
        observing.cancel()
        await asyncio.gather(observing, return_exceptions=True)
        if play.client is not None:
            await asyncio.to_thread(play.client.stop)
            play.client.close()
        await play.ensemble.close()
        for child in play.children.by_name.values():
            await child.stop()
        home.close()


def test_taking_the_lock_removes_it_and_its_owners_place_at_once(tmp_path: Path) -> None:
    async def body() -> None:
        async with played(tmp_path) as play:
            await play.become_active()
            await play.ensemble.take_lock("g1", "mds1")
            await play.await_reported(
                lambda: {LockHeld("g1", ""), Placed("g1", "mds1", "", 0, 0)} <= set(play.events())
            )
            assert play.client.connected
            with pytest.raises(Impossible, match="was not taken"):
                await play.ensemble.take_lock("g1", "mds1")

    asyncio.run(body())


def test_while_coordination_is_gone_no_lock_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        async with played(tmp_path) as play:
            await play.become_active()
            await play.ensemble.take_lock("g1", "mds1")
            await play.become_active()
            await play.children.by_name["coordination"].kill()
            monkeypatch.setattr(tree_watch, "ANSWER_S", 0.2)
            with pytest.raises(Unavailable, match="coordination did not answer"):
                await asyncio.wait_for(play.ensemble.take_lock("g1", "mds1"), 15)
            await play.ensemble.restart()
            assert await asyncio.to_thread(play.client.exists, f"{G}/lock")

    asyncio.run(body())


def test_an_expired_session_is_reported_with_all_that_it_held_at_one_time(tmp_path: Path) -> None:
    async def body() -> None:
        async with played(tmp_path) as play:
            await play.become_active()
            session = play.ensemble.observer.sessions["mds1"]
            await play.ensemble.expire("mds1", session)
            await play.await_reported(lambda: SessionEnded("mds1", session, "expired") in play.events())
            last = play.reported[-3:]
            assert len({at_ns for at_ns, _ in last}) == 1
            assert {type(event) for _, event in last} == {LockHeld, Placed, SessionEnded}

    asyncio.run(body())


def test_what_vanished_while_coordination_was_down_is_reported_later(tmp_path: Path) -> None:
    async def body() -> None:
        async with played(tmp_path) as play:
            await play.become_active()
            await play.children.by_name["coordination"].kill()
            await play.ensemble.restart()
            await play.await_reported(lambda: LockHeld("g1", "") not in play.events())
            play.client.stop()
            await play.await_reported(lambda: LockHeld("g1", "") in play.events())

    asyncio.run(body())


def test_any_zookeeper_can_be_watched_and_is_claimed_by_one_cluster(tmp_path: Path) -> None:
    """The embedded server stands for the foreign ensemble."""

    async def body() -> None:
        async with played(tmp_path / "one") as play:
            token = tmp_path / "one" / "token"
            home = Home.open(tmp_path / "two", zookeeper=play.ensemble.hosts[0], token_file=token)
            reported: list[Event] = []

            async def session_of(server: str, question: dict[str, Any]) -> dict[str, Any]:
                assert (server, question) == ("mds1", {"do": "session"})
                session, password = play.client.client_id
                return {"session": session, "password": password.hex()}

            hosts = play.ensemble.hosts[0]
            foreign = RealEnsemble(
                home, hosts, lambda server, event, *when_and_why: reported.append(event), session_of
            )
            await foreign.start({})
            observing = asyncio.create_task(foreign.observe())
            await play.become_active()
            placed = Placed("g1", "mds1", "active", 1, 3)
            assert await wait_until(lambda: LockHeld("g1", "mds1") in reported and placed in reported, 15), (
                reported
            )
            await foreign.take_lock("g1", "mds1")
            assert await wait_until(lambda: LockHeld("g1", "") in reported, 15), reported
            await play.become_active()
            assert await wait_until(lambda: foreign.observer.sessions.get("mds1", 0) != 0, 15)
            session = foreign.observer.sessions["mds1"]
            await foreign.expire("mds1", session - 1)
            assert await wait_until(lambda: SessionEnded("mds1", session, "expired") in reported, 15), (
                reported
            )
            observing.cancel()
            await foreign.close()
            for name, secret, words in (
                ("three", token, f"already holds the cluster {home.name}"),
                ("four", None, "holds a cluster with another token"),
            ):
                other = Home.open(tmp_path / name, zookeeper=play.ensemble.hosts[0], token_file=secret)
                unknown_peer = RealEnsemble(other, hosts, lambda *event: None, session_of)
                with pytest.raises(ClusterCannotStart, match=words):
                    await unknown_peer.start({})
                await unknown_peer.close()
                other.close()
            home.close()

    asyncio.run(body())


def test_hosts_that_are_none_get_one_line() -> None:
    assert host_and_port("zoo1:2182") == ("zoo1", 2182) and host_and_port("zoo1") == ("zoo1", 2181)
    for wrong in ("", ":1", "a:b", "a:0", "a:70000"):
        with pytest.raises(Malformed, match="--zookeeper needs"):
            host_and_port(wrong)
