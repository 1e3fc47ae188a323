"""The merged stream of all traces, also when the clock began anew between two events."""

from __future__ import annotations

from backend.fabrics.traces import HOLD_BACK_NS, Traces
from nodes.trace.events import Called, Stamped, Warned
from tests.unit.backend.story import MS, called

HOUR_NS = 3_600_000 * MS


class Trace:
    def __init__(self, server: str, *times: int):
        self.events = [Stamped(server, 1, n, at_ns, 0, Warned("x")) for n, at_ns in enumerate(times, 1)]

    def read(self) -> list[Stamped]:
        found, self.events = self.events, []
        return found


class SlowTrace(Trace):
    """Its server goes on writing while it is read."""

    def __init__(self, server: str, clock: list[int], takes_ns: int):
        super().__init__(server)
        self._clock = clock
        self._takes_ns = takes_ns

    def read(self) -> list[Stamped]:
        self._clock[0] += self._takes_ns
        call = called(1, self._clock[0] / MS)
        return [Stamped("client1", 1, 1, call.returned_ns, 0, call)]


def merged(now_ns: int, **traces: Trace) -> list[Stamped]:
    clock = [now_ns]
    stream = Traces({}, lambda server, line: None, lambda: clock[0])
    for name, trace in traces.items():
        stream.follow(name, trace)
    found = stream.take()
    clock[0] += HOLD_BACK_NS
    return found + stream.take()


def test_events_of_several_servers_are_ordered_by_time() -> None:
    found = merged(HOUR_NS, mds1=Trace("mds1", 10, 30), mds2=Trace("mds2", 20, 40))
    assert [(each.server, each.at_ns) for each in found] == [
        ("mds1", 10),
        ("mds2", 20),
        ("mds1", 30),
        ("mds2", 40),
    ]


def test_events_from_before_a_reboot_come_at_once_and_before_later_ones_of_their_server() -> None:
    now_ns = 60_000 * MS
    trace = Trace("mds1", 50 * HOUR_NS, 50 * HOUR_NS + 5, now_ns - 1_000 * MS, now_ns - 500 * MS)
    found = merged(now_ns, mds1=trace, mds2=Trace("mds2", now_ns - 2))
    assert [each.number for each in found if each.server == "mds1"] == [1, 2, 3, 4]
    assert len(found) == 5 and all(each.at_ns <= now_ns for each in found)


def test_a_call_from_before_a_reboot_keeps_its_length() -> None:
    call = called(1, 50 * HOUR_NS / MS)
    trace = Trace("client1")
    trace.events = [Stamped("client1", 1, 1, call.returned_ns, 0, call)]
    [found] = merged(60_000 * MS, client1=trace)
    assert isinstance(found.event, Called)
    assert (found.event.returned_ns, found.event.invoked_ns) == (60_000 * MS, 59_998 * MS)


def test_a_call_that_returns_while_the_traces_are_read_keeps_its_time() -> None:
    clock = [60_000 * MS]
    stream = Traces({}, lambda server, line: None, lambda: clock[0])
    stream.follow("client1", SlowTrace("client1", clock, takes_ns=2_000 * MS))
    assert stream.take() == []
    clock[0] += HOLD_BACK_NS
    [found] = stream.take()
    assert isinstance(found.event, Called)
    assert found.at_ns == found.event.returned_ns == 62_000 * MS
