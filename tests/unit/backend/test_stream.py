import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_args

from backend.clusters import views
from backend.events.failovers import Failover
from backend.events.frames import ClockFrame, StreamFrame
from backend.events.hub import BATCH_EVENTS, PAGES_MAX, QUEUE_FRAMES, PageSocket, thinned
from backend.events.stream import stream
from backend.fleet.fleet import Fleet
from backend.lab import Lab
from backend.picture import FaultState, NodeState
from backend.served_models import served_as
from backend.settings import Settings
from nodes.kinds import KINDS
from nodes.trace import events as e
from tests.unit.backend.story import Story, durable

FRAMES = {kind.__struct_config__.tag: served_as(kind) for kind in get_args(StreamFrame)}
"""What the page is told of the frames, and of the rows that they have as dictionaries."""


async def frame(page: PageSocket) -> dict[str, Any]:
    reported: dict[str, Any] = json.loads(await page.next())
    described = FRAMES[reported["type"]].model_validate(reported)
    assert described.model_dump(mode="json", exclude_unset=True) == reported
    return reported


async def read(page: PageSocket, kind: str) -> dict[str, Any]:
    async with asyncio.timeout(5):
        while (reported := await frame(page))["type"] != kind:
            pass
        return reported


def test_every_frame_is_as_the_page_is_told(tmp_path: Path) -> None:
    async def body() -> None:
        lab, story = await Lab.open(Settings(tmp_path)), Story()
        for event in (
            durable(1),
            e.LockHeld("g1", "mds1"),
            e.CheckFailed("one_active", "two", [("mds1", 1)]),
        ):
            lab.fabric.picture.apply(story(1, "mds1", event), 1)
        lab.fabric.picture.nodes["dn1"] = NodeState.of("dn1", KINDS["data_node"])
        lab.fabric.picture.nodes["jn1"] = NodeState.of("jn1", KINDS["journal_node"])
        lab.fabric.picture.faults[1] = FaultState(1, "kill", ["mds1"], {}, 1)
        page = lab.hub.join(None)
        page.messages = True
        lab.hub._lines.add("mds1", {"messages": [["mds1", 1, 1, 5, 0, ["MessageSent", "mds2", "Ping", 9]]]})
        lab._on_events([story(4, "mds1", durable(2))])
        lab._failed_over(1, Failover("g1", 1, 1.5, 1.5, 1.5, None, 4.5, "mds1", "mds2", 2))
        lab.hub.processes_changed()
        lab.hub._report(ClockFrame(1))
        lab.hub.start()
        async with asyncio.timeout(5):
            missing = set(FRAMES)
            while missing:
                missing.discard((await frame(page))["type"])
        await lab.stop()

    asyncio.run(body())


def test_a_page_knows_what_has_happened_before_it_knows_what_changed_with_it(tmp_path: Path) -> None:
    async def body() -> None:
        lab, story = await Lab.open(Settings(tmp_path)), Story()
        page = lab.hub.join(None)
        await read(page, "hello")
        lab._on_events([story(1, "mds1", durable(1))])
        lab.hub.processes_changed()
        assert [json.loads(each)["type"] for each in page.queue][:2] == ["events", "processes"]
        await lab.stop()

    asyncio.run(body())


def test_a_page_that_comes_back_is_reported_what_it_missed(tmp_path: Path) -> None:
    async def body() -> None:
        lab, story = await Lab.open(Settings(tmp_path)), Story()
        lab.hub.start()
        lab._on_events([story(n, "mds1", durable(n)) for n in range(1, 11)])
        page = lab.hub.join(after=7)
        hello = await read(page, "hello")
        assert (hello["run"], hello["seq"], hello["left_out"]) == (1, 10, 0)
        missed = await read(page, "events")
        assert [event["seq"] for event in missed["events"]] == [8, 9, 10]
        lab._on_events([story(11, "coordination", e.LockHeld("g1", "mds1"))])
        fresh = await read(page, "events")
        assert [event["seq"] for event in fresh["events"]] == [11] and fresh["next"] == 11
        await lab.stop()

    asyncio.run(body())


def test_a_slow_page_is_cut_to_the_newest_picture(tmp_path: Path) -> None:
    async def body() -> None:
        lab, story = await Lab.open(Settings(tmp_path)), Story()
        page = lab.hub.join(None)
        sent = 0
        while len(page.queue) < QUEUE_FRAMES:
            sent += 1
            lab._on_events([story(sent, "mds1", durable(sent))])
            lab.hub._flush()
        for _ in range(3):
            sent += 1
            lab._on_events([story(sent, "mds1", durable(sent))])
            lab.hub._flush()
        frames = [json.loads(page.queue.popleft()) for _ in range(len(page.queue))]
        assert len(frames) <= 3 and frames[0]["type"] == "hello" and frames[0]["left_out"] >= 1
        assert frames[-1].get("next", frames[-1].get("seq")) == sent
        await lab.stop()

    asyncio.run(body())


def test_a_burst_keeps_every_rare_event_and_the_newest_of_the_others() -> None:
    story = Story()
    burst = [(n, story(n, "mds1", durable(n))) for n in range(3 * BATCH_EVENTS)]
    burst.insert(5, (0, story(5, "coordination", e.LockHeld("g1", "mds1"))))
    kept = thinned(burst)
    assert len(kept) == BATCH_EVENTS and isinstance(kept[0][1].event, e.LockHeld)
    assert kept[-1] == burst[-1]


def test_the_page_is_reported_what_the_events_did_to_the_picture(tmp_path: Path) -> None:
    async def body() -> None:
        lab, story = await Lab.open(Settings(tmp_path)), Story()
        page = lab.hub.join(None)
        known = (await read(page, "hello"))["picture"]
        for n, server in enumerate(("mds1", "mds2", "mds1"), 1):
            stamped = story(n, server, durable(n))
            lab.fabric.picture.apply(stamped, n)
            lab._on_events([stamped])
            lab.hub._flush()
            changes = (await read(page, "events"))["picture"]
            assert list(changes["servers"]) == [server] and "groups" not in changes
            known = {**known, **changes, "servers": {**known["servers"], **changes["servers"]}}
        assert known == views.picture(lab.fabric.picture)
        await lab.stop()

    asyncio.run(body())


class Socket:
    """A page's socket as far as the route reads and closes it."""

    def __init__(self, lab: Lab):
        self.app = SimpleNamespace(state=SimpleNamespace(fleet=Fleet(lab)))
        self.scope: dict[str, Any] = {}
        self.query_params: dict[str, str] = {}
        self.closed: list[object] = []

    async def accept(self) -> None:
        pass

    async def close(self, *reason: object) -> None:
        self.closed.extend(reason)


def test_one_page_too_many_is_refused_with_the_reason(tmp_path: Path) -> None:
    async def body() -> None:
        lab = await Lab.open(Settings(tmp_path))
        try:
            for _ in range(PAGES_MAX):
                lab.hub.join(None)
            socket = Socket(lab)
            await stream(cast(Any, socket))
            assert socket.closed == [4429, "16 pages are open; close one"]
        finally:
            await lab.stop()

    asyncio.run(body())
