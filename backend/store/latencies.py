"""Latencies of many calls in little memory: counts on a logarithmic scale with steps of five per cent, which can be added."""

from __future__ import annotations

import math

import msgspec

STEP = math.log(1.05)
SMALLEST_NS = 1_000


class LatencyHistogram:
    """Quantiles are correct within five per cent; all values below a microsecond count as one."""

    __slots__ = ("counts",)

    def __init__(self, counts: dict[int, int] | None = None):
        self.counts = counts or {}

    def add(self, latency_ns: int) -> None:
        slot = int(math.log(latency_ns / SMALLEST_NS) / STEP) if latency_ns > SMALLEST_NS else 0
        self.counts[slot] = self.counts.get(slot, 0) + 1

    def merge(self, other: LatencyHistogram) -> None:
        for slot, count in other.counts.items():
            self.counts[slot] = self.counts.get(slot, 0) + count

    def quantile_ms(self, share: float) -> float | None:
        """The smallest latency that at least `share` of the calls did not exceed, in milliseconds; None without calls."""
        left = math.ceil(share * sum(self.counts.values()))
        for slot in sorted(self.counts):
            left -= self.counts[slot]
            if left <= 0:
                return round(SMALLEST_NS * math.exp((slot + 0.5) * STEP) / 1e6, 4)
        return None

    def encode(self) -> bytes:
        return msgspec.msgpack.encode(self.counts)

    @classmethod
    def decode(cls, data: bytes) -> LatencyHistogram:
        return cls(msgspec.msgpack.decode(data, type=dict[int, int]))
