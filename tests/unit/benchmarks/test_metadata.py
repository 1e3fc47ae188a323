"""`bench metadata`: rates in windows, ratios to the skeleton, and when the skeleton answers."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from backend.errors import Malformed
from benchmarks import metadata
from benchmarks._skeleton import (
    BareAck,
    BareActive,
    BareAnswer,
    BareCall,
    BareFrames,
    BareGroup,
    BareLog,
    BareWindow,
    encode,
)
from nodes.config import SECOND


class SentByLink:
    """A link that keeps what it is to send."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def send(self, message: Any) -> None:
        self.sent.append(message)


def test_calls_between_two_windows_count_in_none() -> None:
    counted = metadata.CallCounts()
    window_ns = int(metadata.WINDOW_S * SECOND)
    counted.returned["Mkdir"] = [0, 1, window_ns, 3 * window_ns, 4 * window_ns]
    assert counted.rates("Mkdir", [0, 3 * window_ns]) == [2 / metadata.WINDOW_S, 1 / metadata.WINDOW_S]
    assert counted.rates("Stat", [0]) == [0]


def test_the_ratio_is_that_of_windows_side_by_side() -> None:
    bare = [BareWindow(per_s, 2.0, 10.0) for per_s in (100, 1_000, 400)]
    beside = metadata.BesideSkeleton([50, 100, 100], 20.0, 3.0, bare)
    assert (beside.ratio, beside.latency_ratio, beside.bare_cpu_us) == (0.25, 1.5, 10.0)


def test_another_word_than_quick_is_refused() -> None:
    with pytest.raises(Malformed, match="quick"):
        metadata.main("slowly")


def test_frames_come_whole_however_they_are_cut() -> None:
    payloads = [encode([BareAck(number)]) for number in range(3)]
    stream = b"".join(len(each).to_bytes(4, "little") + each for each in payloads)
    frames = BareFrames()
    assert [each for at in range(len(stream)) for each in frames.feed(stream[at : at + 1])] == payloads
    assert list(frames.feed(stream)) == payloads


def test_the_skeleton_answers_what_it_and_a_majority_have_and_one_group_is_in_flight(tmp_path: Path) -> None:
    client, standbys = SentByLink(), [SentByLink(), SentByLink(), SentByLink()]

    async def turns() -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def run() -> None:
        active = BareActive(BareLog(tmp_path / "log"))
        active.standbys += standbys  # type: ignore[arg-type]
        active.on_message(client, BareCall(1, True, "/a"))  # type: ignore[arg-type]
        await turns()
        active.on_message(client, BareCall(2, True, "/b"))  # type: ignore[arg-type]
        active.on_message(standbys[0], BareAck(1))  # type: ignore[arg-type]
        await turns()
        assert client.sent == [] and [len(each.sent) for each in standbys] == [1, 1, 1]
        active.on_message(standbys[1], BareAck(1))  # type: ignore[arg-type]
        await turns()
        assert client.sent == [BareAnswer(1, 1, 1)]
        assert [each.sent[-1] for each in standbys] == [BareGroup(2, encode([BareCall(2, True, "/b")]))] * 3
        active.on_message(client, BareCall(3, False, "/a"))  # type: ignore[arg-type]
        assert client.sent[-1] == BareAnswer(3, 2, 0)

    asyncio.run(run())
    assert os.path.getsize(tmp_path / "log") == len(encode([BareCall(1, True, "/a")])) * 2
