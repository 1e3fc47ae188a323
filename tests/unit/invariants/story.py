"""Histories written by hand: each line appends one event of a server."""

from __future__ import annotations

from collections import Counter
from typing import Any

from nodes.config import one_group
from nodes.invariants import registry
from nodes.trace.events import AnyEvent, Called, Committed, Durable, Serving, Stamped

MS = 1_000_000


def crc_of(sn: int, epoch: int) -> int:
    return sn * 1_000 + epoch


class Story:
    """A history in which each event is one millisecond after the last."""

    def __init__(self) -> None:
        self.events: list[Stamped] = []
        self._numbers: Counter[str] = Counter()
        self.now_ns = 0

    def report(self, server: str, event: AnyEvent) -> tuple[str, int]:
        self._numbers[server] += 1
        self.now_ns += MS
        self.events.append(Stamped(server, 1, self._numbers[server], self.now_ns, 0, event))
        return server, self._numbers[server]

    def durable(self, server: str, sn: int, epoch: int = 1, crc: int | None = None) -> tuple[str, int]:
        return self.report(server, Durable(sn, epoch, sn, crc_of(sn, epoch) if crc is None else crc, 1, 100))

    def commit(
        self, server: str, sn: int, epoch: int, *numbers: int, crc: int | None = None
    ) -> tuple[str, int]:
        """A group that is durable on the active first; its operations are calls of client `c`."""
        self.durable(server, sn, epoch, crc)
        operations = [("c", number) for number in numbers]
        crc = crc_of(sn, epoch) if crc is None else crc
        return self.report(server, Committed("g1", sn, epoch, crc, [server], 1, operations))

    def serve(self, server: str, sn: int, epoch: int) -> tuple[str, int]:
        """Flushes an empty group and serves."""
        self.commit(server, sn, epoch)
        return self.report(server, Serving("g1", epoch, sn, crc_of(sn, epoch)))

    def call(
        self,
        number: int,
        operation: list[Any],
        at: tuple[int, int],
        result: list[Any] | None = None,
        error: str = "",
        server: str = "mds1",
        epoch: int = 1,
        tries: int = 1,
        invoked_ns: int | None = None,
        client: str = "c",
    ) -> tuple[str, int]:
        """A call that returns now; by default it was invoked just after the previous event."""
        invoked_ns = self.now_ns + 1 if invoked_ns is None else invoked_ns
        if result is None and not error:
            result = ["Done"]
        returned_ns = self.now_ns + MS
        return self.report(
            "client1",
            Called(
                client, number, operation, invoked_ns, returned_ns, result, error, server, epoch, *at, tries
            ),
        )  # fmt: skip

    def invariants(self, finish: bool = True) -> dict[str, dict[str, Any]]:
        invariants = registry.start(one_group())
        for stamped in self.events:
            invariants.on_event(stamped)
        if finish:
            invariants.finish()
        return {status["invariant"]: status for status in invariants.invariants()}

    def red(self, finish: bool = True) -> dict[str, str]:
        """Violated invariants with their explanations."""
        return {
            name: status["explanation"]
            for name, status in self.invariants(finish).items()
            if status["state"] == "red"
        }


def good() -> Story:
    """Epoch 1 on mds1, three writes, a read, a refusal; then mds2 takes over and continues."""
    story = Story()
    story.serve("mds1", 1, 1)
    story.durable("mds2", 1)
    story.commit("mds1", 2, 1, 1, 2)
    story.durable("mds2", 2)
    story.call(1, ["Mkdir", "/d", False, 0o755], (2, 1), ["Made", 2])
    story.call(2, ["Create", "/d/a", 0o644], (2, 2), ["Made", 3])
    story.call(3, ["List", "/d", "", 100], (2, 2), ["Listing", ["a"], False])
    story.call(4, ["Create", "/d/a", 0o644], (2, 2), error="EEXIST")
    story.commit("mds1", 3, 1, 5)
    story.durable("mds2", 3)
    story.serve("mds2", 4, 2)
    story.call(5, ["Rename", "/d/a", "/d/b", False], (4, 0), server="mds2", epoch=2, tries=2)
    story.call(6, ["Stat", "/d/a"], (4, 0), error="ENOENT", server="mds2", epoch=2)
    story.commit("mds2", 5, 2, 7)
    story.call(7, ["Delete", "/d", True], (5, 1), server="mds2", epoch=2)
    return story
