"""Transactions: the same decisions, handles and results at every member, however many each has submitted by then; a call takes effect completely
or not at all."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.errors import FsError
from nodes.metadata.images import dump, load
from nodes.metadata.lookup import TOP
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import (
    AddBlock,
    Append,
    CloseSession,
    Complete,
    ContentSummary,
    Create,
    Delete,
    Link,
    List,
    Made,
    Mkdir,
    Open,
    OpenSession,
    Operation,
    Read,
    Rename,
    Restamp,
    SetPermission,
    SetReplication,
    Stat,
)
from nodes.metadata.records import CallRecord, MakeRecord, Record
from nodes.protocols.symmetric import basic_services, transactions
from nodes.protocols.symmetric.basic_services import add_handles, make_objects, name_is_free
from nodes.protocols.symmetric.execution import AHEAD_MAX, CallOutcome, Execution
from nodes.protocols.symmetric.handles import Handles
from nodes.protocols.symmetric.locks import MemberLocks
from nodes.protocols.symmetric.transactions import Transactions
from nodes.replicas.log import NOTHING
from nodes.units import ROOT, OpId
from nodes.wire.messages import JournalGroup

CLIENTS = ("ada", "bob")
SESSION_TTL_NS = 1_000


def call(number: int, operation: Operation, client: str = "ada", lowest_open: int = 0) -> CallRecord:
    return CallRecord(100, OpId(client, number), lowest_open, operation)  # type: ignore[arg-type]


def group(sn: int, *calls: CallRecord) -> JournalGroup:
    records: list[Record] = list(calls)
    return JournalGroup(sn, 1, 1, 0, NOTHING, 0, 5, records)


def opened(*clients: str) -> Execution:
    """A member at which these clients have a session, group 1."""
    execution = Execution(Namespace(), 0, SESSION_TTL_NS, lambda: None)
    deliver_and_submit(
        execution, group(1, *(call(1, OpenSession(), client) for client in clients or CLIENTS))
    )
    return execution


def deliver_and_submit(execution: Execution, each: JournalGroup) -> list[CallOutcome]:
    execution.prepared(each)
    execution.made_durable(each.sn)
    return submit(execution)


def submit(execution: Execution) -> list[CallOutcome]:
    """Submits the next group, which every member holds. Returns the outcomes of its calls."""
    execution.commit(execution.applied_sn + 1)
    return execution.submitted.pop().outcomes


def state_of(execution: Execution) -> tuple[int, int, int]:
    """State that a rollback must restore."""
    namespace, handles = execution.namespace, execution._transactions.handles
    return namespace.digest, handles.first_free, len(namespace.tree.inodes)


# --- one transaction ------------------------------------------------------------------------------------------------------


def test_nothing_is_visible_before_it_is_submitted() -> None:
    execution = opened()
    before = execution.namespace.digest
    execution.prepared(group(2, call(2, Create("/f"))))
    assert execution.namespace.digest == before and execution.under_way().update == 3
    execution.made_durable(2)
    assert execution.namespace.digest == before and execution.under_way().write == 3
    [outcome] = submit(execution)
    assert outcome.result == Made(execution.namespace.tree.inodes[ROOT].entries["f"])  # type: ignore[index]
    assert execution.under_way().write == 0


@pytest.mark.parametrize("first_ns, errors", [(900, ["", ""]), (1_101, ["ESTALE", "ESTALE"])])
def test_copies_of_the_call_that_opens_a_session_have_one_outcome(first_ns: int, errors: list[str]) -> None:
    """The second alone would be too late; it is judged after the first, which another member may have received."""
    execution = opened()
    copies = [CallRecord(at_ns, OpId("eve", 1), 0, OpenSession(asked_ns=100)) for at_ns in (first_ns, 5_000)]
    outcomes = deliver_and_submit(execution, group(2, *copies))
    assert [outcome.error[:6] for outcome in outcomes] == errors


def test_a_group_that_is_not_on_the_disk_is_not_submitted() -> None:
    execution = opened()
    execution.prepared(group(2, call(2, Create("/f"))))
    execution.commit(2)
    assert execution.applied_sn == 1
    execution.made_durable(2)
    execution.commit(2)
    assert execution.applied_sn == 2


def test_two_calls_that_make_one_name_are_decided_one_after_the_other() -> None:
    execution = opened()
    execution.prepared(group(2, call(2, Create("/f")), call(2, Create("/f"), "bob")))
    found = execution.under_way()
    assert (found.decided, found.waiting) == (1, 1)
    execution.made_durable(2)
    first, second = submit(execution)
    assert (first.error, second.error[:6]) == ("", "EEXIST")


def test_a_call_that_failed_is_reported_where_its_first_copy_failed() -> None:
    """It would succeed by then: the copy does not depend on the state that it meets."""
    execution = opened()
    rename = call(2, Rename("/a", "/b"))
    execution.prepared(group(2, call(2, Create("/f"), "bob"), rename))
    execution.prepared(group(3, call(3, Create("/a"), "bob")))
    execution.prepared(group(4, rename))
    execution.made_durable(4)
    reported = [submit(execution)[-1] for _ in range(3)]
    assert [each.error[:6] for each in reported] == ["ENOENT", "", "ENOENT"]
    assert [(each.sn, each.place) for each in reported] == [(2, 1), (3, 1), (2, 1)]


def test_an_image_keeps_what_failed_and_what_was_answered() -> None:
    """A member that begins from the image refuses the same copies as the members that have the journal."""
    execution = opened()
    rename = call(3, Rename("/a", "/b"))
    deliver_and_submit(execution, group(2, call(2, Create("/f")), rename))
    other = Execution(load(dump(execution.namespace)), 2, SESSION_TTL_NS, lambda: None)
    for member in (execution, other):
        deliver_and_submit(member, group(3, call(4, Create("/a"), lowest_open=3)))
        copies = deliver_and_submit(member, group(4, call(2, Create("/f"), lowest_open=2), rename))
        assert [each.error[:6] for each in copies] == ["ESTALE", "ENOENT"]
        assert (copies[1].sn, copies[1].place) == (2, 1)
    assert state_of(other) == state_of(execution)


def test_an_image_has_no_part_of_what_comes_after_it() -> None:
    """The next group is decided already, at the member of which the image is taken."""
    execution = opened()
    execution.prepared(group(2, call(2, Create("/f")), call(3, Mkdir("/nothing/d"), "bob")))
    other = Execution(load(dump(execution.namespace)), 1, SESSION_TTL_NS, lambda: None)
    other.prepared(group(2, call(2, Create("/f")), call(3, Mkdir("/nothing/d"), "bob")))
    for member in (execution, other):
        member.made_durable(2)
        submit(member)
    assert state_of(other) == state_of(execution)


def test_what_a_view_change_cuts_leaves_no_trace() -> None:
    """Locks, handles and times are as before; the next view's groups are decided as if the others had never been there."""
    execution, other = opened(), opened()
    before = state_of(execution)
    execution.prepared(
        group(2, call(2, Create("/f")), call(3, Mkdir("/d/e", True)), call(2, Create("/f"), "bob"))
    )
    execution.prepared(group(3, call(3, Create("/g"), "bob")))
    assert state_of(execution)[1] > before[1]
    execution.cut(1)
    assert state_of(execution) == before and execution.under_way() == opened().under_way()
    for member in (execution, other):
        deliver_and_submit(member, group(2, call(9, Create("/h"), "bob")))
    assert state_of(execution) == state_of(other)


def test_a_basic_service_that_fails_takes_back_those_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded damage: the handle of the created object cannot be added to its parent."""

    def no_room(namespace: Namespace, record: MakeRecord, undo: Any) -> None:
        assert record.inode in namespace.tree.inodes
        raise FsError("EFBIG", "the directory is full")

    services = (name_is_free, make_objects, no_room, add_handles)
    execution = opened()
    digest, inodes = execution.namespace.tree.digest, len(execution.namespace.tree.inodes)
    with monkeypatch.context() as broken:
        broken.setitem(basic_services.SERVICES, MakeRecord, services)
        [outcome] = deliver_and_submit(execution, group(2, call(2, Mkdir("/d"))))
    assert outcome.error == "EFBIG: the directory is full" and outcome.result is None
    tree = execution.namespace.tree
    assert (tree.digest, len(tree.inodes)) == (digest, inodes)
    [again] = deliver_and_submit(execution, group(3, call(2, Mkdir("/d"))))
    assert again.error == outcome.error, "a call that failed does not succeed later"
    assert deliver_and_submit(execution, group(4, call(3, Mkdir("/d"))))[0].error == ""


def test_without_locks_a_name_is_given_twice_and_the_second_is_rolled_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Seeded damage: both are decided on a parent without the name; the basic service detects it when it reads the parent again."""
    monkeypatch.setattr(MemberLocks, "grant", lambda locks, place: True)
    execution = opened()
    execution.prepared(group(2, call(2, Create("/f")), call(2, Create("/f"), "bob")))
    assert execution.under_way().waiting == 0
    execution.made_durable(2)
    first, second = submit(execution)
    assert first.error == "" and second.error == f"EEXIST: directory {ROOT} has 'f'"
    assert execution.namespace.digest == execution.namespace.recompute_digest()


def test_groups_behind_a_certain_number_are_begun_later() -> None:
    execution = opened()
    for sn in range(2, AHEAD_MAX + 4):
        execution.prepared(group(sn, call(sn, Create(f"/f{sn}"))))
    execution.made_durable(AHEAD_MAX + 3)
    last = AHEAD_MAX + 3
    assert execution.read_waits_for(Stat(f"/f{last}"), last) == last
    assert execution.read_waits_for(Stat("/nothing"), last) == last, "it may be in what is not begun"
    assert execution.read_waits_for(Stat("/nothing"), 5) == 0
    while execution.applied_sn < last:
        submit(execution)
    assert execution.read_waits_for(Stat("/nothing"), last) == 0


# --- every member decides the same ------------------------------------------------------------------------------------------

PATHS = ["/a", "/b", "/d", "/d/a", "/d/b", "/d/e", "/d/e/a"]
PATH = st.sampled_from(PATHS)
FILES = [(1 << 48) | number for number in range(2, 8)]
BLOCK = st.sampled_from([0, *((1 << 48) | number for number in range(1, 4))])
OPERATIONS: st.SearchStrategy[Operation] = st.one_of(
    st.builds(Create, PATH),
    st.builds(Mkdir, PATH, st.booleans()),
    st.builds(Delete, PATH, st.booleans()),
    st.builds(Rename, PATH, PATH, st.booleans()),
    st.builds(Link, PATH, PATH),
    st.builds(SetPermission, PATH, st.sampled_from([0o600, 0o7])),
    st.builds(SetReplication, PATH, st.integers(1, 3)),
    st.builds(Append, PATH, st.just(512), st.booleans()),
    st.builds(AddBlock, st.sampled_from(FILES), st.integers(2, 12), BLOCK),
    st.builds(Complete, st.sampled_from(FILES), st.integers(2, 12), BLOCK),
    st.builds(Restamp, st.sampled_from(FILES), st.integers(2, 12), BLOCK),
    st.builds(CloseSession),
)
READS: list[Read] = [
    *(read(path) for path in PATHS for read in (Stat, List, Open)),
    Stat("/"),
    List("/"),
    ContentSummary("/"),
    ContentSummary("/d"),
]
HISTORY = st.lists(st.tuples(st.sampled_from(CLIENTS), OPERATIONS, st.booleans()), min_size=1, max_size=14)
"""Client of each call, the operation, and whether the call is repeated."""
ANSWERED = (0, 1, 3)
"""Distances behind a call up to which everything has been answered; 0: none is known."""


def groups_of(history: list[tuple[str, Operation, bool]], rng: random.Random) -> list[JournalGroup]:
    """Sessions, two files with content under way, then the history, in groups of up to three calls; some calls are repeated later."""
    calls = [call(number, operation) for number, operation in enumerate(
        [Mkdir("/d"), Create("/a"), Create("/d/a"), Append("/a", 512), Append("/d/a", 512)], 2
    )]  # fmt: skip
    reported = []
    for number, (client, operation, _) in enumerate(history, 20):
        behind = rng.choice(ANSWERED)
        reported.append(call(number, operation, client, number - behind if behind else 0))
    again = [each for each, (_, _, twice) in zip(reported, history, strict=True) if twice]
    keyed = [(float(place), each) for place, each in enumerate(reported)]
    keyed += [(reported.index(each) + rng.random() * 3, each) for each in again]
    ordered = [each for _, each in sorted(keyed, key=lambda pair: pair[0])]
    groups, sn = [group(2, *calls)], 3
    while ordered:
        size = rng.randrange(1, 4)
        groups.append(group(sn, *ordered[:size]))
        ordered, sn = ordered[size:], sn + 1
    return groups


def looked(execution: Execution, operation: Read) -> object:
    try:
        return execution.namespace.read(operation, TOP)
    except FsError as error:
        return error.name


class Reference:
    """Submits each group at once, and keeps the results and the state of every read after it."""

    def __init__(self, groups: list[JournalGroup]):
        execution = opened()
        self.outcomes: list[list[CallOutcome]] = []
        self.seen: list[list[object]] = [[], [looked(execution, operation) for operation in READS]]
        """State of every read, by sn."""
        self.digests = [0, execution.namespace.digest]
        for each in groups:
            self.outcomes.append(deliver_and_submit(execution, each))
            self.seen.append([looked(execution, operation) for operation in READS])
            self.digests.append(execution.namespace.digest)


def play(groups: list[JournalGroup], reference: Reference, rng: random.Random) -> None:
    """A member that delivers, syncs, submits, loses the last deliveries, and answers reads, in random order."""
    execution = opened()
    while execution.applied_sn < groups[-1].sn:
        delivered_sn = execution.delivered_sn
        step = rng.choice(["deliver", "deliver", "sync", "submit", "cut", "read", "read"])
        if step == "deliver" and delivered_sn < groups[-1].sn:
            execution.prepared(groups[delivered_sn - 1])
        elif step == "sync":
            execution.made_durable(rng.randint(execution.durable_sn, delivered_sn))
        elif step == "submit" and execution.applied_sn < execution.durable_sn:
            outcomes, sn = submit(execution), execution.applied_sn
            assert outcomes == reference.outcomes[sn - 2]
            assert execution.namespace.digest == reference.digests[sn]
        elif step == "cut" and rng.random() < 0.3:
            execution.cut(rng.randint(execution.applied_sn, delivered_sn))
        elif step == "read":
            asked_sn = rng.randint(execution.applied_sn, execution.durable_sn)
            check_reads(execution, reference, asked_sn)
    assert execution.namespace.digest == execution.namespace.recompute_digest()
    assert execution.under_way().waiting == execution.under_way().write == 0


def check_reads(execution: Execution, reference: Reference, asked_sn: int) -> None:
    """A read without obstacles sees the state after everything that was durable when it arrived."""
    for operation, expected in zip(READS, reference.seen[max(1, asked_sn)], strict=True):
        if execution.read_waits_for(operation, asked_sn) == 0:
            assert looked(execution, operation) == expected, f"{operation} asked at {asked_sn}"


@settings(max_examples=250, deadline=None)
@given(HISTORY, st.integers(0, 1 << 32))
def test_members_decide_the_same_whatever_they_have_submitted(
    history: list[tuple[str, Operation, bool]], seed: int
) -> None:
    rng = random.Random(seed)
    groups = groups_of(history, rng)
    play(groups, Reference(groups), rng)


def breaks(name: str, owner: Any, instead: Any, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether some history of many has another result with this replacement in place."""
    for seed in range(300):
        rng = random.Random(seed)
        history = [(rng.choice(CLIENTS), rng.choice(SIMPLE), rng.random() < 0.3) for _ in range(10)]
        groups = groups_of(history, rng)
        reference = Reference(groups)
        with monkeypatch.context() as broken:
            broken.setattr(owner, name, instead)
            try:
                play(groups, reference, rng)
            except AssertionError:
                return True
    return False


SIMPLE: list[Operation] = [
    *(kind(path) for path in PATHS for kind in (Create, Mkdir, Delete)),
    Rename("/d", "/b"),
    Rename("/a", "/d/b", True),
    Link("/a", "/b"),
    *(Append(path, 512, force) for path in ("/a", "/b", "/d/a") for force in (False, True)),
    *(kind(FILES[0], 5, 0) for kind in (AddBlock, Complete, Restamp)),
    CloseSession(),
]


@pytest.mark.parametrize(
    ("name", "owner", "instead"),
    [
        ("grant", MemberLocks, lambda locks, place: True),
        ("take_back", Handles, lambda handles, first_free: None),
        ("writer_of", MemberLocks, lambda locks, things, until: None),
        ("ALONE", transactions, ()),
        ("_lowest_open", Transactions, lambda under_way, client: 0),
        ("grant", MemberLocks, None),
    ],
    ids=[
        "no locks",
        "handles are lost",
        "readers pass writers",
        "inodes by other ways",
        "answered long ago",
        "nothing",
    ],
)
def test_each_part_is_needed(name: str, owner: Any, instead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded damage is detected; without it the same histories hold."""
    found = breaks(name, owner, getattr(owner, name) if instead is None else instead, monkeypatch)
    assert found == (instead is not None)
