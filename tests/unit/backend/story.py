"""Small invented event histories for tests of reducers."""

from __future__ import annotations

from nodes.trace import events as e
from nodes.trace.base import Event

MS = 1_000_000


class Story:
    """Stamps events as the servers would: a number per server, times given in milliseconds."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, at_ms: float, server: str, event: Event) -> e.Stamped:
        self._numbers[server] = self._numbers.get(server, 0) + 1
        return e.Stamped(server, 1, self._numbers[server], round(at_ms * MS), 0, event)  # type: ignore[arg-type]


def durable(sn: int, epoch: int = 1, crc: int | None = None) -> e.Durable:
    return e.Durable(sn, epoch, sn, crc if crc is not None else sn * 10 + epoch, 1, 100)


def committed(sn: int, epoch: int = 1) -> e.Committed:
    return e.Committed("g1", sn, epoch, sn * 10 + epoch, ["mds1", "mds2"], 1, [("c", sn)])


def called(
    number: int, returned_ms: float, server: str = "mds1", epoch: int = 1, error: str = "", took_ms: float = 2
) -> e.Called:
    end = round(returned_ms * MS)
    return e.Called(
        "c", number, ["mkdir"], end - round(took_ms * MS), end, None, error, server, epoch, number, 1, 1
    )
