import asyncio
import json
from pathlib import Path
from typing import Any

from backend.events.hub import BATCH_EVENTS, QUEUE_FRAMES, Page, thinned
from backend.lab import Lab
from backend.settings import Settings
from nodes.trace import events as e
from tests.unit.backend.story import Story, durable


async def read(page: Page, kind: str) -> dict[str, Any]:
    async with asyncio.timeout(5):
        while True:
            told: dict[str, Any] = json.loads(await page.next())
            if told["type"] == kind:
                return told


def test_a_page_that_comes_back_is_told_what_it_missed(tmp_path: Path) -> None:
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
