"""Planned handovers: under load, refused, and with the crash of either side at each of its steps."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.metadata.operations import Create, List, Mkdir
from nodes.protocols.mams.messages import HandOver, HandOverReply
from nodes.trace.events import Called, StepTaken, StoppedServing
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import SETTLE_NS, Lab

FAMILIES = ("mams", "2pc", "backupnode")
STEPS = ("ask", "pass")
UPGRADE = ("0", "1", "2", "3", "4", "5", "6")


def ready(seed: int) -> Lab:
    """A lab whose active serves, with a directory for the load."""
    lab = Lab(seed)
    lab.ada.call(Mkdir("/d"))
    return lab


def begin(lab: Lab, server: str = "", by: str = "") -> Any:
    task = lab.cluster.begin_asking(by or lab.active, {"do": "hand_over", "server": server})
    lab.tasks.append(task)
    return task


def hand_over(lab: Lab, server: str = "") -> dict[str, str]:
    task = begin(lab, server)
    lab.cluster.run_until(task.done, 10 * SECOND)
    return task.result()  # type: ignore[no-any-return]


def load(lab: Lab, calls: int, name: str = "f") -> None:
    """Calls that begin 10 ms apart, half of them by each client."""
    loop, now_ns = lab.cluster.loop, lab.cluster.now_ns
    for number in range(calls):
        client = (lab.ada, lab.eve)[number % 2]
        loop.at(now_ns + 10 * number * MILLISECOND, lab.begin, client, Create(f"/d/{name}{number}"))


def slowest_ms(lab: Lab, since_ns: int) -> float:
    calls = [
        each.event for each in lab.cluster.events if type(each.event) is Called and each.at_ns >= since_ns
    ]
    return max(call.returned_ns - call.invoked_ns for call in calls) / MILLISECOND


def gap_ms(lab: Lab) -> float:
    """From the end of the old service to the begin of the new one."""
    stopped = max(each.at_ns for each in lab.cluster.events if type(each.event) is StoppedServing)
    return (lab.serving()[-1].at_ns - stopped) / MILLISECOND


@pytest.mark.parametrize("protocol", FAMILIES)
@pytest.mark.parametrize("seed", range(3))
def test_every_call_is_answered_once_and_at_once(protocol: str, seed: int) -> None:
    lab = lab_of(protocol, seed, standbys=1 if protocol == "backupnode" else 3)
    lab.ada.call(Mkdir("/d"))
    old, target = lab.active, lab.standbys[-1]
    since_ns = lab.cluster.now_ns
    load(lab, 100)
    lab.run_ms(300)
    assert hand_over(lab, target) == {"refused": "", "server": target}
    lab.await_next_active()
    assert lab.active == target != old
    lab.run_ms(3_000)
    assert lab.cluster.view()[old] == "S"
    assert slowest_ms(lab, since_ns) < 500 and gap_ms(lab) < 300
    lab.finish()
    assert lab.broken() == {}
    assert len(lab.eve.call(List("/d")).result.names) == 100  # type: ignore[union-attr]
    assert all(task.exception() is None for task in lab.tasks)


def test_without_a_server_a_standby_is_chosen() -> None:
    lab = ready(1)
    answer = hand_over(lab)
    assert answer["refused"] == "" and answer["server"] in ("mds1", "mds2", "mds3", "mds4")
    lab.await_next_active()
    assert lab.active == answer["server"]


@pytest.mark.parametrize("seed", range(5))
def test_handovers_around_the_group_lose_nothing(seed: int) -> None:
    lab = ready(seed)
    for turn in range(6):
        load(lab, 20, f"t{turn}-")
        lab.run_ms(50)
        assert hand_over(lab)["refused"] == ""
        lab.await_next_active()
        lab.cluster.run_until(lab.cluster.settled, SETTLE_NS)
    lab.finish()
    assert lab.broken() == {}
    assert len(lab.eve.call(List("/d")).result.names) == 120  # type: ignore[union-attr]


# --- refused ---------------------------------------------------------------------------------------------------------


def goes_on(lab: Lab, epoch_count: int) -> None:
    lab.ada.call(Mkdir("/on"))
    assert len(lab.serving()) == epoch_count
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize(
    ("server", "reason"),
    [("mds9", "mds9 is not in step"), ("active", "is the active already")],
)
def test_only_a_standby_takes_over(server: str, reason: str) -> None:
    lab = ready(1)
    refused = hand_over(lab, lab.active if server == "active" else server)["refused"]
    assert reason in refused
    goes_on(lab, 1)


def test_a_server_that_does_not_lead_hands_nothing_over() -> None:
    lab = ready(1)
    task = begin(lab, by=lab.standbys[0])
    lab.cluster.run_until(task.done, SECOND)
    assert "is not the active" in task.result()["refused"]
    goes_on(lab, 1)


def test_a_server_alone_has_no_successor() -> None:
    lab = lab_of("single", 1, standbys=0)
    lab.ada.call(Mkdir("/d"))
    assert hand_over(lab)["refused"] == "no standby is in step"
    goes_on(lab, 1)


@pytest.mark.parametrize("kind", [HandOver, HandOverReply])
def test_the_active_goes_on_when_the_successor_does_not_answer(kind: type) -> None:
    """The calls that were held meanwhile are answered by the old active."""
    lab = ready(1)
    lab.cluster.hold(lambda sender, receiver, message: type(message) is kind)
    task = begin(lab, lab.standbys[0])
    lab.run_ms(100)
    call = lab.begin(lab.ada, Mkdir("/held"))
    lab.run_ms(100)
    assert not call.done()
    lab.cluster.run_until(task.done, 5 * SECOND)
    assert "does not answer" in task.result()["refused"]
    lab.cluster.run_until(call.done, SECOND)
    goes_on(lab, 1)


def test_two_handovers_at_once_are_one() -> None:
    lab = ready(1)
    first, second = begin(lab), begin(lab)
    lab.cluster.run_until(lambda: first.done() and second.done(), 5 * SECOND)
    assert (first.result()["refused"], second.result()["refused"]) == ("", "another handover is under way")
    lab.await_next_active()
    assert len(lab.serving()) == 2


def test_an_order_whose_sender_has_gone_does_not_block_the_next_one() -> None:
    lab = ready(1)
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is HandOver)
    gone = begin(lab, lab.standbys[0])
    lab.run_ms(50)
    gone.cancel()
    lab.run_ms(2_000)
    held.drop()
    target = lab.standbys[1]
    assert hand_over(lab, target) == {"refused": "", "server": target}


# --- crashes ---------------------------------------------------------------------------------------------------------


def at_step(lab: Lab, procedure: str, step: str, act: Any) -> None:
    """Acts once, at the event of this step."""
    done: list[int] = []

    def look(stamped: Any) -> None:
        event = stamped.event
        if type(event) is StepTaken and (event.procedure, event.step) == (procedure, step) and not done:
            done.append(1)
            lab.cluster.loop.at(lab.cluster.now_ns, act)

    lab.cluster.on_event(look)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.full)])
@pytest.mark.parametrize("side", ["old", "new"])
@pytest.mark.parametrize(
    "verb", ["crash", "cut", *(pytest.param(v, marks=pytest.mark.full) for v in ("power_loss", "pause"))]
)
@pytest.mark.parametrize(
    ("procedure", "step"), [*(("handover", s) for s in STEPS), *(("upgrade", s) for s in UPGRADE)]
)
def test_either_side_fails_at_any_step(procedure: str, step: str, verb: str, side: str, seed: int) -> None:
    lab = ready(seed)
    old, new = lab.active, lab.standbys[seed]
    at_step(lab, procedure, step, lambda: lab.faults.do(verb, [old if side == "old" else new]))
    load(lab, 60)
    lab.run_ms(200)
    lab.cluster.begin_asking(old, {"do": "hand_over", "server": new})
    lab.run_ms(20_000)
    lab.finish()
    assert lab.broken() == {}
    names = lab.eve.call(List("/d")).result.names  # type: ignore[union-attr]
    assert len(names) == 60, names


@pytest.mark.parametrize("seed", range(4))
def test_the_coordination_of_the_old_active_is_lost_while_it_passes(seed: int) -> None:
    """The lock may or may not be released; the lease has ended either way."""
    lab = ready(seed)
    old, new = lab.active, lab.standbys[0]
    at_step(lab, "handover", "pass", lambda: lab.faults.do("cut", [old, "coordination"]))
    load(lab, 60)
    lab.run_ms(100 + 7 * seed)
    lab.cluster.begin_asking(old, {"do": "hand_over", "server": new})
    lab.await_next_active()
    lab.run_ms(10_000)
    lab.finish()
    assert lab.broken() == {}
    assert len(lab.eve.call(List("/d")).result.names) == 60  # type: ignore[union-attr]
