"""CFS: Zhou, Chen, Wang, He, Meng, "A Highly Reliable Metadata Service for Large-Scale Distributed File Systems" (TPDS 2020)."""

from __future__ import annotations

import msgspec

from nodes.config import MILLISECOND, SECOND
from nodes.coordination.operations import SetData
from nodes.coordination.tree import OPERATOR
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.mams.messages import Commit, Prepare, Prepared
from nodes.replicas.view import JUNIOR, ServerPlace
from nodes.trace.causes import Causes
from nodes.trace.events import Called, Committed, Durable, RoleChanged, Serving, Stamped, StepTaken
from nodes.wire.messages import Answer, CheckOperation, Refused, Request, ViewCopy
from tests.papers.said import Said
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab


def steps(said: Said, procedure: str) -> list[Stamped]:
    return [each for each in said.reported(StepTaken) if each.event.procedure == procedure]  # type: ignore[union-attr]


def named(step: str, reported: list[Stamped]) -> list[Stamped]:
    return [each for each in reported if each.event.step == step]  # type: ignore[union-attr]


def syncs(lab: Lab, server: str) -> dict[str, int]:
    return dict(lab.cluster.servers[server].store.synced)


def holders(each: Stamped) -> set[str]:
    return set(each.event.holders)  # type: ignore[union-attr]


def test_4_1_2_more_than_half_of_the_replicas_are_enough_to_answer() -> None:
    """The coordinator needs no message from the others."""
    lab = Lab(1, standbys=4)
    lab.hold_journals(*lab.standbys[:2])
    assert lab.ada.call(Mkdir("/a"), SECOND).error == ""


def test_4_1_2_fewer_than_that_answer_nobody() -> None:
    lab = Lab(1, standbys=4)
    lab.hold_journals(*lab.standbys[:3])
    task = lab.begin(lab.ada, Mkdir("/a"))
    lab.run_ms(300)
    assert not task.done()


def test_4_1_2_a_participant_has_the_group_on_its_disk_before_it_acknowledges() -> None:
    lab = Lab(1)
    said = Said(lab.cluster)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(50)
    acknowledged = said.of(Prepared)
    assert {sent.sender for sent in acknowledged} == {*lab.standbys}
    for sent in acknowledged:
        sn = sent.message.mark.sn  # type: ignore[attr-defined]
        durable = [each for each in lab.cluster.events if type(each.event) is Durable and each.event.sn == sn]
        assert any(each.server == sent.sender and said.place(each) < sent.after for each in durable)


def test_4_1_1_the_active_sends_a_group_to_all_standbys_before_its_own_disk_has_it() -> None:
    lab = Lab(1)
    said = Said(lab.cluster)
    lab.ada.call(Mkdir("/a"))
    own, *_ = [each for each in said.reported(Durable, lab.active) if each.event.records]  # type: ignore[union-attr]
    sent = [each for each in said.of(Prepare) if each.after <= said.place(own)]
    assert {each.receiver for each in sent} == {*lab.standbys}


def test_4_1_2_the_coordinator_writes_its_log_once_where_two_phases_write_it_twice() -> None:
    written = {}
    for protocol in ("mams", "2pc"):
        lab = lab_of(protocol, 1, standbys=2)
        lab.ada.call(Mkdir("/a"))
        lab.run_ms(100)
        before = syncs(lab, lab.active)
        lab.ada.call(Mkdir("/b"))
        after = syncs(lab, lab.active)
        written[protocol] = sum(after.values()) - sum(before.values())
    assert written == {"mams": 1, "2pc": 2}


def test_4_1_2_each_group_has_the_next_serial_number_and_its_place_in_the_epoch() -> None:
    lab = Lab(1)
    said = Said(lab.cluster)
    for number in range(5):
        lab.ada.call(Mkdir(f"/d{number}"))
    groups = [each.event for each in said.reported(Durable, lab.active)]
    numbers = [(event.sn, event.groupid) for event in groups]  # type: ignore[union-attr]
    first_sn, first_groupid = numbers[0]
    assert numbers == [(first_sn + place, first_groupid + place) for place in range(len(numbers))]


def test_4_1_2_requests_that_come_together_are_one_group() -> None:
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    said = Said(lab.cluster)
    tasks = [lab.begin(lab.ada, Mkdir(f"/d{number}")) for number in range(20)]
    lab.cluster.run_until(lambda: all(task.done() for task in tasks), SECOND)
    groups = [each.event for each in said.reported(Committed)]
    assert max(len(event.operations) for event in groups) >= 10  # type: ignore[union-attr]


def test_4_1_2_a_participant_that_is_silent_for_too_long_is_sent_no_more_journals() -> None:
    lab = Lab(1)
    silent = lab.standbys[0]
    lab.faults.pause(silent)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(2_000)
    said = Said(lab.cluster)
    lab.ada.call(Mkdir("/b"))
    assert {sent.receiver for sent in said.of(Prepare)} == {*lab.standbys} - {silent}


def test_4_1_2_participants_are_reported_to_commit_after_the_client_was_answered() -> None:
    lab = Lab(1)
    said = Said(lab.cluster)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(50)
    order = [type(sent.message) for sent in said.of(Answer, Commit) if sent.sender == lab.active]
    assert order.index(Answer) < order.index(Commit)


def test_4_2_1_of_all_that_draw_one_obtains_the_lock() -> None:
    lab = Lab(1)
    drawing = set(lab.standbys)
    lab.faults.crash(lab.active)
    said = Said(lab.cluster)
    lab.await_next_active()
    election = steps(said, "election")
    drew = {each.server for each in named("draw", election)}
    locked = [each.server for each in named("lock", election)]
    assert drew == drawing and len(locked) == 1 and locked[0] in drawing


def test_4_2_2_the_elected_goes_through_the_steps_in_their_order_one_led_to_by_the_other() -> None:
    lab = Lab(1)
    lab.faults.crash(lab.active)
    said = Said(lab.cluster)
    lab.await_next_active()
    lab.run_ms(8_000)
    upgrade = steps(said, "upgrade")
    names = [each.event.step for each in upgrade]  # type: ignore[union-attr]
    assert names == ["0", "1", "2", "3", "3b", "4", "5", "6", "7"]
    back = Causes(lab.cluster.events).back(said.reported(Serving)[0])
    assert [each for each in upgrade if each in back] == [each for each in back if each in upgrade]
    assert {"0", "1", "2", "5", "6"} <= {each.event.step for each in back if each in upgrade}  # type: ignore[union-attr]


def test_4_2_2_step_1_an_elected_that_has_become_a_junior_gives_the_lock_up_to_a_standby() -> None:
    lab = Lab(1)
    lab.faults.crash(lab.active)
    said = Said(lab.cluster)
    lab.cluster.run_until(lambda: bool(named("lock", steps(said, "election"))), 20 * SECOND)
    junior = named("lock", steps(said, "election"))[0].server
    place = msgspec.json.encode(ServerPlace(JUNIOR, 1, 0))
    lab.cluster.ensemble.submit(OPERATOR, SetData(f"/cloverlab/groups/g1/view/{junior}", place))
    lab.await_next_active()
    upgrade = steps(said, "upgrade")
    assert [each.event.step for each in upgrade if each.server == junior] == ["0", "1"]  # type: ignore[union-attr]
    assert {each.server for each in named("6", upgrade)} == {lab.active} != {junior}


def test_4_2_2_step_2_what_the_previous_active_still_sends_is_refused_by_all() -> None:
    lab = Lab(1)
    old = lab.active
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is Prepare and sender == old)
    lab.begin(lab.ada, Mkdir("/late"))
    lab.cluster.run_until(lambda: bool(held.messages), SECOND)
    lab.faults.pause(old)
    lab.await_next_active()
    epoch = lab.serving()[-1].event.epoch  # type: ignore[union-attr]
    said = Said(lab.cluster)
    held.release()
    lab.run_ms(100)
    stored = [each.event.epoch for each in said.reported(Durable)]  # type: ignore[union-attr]
    assert all(each >= epoch for each in stored)


def test_4_2_2_step_3_a_request_that_comes_meanwhile_is_kept_and_answered_after_the_upgrade() -> None:
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    lab.faults.crash(lab.active)
    held = lab.hold_journals(*lab.standbys)
    lab.cluster.run_until(
        lambda: any(each.event.step == "3" for each in lab.cluster.events if type(each.event) is StepTaken),
        20 * SECOND,
    )
    before = len(lab.serving())
    task = lab.begin(lab.eve, Mkdir("/b"))
    lab.run_ms(100)
    assert not task.done() and len(lab.serving()) == before
    held.release()
    lab.cluster.run_until(task.done, 10 * SECOND)
    assert task.result().error == "" and len(lab.serving()) > before


def test_4_2_2_step_3_before_it_the_elected_refuses_requests_and_sends_no_journal() -> None:
    lab = Lab(1)
    lab.faults.crash(lab.active)
    said = Said(lab.cluster)
    lab.cluster.run_until(lambda: bool(named("1", steps(said, "upgrade"))), 20 * SECOND)
    elected = named("1", steps(said, "upgrade"))[0].server
    lab.faults.do("delay", [elected, "coordination"], {"ms": 500})
    task = lab.begin(lab.eve, Mkdir("/b"))
    lab.cluster.run_until(lambda: elected in {each.sender for each in said.of(Refused)}, 3 * SECOND)
    assert not named("2", steps(said, "upgrade"))
    lab.faults.heal_all()
    lab.cluster.run_until(task.done, 10 * SECOND)
    assert task.result().error == ""
    (flush,) = named("4", steps(said, "upgrade"))
    place = lab.cluster.events.index(flush)
    assert all(each.after > place for each in said.of(Prepare) if each.sender == elected)


def test_4_2_2_step_4_what_the_previous_active_answered_nobody_reaches_all_once_and_is_answered() -> None:
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    late = lab.hold_journals(lab.standbys[0])
    unheard = lab.cluster.hold(lambda sender, receiver, message: type(message) is Prepared)
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(lambda: len(unheard.messages) == 2, SECOND)
    said = Said(lab.cluster)
    lab.faults.crash(lab.active)
    late.drop()
    unheard.drop()
    lab.await_next_active()
    lab.cluster.run_until(task.done, 20 * SECOND)
    carried_out = [each for each in said.reported(Committed) if each.event.operations]  # type: ignore[union-attr]
    assert task.result().error == "" and len(carried_out) == 1
    assert holders(carried_out[0]) == {lab.active, *lab.standbys}
    (flush,) = named("4", steps(said, "upgrade"))
    assert said.place(flush) < said.place(carried_out[0]) < said.place(said.reported(Serving)[0])


def test_4_2_2_step_5_whose_journal_differs_is_switched_to_junior() -> None:
    lab = Lab(1, standbys=4)
    differs, *others = lab.standbys
    lab.faults.crash(lab.active)
    lab.hold_journals(differs)
    lab.await_next_active()
    view = lab.cluster.view()
    assert [view[name] for name in (differs, *others)].count("S") == 2 and view[differs] == "J"


def test_4_2_2_step_7_the_view_is_stable_when_the_last_junior_has_become_a_standby() -> None:
    lab = Lab(1)
    old = lab.active
    lab.faults.crash(old)
    lab.await_next_active()
    lab.run_ms(3_000)
    said = Said(lab.cluster)
    lab.faults.restart(old)
    lab.cluster.run_until(lambda: old in lab.standbys, 30 * SECOND)
    lab.run_ms(3_000)
    (renewed,) = named("standby", steps(said, "renewing"))
    (stable,) = named("7", steps(said, "upgrade"))
    assert said.place(renewed) < said.place(stable)


def test_4_2_2_applications_see_no_error_when_the_active_fails() -> None:
    lab = Lab(1)
    tasks = [lab.begin(lab.ada, Mkdir(f"/d{number}")) for number in range(10)]
    lab.faults.crash(lab.active)
    lab.cluster.run_until(lambda: all(task.done() for task in tasks), 20 * SECOND)
    assert [task.exception() for task in tasks] == [None] * 10


def test_4_2_3_a_server_that_was_away_is_junior_first_and_standby_when_it_has_caught_up_while_work_goes_on() -> (
    None
):
    lab = Lab(1)
    back = lab.standbys[0]
    lab.faults.crash(back)
    for number in range(30):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.run_ms(7_000)
    said = Said(lab.cluster)
    lab.faults.restart(back)
    lab.cluster.run_until(lambda: back in lab.standbys, 30 * SECOND)
    lab.run_ms(200)
    roles = [each.event.role for each in said.reported(RoleChanged, back)]  # type: ignore[union-attr]
    assert roles == ["junior", "standby"]
    assert lab.ada.call(Stat("/d0")).error == ""
    said = Said(lab.cluster)
    lab.ada.call(Mkdir("/later"))
    assert back in {sent.receiver for sent in said.of(Prepare)}


def test_4_2_3_the_junior_becomes_a_standby_when_it_has_the_same_serial_number_while_no_request_is_taken() -> (
    None
):
    lab = Lab(1)
    back = lab.standbys[0]
    lab.faults.crash(back)
    lab.run_ms(7_000)
    lab.faults.restart(back)
    said = Said(lab.cluster)
    for number in range(600):
        lab.begin(lab.ada, Mkdir(f"/d{number}"))
        lab.run_ms(5)
    (renewed,) = named("standby", steps(said, "renewing"))
    ends = [
        [each.event.sn for each in said.reported(Durable, server) if said.place(each) < said.place(renewed)][
            -1
        ]  # type: ignore[union-attr]
        for server in (lab.active, back)
    ]
    assert ends[0] == ends[1] and renewed.event.detail.endswith(f"at sn {ends[0]}")  # type: ignore[union-attr]


def test_4_4_a_client_that_received_no_answer_asks_whether_its_call_was_recorded_and_gets_that_result() -> (
    None
):
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    old = lab.active
    lost = lab.cluster.hold(lambda sender, receiver, message: type(message) is Answer and sender == old)
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(lambda: bool(lost.messages), SECOND)
    lab.run_ms(20)
    lab.cluster.hold(lambda sender, receiver, message: type(message) is ViewCopy)
    lab.faults.crash(old)
    said = Said(lab.cluster)
    lab.cluster.run_until(task.done, 20 * SECOND)
    asked = [sent for sent in said.sent if sent.sender == "ada" and sent.receiver == lab.active]
    kinds = [type(sent.message) for sent in asked]
    assert CheckOperation in kinds and Request not in kinds and task.result().error == ""
    committed = [
        event for each in lab.cluster.events if isinstance(event := each.event, Committed)
        and ("ada.1", task.result().number) in event.operations
    ]  # fmt: skip
    assert len({event.sn for event in committed}) == 1


def test_5_4_a_failover_takes_the_session_time_out_and_little_more() -> None:
    """§5.4: most of it is detection, which takes the configured five seconds."""
    lab = Lab(1)
    lab.faults.crash(lab.active)
    began_ns = lab.cluster.now_ns
    lab.await_next_active()
    took_ns = lab.cluster.now_ns - began_ns
    assert 4 * SECOND < took_ns < 5 * SECOND + 500 * MILLISECOND
    assert not [each for each in lab.cluster.events if isinstance(each.event, Called) and each.event.error]
