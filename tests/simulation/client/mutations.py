"""Known bugs of clients and their sessions: each schedule is quiet without its mutation, and breaks something with it."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import DataConfig
from nodes.metadata.operations import (
    AddBlock,
    Append,
    Complete,
    Create,
    Granted,
    Mkdir,
    Open,
    Opened,
    Rename,
    Stat,
)
from nodes.mutations import Mutations
from nodes.wire.messages import Answer
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
    left = lab.eve.call(Append("/f"))
    assert isinstance(left.result, Opened) and left.result.unfinished is not None
    block = left.result.unfinished.number
    lab.eve.call(Complete(left.result.inode, left.number, block))
    assert not lab.eve.call(Open("/f")).result.writing  # type: ignore[union-attr]


def duplicate_after_second_failover(lab: Lab) -> None:
    """The answers of a call are lost while two actives after each other are replaced; then it is asked again."""
    lab.ada.call(Mkdir("/a"))
    lost = lab.cluster.hold(lambda sender, receiver, message: receiver == "ada" and type(message) is Answer)
    call = lab.begin(lab.ada, Mkdir("/once"))
    lab.cluster.run_until(lambda: bool(lost.messages), SETTLE_NS)
    for server in list(lab.cluster.view()):
        lab.faults.cut("ada", server)
    lost.drop()
    lab.eve.call(Rename("/once", "/moved"))
    for _ in range(2):
        leader = lab.serving()[-1].server
        lab.faults.crash(leader)
        lab.await_next_active()
        lab.faults.restart(leader)
        lab.cluster.run_until(lab.cluster.settled, SETTLE_NS)
        lab.eve.call(Create(f"/served-{leader}"))
    lab.faults.heal_all()
    lab.cluster.run_until(call.done, SETTLE_NS)
    lab.ada.call(Stat("/moved"))


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
    "duplicate_after_second_failover": duplicate_after_second_failover,
    "sessions_never_end": sessions_never_end,
    "view_unreachable": view_unreachable,
}


def lab_for(name: str, seed: int, protocol: str = "mams", on: bool = True) -> Lab:
    if name == "view_unreachable":
        return Lab(seed, standbys=1, data=DataConfig(nodes=["dn1", "dn2"]), mutations=Mutations(**{name: on}))
    if name == "duplicate_after_second_failover":
        return lab_of(protocol, seed, standbys=2, mutations=Mutations(**{name: on}))
    return lab_of(protocol, seed, standbys=2, session_ttl_ms=TTL_MS, mutations=Mutations(**{name: on}))
