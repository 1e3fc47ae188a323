"""The audit judges a cluster at rest: it waits for open operations, and reports those that never end."""

from __future__ import annotations

import pytest

from nodes.blocks.keeper import BlockKeeper
from nodes.config import SECOND, ClusterConfig, DataConfig, GroupConfig, JournalConfig, one_group
from nodes.explore import audit
from nodes.explore.audit import QUIET_NS, await_quiet, leading_pages
from nodes.explore.draw import draw
from nodes.explore.plan import Caller, Fault, Plan
from nodes.explore.prober import Prober
from nodes.explore.replication import lacking_replicas
from nodes.explore.trial import Trial
from nodes.families import family_named
from nodes.invariants.calls import tag_of
from nodes.metadata import fsck
from nodes.metadata.operations import Create, Mkdir
from nodes.metadata.pages import TreePage
from nodes.protocols.dcfs2.messages import Ack, Decided
from nodes.trace.events import Called, Stamped
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.schedules import directory_of


def of_two(protocol: str) -> Plan:
    """One group of two servers and no faults."""
    journal = JournalConfig(family_named(protocol).journal_names())
    return Plan(1, one_group(1, protocol=protocol, journal=journal))


async def elsewhere(prober: Prober, number: int) -> None:
    """A nudge of which every write goes to another group."""


@pytest.mark.parametrize("mechanism", ["s2pc_mp", "two_phase"])
@pytest.mark.parametrize("lost_ns", [2 * SECOND, 2 * QUIET_NS])
def test_operations_that_end_late_are_waited_for(mechanism: str, lost_ns: int) -> None:
    """The last message of each operation is lost for this time."""
    lab = Groups(3, placement="random", cross_group=mechanism)
    lost = lab.cluster.hold(lambda sender, receiver, message: type(message) in (Ack, Decided))
    directory = directory_of(lab, 2)
    for number in range(4):
        lab.ada.call(Create(f"{directory}/f{number}"))
    assert fsck.faults(leading_pages(lab.cluster))
    begun_ns = lab.cluster.now_ns
    lab.cluster.loop.at(begun_ns + lost_ns, lost.drop)
    await_quiet(lab.cluster)
    assert (fsck.faults(leading_pages(lab.cluster)) == []) is (lost_ns < QUIET_NS)
    assert lab.cluster.now_ns - begun_ns <= QUIET_NS + SECOND


@pytest.mark.parametrize("second", [True, False])
def test_replicas_of_each_group_are_alike_at_some_moment(
    second: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a busy cluster some group always has a server that is a step behind, each time another one."""
    trial = Trial(draw(1))
    looks = [(True, False), (False, second)]

    def pages(cluster: object) -> dict[str, dict[str, TreePage]]:
        now = looks.pop(0) if len(looks) > 1 else looks[0]
        return {
            group: {f"{group}a": page(0), f"{group}b": page(0 if alike else 1)}
            for group, alike in zip(("g1", "g2"), now, strict=True)
        }

    def page(digest: int) -> TreePage:
        return TreePage(1, str(digest), {}, {}, 0, [], 0, 0, 0)

    monkeypatch.setattr(audit, "pages_by_group", pages)
    audit.compare_replicas(trial, Prober(trial.cluster, "prober"))
    assert [failure.place for failure in trial.failures] == ([] if second else ["g2"])


def test_a_replica_that_is_always_a_message_behind_is_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """It shows the state of the other server later; sessions are renewed in between."""
    trial, looks = Trial(draw(1)), iter(range(1_000))

    def pages(cluster: object) -> dict[str, dict[str, TreePage]]:
        now = next(looks)
        return {
            "g1": {
                name: TreePage(1, str(state), {}, {}, 0, [], 0, 0, 0)
                for name, state in (("a", now), ("b", now - 1))
            }
        }

    monkeypatch.setattr(audit, "pages_by_group", pages)
    audit.compare_replicas(trial, Prober(trial.cluster, "prober"))
    assert not trial.failures


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("protocol", ["qjm", "bookkeeper", "hadoop-ha"])
def test_a_standby_of_a_shared_journal_must_read_on(protocol: str, reads: bool) -> None:
    trial = Trial(of_two(protocol))
    cluster = trial.cluster
    cluster.run_until(cluster.settled, 60 * SECOND)
    [standby] = [name for name, place in cluster.places.items() if place == "standby"]
    if not reads:
        cluster.faults.do("cut", [standby], {"others": trial.config.journal.nodes})
    audit.check_following(trial, Prober(cluster, "prober"))
    assert [failure.place for failure in trial.failures] == ([] if reads else ["standby"])


def test_a_group_without_writes_has_nothing_to_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A placement may keep all writes of the check from it."""

    trial = Trial(of_two("qjm"))
    trial.cluster.run_until(trial.cluster.settled, 60 * SECOND)
    monkeypatch.setattr(audit, "nudge", elsewhere)
    audit.check_following(trial, Prober(trial.cluster, "prober"))
    assert not trial.failures


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("protocol", ["qjm", "bookkeeper", "avatar"])
def test_a_standby_reads_the_group_before_the_only_write_of_the_check(
    protocol: str, reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing says yet that the write is committed. The group before it is the empty one of a takeover, which changes no state."""
    trial = Trial(of_two(protocol))
    cluster = trial.cluster
    cluster.run_until(cluster.settled, 60 * SECOND)
    prober = Prober(cluster, "prober")
    assert prober.run(prober.succeeds(Mkdir("/before")))
    [standby] = [name for name, place in cluster.places.items() if place == "active"]
    cluster.faults.do("crash", [standby])
    cluster.run_until(lambda: cluster.places[standby] != "active", 60 * SECOND)
    cluster.faults.do("restart", [standby])
    cluster.run_until(cluster.settled, 60 * SECOND)
    cluster.run_for(SECOND)
    if not reads:
        cluster.faults.do("cut", [standby], {"others": trial.config.journal.nodes})

    async def write_once(prober: Prober, number: int) -> None:
        # The session is open already: one call is one group.
        if number == 20:
            assert await prober.succeeds(Mkdir("/once"))

    monkeypatch.setattr(audit, "nudge", write_once)
    audit.check_following(trial, prober)
    assert [failure.place for failure in trial.failures] == ([] if reads else ["standby"])


@pytest.mark.parametrize("protocol", ["qjm", "bookkeeper", "hadoop-ha", "avatar"])
def test_a_standby_must_have_read_what_was_written_before_the_check(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = Trial(of_two(protocol))
    cluster = trial.cluster
    cluster.run_until(cluster.settled, 60 * SECOND)
    [standby] = [name for name, place in cluster.places.items() if place == "standby"]
    cluster.faults.do("cut", [standby], {"others": trial.config.journal.nodes})
    prober = Prober(cluster, "prober")
    assert prober.run(prober.succeeds(Mkdir("/before")))
    monkeypatch.setattr(audit, "nudge", elsewhere)
    audit.check_following(trial, prober)
    assert [failure.place for failure in trial.failures] == ["standby"]


def test_clients_whose_sessions_keep_replicas_apart_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    class Client:
        ended = False

        def die(self) -> None:
            self.ended = True

    trial, client, looks = Trial(draw(1)), Client(), iter(range(1, 1_000))
    trial.clients = [client]  # type: ignore[list-item]

    def pages(cluster: object) -> dict[str, dict[str, TreePage]]:
        now = 0 if client.ended else next(looks)
        return {
            "g1": {
                name: TreePage(1, str(state), {}, {}, 0, [], 0, 0, 0)
                for name, state in (("a", now), ("b", -now))
            }
        }

    monkeypatch.setattr(audit, "pages_by_group", pages)
    audit.compare_replicas(trial, Prober(trial.cluster, "prober"))
    assert client.ended and not trial.failures


def test_clients_of_the_audit_are_ended_with_their_part_of_it() -> None:
    """Their renewals could keep replicas apart that the next part compares."""
    trial = Trial(Plan(1, one_group(2), span_ms=1_000))
    assert trial.run().failures == []
    clients = {name: server.process for name, server in trial.cluster.servers.items() if server.client}
    assert {"prober", "auditor1"} < {*clients} and {*clients.values()} == {"stopped"}


def test_the_core_is_written_to_in_every_group() -> None:
    cluster = ClusterConfig(
        groups=[GroupConfig(f"g{n}", n, [f"mds{2 * n - 1}", f"mds{2 * n}"]) for n in (1, 2, 3)],
        placement="hash",
    )
    trial = Trial(Plan(3, cluster))
    wrote: set[str] = set()

    def on_event(stamped: Stamped) -> None:
        event = stamped.event
        if (
            type(event) is Called
            and event.server in trial.cluster.servers
            and tag_of(event.operation) == "Create"
        ):
            wrote.add(trial.cluster.servers[event.server].group)

    trial.cluster.on_event(on_event)
    assert trial.run().clean and wrote == {"g1", "g2", "g3"}


def test_a_core_of_which_one_group_never_answers_does_not_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = Trial(
        Plan(3, ClusterConfig(groups=[GroupConfig("g1", 1, ["mds1"]), GroupConfig("g2", 2, ["mds2"])]))
    )
    cluster = trial.cluster
    cluster.run_until(cluster.settled, 60 * SECOND)
    monkeypatch.setattr("nodes.explore.trial.heal_core", lambda *anything: [])
    cluster.faults.do("crash", ["mds2"])
    trial._core_serves()
    assert [failure.place for failure in trial.failures] == ["core"]


def test_a_replica_of_no_file_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BlockKeeper, "_is_freed", lambda *anything: False)
    calls = Caller("c1", ["put /f 3000", "put /g 3000", "delete /f"])
    trial = Trial(Plan(3, one_group(1, data=DataConfig(["dn1", "dn2", "dn3"])), callers=[calls]))
    [failure] = trial.run().failures
    assert failure.place == "leaked" and "whose file is gone" in failure.explanation


@pytest.mark.parametrize(("kept", "excused"), [(0, True), (1, False)])
def test_a_block_that_one_disk_alone_had_may_be_lost_with_it(kept: int, excused: bool) -> None:
    """The data nodes but one are down while it is written. With two, no loss of one of these disks excuses that it cannot be read."""
    away = ["dn1", "dn2", "dn3"][kept + 1 :]
    faults = [Fault("crash", [name], at_ms=0, for_ms=8_000) for name in away]
    faults.append(Fault("new_disk", ["dn1"], at_ms=2_500, for_ms=10))
    data = DataConfig(["dn1", "dn2", "dn3"], 200, 600)
    put = Caller("c1", ["put /f 3000"], start_ms=1_500)
    trial = Trial(Plan(3, one_group(1, data=data), callers=[put], faults=faults, span_ms=8_000))
    assert trial.run().clean
    assert bool(trial.block_history.lost) is excused


@pytest.mark.parametrize(("replicas", "excused"), [(1, True), (2, False)])
def test_a_file_may_be_lost_with_as_many_disks_as_it_has_replicas(replicas: int, excused: bool) -> None:
    data = DataConfig(["dn1", "dn2", "dn3"], 200, 600)
    put = Caller("c1", ["put /f 3000"])
    faults = [Fault("new_disk", ["dn1"], at_ms=1_500, for_ms=10)]
    trial = Trial(Plan(3, one_group(1, data=data), callers=[put], faults=faults, span_ms=3_000))
    assert trial.run().clean
    [block] = trial.block_history.granted
    assert trial.block_history.may_be_lost(block, replicas) is excused


def test_a_block_without_all_its_replicas_is_seen() -> None:
    put = Caller("c1", ["put /f 3000"])
    trial = Trial(Plan(3, one_group(1, data=DataConfig(["dn1", "dn2", "dn3"])), callers=[put]))
    assert trial.run().clean
    cluster = trial.cluster
    prober = Prober(cluster, "looker")
    assert lacking_replicas(cluster, prober, ["dn1", "dn2", "dn3"], ["/f"]) == ""
    cluster.faults.do("crash", ["dn2"])
    cluster.run_for(60 * SECOND)
    assert "has 2 of 3 replicas" in lacking_replicas(cluster, prober, ["dn1", "dn2", "dn3"], ["/f"])
