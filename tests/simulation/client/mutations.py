"""Known bugs of clients and their sessions: each schedule is quiet without its mutation, and breaks something with it."""

from __future__ import annotations

from collections.abc import Callable

from nodes.metadata.operations import AddBlock, Append, Create, Granted, Mkdir, Open, Opened, Stat
from nodes.mutations import Mutations
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab

TTL_MS = 3_000


def sessions_never_end(lab: Lab) -> None:
    """A client dies while it writes a file; another one lives, and only reads."""
    lab.ada.call(Create("/f"))
    opened = lab.ada.call(Append("/f"))
    assert isinstance(opened.result, Opened)
    granted = lab.ada.call(AddBlock(opened.result.inode, opened.number)).result
    assert isinstance(granted, Granted)
    lab.eve.call(Mkdir("/eve"))
    lab.faults.crash("ada")
    for _ in range(8):
        lab.run_ms(TTL_MS // 2)
        lab.eve.call(Stat("/eve"))
    lab.eve.call(Append("/f"))
    assert lab.eve.call(Open("/f")).result.blocks == []  # type: ignore[union-attr]


SCHEDULES: dict[str, Callable[[Lab], None]] = {
    "sessions_never_end": sessions_never_end,
}


def lab_for(name: str, seed: int, protocol: str = "mams", on: bool = True) -> Lab:
    return lab_of(protocol, seed, standbys=2, session_ttl_ms=TTL_MS, mutations=Mutations(**{name: on}))
