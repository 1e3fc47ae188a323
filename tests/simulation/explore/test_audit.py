"""The audit judges a cluster at rest: it waits for open operations, and reports those that never end."""

from __future__ import annotations

import pytest

from nodes.config import SECOND, JournalConfig, one_group
from nodes.explore import audit
from nodes.explore.audit import QUIET_NS, await_quiet, leading_pages
from nodes.explore.draw import draw
from nodes.explore.plan import Plan
from nodes.explore.trial import Trial
from nodes.families import family_named
from nodes.metadata import fsck
from nodes.metadata.operations import Create
from nodes.metadata.pages import TreePage
from nodes.protocols.dcfs2.messages import Ack, Decided
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.schedules import directory_of


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
    audit.compare_replicas(trial, audit.Prober(trial.cluster, "prober"))
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
    audit.compare_replicas(trial, audit.Prober(trial.cluster, "prober"))
    assert not trial.failures


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("protocol", ["qjm", "bookkeeper", "hadoop-ha"])
def test_a_standby_of_a_shared_journal_must_read_on(protocol: str, reads: bool) -> None:
    journal = JournalConfig(family_named(protocol).journal_names())
    trial = Trial(Plan(1, one_group(1, protocol=protocol, journal=journal)))
    cluster = trial.cluster
    cluster.run_until(cluster.settled, 60 * SECOND)
    [standby] = [name for name, place in cluster.places.items() if place == "standby"]
    if not reads:
        cluster.faults.do("cut", [standby], {"others": journal.nodes})
    audit.check_following(trial, audit.Prober(cluster, "prober"))
    assert [failure.place for failure in trial.failures] == ([] if reads else ["standby"])


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
    audit.compare_replicas(trial, audit.Prober(trial.cluster, "prober"))
    assert client.ended and not trial.failures


def test_clients_of_the_audit_are_ended_with_their_part_of_it() -> None:
    """Their renewals could keep replicas apart that the next part compares."""
    trial = Trial(Plan(1, one_group(2), span_ms=1_000))
    assert trial.run().failures == []
    clients = {name: server.process for name, server in trial.cluster.servers.items() if server.client}
    assert {"prober", "auditor1"} < {*clients} and {*clients.values()} == {"stopped"}
