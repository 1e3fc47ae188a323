"""Events in the API's responses."""

from __future__ import annotations

import msgspec
import pytest

from backend.store.encoding import FIELDS, named, stamped_of
from nodes.trace.base import Event
from nodes.trace.events import SharedStep, Stamped, Warned

STAMP = ("seq", "server", "boot", "number", "at_ns", "cause", "kind")


def test_an_event_keeps_its_stamp_whatever_its_own_fields_are_called() -> None:
    step = SharedStep("g1", 2, 1 << 32, "begin", True, [1])
    reported = named(Stamped("mds1", 1, 5, 6, 0, step), 7)  # type: ignore[arg-type]
    assert [reported[name] for name in STAMP] == [7, "mds1", 1, 5, 6, 0, "SharedStep"]
    assert reported["of_seq"] == 1 << 32


def test_every_event_that_exists_can_be_reported() -> None:
    """Also those of the tables beside events.py."""
    assert set(FIELDS) == {
        kind for kind in Event.__subclasses__() if kind.__module__.startswith("nodes.trace.")
    }


def test_no_two_fields_of_an_event_are_reported_by_one_name() -> None:
    for kind, fields in FIELDS.items():
        renamed = {f"of_{name}" for name in STAMP}
        assert not renamed & {*fields}, kind


def test_a_stored_event_of_a_later_version_is_left_out_with_a_warning() -> None:
    row = ("mds1", 1, 5, 9, 0, msgspec.msgpack.encode(["Future", 7]), "", "")
    assert stamped_of(row).event == Warned("an event Future of another version is left out")
    with pytest.raises(msgspec.ValidationError):
        stamped_of(("mds1", 1, 5, 9, 0, msgspec.msgpack.encode(["Cut", "no number"]), "", ""))
