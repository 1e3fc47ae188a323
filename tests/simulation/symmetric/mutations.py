"""Seeded bugs in symmetric groups, one schedule each, by the name of the mutation. `SymmetricLab.finish` ends each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from nodes.config import DataConfig, Timing
from nodes.metadata.operations import Complete, Mkdir, Stat
from nodes.protocols.symmetric.messages import Alive, Flush, Held, Installed, JoinView, Settle
from nodes.sim import network
from nodes.sim.ensemble import COORDINATION
from nodes.wire.messages import Message, Request
from tests.simulation.symmetric.lab import SymmetricLab
from tests.simulation.symmetric.schedules import begin_sessions

LONG: dict[str, Any] = {"timing": Timing(ack_timeout_ms=2_000)}
"""Leases that are longer than the 400 ms after which a request times out."""


def hold(lab: SymmetricLab, receiver: str, *kinds: type[Message], sender: str = "") -> network.HeldMessages:
    def match(source: str, target: str, message: Message) -> bool:
        return type(message) in kinds and target == receiver and source in (sender or source,)

    return lab.cluster.hold(match)


def all_stop_and_one_returns(lab: SymmetricLab, one: str, harm: Callable[[], object]) -> None:
    """Every disk has the answered writes; then one of them is damaged, and its server returns first."""
    begin_sessions(lab)
    lab.ada.call(Mkdir("/lost"))
    lab.run_ms(50)
    for name in lab.names:
        lab.faults.power_loss(name)
    harm()
    lab.faults.restart(one)
    lab.run_ms(6_000)
    for name in lab.names:
        if name != one:
            lab.faults.restart(name)
    lab.begin(lab.eve, Stat("/lost"))


def rot_revives_alone(lab: SymmetricLab) -> None:
    """The last group rots on one disk, which looks like a torn tail (safety rule 23)."""
    all_stop_and_one_returns(
        lab, "mds2", lambda: lab.faults.do("corrupt", ["mds2"], {"what": "journal_tail"})
    )


def replaced_disk_votes(lab: SymmetricLab) -> None:
    """An empty disk replaces one disk, in the first view, which began empty (safety rule 23)."""
    all_stop_and_one_returns(lab, "mds2", lambda: lab.faults.new_disk("mds2"))


def settled_groups_counted(lab: SymmetricLab) -> None:
    """No member receives the last member's messages; the groups that the others settle without it have the serial numbers of its own groups
    (safety rule 24)."""
    begin_sessions(lab)
    first, other, last = lab.names
    lab.faults.slow_disk(first, ms=600)
    lab.faults.slow_disk(other, ms=2_000)
    for path in ("/w1", "/w2"):
        lab.begin(lab.ada, Mkdir(path))
        lab.run_ms(3)
    for name in (first, other):
        lab.faults.cut(last, name, direction="to")
    lab.faults.cut(last, COORDINATION)
    lab.begin(lab.eve, Mkdir("/lost"))
    lab.run_ms(2)
    for path in ("/b1", "/b2"):
        lab.begin(lab.ada, Mkdir(path))
        lab.run_ms(2)
    lab.run_ms(1_340)
    lab.faults.cut(other, COORDINATION)
    lab.faults.crash(first)
    lab.faults.slow_disk(other, ms=0)
    lab.run_ms(1_500)


def own_grant_counted(lab: SymmetricLab) -> None:
    """One member is flushed but cannot be settled; it continues to read under the lease that the others granted it."""
    begin_sessions(lab)
    lab.run_ms(3_000)
    first, other, last = lab.names
    hold(lab, last, Settle, Installed)
    lab.cluster.hold_watch(last)
    lab.faults.force_view("g1")
    lab.await_view_of(first, other)
    lab.ada.call(Mkdir("/a"))
    lab.begin(lab.eve, Stat("/a"))
    lab.run_ms(50)


def older_grants_forgotten(lab: SymmetricLab) -> None:
    """Two view changes follow each other; one member has not learned of the first when it is asked for its grants."""
    begin_sessions(lab)
    lab.run_ms(3_000)
    first, other, last = lab.names
    late = [hold(lab, name, Installed) for name in (other, last)]
    resume = [lab.cluster.hold_watch(name) for name in (other, last)]
    lab.faults.force_view("g1")
    lab.await_view_of(first)
    hold(lab, last, Flush)
    lab.faults.force_view("g1")
    lab.run_ms(50)
    late[0].drop()
    resume[0]()
    lab.await_view_of(first, other)
    lab.ada.call(Mkdir("/a"))
    lab.begin(lab.eve, Stat("/a"))
    lab.run_ms(50)


def begins_after_promise(lab: SymmetricLab) -> None:
    """A joiner promises the attempt that ends a view, then learns that the view exists, and grants leases in it."""
    begin_sessions(lab)
    first, reader, joiner = lab.names
    lab.asks(lab.eve, reader)
    lab.faults.crash(joiner)
    lab.await_view_of(first, reader)
    outside = lab.cluster.hold(lambda source, target, message: type(message) is JoinView)
    lab.faults.restart(joiner)
    lab.run_ms(3_000)
    late, resume = hold(lab, joiner, Installed), lab.cluster.hold_watch(joiner)
    outside.drop()
    lab.await_view_of(first, reader)
    hold(lab, reader, Flush, Installed)
    lab.cluster.hold_watch(reader)
    hold(lab, first, Alive, sender=joiner)
    lab.run_ms(2_150)  # The joiner takes the leases of the view before into account, which are over soon.
    lab.faults.force_view("g1")
    lab.run_ms(20)
    late.drop()
    resume()
    lab.await_view_of(first)
    write = lab.begin(lab.ada, Mkdir("/a"))
    lab.run_ms(10)
    lab.begin(lab.eve, Stat("/a"))
    lab.run_ms(50)
    assert not write.done() or write.exception() is None


def stale_settle_adopted(lab: SymmetricLab) -> None:
    """The coordinator of a view change is paused. Long after, its old messages reach a restarted server that cannot query the agreed view."""
    begin_sessions(lab)
    first, other, last = lab.names
    settling = [hold(lab, name, Settle, sender=first) for name in (other, last)]
    lab.faults.force_view("g1")
    lab.cluster.run_until(lambda: bool(settling[0].messages))
    lab.faults.pause(first)
    for held in settling:
        held.drop()
    lab.await_view_of(other, last)
    lab.eve.call(Mkdir("/lost"))
    lab.run_ms(50)
    lab.faults.crash(other)
    lab.faults.crash(last)
    lab.faults.cut(last, COORDINATION)
    lab.faults.restart(last)
    lab.run_ms(20)
    lab.faults.resume(first)
    lab.run_ms(300)
    lab.faults.crash(first)
    lab.faults.heal_all()
    lab.run_ms(6_000)


def stale_reports_counted(lab: SymmetricLab) -> None:
    """Two members' disks are slow when the view is wedged, so that nobody learns that they hold the last group. No attempt can be made for a while;
    then two others are gone for ever. The remaining four of six are a majority."""
    begin_sessions(lab)
    first, *others, slow, too = lab.names
    for name in (slow, too):
        lab.faults.slow_disk(name, 300)
    lab.begin(lab.ada, Mkdir("/under-way"))
    lab.run_ms(20)
    settling = [hold(lab, name, Settle, sender=first) for name in (*others, slow, too)]
    lab.faults.force_view("g1")
    lab.cluster.run_until(lambda: bool(settling[0].messages))
    for name in lab.names:
        lab.faults.cut(name, COORDINATION)
    lab.run_ms(3_000)
    for held in settling:
        held.drop()
    for name in others[:2]:
        lab.faults.crash(name)
    lab.faults.heal_all()
    written = lab.begin(lab.ada, Mkdir("/after"))
    lab.cluster.run_until(written.done)


def frees_what_others_made(lab: SymmetricLab) -> None:
    """The member that commands data nodes learns late that all hold a group, in which another member has allocated a block."""
    begin_sessions(lab)
    lab.run_ms(8_000)
    commander, other, _ = lab.names
    late = [hold(lab, commander, kind, sender=other) for kind in (Held, Alive)]
    completing = lab.cluster.hold(
        lambda source, target, message: (
            isinstance(message, Request) and isinstance(message.operation, Complete)
        )
    )

    async def source() -> AsyncIterator[bytes]:
        yield b"x" * 1_000

    lab.tasks.append(lab.eve.begin(lab.eve.files.put("/f", source())))
    lab.run_ms(1_000)
    for each in (completing, *late):
        each.drop()
    lab.run_ms(1_000)

    async def read() -> list[bytes]:
        return [part async for part in lab.eve.files.get("/f")]

    lab.tasks.append(lab.eve.begin(read()))


def sync_failed_then_trusted(lab: SymmetricLab) -> None:
    """The sync of one member fails; its next life reports data that is only in the page cache, and loses it with its power.

    The view then names an end that its journal no longer reaches: it may not continue alone, although everything had been answered.
    """
    lab.ada.call(Mkdir("/a"))
    *others, one = lab.names
    lab.faults.slow_disk(one, 20)
    written = lab.begin(lab.ada, Mkdir("/lost"))
    lab.run_ms(5)
    lab.faults.fail_disk(one)
    lab.run_ms(100)
    lab.faults.fail_disk(one, False)
    lab.faults.slow_disk(one, 0)
    lab.faults.restart(one)
    lab.cluster.run_until(written.done)
    lab.cluster.run_until(lab.cluster.settled)
    for name in others:
        lab.faults.crash(name)
    lab.faults.power_loss(one, torn="nothing")
    lab.faults.restart(one)
    alone = lab.begin(lab.eve, Stat("/lost"))
    lab.cluster.run_until(alone.done)


SCHEDULES: dict[str, tuple[Callable[[SymmetricLab], None], set[str], dict[str, Any]]] = {
    "frees_what_others_made": (
        frees_what_others_made,
        {"blocks kept"},
        LONG | {"data": DataConfig(nodes=["dn1"])},
    ),
    "rot_revives_alone": (rot_revives_alone, {"no lost write"}, {}),
    "replaced_disk_votes": (replaced_disk_votes, {"no lost write"}, {}),
    "settled_groups_counted": (settled_groups_counted, {"no lost write"}, {}),
    "own_grant_counted": (own_grant_counted, {"linearisable"}, LONG),
    "older_grants_forgotten": (older_grants_forgotten, {"linearisable"}, LONG),
    "begins_after_promise": (begins_after_promise, {"linearisable"}, LONG),
    "sync_failed_then_trusted": (
        sync_failed_then_trusted,
        {"ETIMEDOUT"},
        {"timing": Timing(call_deadline_ms=15_000)},
    ),
    "stale_reports_counted": (
        stale_reports_counted,
        {"ETIMEDOUT"},
        {"members": 6, "timing": Timing(call_deadline_ms=15_000)},
    ),
    "stale_settle_adopted": (stale_settle_adopted, {"no lost write"}, {}),
}
"""Schedule, expected violations with the mutation (one of these invariants, or a call that fails so), and settings of the cluster, by switch."""
