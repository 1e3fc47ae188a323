"""The block map against the data nodes' true replicas, over a channel that loses, repeats and reorders reports."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.blocks.block_map import (
    BlockMap,
    BlockVerdict,
    DataNodeState,
    WantedBlock,
    excess,
    judge,
    judge_kept,
    newest_of,
    targets,
)
from nodes.servers.reporter import ReplicaLedger
from nodes.wire.data_messages import DAMAGED, FINAL, WRITING, Changes, FullReport, Heartbeat, ReplicaRow

SECOND = 1_000_000_000
SILENCE = 6 * SECOND
NAMES = ("dn1", "dn2", "dn3")


class DataNode:
    """The true replicas, and the reports on them."""

    def __init__(self, name: str):
        self.name = name
        self.rows: dict[int, ReplicaRow] = {}
        self.boot = 0
        self.restart()

    def restart(self) -> None:
        self.boot += 1
        self.ledger = ReplicaLedger(self.boot)

    def change(self, block: int, row: ReplicaRow | None) -> None:
        self.rows.pop(block, None)
        if row is not None:
            self.rows[block] = row
        self.ledger.changed(block, row)

    def beat(self) -> Heartbeat:
        return Heartbeat(self.boot, self.ledger.version, f"{self.name}:1", 1 << 30, 0, 1)

    def full(self) -> list[Any]:
        changes = self.ledger.take()
        return [*([changes] if changes else []), self.beat(), *self.ledger.full(list(self.rows.values()), 2)]


def take(block_map: BlockMap, name: str, message: Any, now: int) -> bool:
    """Whether the map asks for the full report."""
    if isinstance(message, Heartbeat):
        return block_map.on_beat(name, message, now)
    if isinstance(message, FullReport):
        block_map.on_part(name, message)
        return False
    assert isinstance(message, Changes)
    return not block_map.on_changes(name, message)


def check(block_map: BlockMap) -> None:
    """Checks that both tables agree."""
    by_node = {
        (node.name, block): row
        for node in block_map.nodes.values()
        if node.alive
        for block, row in node.replicas.items()
    }
    by_block = {
        (name, block): row for block in block_map.blocks() for name, row in block_map.holders(block).items()
    }
    assert by_node == by_block


@settings(max_examples=250, deadline=None)
@given(st.integers(0, 1 << 32), st.integers(1, 60))
def test_whatever_is_lost_on_the_way_the_map_comes_right(seed: int, steps: int) -> None:
    rng = Random(seed)
    nodes, block_map, on_way = {name: DataNode(name) for name in NAMES}, BlockMap(), []
    for step in range(steps):
        node = nodes[rng.choice(NAMES)]
        kind = rng.random()
        if kind < 0.5:
            row = ReplicaRow(
                rng.randrange(6), rng.randint(1, 3), rng.randrange(3), rng.choice((WRITING, FINAL))
            )
            node.change(row.block, row if rng.random() < 0.7 else None)
        elif kind < 0.6:
            node.restart()
        elif kind < 0.8:
            on_way += [(node.name, message) for message in node.full()]
        elif (changes := node.ledger.take()) is not None:
            on_way.append((node.name, changes))
        if rng.random() < 0.2:
            rng.shuffle(on_way)
        while on_way and rng.random() < 0.6:
            name, message = on_way[0] if rng.random() < 0.1 else on_way.pop(0)
            if rng.random() < 0.8:
                take(block_map, name, message, step * SECOND)
            check(block_map)
        if rng.random() < 0.1:
            block_map.expire(step * SECOND, SILENCE)
            check(block_map)
    now = (steps + 10) * SECOND
    for _ in range(15):  # A life that was taken for a former one counts again.
        for name, node in nodes.items():
            block_map.expire(now, SILENCE)
            take(block_map, name, node.beat(), now)
        now += SECOND
    for name, node in nodes.items():
        changes = node.ledger.take()
        if changes is not None and rng.random() < 0.5:
            take(block_map, name, changes, now)
        first = take(block_map, name, node.beat(), now)
        if first or take(block_map, name, node.beat(), now):
            for message in node.full():
                take(block_map, name, message, now)
        assert block_map.nodes[name].replicas == node.rows
        assert not block_map.on_beat(name, node.beat(), now)
    assert len(block_map.alive()) == 3
    check(block_map)


def test_changes_during_a_full_report_are_not_lost() -> None:
    node, block_map = DataNode("dn1"), BlockMap()
    for block in range(6):
        node.change(block, ReplicaRow(block, 1, 5, FINAL))
    reported = node.full()
    for message in reported[:3]:
        take(block_map, "dn1", message, 0)
    node.change(0, None)
    node.change(9, ReplicaRow(9, 1, 5, FINAL))
    changes = node.ledger.take()
    assert changes is not None and not take(block_map, "dn1", changes, 0)
    for message in reported[3:]:
        take(block_map, "dn1", message, 0)
    assert block_map.nodes["dn1"].replicas == node.rows
    assert not block_map.on_beat("dn1", node.beat(), 0)


def test_dead_nodes_do_not_count_until_they_are_received_again() -> None:
    node, block_map = DataNode("dn1"), BlockMap()
    node.change(1, ReplicaRow(1, 1, 5, FINAL))
    for message in node.full():
        take(block_map, "dn1", message, 0)
    assert block_map.expire(SILENCE, SILENCE) == []
    assert block_map.expire(SILENCE + 1, SILENCE) == ["dn1"]
    assert block_map.holders(1) == {} and 1 in block_map.suspects and block_map.alive() == []
    assert not block_map.on_beat("dn1", node.beat(), SILENCE + 2)
    assert list(block_map.holders(1)) == ["dn1"]


def test_hostile_reports_are_no_use() -> None:
    block_map = BlockMap()
    assert not block_map.on_part("dn1", FullReport(1, 0, 0, 1, []))
    assert not block_map.on_changes("dn1", Changes(1, 0, 1, [], []))
    block_map.on_beat("dn1", Heartbeat(1, 0, "", 0, 0, 0), 0)
    for part, parts in ((-1, 1), (1, 1), (0, 0), (0, 1 << 40)):
        assert not block_map.on_part("dn1", FullReport(1, 0, part, parts, []))


GOOD = ReplicaRow(7, 2, 5, FINAL)
ROWS = st.dictionaries(
    st.sampled_from(["dn1", "dn2", "dn3", "dn4", "dn5"]),
    st.just(GOOD)
    | st.builds(
        ReplicaRow,
        st.just(7),
        st.integers(1, 2),
        st.integers(4, 5),
        st.sampled_from([WRITING, FINAL, DAMAGED]),
    ),
)


@settings(max_examples=500, deadline=None)
@given(
    ROWS,
    st.integers(1, 4),
    st.dictionaries(st.sampled_from(["dn1", "dn2"]), st.integers(0, 1)),
    st.sets(st.sampled_from(["dn1", "dn3", "dn5"])),
    st.sets(st.sampled_from(["dn2", "dn3"])),
    st.dictionaries(st.sampled_from(["dn1", "dn4"]), st.integers(1, 2)),
)
def test_a_verdict_never_takes_what_is_needed(
    holders: dict[str, ReplicaRow],
    replication: int,
    behind: dict[str, int],
    ordered: set[str],
    silent: set[str],
    unreported: dict[str, int],
) -> None:
    wanted = WantedBlock(2, 5, replication)
    verdict = judge(wanted, holders)
    assert sorted(verdict.good + verdict.stale + verdict.damaged) == sorted(holders)
    assert all(holders[name] == GOOD for name in verdict.good)
    nodes = {
        name: DataNodeState(
            name,
            epoch=3 - behind.get(name, 0),
            used=len(name),
            version=5,
            reported=5 + unreported.get(name, 0),
            received_ns=name not in silent,
        )
        for name in holders
    }
    taken = excess(verdict, wanted, nodes, 3, ordered, not_before_ns=1)
    assert set(taken) <= set(verdict.good)
    many = max(0, len(verdict.good) - replication)
    if taken:
        assert all(nodes[name].epoch == 3 and name not in unreported for name in verdict.good)
        assert len(taken) == many and not silent & (set(verdict.good) - set(taken))
        assert len(ordered & set(taken)) == min(many, len(ordered & set(verdict.good)))
    elif not (behind or silent or unreported):
        assert not many
    healths = {"missing": 0, "under": replication - 1, "whole": replication, "over": 9}
    assert len(verdict.good) <= healths[verdict.health(wanted)]


@given(st.lists(st.integers(0, 10), max_size=8), st.integers(0, 4), st.integers(0, 1 << 32))
def test_targets_have_room_and_are_not_barred(used: list[int], count: int, seed: int) -> None:
    nodes = [DataNodeState(f"dn{place}", capacity=10, used=each) for place, each in enumerate(used)]
    rng = Random(seed)
    rank = {node.name: rng.random() for node in nodes}
    found = targets(nodes, count, ["dn0", "dn9"], 3, rank)
    fit = [node.name for node in nodes[1:] if node.used <= 7]
    assert len(set(found)) == len(found) == min(count, len(fit)) and set(found) <= set(fit)


def test_an_empty_verdict_is_missing() -> None:
    assert BlockVerdict([], ["dn1"], []).health(WantedBlock(1, 1, 1)) == "missing"


def test_a_kept_block_is_as_its_newest_whole_replicas_have_it() -> None:
    """No whole replica is removed, nor a later one: a checkpoint may name them. Half-written ones up to its stamp have nothing that it lacks."""
    half, old, early = ReplicaRow(7, 2, 3, WRITING), ReplicaRow(7, 1, 5, FINAL), ReplicaRow(7, 1, 4, WRITING)
    rotten, late = ReplicaRow(7, 2, 5, DAMAGED), ReplicaRow(7, 3, 5, DAMAGED)
    begun = ReplicaRow(7, 3, 5, WRITING)
    holders = {"dn1": GOOD, "dn2": half, "dn3": old, "dn4": early, "dn5": rotten, "dn6": late, "dn7": begun}
    wanted = newest_of(holders, 3)
    assert wanted == WantedBlock(2, 5, 3)
    assert judge_kept(wanted, holders) == BlockVerdict(["dn1"], ["dn2", "dn4"], ["dn5"])
    assert newest_of({"dn2": half, "dn6": late}, 3) is None


def test_late_reports_of_a_former_life_change_nothing() -> None:
    block_map, node = BlockMap(), DataNode("dn1")
    node.change(7, ReplicaRow(7, 1, 4, FINAL))
    late = node.full()
    for message in late:
        take(block_map, "dn1", message, SECOND)
    node.restart()
    node.rows.clear()
    for message in [*node.full(), *late]:
        take(block_map, "dn1", message, 2 * SECOND)
    assert block_map.blocks() == [] and block_map.nodes["dn1"].boot == node.boot


def test_a_life_that_was_taken_for_a_former_one_counts_again() -> None:
    """A server without earlier reports hears the present life first, and then a late beat of the former one."""
    block_map, node = BlockMap(), DataNode("dn1")
    late = node.beat()
    node.restart()
    node.change(7, ReplicaRow(7, 1, 4, FINAL))
    take(block_map, "dn1", node.beat(), SECOND)
    take(block_map, "dn1", late, SECOND)
    for second in range(2, 20):
        block_map.expire(second * SECOND, SILENCE)
        if take(block_map, "dn1", node.beat(), second * SECOND):
            for message in node.full():
                take(block_map, "dn1", message, second * SECOND)
    assert block_map.blocks() == [7] and block_map.nodes["dn1"].boot == node.boot
