"""The counters of the servers agree with the messages that leave them, in every family."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import msgspec
import pytest

from nodes.config import SECOND, JournalConfig, one_group
from nodes.counters import LOGS, CountedNetwork, Counts
from nodes.families import FAMILIES, family_named
from nodes.mechanisms import REPLICATING, REPLICATION
from nodes.metadata.operations import Create, Done, Listing, Made, Mkdir, Stat
from nodes.sim.cluster import SimCluster
from nodes.wire.messages import Answer, Message, Refused

WRITES = 12
SETTLING_NS = 20 * SECOND


def cluster_of(protocol: str) -> SimCluster:
    family = family_named(protocol)
    journal = JournalConfig(nodes=family.journal_names())
    config = one_group(min(family.standbys, 2), protocol=protocol, journal=journal)
    return SimCluster(config, 7)


def reported_by(cluster: SimCluster) -> dict[str, Any]:
    servers = [*cluster.config.groups[0].members, *cluster.config.journal.nodes]
    return {name: cluster.ask(name, {"do": "replication"}) for name in servers}


def test_every_replication_says_what_is_counted() -> None:
    assert set(REPLICATING) == set(REPLICATION)
    assert all(replicating.messages for replicating in REPLICATING.values())


@pytest.mark.parametrize("protocol", FAMILIES)
def test_they_count_what_leaves_them(protocol: str) -> None:
    cluster = cluster_of(protocol)
    kinds = REPLICATING[family_named(protocol).replication].messages
    sent: dict[str, Counter[str]] = {}
    size: dict[str, Counter[str]] = {}

    def on_sent(sender: str, receiver: str, message: Message) -> None:
        if isinstance(message, kinds):
            kind = type(message).__name__
            sent.setdefault(sender, Counter())[kind] += 1
            size.setdefault(sender, Counter())[kind] += len(msgspec.msgpack.encode(message))

    cluster.net.on_sent.subscribe(on_sent)
    client = cluster.start_client("ada")
    client.call(Mkdir("/a"), SETTLING_NS)
    for number in range(WRITES - 1):
        client.call(Create(f"/a/{number}"))
    for number in range(5):
        client.call(Stat(f"/a/{number}"))
    for name, reported in reported_by(cluster).items():
        assert reported["messages"] == sent.get(name, {}), name
        assert reported["size"] == size.get(name, {}), name
        synced = cluster.servers[name].store.synced
        assert reported["log_writes"] == sum(synced.get(log, 0) for log in LOGS), name
    reports = reported_by(cluster).values()
    assert WRITES <= sum(reported["operations"] for reported in reports) <= WRITES + 1, (
        "the session's opening may count"
    )
    assert any(reported["log_writes"] for reported in reports)
    batches: Counter[int] = Counter()
    for reported in reports:
        batches.update({int(records): number for records, number in reported["records_per_batch"].items()})
    assert max(batches) >= 1


def test_two_phases_write_two_logs_and_send_four_messages_for_each_participant() -> None:
    """CFS §4.1.2, Fig. 4a; there is no Commit in it: the decision takes its place."""
    cluster = cluster_of("2pc")
    client = cluster.start_client("ada")
    client.call(Mkdir("/a"), SETTLING_NS)
    cluster.run_for(SECOND)
    before = reported_by(cluster)
    for number in range(WRITES):
        client.call(Create(f"/a/{number}"))
    after = reported_by(cluster)

    def spent(name: str, *keys: str) -> int:
        def of(reported: Any) -> int:
            for key in keys:
                reported = reported.get(key, 0)
            return int(reported)

        return of(after[name]) - of(before[name])

    members = cluster.config.groups[0].members
    for kind in ("Prepare", "Prepared", "CommitDecision", "DecisionLogged"):
        assert sum(spent(name, "messages", kind) for name in members) == 2 * WRITES, kind
    assert [spent(name, "log_writes") for name in members] == [2 * WRITES] * 3


class Wire:
    """A network without a peer."""

    name, address = "mds1", "mds1:1"

    def send(self, to: str, message: Message) -> None: ...

    def receive(self, step: Any) -> None: ...

    def know(self, peer: str, address: str) -> None: ...


def test_reads_and_what_was_refused_are_no_writes() -> None:
    counts = Counts()
    network = CountedNetwork(Wire(), REPLICATING["mams"], counts)
    answer = partial(Answer, "c1.1", epoch=1, sn=1, place=1)
    network.send("ada", answer(1, result=Made(7), error=""))
    network.send("ada", answer(2, result=Done(), error=""))
    assert counts.operations == 2
    network.send("ada", answer(3, result=None, error="EEXIST: /a"))
    network.send("ada", answer(4, result=Listing(["a"], False), error=""))
    network.send("ada", Refused(5, 1, "no longer active", ""))
    assert counts.operations == 2 and not counts.messages
