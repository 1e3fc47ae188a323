"""The life of a client's session: renewed while the client lives, closed when it ends, expired when it is dead; no call is executed after its
end."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND, WorkloadConfig
from nodes.errors import FsError
from nodes.metadata.operations import (
    CloseSession,
    Create,
    Delete,
    List,
    Made,
    Mkdir,
    OpenSession,
    Rename,
    Stat,
)
from nodes.metadata.sessions import ClientSessions
from nodes.trace.events import Called
from nodes.units import OpId
from nodes.wire.messages import Answer, CheckOperation, Request
from tests.simulation.client.mutations import TTL_MS, lab_for
from tests.simulation.client.test_mutations import FAMILIES
from tests.simulation.mams.lab import SETTLE_NS, Lab

PAST_MS = 3 * TTL_MS


def lab_of_short_sessions(protocol: str, seed: int = 1) -> Lab:
    return lab_for("sessions_never_end", seed, protocol, False)


def copied(lab: Lab, kinds: tuple[type, ...]) -> list[tuple[str, str, Any]]:
    """Copies of ada's requests with such operations, from now on."""
    copies: list[tuple[str, str, Any]] = []

    def note(sender: str, receiver: str, message: Any) -> bool:
        if sender == "ada" and type(message) is Request and type(message.operation) in kinds:
            copies.append((sender, receiver, message))
        return False

    lab.cluster.hold(note)
    return copies


def names(lab: Lab) -> list[str]:
    return lab.eve.call(List("/")).result.names  # type: ignore[union-attr,no-any-return]


@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_client_that_is_only_refused_keeps_its_session(protocol: str) -> None:
    """A refused call leaves no record, so it does not renew the session."""
    lab = lab_of_short_sessions(protocol)
    lab.ada.call(Mkdir("/a"))
    for _ in range(15):
        lab.run_ms(TTL_MS // 5)
        with pytest.raises(FsError, match="EEXIST"):
            lab.ada.call(Mkdir("/a"))
    lab.ada.call(Mkdir("/b"))


@pytest.mark.parametrize("protocol", FAMILIES)
def test_an_idle_client_that_lives_keeps_its_session(protocol: str) -> None:
    lab = lab_of_short_sessions(protocol)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(PAST_MS)
    lab.ada.call(Mkdir("/b"))
    lab.finish()
    assert lab.broken() == {}
    assert all(s.event.error != "ESTALE" for s in lab.cluster.events if type(s.event) is Called)


def test_a_group_that_nobody_leads_is_asked_by_one_renewal_at_a_time() -> None:
    """Otherwise a long outage would end with one copy of the query for every due renewal."""
    lab = lab_of_short_sessions("mams")
    lab.ada.call(Mkdir("/a"))
    for name in list(lab.cluster.view()):
        lab.faults.crash(name)
    asked: list[int] = []

    def note(sender: str, receiver: str, message: Any) -> bool:
        if sender == "ada" and type(message) in (Request, CheckOperation):
            asked.append(message.number)
        return False

    lab.cluster.hold(note)
    lab.run_ms(4 * TTL_MS)
    assert len(set(asked)) == 1


@pytest.mark.parametrize("closes", [False, True])
@pytest.mark.parametrize("protocol", FAMILIES)
def test_late_copies_of_a_dead_client_are_never_carried_out(protocol: str, closes: bool) -> None:
    """A copy of the message that opened its session arrives before the copy of the write."""
    lab = lab_of_short_sessions(protocol)
    copies = copied(lab, (OpenSession, Create))
    lab.ada.call(Create("/f"))
    if closes:
        task = lab.ada.begin(lab.ada.client.close())
        lab.cluster.run_until(task.done, 10 * SECOND)
        assert any(
            type(s.event.operation) is CloseSession for s in lab.cluster.events if type(s.event) is Called
        )
    lab.faults.crash("ada")
    lab.run_ms(100 if closes else PAST_MS)
    lab.eve.call(Mkdir("/eve"))
    lab.eve.call(Mkdir("/eve/d"))
    lab.eve.call(Create("/g"))
    lab.eve.call(Delete("/f"))
    for sender, receiver, copy in list(copies):
        for server in sorted({receiver, *lab.cluster.view()}):
            lab.cluster.net.carry(sender, server, [copy])
        lab.run_ms(200)
    lab.run_ms(1_000)
    assert names(lab) == ["eve", "g"]
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_call_whose_session_ended_under_way_is_not_carried_out_again(protocol: str) -> None:
    """Its answers are lost, and it is cut off until its session has ended; then it sends the call again."""
    lab = lab_of_short_sessions(protocol)
    lab.ada.call(Mkdir("/a"))
    lost = lab.cluster.hold(lambda sender, receiver, message: receiver == "ada" and type(message) is Answer)
    call = lab.begin(lab.ada, Mkdir("/once"))
    lab.cluster.run_until(lambda: bool(lost.messages), SETTLE_NS)
    everybody = [name for name in lab.cluster.view()]
    for server in everybody:
        lab.faults.cut("ada", server)
    lost.drop()
    lab.run_ms(PAST_MS)
    lab.eve.call(Rename("/once", "/moved"))
    lab.faults.heal_all()
    lab.cluster.run_until(call.done, SETTLE_NS)
    with pytest.raises(FsError, match="ETIMEDOUT"):
        call.result()
    try:
        lab.ada.call(Mkdir("/b"))
    except FsError as error:
        assert error.name == "ESTALE"
        lab.ada.call(Mkdir("/b"))
    assert names(lab) == ["a", "b", "moved"]
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", ("mams", "qjm", "packed-paxos", "symmetric"))
def test_a_session_outlives_a_failover_and_ends_after_it(protocol: str) -> None:
    lab = lab_of_short_sessions(protocol)
    copies = copied(lab, (Create,))
    lab.ada.call(Create("/f"))
    first = copies[0][1]
    lab.faults.crash(first)
    lab.ada.call(Mkdir("/a"))
    lab.faults.restart(first)
    lab.cluster.run_until(lab.cluster.settled, SETTLE_NS)
    lab.faults.crash("ada")
    lab.run_ms(PAST_MS)
    lab.eve.call(Stat("/f"))
    for server in lab.cluster.view():
        lab.cluster.net.carry("ada", server, [copies[0][2]])
    lab.run_ms(1_000)
    assert names(lab) == ["a", "f"]
    lab.finish()
    assert lab.broken() == {}


def test_a_workload_that_has_ended_closes_its_session() -> None:
    lab = lab_of_short_sessions("mams")
    lab.cluster.add_workload(WorkloadConfig(clients=2, rate_per_s=0, count=20))
    workload = lab.cluster.workload
    assert workload is not None
    lab.cluster.run_until(lambda: workload.finished, SETTLE_NS)
    lab.run_ms(1_000)
    last = [s.event.operation for s in lab.cluster.events if type(s.event) is Called][-1]
    assert type(last) is CloseSession
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", FAMILIES)
def test_what_a_closed_session_refuses_may_still_open_it(protocol: str) -> None:
    """A client continues after its session was closed. One copy of its renewal is refused; the other arrives when no server remembers the
    closing."""
    lab = lab_of_short_sessions(protocol)
    lab.ada.call(Mkdir("/a"))
    lab.ada.call(CloseSession())
    copies = copied(lab, (OpenSession,))
    lab.cluster.run_until(lambda: len(copies) > 2, SETTLE_NS)
    for sender, receiver, copy in list(copies):
        lab.cluster.net.carry(sender, receiver, [copy])
        lab.run_ms(TTL_MS // 3)
    reported = [s.event for s in lab.cluster.events if type(s.event) is Called]
    refused = [e for e in reported if type(e.operation) is OpenSession and e.error not in ("", "ETIMEDOUT")]
    assert not refused
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_late_copy_renews_no_later_session(protocol: str) -> None:
    """One call is carried out and not answered; others are lost until the session has ended. One of them opens it again, and then a copy of the
    first arrives."""
    lab = lab_of_short_sessions(protocol)
    lab.ada.call(Mkdir("/a"))
    copies = copied(lab, (OpenSession,))
    unanswered = lab.cluster.hold(
        lambda sender, receiver, message: receiver == "ada" and type(message) is Answer
    )
    lab.cluster.run_until(lambda: bool(unanswered.messages), SETTLE_NS)
    first, *_ = copies
    lost = lab.cluster.hold(
        lambda sender, receiver, message: sender == "ada" and type(message) is Request
        and type(message.operation) is OpenSession
    )  # fmt: skip
    unanswered.drop()
    for _ in range(PAST_MS // 50):
        lab.ada.call(Stat("/a"))
        lab.run_ms(50)
    others = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is Request and message.number == first[2].number
    )
    lost.drop()
    lab.run_ms(TTL_MS)
    others.drop()
    sender, receiver, copy = first
    for server in sorted({receiver, *lab.cluster.view()}):
        lab.cluster.net.carry(sender, server, [copy])
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_memory_that_answers_something_else_is_found(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first answer is lost; the remembered result is altered on purpose."""
    lab = lab_for("sessions_never_end", 1, protocol, False)
    lab.ada.call(Mkdir("/a"))
    lost = lab.cluster.hold(lambda sender, receiver, message: receiver == "ada" and type(message) is Answer)
    call = lab.begin(lab.ada, Create("/a/f"))
    lab.cluster.run_until(lambda: bool(lost.messages), SETTLE_NS)
    recorded = ClientSessions.recorded

    def spoilt(sessions: ClientSessions, op_id: OpId) -> Any:
        result = recorded(sessions, op_id)
        return Made(result.inode + 1) if isinstance(result, Made) else result

    monkeypatch.setattr(ClientSessions, "recorded", spoilt)
    lost.drop()
    lab.cluster.run_until(call.done, SETTLE_NS)
    monkeypatch.undo()
    lab.finish()
    assert "has another result" in lab.broken()["exactly once"]
