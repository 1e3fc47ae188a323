"""The server that the control plane queries for a group."""

import asyncio
from pathlib import Path

import pytest

from backend.checkpoints.service import active_of
from backend.errors import Unavailable
from backend.fabrics.sockets import ask
from backend.lab import Lab
from backend.pool.lookup import look
from backend.settings import Settings
from nodes.trace import events as e
from nodes.trace.base import Event
from tests.unit.backend.story import Story

PAUSED = ("faults", e.FaultInjected(1, "pause", ["mds1"], {}))


def active(server: str, epoch: int, role: str = "active") -> tuple[str, Event]:
    return server, e.RoleChanged("g1", role, epoch, 9, "the lock")


def after(tmp_path: Path, *events: tuple[str, Event]) -> str:
    async def body() -> str:
        lab, story = await Lab.open(Settings(tmp_path)), Story()
        for at_ms, (server, event) in enumerate(events, 1):
            lab.fabric.picture.apply(story(at_ms, server, event), at_ms)
        try:
            return active_of(lab)
        finally:
            await lab.stop()

    return asyncio.run(body())


def test_the_primary_of_a_paxos_group_is_asked(tmp_path: Path) -> None:
    primary = ("mds2", e.RoleChanged("g1", "primary", 2, 9, "the lock"))
    assert after(tmp_path, ("mds1", e.RoleChanged("g1", "secondary", 2, 9, "")), primary) == "mds2"


def test_one_that_was_paused_as_the_active_is_not_asked(tmp_path: Path) -> None:
    assert after(tmp_path, active("mds1", 1), PAUSED, active("mds2", 2)) == "mds2"


def test_one_that_has_not_noticed_its_successor_is_not_asked(tmp_path: Path) -> None:
    assert after(tmp_path, active("mds2", 2), active("mds1", 1)) == "mds2"


def test_the_leader_of_every_family_is_asked(tmp_path: Path) -> None:
    """The first of several members orders their images."""
    assert after(tmp_path, active("mds3", 2, "secondary"), active("mds2", 2, "primary")) == "mds2"
    members = [active(name, 3, "member") for name in ("mds3", "mds2", "mds1")]
    assert after(tmp_path, *members) == "mds1"


def test_until_there_is_a_successor_nobody_is(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="has no active now"):
        after(tmp_path, active("mds1", 1), PAUSED)


def test_a_paused_server_keeps_nobody_waiting_for_its_images(tmp_path: Path) -> None:
    async def body() -> None:
        lab, story = await Lab.open(Settings(tmp_path)), Story()
        everybody = e.FaultInjected(1, "pause", list(lab.fabric.picture.servers), {})
        lab.fabric.picture.apply(story(1, "faults", everybody), 1)
        with pytest.raises(Unavailable, match="mds1 is paused"):
            await look(lab, "/", 0)
        await lab.stop()

    asyncio.run(body())


def test_silence_is_reported_in_seconds(tmp_path: Path) -> None:
    async def body() -> None:
        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        socket = tmp_path / "mds1.sock"
        async with await asyncio.start_unix_server(silent, socket):
            with pytest.raises(Unavailable, match=r"^mds1 does not answer within 0\.05 s$"):
                await ask(socket, {"do": "counters"}, 0.05)

    asyncio.run(body())
