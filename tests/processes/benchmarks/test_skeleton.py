"""The bare skeleton beside which `bench metadata` is measured: five processes that answer writes and reads."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchmarks._skeleton import STANDBYS, skeleton


def test_writes_are_in_every_log_when_it_ends(tmp_path: Path) -> None:
    async def run() -> None:
        async with skeleton(tmp_path) as bare:
            written, read = await bare.measure(True, 4, 0.3), await bare.measure(False, 4, 0.2)
            assert min(written.per_s, written.latency_ms, written.cpu_us, read.per_s, read.latency_ms) > 0

    asyncio.run(run())
    logs = [
        (tmp_path / f"{role}.log").read_bytes()
        for role in ("active", *map("standby{}".format, range(STANDBYS)))
    ]
    assert len(logs[0]) > 0 and all(each == logs[0] for each in logs)
