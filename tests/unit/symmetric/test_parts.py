"""Leases, stability, and calls that every member carries out itself."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.config import SECOND, Holes
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Create, Delete, Mkdir, OpenSession, Operation, Rename
from nodes.metadata.records import CallRecord, Record
from nodes.mutations import NO_MUTATIONS
from nodes.protocols.symmetric.execution import CallOutcome, Execution
from nodes.protocols.symmetric.presence import Presence, lease_ends_in
from nodes.protocols.symmetric.stability import Stability
from nodes.replicas.lease import term_of
from nodes.replicas.log import NOTHING
from nodes.units import OpId
from nodes.wire.messages import JournalGroup

LEASE = 500
TERM = term_of(LEASE, NO_MUTATIONS)


# --- leases -----------------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 100), st.integers(0, 400), st.integers(0, 400)), max_size=20),
    st.integers(0, 2000),
)
def test_a_lease_has_ended_when_whoever_granted_it_says_so(
    greetings: list[tuple[int, int, int]], later: int
) -> None:
    """Member 0 greets member 1, which echoes; each message takes any time, and member 1 has another clock."""
    skew = 7_000
    reader, granter = Presence(0, 2, 0, TERM, False), Presence(1, 2, skew, TERM, False)
    now = 0
    for pause, there, back in greetings:
        now += pause
        granter.received(0, now, 0, now + there + skew)
        reader.received(1, now + there + skew, granter.echo_for(0), now + there + back)
        now += there + back
    free_ns = granter.free_ns(now + skew)[0]
    if later >= free_ns:
        assert not reader.lease_holds(now + later)


@pytest.mark.parametrize("reader_rate", [10, 11])
@pytest.mark.parametrize("granter_rate", [11, 12.1])
def test_it_has_ended_on_clocks_that_run_at_different_rates(reader_rate: float, granter_rate: float) -> None:
    """Rates in ticks of each clock per 11 units of time: a tenth too slow, a tenth too fast."""

    def at(real: float, rate: float) -> int:
        return round(real * rate / 11)

    reader, granter = Presence(0, 2, 0, TERM, False), Presence(1, 2, 0, TERM, False)
    granter.received(0, at(110, reader_rate), 0, at(110, granter_rate))
    reader.received(1, at(110, granter_rate), granter.echo_for(0), at(110, reader_rate))
    for real in range(110, 110 + 2 * LEASE):
        if not granter.free_ns(at(real, granter_rate))[0]:
            assert not reader.lease_holds(at(real + 2, reader_rate))


def test_nothing_is_granted_once_the_view_is_about_to_change() -> None:
    presence = Presence(0, 2, 0, TERM, False)
    presence.received(1, 10, 0, 10)
    presence.grants = False
    presence.received(1, 400, 0, 400)
    assert presence.echo_for(1) == 0
    assert presence.free_ns(400)[1] == 10 + LEASE + LEASE // 10 - 400
    assert presence.silent(400 + LEASE) == []


def test_a_lease_ends_with_the_first_grant() -> None:
    assert lease_ends_in([2], {0: [0, 0, 300], 1: [0, 0, 20]}) == 20
    assert lease_ends_in([1, 2], {0: [0, 50, 300], 3: [0, 90, 70]}) == 70
    assert lease_ends_in([], {0: [9, 9]}) == 0


def test_nobody_speaks_for_its_own_lease() -> None:
    assert lease_ends_in([1], {0: [0, 300], 1: [0, 0]}) == 300


def test_one_that_has_left_is_silent_and_uses_no_lease() -> None:
    presence = Presence(0, 3, 0, TERM, False)
    presence.received(1, 10, 0, 10)
    presence.left(1)
    assert presence.silent(20) == [1]
    assert presence.free_ns(20)[1] == 0 < presence.free_ns(20)[2]


def test_a_member_alone_reads_for_ever() -> None:
    assert Presence(0, 1, 0, TERM, False).lease_holds(10**9)


# --- stability --------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 50)), max_size=40))
def test_only_what_every_member_holds_is_shown(held: list[tuple[int, int]]) -> None:
    stability = Stability(0, 5, 3, Holes())
    best = [3] * 5
    for member, sn in held:
        stability.hold(member, sn)
        best[member] = max(best[member], sn)
        assert stability.shown_sn == min(best)


def test_what_the_holes_show() -> None:
    early = Stability(0, 3, 0, Holes(answer_before_stable=True))
    alone = Stability(0, 3, 0, Holes(fast_not_uniform=True))
    for stability in (early, alone):
        stability.hold(0, 9)
    assert (early.shown_sn, alone.shown_sn) == (0, 9)
    early.hold(2, 7)
    assert early.shown_sn == 7


# --- execution --------------------------------------------------------------------------------------------------------


def carry_out(execution: Execution, group: JournalGroup) -> tuple[list[CallOutcome], list[OpId]]:
    execution.prepared(group)
    execution.made_durable(group.sn)
    execution.commit(group.sn)
    submitted = execution.submitted.pop()
    return submitted.outcomes, submitted.effects


class Sequence:
    """Groups of one member's calls, carried out at several members."""

    def __init__(self, members: int):
        self.executions = [Execution(Namespace(), 0, SECOND, lambda: None) for _ in range(members)]
        self._previous = NOTHING

    def group(self, *calls: CallRecord) -> list[CallOutcome]:
        records: list[Record] = list(calls)
        sn = self._previous.sn + 1
        group = JournalGroup(sn, 1, 1, 0, self._previous, 0, 5, records)
        self._previous = type(NOTHING)(0, 1, sn, 0)
        reported = [carry_out(execution, group) for execution in self.executions]
        assert all(each == reported[0] for each in reported)
        assert len({execution.namespace.digest for execution in self.executions}) == 1
        return reported[0][0]


def call(number: int, operation: Operation, lowest_open: int = 0, client: str = "ada.1") -> CallRecord:
    return CallRecord(100, OpId(client, number), lowest_open, operation)  # type: ignore[arg-type]


def test_a_call_is_carried_out_once_whichever_members_were_asked() -> None:
    sequence = Sequence(2)
    sequence.group(call(1, OpenSession()))
    [first] = sequence.group(call(2, Mkdir("/a")))
    [second] = sequence.group(call(2, Mkdir("/a")))
    assert first.result == second.result and (first.place, second.place) == (1, 0)


def test_a_call_that_failed_does_not_succeed_later() -> None:
    sequence = Sequence(2)
    sequence.group(call(1, OpenSession()), call(2, Mkdir("/a")))
    [refused] = sequence.group(call(3, Mkdir("/a"), 3))
    assert refused.error.startswith("EEXIST")
    sequence.group(call(4, Delete("/a"), 3))
    [again] = sequence.group(call(3, Mkdir("/a"), 3))
    assert again.error == refused.error
    sequence.group(call(5, Mkdir("/a/b/c"), 5))
    [forgotten] = sequence.group(call(3, Mkdir("/a"), 3))
    assert forgotten.error.startswith("ESTALE")


OPERATIONS = st.one_of(
    st.builds(Create, st.sampled_from(["/a", "/b", "/d/a", "/d"])),
    st.builds(Mkdir, st.sampled_from(["/d", "/a", "/d/e"])),
    st.builds(Delete, st.sampled_from(["/a", "/d", "/d/a"]), st.booleans()),
    st.builds(Rename, st.sampled_from(["/a", "/d"]), st.sampled_from(["/b", "/d/a"]), st.booleans()),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(OPERATIONS, max_size=20), st.integers(0, 1 << 32))
def test_every_member_comes_to_the_same_state_however_often_calls_are_repeated(
    operations: list[Operation], seed: int
) -> None:
    rng = random.Random(seed)
    sequence = Sequence(3)
    sequence.group(call(1, OpenSession()))
    reported: dict[int, tuple[object, str]] = {}
    calls = [call(number, operation) for number, operation in enumerate(operations, 2)]
    for each in sorted(calls + calls, key=lambda each: each.op_id.number + rng.random() * 3):
        [outcome] = sequence.group(each)
        first = reported.setdefault(each.op_id.number, (outcome.result, outcome.error))
        assert first == (outcome.result, outcome.error)
