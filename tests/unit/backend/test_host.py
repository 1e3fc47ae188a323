"""Clocks of other machines, as measured by the control plane's end of a supervisor."""

from __future__ import annotations

import time

from backend.fabrics import host as hosts
from backend.fabrics.host import ContainerHost
from nodes.real.clock import monotonic_ns
from nodes.supervisor.messages import Status
from nodes.trace.block_events import FileCalled
from nodes.trace.events import Stamped, Warned

DAY_NS = 86_400 * 1_000_000_000


def status(boot_id: str, monotonic: int, wall_ns: int) -> Status:
    return Status(
        "mds1", "server", "c", "running", 7, 1, "", "", "10.0.0.1", "box", "image", boot_id, monotonic, wall_ns, False, 1
    )  # fmt: skip


def played() -> ContainerHost:
    return ContainerHost("mds1", ("127.0.0.1", 1), b"t" * 32, lambda host, before, now: None)


def test_on_one_kernel_stamps_are_left_as_they_are() -> None:
    host = played()
    host._stated(status(hosts.own_boot_id() or "same", monotonic_ns() - 5_000_000, time.time_ns()))
    assert host.offset_ns == 0 or not hosts.own_boot_id()
    assert host.clock_apart_ns == 0


def test_stamps_of_another_machine_are_shifted_by_the_least_offset_that_was_seen() -> None:
    host = played()
    host._stated(status("other", monotonic_ns() - DAY_NS - 9_000_000, time.time_ns()))
    host._stated(status("other", monotonic_ns() - DAY_NS, time.time_ns()))
    host._stated(status("other", monotonic_ns() - DAY_NS - 30_000_000, time.time_ns()))
    assert 0 <= host.offset_ns - DAY_NS < 5_000_000
    stamped = Stamped("mds1", 1, 1, 1_000, 0, Warned("x"))
    assert host._shifted(stamped).at_ns == 1_000 + host.offset_ns


def test_the_times_within_a_call_are_shifted_with_it() -> None:
    host = played()
    host._stated(status("other", monotonic_ns() - DAY_NS, time.time_ns()))
    done = FileCalled("c", "get", "/f", 1, 3_000, 7_000, "", -1, 0)
    shifted = host._shifted(Stamped("client1", 1, 1, 7_000, 0, done))
    assert isinstance(shifted.event, FileCalled) and shifted.event.returned_ns == shifted.at_ns
    assert (shifted.event.invoked_ns, shifted.event.lacking_ns) == (shifted.at_ns - 4_000, 0)


def test_a_wall_clock_that_is_apart_is_reported() -> None:
    host = played()
    host._stated(status("other", monotonic_ns() - DAY_NS, time.time_ns() + 3_600_000_000_000))
    assert abs(host.clock_apart_ns - 3_600_000_000_000) < 1_000_000_000
    host._stated(status("other", monotonic_ns() - DAY_NS, time.time_ns() + 200_000_000))
    assert host.clock_apart_ns == 0


def test_clocks_that_drift_apart_are_followed() -> None:
    host = played()
    for second in range(600):
        host._stated(status("other", monotonic_ns() - DAY_NS - second * 1_000_000, time.time_ns()))
    assert abs(host.offset_ns - DAY_NS - 570_000_000) < 40_000_000


def test_a_machine_that_was_started_again_has_another_clock() -> None:
    host = played()
    host._stated(status("first", monotonic_ns() - DAY_NS, time.time_ns()))
    host._stated(status("second", monotonic_ns() + DAY_NS, time.time_ns()))
    assert abs(host.offset_ns + DAY_NS) < 1_000_000_000
    host._stated(status("third", monotonic_ns() - 2 * DAY_NS, time.time_ns()))
    assert abs(host.offset_ns - 2 * DAY_NS) < 1_000_000_000
