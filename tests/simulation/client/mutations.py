"""Seeded bugs of clients and their sessions: each schedule holds without its mutation, and violates an invariant with it."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import DataConfig
from nodes.metadata.operations import (
    AddBlock,
    Append,
    CloseSession,
    Complete,
    Create,
    Granted,
    Mkdir,
    Open,
    Opened,
    OpenSession,
    Rename,
    Stat,
)
from nodes.mutations import Mutations
from nodes.wire.messages import Answer, Checked, Request
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
    """The answers of a call are lost while two actives in a row are replaced; then the call is sent again."""
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
    """Servers are added one by one while a client is idle, and then those of its configuration are removed for ever."""
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
    """Number of servers in step."""
    return sum(letter in "AS" for letter in lab.cluster.view().values())


def serves(lab: Lab, gone: str) -> bool:
    """Another server is active, and the removed one counts no more."""
    return lab.cluster.view()[gone] not in "AS" and "A" in lab.cluster.view().values()


def opened_by_fresh_stamps(lab: Lab) -> None:
    """A client learns that its call is not known, just before the call is carried out; the copy that it then sends arrives after the end of its
    session."""

    def from_ada(message: object) -> bool:
        return type(message) is Request and type(message.operation) is OpenSession

    first = lab.cluster.hold(lambda sender, receiver, message: sender == "ada" and from_ada(message))
    lab.begin(lab.ada, Mkdir("/a"))
    lab.cluster.run_until(lambda: bool(first.messages), SETTLE_NS)
    unknown = lab.cluster.hold(
        lambda sender, receiver, message: receiver == "ada" and type(message) is Checked
    )
    lab.cluster.run_until(lambda: bool(unknown.messages), SETTLE_NS)
    number = first.messages[0][2].number  # type: ignore[attr-defined]
    answers = lab.cluster.hold(
        lambda sender, receiver, message: (
            receiver == "ada" and type(message) is Answer and message.number == number
        )
    )
    first.release()
    lab.cluster.run_until(lambda: bool(answers.messages), SETTLE_NS)
    lab.run_ms(TTL_MS // 2)
    lab.ada.call(Stat("/"))
    second = lab.cluster.hold(lambda sender, receiver, message: sender == "ada" and from_ada(message))
    unknown.release()
    lab.cluster.run_until(lambda: bool(second.messages), SETTLE_NS)
    lab.faults.crash("ada")
    lab.tasks.clear()
    lab.run_ms(TTL_MS * 3 // 4)
    second.release()
    lab.run_ms(1_000)


def closing_forgotten(lab: Lab) -> None:
    """The answer to a client that ends is lost; a copy of its last call, made on the way, is answered instead."""
    lab.ada.call(Mkdir("/a"))
    copies: list[tuple[str, str, Request]] = []

    def note(sender: str, receiver: str, message: object) -> bool:
        if sender == "ada" and type(message) is Request and type(message.operation) is CloseSession:
            copies.append((sender, receiver, message))
        return receiver == "ada" and bool(copies)

    answers = lab.cluster.hold(note)
    closing = lab.ada.begin(lab.ada.client.close())
    lab.cluster.run_until(
        lambda: any(type(message) is Answer for _, _, message in answers.messages), SETTLE_NS
    )
    answers.drop()
    sender, receiver, request = copies[0]
    lab.cluster.net.carry(sender, receiver, [request])
    lab.cluster.run_until(closing.done, SETTLE_NS)


SCHEDULES: dict[str, Callable[[Lab], None]] = {
    "closing_forgotten": closing_forgotten,
    "duplicate_after_second_failover": duplicate_after_second_failover,
    "opened_by_fresh_stamps": opened_by_fresh_stamps,
    "sessions_never_end": sessions_never_end,
    "view_unreachable": view_unreachable,
}


def lab_for(name: str, seed: int, protocol: str = "mams", on: bool = True) -> Lab:
    if name == "view_unreachable":
        return Lab(seed, standbys=1, data=DataConfig(nodes=["dn1", "dn2"]), mutations=Mutations(**{name: on}))
    if name == "duplicate_after_second_failover":
        return lab_of(protocol, seed, standbys=2, mutations=Mutations(**{name: on}))
    return lab_of(protocol, seed, standbys=2, session_ttl_ms=TTL_MS, mutations=Mutations(**{name: on}))
