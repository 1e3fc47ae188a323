"""Known bugs of clients and their sessions: each schedule is quiet without its mutation, and breaks something with it."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import DataConfig
from nodes.metadata.operations import AddBlock, Append, Create, Granted, Mkdir, Open, Opened, Stat
from nodes.mutations import Mutations
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import SETTLE_NS, Lab

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


def view_unreachable(lab: Lab) -> None:
    """Servers are added one by one while a client is idle, and then those of its configuration go for ever."""
    lab.ada.call(Mkdir("/a"))
    configured = list(lab.cluster.view())
    for count in range(len(configured)):
        lab.faults.add_server("g1")
        lab.cluster.run_until(lambda count=count: letters(lab) == len(configured) + count + 1, SETTLE_NS)  # type: ignore[misc]
    for server in configured:
        lab.faults.crash(server)
        lab.cluster.run_until(lambda server=server: serves(lab, server), SETTLE_NS)  # type: ignore[misc]
    lab.ada.call(Mkdir("/b"))


def letters(lab: Lab) -> int:
    """How many are in step."""
    return sum(letter in "AS" for letter in lab.cluster.view().values())


def serves(lab: Lab, gone: str) -> bool:
    """Somebody else is active, and the one that is gone counts no more."""
    return lab.cluster.view()[gone] not in "AS" and "A" in lab.cluster.view().values()


SCHEDULES: dict[str, Callable[[Lab], None]] = {
    "sessions_never_end": sessions_never_end,
    "view_unreachable": view_unreachable,
}


def lab_for(name: str, seed: int, protocol: str = "mams", on: bool = True) -> Lab:
    if name == "view_unreachable":
        return Lab(seed, standbys=1, data=DataConfig(nodes=["dn1", "dn2"]), mutations=Mutations(**{name: on}))
    return lab_of(protocol, seed, standbys=2, session_ttl_ms=TTL_MS, mutations=Mutations(**{name: on}))
