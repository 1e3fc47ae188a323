"""Trials on the simulator: the same on every machine, red after deliberate damage, green without it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nodes.config import MILLISECOND, Holes, JournalConfig, Timing, one_group
from nodes.explore import audit
from nodes.explore import trial as trial_module
from nodes.explore.draw import draw
from nodes.explore.plan import Caller, Fault, Plan
from nodes.explore.roll_call import RollCall
from nodes.explore.sim_stage import SimStage
from nodes.explore.trial import WHEN_FORCED, Trial, run
from nodes.faults.check import FaultUnsupported
from nodes.invariants.linearisability import Linearisable
from nodes.invariants.registry import NAMES_OF_ALL
from nodes.metadata_server.snapshots import Imaging
from nodes.sim.triggers import Trigger
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import Committed, Configured, FaultInjected, Stamped

ROOT = Path(__file__).resolve().parents[3]
WRITES = Caller("c1", ["mkdir /d", *(f"create /d/f{number}" for number in range(20))], lanes=4)
PRINT = (
    "from nodes.explore.draw import draw; from nodes.explore.trial import run; "
    "print(*(run(draw(seed)).log_sha256 for seed in (3, 8, 21)))"
)


def plan(*faults: Fault, caller: Caller = WRITES, **settings: Any) -> Plan:
    return Plan(1, one_group(2, **settings), callers=[caller], faults=list(faults), span_ms=3_000)


def test_a_plan_without_faults_is_clean() -> None:
    outcome = run(plan())
    assert outcome.clean and outcome.answered == 21 and outcome.checked > 100


def test_the_same_plan_gives_the_same_log_in_every_process() -> None:
    logs = {
        subprocess.run(
            [sys.executable, "-c", PRINT], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "4711")
    }  # fmt: skip
    assert len(logs) == 1


def test_faults_happen_at_their_time_and_are_taken_back() -> None:
    trial = Trial(plan(Fault("crash", ["active of g1"], at_ms=500, for_ms=700), Fault("fly", ["mds1"])))
    outcome = trial.run()
    assert outcome.clean and [fault.verb for fault, _ in trial.faults.done] == ["crash"]


def test_no_fault_ends_once_everything_was_healed() -> None:
    """A server that the audit powers off would else be started by the end of an earlier fault."""
    trial = Trial(plan(Fault("crash", ["mds2"], at_ms=0, for_ms=700)))
    trial.faults.take_up(trial.plan.faults[0])
    trial.faults.end_all()
    trial.cluster.run_for(1_000 * MILLISECOND)
    assert trial.cluster.servers["mds2"].process == "stopped"


def test_a_cut_of_several_from_several_ends_on_its_own_links() -> None:
    cut = Fault("cut", ["mds1", "mds2"], {"others": ["mds3", "coordination"]}, for_ms=700)
    trial = Trial(plan(cut, Fault("cut", ["mds1", "mds2"])))
    for fault in trial.plan.faults:
        trial.faults.take_up(fault)
    assert isinstance(trial.cluster, SimStage)
    links = trial.cluster.net.links
    pairs = [(one, other) for one in cut.targets for other in cut.options["others"]]
    assert all(links.of(*pair).cut and links.of(*reversed(pair)).cut for pair in pairs)
    trial.cluster.run_for(701 * MILLISECOND)
    assert not any(links.of(*pair).cut or links.of(*reversed(pair)).cut for pair in pairs)
    assert links.of("mds1", "mds2").cut


def test_a_write_that_vanishes_from_a_replica_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last created file is missing in every namespace, as if it had never existed: the audit reads everything back."""
    trial = Trial(plan())
    heal = trial._core_serves

    def forget() -> None:
        heal()
        for name, server in trial.cluster.servers.items():
            if server.group:
                unlink(trial, name)

    monkeypatch.setattr(trial, "_core_serves", forget)
    outcome = trial.run()
    assert {failure.invariant for failure in outcome.failures} & {"no lost write", "linearisable"}


def unlink(trial: Trial, name: str) -> None:
    """Removes a file without an operation."""
    owner = trial.cluster.servers[name].world.answers["tree"].__closure__[0].cell_contents  # type: ignore[union-attr]
    tree = owner.state.namespace.tree
    directory = next(entry for entry in tree.inodes.values() if entry.entries and "f3" in entry.entries)
    del directory.entries["f3"]


def test_a_group_that_never_serves_again_is_seen() -> None:
    """Two of three disks are lost: beyond the guarantee, so the third server is forced. One of three: within it, and the rest must serve."""
    within = run(plan(Fault("gone", ["mds3"], at_ms=500)))
    beyond = run(plan(Fault("gone", ["mds2"], at_ms=500), Fault("gone", ["mds3"], at_ms=600)))
    assert within.clean and not within.beyond
    assert beyond.clean and beyond.beyond == "g1 was forced to serve with what mds1 had"


@pytest.mark.parametrize(("invariant", "judged"), [("same sn same state", True), ("linearisable", False)])
def test_replicas_that_differ_fail_a_trial_that_was_forced_too(invariant: str, judged: bool) -> None:
    trial = Trial(plan(Fault("gone", ["mds2"], at_ms=500), Fault("gone", ["mds3"], at_ms=600)))
    assert trial.run().clean and trial.atlas.forced and set(WHEN_FORCED) < set(NAMES_OF_ALL)
    check = next(each for each in trial.invariants._checks if each.name == invariant)
    check.fail("planted")
    assert [failure.explanation for failure in trial._judged()] == (["planted"] if judged else [])


def test_coordination_loses_its_power_with_all_servers() -> None:
    trial = Trial(plan())
    assert trial.run().clean
    faults = [each.event for each in trial.events if type(each.event) is FaultInjected]
    assert ("crash", ["coordination"]) in [(event.verb, event.targets) for event in faults]


def test_no_view_is_changed_by_a_server_that_has_just_begun() -> None:
    cluster = Trial(Plan(1, one_group(2, protocol="symmetric"))).cluster
    with pytest.raises(FaultUnsupported, match="no member of g1 is there now"):
        cluster.faults.do("force_view", ["g1"])


def test_a_check_that_gave_up_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(self: Linearisable, stamped: Stamped, event: Committed) -> None:
        self._give_up("too many calls wait")

    monkeypatch.setattr(Linearisable, "_on_committed", gives_up)
    outcome = run(plan())
    assert [failure.invariant for failure in outcome.failures] == ["linearisable"]


def test_an_open_hole_is_found_in_a_few_seeds() -> None:
    for seed in range(1, 20):
        if not run(draw(seed, "symmetric", Holes(fast_literal_order=True))).clean:
            return
    pytest.fail("no seed of 19 finds fast_literal_order")


def test_leaving_out_a_fault_changes_nothing_before_it() -> None:
    late = Fault("cut", ["mds2"], at_ms=2_500)
    with_it, without = Trial(plan(late)), Trial(plan())
    with_it.run()
    without.run()
    begun = next(i for i, each in enumerate(with_it.cluster.events) if each.server == "control")
    assert with_it.cluster.events[:begun] == without.cluster.events[:begun]


def test_every_family_has_a_clean_seed() -> None:
    for family in ("single", "2pc", "qjm", "bookkeeper", "avatar", "hadoop-ha", "packed-paxos", "symmetric"):
        drawn = replace(draw(5, family), faults=[])
        assert run(drawn).clean, family


@pytest.mark.parametrize("protocol", ["mams", "2pc"])
def test_the_active_role_is_passed_on_during_the_load(protocol: str) -> None:
    """To a standby, and to the active itself, which refuses."""
    faults = [
        Fault("hand_over", ["active of g1", "standby of g1"], at_ms=50),
        Fault("hand_over", ["active of g1", "active of g1"], at_ms=1_500),
    ]
    outcome = run(plan(*faults, protocol=protocol))
    assert outcome.clean and outcome.skipped == 0
    steps = {feature.rpartition(" then ")[2] for feature in outcome.coverage}
    assert {"handover/ask", "handover/pass", "handover/void"} <= steps


def test_a_family_that_hands_nothing_over_skips_the_order() -> None:
    outcome = run(plan(Fault("hand_over", ["active of g1"], at_ms=50), protocol="packed-paxos"))
    assert outcome.clean and outcome.skipped == 1


def test_going_back_to_a_checkpoint_of_an_empty_group_is_no_lost_write() -> None:
    """A query of the model before it has begun from the barrier gets no answer, and not that everything is absent."""
    faults = [Fault("mark", ["k1"], at_ms=10_000), Fault("recover", ["k1"], at_ms=14_500)]
    outcome = run(Plan(116, one_group(2), faults=faults, span_ms=15_000))
    assert outcome.failures == []


def going_back_at_the_end(*faults: Fault) -> Plan:
    """A plan that asks the cluster to roll back when the load is over."""
    caller = Caller("c1", ["mkdir /d", *(f"create /d/f{number}" for number in range(60))], every_us=20_000)
    asked = [Fault("mark", ["k1"], at_ms=500), Fault("recover", ["k1"], at_ms=1_500)]
    return Plan(7, one_group(2), callers=[caller], faults=[*asked, *faults], span_ms=1_500)


def test_a_recovery_that_is_asked_for_is_over_before_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that reads the trees before the rollback and the model after it counts the quarantined operations as lost."""
    monkeypatch.setattr(trial_module, "RESTORED_SHARE", 0)
    trial = Trial(going_back_at_the_end())
    read_back, taken_back = audit.read_back, []

    def noting(audited: Trial) -> audit.AuditReads:
        taken_back.append(sum(type(stamped.event) is TakenBack for stamped in trial.cluster.events))  # type: ignore[attr-defined]
        return read_back(audited)

    monkeypatch.setattr(audit, "read_back", noting)
    outcome = trial.run()
    assert taken_back == [3, 3] and outcome.failures == []


def test_nobody_waits_for_the_answer_of_a_server_that_died(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_module, "RESTORED_SHARE", 0)
    trial = Trial(going_back_at_the_end(Fault("crash", ["active of g1"], at_ms=1_500, for_ms=100)))
    outcome = trial.run()
    assert outcome.clean and [fault.verb for fault, _ in trial.faults.done] == ["mark", "recover", "crash"]
    assert not any(type(stamped.event) is TakenBack for stamped in trial.cluster.events)  # type: ignore[attr-defined]


def test_who_dies_having_gone_back_to_a_checkpoint_has_said_so() -> None:
    """It is alone in its group: no other server could say from where on the history counts."""
    on = Trigger("sync", "first active of g1", 1, "after", "incarnation")
    dies = Fault("crash", ["first active of g1"], at_ms=1_500, on=on, for_ms=50)
    alone = replace(one_group(0), protocol="single")
    trial = Trial(replace(going_back_at_the_end(dies), cluster=alone, span_ms=2_500))
    assert trial.run().failures == []
    assert [fault.verb for fault, _ in trial.faults.done] == ["mark", "recover", "crash"]


def test_a_server_that_has_just_been_started_again_is_not_asked_for_a_checkpoint() -> None:
    """It finds its journal damaged and opens it once more; until it reports another role, it counts with the old one."""
    faults = [
        Fault("corrupt", ["active of g1"], at_ms=900),
        Fault("crash", ["active of g1"], at_ms=1_000, for_ms=1),
        Fault("mark", ["k1"], at_ms=1_001),
    ]
    trial = Trial(plan(*faults))
    assert trial.run().failures == []
    assert trial.faults.skipped == 1


def test_whoever_comes_first_to_a_place_is_faulted() -> None:
    """Two faults with a trigger whose count begins at a later time; only one of them takes effect."""
    on = Trigger("step", "whoever of g1", name="upgrade/4")
    faults = [
        Fault("crash", ["active of g1"], at_ms=1_000),
        Fault("power_loss", ["whoever of g1"], at_ms=900, on=on),
    ]
    trial = Trial(Plan(1, one_group(3), faults=faults, span_ms=30_000))
    trial.run()
    assert [fault.verb for fault, _ in trial.faults.done] == ["crash", "power_loss"]
    (old,), (new,) = (names for _, names in trial.faults.done)
    assert old != new


def test_the_second_standby_is_another_one_than_the_first() -> None:
    faults = [
        Fault("pause", ["standby 2 of g1"], at_ms=1_000),
        Fault("pause", ["standby of g1"], at_ms=1_000),
    ]
    trial = Trial(Plan(1, one_group(2), faults=faults))
    trial.run()
    assert len({name for _, names in trial.faults.done for name in names}) == 2


@pytest.mark.parametrize("broken", [True, False])
def test_nothing_is_tried_once_a_promise_is_broken(broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trial, "broken", broken)
    trial = Trial(plan())
    trial.carry_out()
    assert ("prober" in trial.cluster.servers) is not broken


def test_readers_of_a_shared_journal_that_begin_from_images_are_compared() -> None:
    """The log is so small that both servers begin from images: until the audit writes, they have applied no journal group in common."""
    calls = [f"{verb} /h1" for _ in range(7) for verb in ("delete", "create")]
    cluster = one_group(
        1,
        protocol="hadoop-ha",
        timing=Timing(session_timeout_ms=600),
        log_bytes=4096,
        journal=JournalConfig(["jn1", "jn2", "jn3"]),
    )
    outcome = run(Plan(1067, cluster, callers=[Caller("c2", calls)], span_ms=1))
    assert outcome.clean and outcome.answered


def test_a_core_has_a_server_that_clients_know() -> None:
    """One of the two servers of the first configuration was removed, and the other one is cut off; two added ones serve."""
    adds = [Fault("add_server", ["g1"], on=Trigger(kind, "mds2")) for kind in ("sent", "sync")]
    faults = [*adds, Fault("remove_server", ["mds1"], at_ms=2_000), Fault("cut", ["mds2"], at_ms=3_000)]
    for seed in (1, 54):
        caller = Caller("c1", ["utime /d0/h0 1"])
        assert run(Plan(seed, one_group(1), callers=[caller], faults=faults, span_ms=1)).failures == []


@pytest.mark.parametrize("noticed", [True, False])
def test_a_person_removes_a_server_while_another_one_is_lost(noticed: bool) -> None:
    """A leader that has noticed the loss keeps the server. One that is lost after its answer still counts, and the two that count then can write
    nothing."""
    written = Trigger("write", "active of g1", 1, "before", "configuration")
    faults = [
        Fault("gone", ["standby 2 of g1"], at_ms=100 if noticed else 755, on=None if noticed else written),
        Fault("remove_server", ["standby of g1"], at_ms=760),
    ]
    caller = replace(WRITES, lanes=1, pause_us=50_000)
    trial = Trial(plan(*faults, caller=caller, protocol="2pc"))
    outcome = trial.run()
    names = {fault.verb: name for fault, [name] in trial.faults.done}
    gone, asked = names["gone"], names["remove_server"]
    last = [each.event.members for each in trial.events if type(each.event) is Configured][-1]
    assert outcome.failures == []
    assert (asked if noticed else gone) in last and len(last) == 2
    assert bool(outcome.beyond) is not noticed


def test_the_members_to_lose_are_chosen_when_a_removal_is_over() -> None:
    """A leader removes at its next scan, when everything else has come to rest."""
    asks = Fault("remove_server", ["standby 1 of g1"], at_ms=2_010)
    trial = Trial(plan(asks, timing=Timing(renew_scan_ms=2_000)))
    outcome = trial.run()
    last = [each.event.members for each in trial.events if type(each.event) is Configured][-1]
    assert outcome.failures == [] and len(last) == 2


@pytest.mark.parametrize("protocol", ["mams", "symmetric"])
def test_only_a_rotten_journal_is_left(protocol: str) -> None:
    faults = [
        Fault("crash", ["mds2", "mds3"], at_ms=300, for_ms=4_000),
        Fault("corrupt", ["mds1"], {"what": "journal", "place": "middle"}, at_ms=600),
        Fault("crash", ["mds1"], at_ms=4_000, for_ms=20),
    ]
    assert run(replace(plan(*faults, protocol=protocol, min_in_step=0), span_ms=5_000)).failures == []


@pytest.mark.parametrize("members", [1, 3])
def test_a_group_of_several_that_takes_no_images_fails(monkeypatch: pytest.MonkeyPatch, members: int) -> None:
    """A server that is alone takes none before its log is full."""

    async def idle(imaging: Imaging) -> None:
        pass

    small = one_group(members - 1, image_every=2)
    assert run(Plan(1, small, span_ms=100)).failures == []
    monkeypatch.setattr(Imaging, "run", idle)
    found = [each.place for each in run(Plan(1, small, span_ms=100)).failures]
    assert found == (["no image"] if members > 1 else [])


def test_a_server_in_step_that_does_not_count_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RollCall, "missing", lambda roll: ["mds2"])
    assert [each.place for each in run(plan()).failures] == ["counted"]
