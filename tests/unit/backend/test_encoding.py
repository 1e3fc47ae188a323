"""Events in the API's responses."""

from __future__ import annotations

from backend.store.encoding import FIELDS, named
from nodes.trace.events import SharedStep, Stamped

STAMP = ("seq", "server", "boot", "number", "at_ns", "cause", "kind")


def test_an_event_keeps_its_stamp_whatever_its_own_fields_are_called() -> None:
    step = SharedStep("g1", 2, 1 << 32, "begin", True, [1])
    reported = named(Stamped("mds1", 1, 5, 6, 0, step), 7)  # type: ignore[arg-type]
    assert [reported[name] for name in STAMP] == [7, "mds1", 1, 5, 6, 0, "SharedStep"]
    assert reported["of_seq"] == 1 << 32


def test_no_two_fields_of_an_event_are_reported_by_one_name() -> None:
    for kind, fields in FIELDS.items():
        renamed = {f"of_{name}" for name in STAMP}
        assert not renamed & {*fields}, kind
