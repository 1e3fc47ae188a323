"""Conditions of the simulated world without faults: latencies, background loss, sizes of disks.

Faults add to these. The defaults are a quiet data centre: a fast network that rarely hiccups, and flash disks.
"""

from __future__ import annotations

import random

import msgspec

MICROSECOND = 1_000
CAPACITY = 1 << 40
"""Size in bytes of a medium that no test fills."""
LARGEST_US = 60_000_000
SESSION_MAX_MS = 60_000


class BadConditions(Exception):
    """A value out of its range; one line names it."""


class Latency(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`base_us` plus up to `spread_us`, uniformly distributed; a share of `tail_share` takes up to `tail_us` longer."""

    base_us: int
    spread_us: int
    tail_share: float
    tail_us: int

    def draw_ns(self, rng: random.Random) -> int:
        latency_us = self.base_us + int(rng.random() * self.spread_us)
        if rng.random() < self.tail_share:
            latency_us += int(rng.random() * self.tail_us)
        return latency_us * MICROSECOND


NETWORK = Latency(40, 120, 0.01, 3_000)
DISK = Latency(150, 200, 0.005, 8_000)


class Conditions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The conditions of one simulated cluster. Shares are between 0 and 1."""

    network: Latency = NETWORK
    """One-way latency between two servers, or between a client and a server."""
    coordination: Latency = NETWORK
    """One-way latency between a server and the coordination service."""
    sync: Latency = DISK
    """Time that a disk needs to make data durable."""
    lose: float = 0.0
    """Share of messages that is lost on each link. Connections to coordination are TCP: a loss only delays them."""
    duplicate: float = 0.0
    reorder: float = 0.0
    """Share of messages that is late by up to `reorder_us`, behind messages sent later."""
    reorder_us: int = 5_000
    disk_capacity: int = CAPACITY
    session_max_ms: int = SESSION_MAX_MS
    """The longest session that coordination negotiates, whatever is configured."""
    ends_recorded: bool = False
    """With `detection: members`, the owner of the servers' processes records their ends, sooner or later."""
    ends_late_ms: int = 400
    """Such a record lands up to this much later than it was read; mostly soon."""


CALM = Conditions()


def check(conditions: Conditions) -> None:
    """Raises BadConditions."""
    for name in ("network", "coordination", "sync"):
        latency: Latency = getattr(conditions, name)
        for field in ("base_us", "spread_us", "tail_us"):
            _within(f"{name}.{field}", getattr(latency, field), LARGEST_US)
        _within(f"{name}.tail_share", latency.tail_share, 1)
    for name in ("lose", "duplicate", "reorder"):
        _within(name, getattr(conditions, name), 1)
    _within("reorder_us", conditions.reorder_us, LARGEST_US)
    _within("ends_late_ms", conditions.ends_late_ms, LARGEST_US // 1_000)
    _within("disk_capacity", conditions.disk_capacity, CAPACITY)
    _within("session_max_ms", conditions.session_max_ms, SESSION_MAX_MS)


def _within(name: str, value: float, most: int) -> None:
    if not 0 <= value <= most:
        raise BadConditions(f"{name} is {value!r}: a number between 0 and {most} is expected")
