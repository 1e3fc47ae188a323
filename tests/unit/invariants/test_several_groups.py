"""The invariants of clusters of several groups, each with a violation."""

from __future__ import annotations

from nodes.config import many_groups
from nodes.invariants import registry
from nodes.invariants.atomicity import PATIENCE_NS
from nodes.metadata import fsck
from nodes.metadata.pages import TreePage
from nodes.trace.base import Event
from nodes.trace.checkpoints import BarrierWritten, TakenBack
from nodes.trace.events import Applied, Called, Committed, Invoked, SharedStep, Stamped
from nodes.units import DIRECTORY, GROUP_SHIFT, ROOT

SECOND = 1_000_000_000


BEGUN = (
    ("mds1", Committed("g1", 1, 1, 0, ["mds1"], 1, [], [])),
    ("mds3", Committed("g2", 1, 1, 0, ["mds3"], 1, [], [])),
)


def judged(*events: tuple[str, Event]) -> dict[str, str]:
    invariants = reported(*BEGUN, *events)
    return {failure.invariant: failure.explanation for failure in reversed(invariants.failures)}


def reported(*events: tuple[str, Event]) -> registry.InvariantChecks:
    invariants = registry.start(many_groups(2, 1))
    for number, (server, event) in enumerate(events, 1):
        invariants.on_event(Stamped(server, 1, number, number * 1000, 0, event))  # type: ignore[arg-type]
    last = Stamped("mds1", 1, len(events) + 1, 2 * PATIENCE_NS, 0, Applied(1, 1, 0))  # type: ignore[arg-type]
    invariants.on_event(last)
    invariants.finish()
    return invariants


def step(server: str, kind: str, commit: bool, peers: list[int] | None = None) -> tuple[str, Event]:
    group = "g1" if server in ("mds1", "mds2") else "g2"
    return server, SharedStep(group, 1, 7, kind, commit, peers or [])


def test_both_sides_of_an_operation_agree() -> None:
    assert (
        judged(step("mds1", "begin", True, [2]), step("mds3", "vote", True), step("mds1", "decide", True))
        == {}
    )


def test_one_side_commits_and_the_other_aborts() -> None:
    red = judged(step("mds1", "begin", True, [2]), step("mds3", "vote", True), step("mds1", "decide", False))
    assert "was committed by g2 and aborted by g1" in red["atomic across groups"]


def test_one_side_never_hears_of_it() -> None:
    red = judged(step("mds1", "begin", True, [2]), step("mds1", "decide", True))
    assert "never by g2" in red["atomic across groups"]


def called(
    server: str,
    number: int,
    operation: list[object],
    result: object,
    stamp: int,
    error: str = "",
    resolved: int = 0,
) -> tuple[str, Event]:
    return "client1", Called(
        "client1.a",
        number,
        operation,
        number * 100,
        number * 100 + 50,
        result,
        error,
        server,
        1,
        number,
        1,
        1,
        stamp,
        resolved,
    )


def committed(server: str, number: int, stamp: int) -> tuple[str, Event]:
    group = "g1" if server == "mds1" else "g2"
    return server, Committed(group, number, 1, number, [server], 1, [("client1.a", number)], [stamp])


def test_a_directory_in_one_group_and_its_file_in_the_other() -> None:
    made, file = ["Made", 2 << GROUP_SHIFT | DIRECTORY | 1], ["Made", 2 << GROUP_SHIFT | 2]
    assert "linearisable" not in judged(
        called("mds1", 1, ["Mkdir", "/a", False, 0o755], made, 10),
        called("mds3", 2, ["Create", "/a/f", 0o644], file, 20),
        called("mds3", 3, ["List", "/a", "", 10], ["Listing", ["f"], False], 30),
    )


def test_a_file_in_a_directory_that_is_not_there_yet() -> None:
    made, file = ["Made", 2 << GROUP_SHIFT | DIRECTORY | 1], ["Made", 2 << GROUP_SHIFT | 2]
    red = judged(
        called("mds1", 1, ["Mkdir", "/a", False, 0o755], made, 20),
        called("mds3", 2, ["Create", "/a/f", 0o644], file, 10),
    )
    assert "should have been ENOENT" in red["linearisable"]


def test_a_list_that_lacks_what_was_answered_before() -> None:
    made = ["Made", 2 << GROUP_SHIFT | DIRECTORY | 1]
    red = judged(
        called("mds1", 1, ["Mkdir", "/a", False, 0o755], made, 20),
        called("mds1", 2, ["List", "/", "", 10], ["Listing", [], False], 30),
    )
    assert "linearisable" in red


def test_a_read_as_of_a_moment_before_an_answered_write_of_its_group() -> None:
    """Its result is right for its stamp, but the write had been answered when it was invoked."""
    made = ["Made", 2 << GROUP_SHIFT | DIRECTORY | 1]
    red = judged(
        called("mds1", 1, ["Mkdir", "/a", False, 0o755], made, 20),
        called("mds1", 2, ["List", "/", "", 10], ["Listing", [], False], 15),
    )
    assert "a later write had been answered before it was invoked" in red["linearisable"]


def test_a_read_as_of_a_moment_before_its_name_was_resolved() -> None:
    """The group of the name reported a rename; the group of the file had an uncommitted record and answered as of the moment before it."""
    made = ["Made", 1 << GROUP_SHIFT | 5]
    attributes = ["Attributes", 1 << GROUP_SHIFT | 5, "file", 0o644, "clover", "clover", 10, 10, 0, 3, 0, 1]
    assert "linearisable" not in judged(
        called("mds3", 1, ["Create", "/a", 0o644], made, 10),
        called("mds3", 2, ["Rename", "/a", "/b", False], ["Done"], 30),
        called("mds1", 3, ["Stat", "/b"], attributes, 15, resolved=40),
    )


def test_a_read_as_of_a_moment_before_its_file_was_there() -> None:
    made = ["Made", 1 << GROUP_SHIFT | 5]
    attributes = ["Attributes", 1 << GROUP_SHIFT | 5, "file", 0o644, "clover", "clover", 10, 10, 0, 3, 0, 1]
    red = judged(
        called("mds3", 1, ["Create", "/a", 0o644], made, 10),
        called("mds1", 2, ["Stat", "/a"], attributes, 5, resolved=40),
    )
    assert "ENOENT" in red["linearisable"]


def test_a_read_behind_a_restart_may_bear_an_earlier_stamp() -> None:
    """Clocks of groups start again: no record has a state that was read, not written, at a later stamp."""
    made = ["Made", 2 << GROUP_SHIFT | DIRECTORY | 1]
    before = [
        called("mds1", 1, ["Mkdir", "/a", False, 0o755], made, 10),
        called("mds1", 2, ["List", "/", "", 10], ["Listing", ["a"], False], 90),
    ]
    for names, right in ((["a"], True), ([], False)):
        invariants = registry.start(many_groups(2, 1))
        after = called("mds3", 3, ["List", "/", "", 10], ["Listing", names, False], 20)
        for number, (server, event) in enumerate([*BEGUN, *before], 1):
            invariants.on_event(Stamped(server, 1, number, number * 1000, 0, event))  # type: ignore[arg-type]
        invariants.paths()
        invariants.on_event(Stamped(after[0], 1, 99, 99_000, 0, after[1]))  # type: ignore[arg-type]
        invariants.finish()
        assert "linearisable" not in {failure.invariant for failure in invariants.unjudged}
        assert ("linearisable" in {failure.invariant for failure in invariants.failures}) is not right


def test_a_write_behind_a_restart_may_bear_an_earlier_stamp_than_a_read() -> None:
    """The read saw what had been written until then, and the write's stamp comes after every written one."""
    made = ["Made", 2 << GROUP_SHIFT | DIRECTORY | 1]
    before = [
        called("mds1", 1, ["Mkdir", "/a", False, 0o755], made, 10),
        called("mds1", 2, ["List", "/", "", 10], ["Listing", ["a"], False], 90),
    ]
    for path, result, right in (
        ("/b", ["Made", 2 << GROUP_SHIFT | DIRECTORY | 2], True),
        ("/a", made, False),
    ):
        invariants = registry.start(many_groups(2, 1))
        after = [committed("mds3", 3, 20), called("mds3", 3, ["Mkdir", path, False, 0o755], result, 20)]
        for number, (server, event) in enumerate([*BEGUN, *before], 1):
            invariants.on_event(Stamped(server, 1, number, number * 1000, 0, event))  # type: ignore[arg-type]
        invariants.paths()
        for number, (server, event) in enumerate(after, 99):
            invariants.on_event(Stamped(server, 1, number, number * 1000, 0, event))  # type: ignore[arg-type]
        assert invariants.paths() == (
            {"/": True, "/a": True, "/b": True} if right else {"/": True, "/a": True}
        )
        invariants.finish()
        assert "linearisable" not in {failure.invariant for failure in invariants.unjudged}
        assert ("linearisable" in {failure.invariant for failure in invariants.failures}) is not right


def linearisable_after(*parts: list[tuple[str, Event]]) -> tuple[bool, bool]:
    """Whether the check was able to judge, and whether it found no fault. Between two parts it carries out what was reported."""
    invariants = registry.start(many_groups(2, 1))
    number = 0
    for part in ([*BEGUN], *parts):
        for server, event in part:
            number += 1
            invariants.on_event(Stamped(server, 1, number, number * 1000, 0, event))  # type: ignore[arg-type]
        invariants.paths()
    invariants.finish()
    found = [{each.invariant for each in some} for some in (invariants.unjudged, invariants.failures)]
    return "linearisable" not in found[0], "linearisable" not in found[1]


MADE = ["Made", 2 << GROUP_SHIFT | DIRECTORY | 1]
ROOT_LISTED = ["List", "/", "", 10]


def test_a_write_comes_behind_a_read_that_bears_an_earlier_stamp_after_a_restart() -> None:
    before = [
        called("mds1", 1, ["Mkdir", "/a", False, 0o755], MADE, 10),
        called("mds1", 2, ROOT_LISTED, ["Listing", ["a"], False], 90),
    ]
    made = ["Made", 2 << GROUP_SHIFT | DIRECTORY | 2]
    for names, right in ((["a"], True), (["a", "b"], False)):
        after = [
            called("mds3", 3, ROOT_LISTED, ["Listing", names, False], 15),
            called("mds3", 4, ["Mkdir", "/b", False, 0o755], made, 20),
            called("mds3", 5, ROOT_LISTED, ["Listing", ["a", "b"], False], 25),
        ]
        assert linearisable_after(before, after) == (True, right)


def test_a_write_may_bear_an_earlier_stamp_than_an_answered_write_of_another_group() -> None:
    """The next active's clock is behind, and its group has heard nothing of the other one's last record."""
    file, made = ["Made", 2 << GROUP_SHIFT | 2], ["Made", 2 << GROUP_SHIFT | DIRECTORY | 2]
    before = [
        called("mds1", 1, ["Mkdir", "/a", False, 0o755], MADE, 10),
        called("mds3", 2, ["Create", "/a/f", 0o644], file, 90),
    ]
    write = called("mds1", 3, ["Mkdir", "/b", False, 0o755], made, 20)
    for names, right in ((["a", "b"], True), (["a"], False)):
        read = called("mds1", 4, ROOT_LISTED, ["Listing", names, False], 25)
        assert linearisable_after(before, [write, read]) == (True, right)
        assert linearisable_after(before, [write], [read]) == (True, right)
    in_it = called("mds1", 4, ["Mkdir", "/b/c", False, 0o755], ["Made", 2 << GROUP_SHIFT | DIRECTORY | 3], 25)
    assert linearisable_after(before, [write], [in_it]) == (True, True)


def test_a_write_with_an_earlier_stamp_must_be_right_behind_the_answered_ones() -> None:
    file = ["Made", 2 << GROUP_SHIFT | 2]
    before = [
        called("mds1", 1, ["Mkdir", "/a", False, 0o755], MADE, 10),
        called("mds3", 2, ["Create", "/a/f", 0o644], file, 90),
    ]
    for server, operation, result in (
        # As of its stamp, the name is free.
        ("mds1", ["Create", "/a/f", 0o644], ["Made", 2 << GROUP_SHIFT | 3]),
        # It saw the other write, whose stamp is later.
        ("mds1", ["Delete", "/a/f", False], ["Done"]),
        ("mds1", ["Mkdir", "/a", False, 0o755], MADE),
        # In one group, stamps ascend.
        ("mds3", ["Create", "/a/g", 0o644], ["Made", 2 << GROUP_SHIFT | 3]),
    ):
        assert linearisable_after(before, [called(server, 3, operation, result, 20)]) == (True, False)


def test_a_call_under_way_may_bear_an_earlier_stamp_than_one_that_it_met() -> None:
    """The answer to the read was lost, and the call was tried for longer than reports are waited for."""
    invoked = Invoked("client1.b", 1, ROOT_LISTED, 120)
    for stamp, names, right in ((10, [], True), (10, ["a"], False), (30, ["a"], True)):
        read = Called(
            "client1.b", 1, ROOT_LISTED, 120, 10**10, ["Listing", names, False], "", "mds3", 1, 1, 1, 9, stamp
        )
        story: list[tuple[int, str, Event]] = [
            *((1, server, event) for server, event in BEGUN),
            (2, "client1", invoked),
            (3, *called("mds1", 1, ["Mkdir", "/a", False, 0o755], MADE, 20)),
            (6 * SECOND, "mds1", Applied(1, 1, 0)),
            (10 * SECOND, "client1", read),
        ]
        invariants = registry.start(many_groups(2, 1))
        for number, (at_ns, server, event) in enumerate(story, 1):
            invariants.on_event(Stamped(server, 1, number, at_ns, 0, event))  # type: ignore[arg-type]
        invariants.finish()
        assert "linearisable" not in {failure.invariant for failure in invariants.unjudged}
        assert ("linearisable" in {failure.invariant for failure in invariants.failures}) is not right


def without_answer(operation: list[object]) -> list[tuple[str, Event]]:
    """Call 7, which was invoked first of all and whose record bears the stamp 100."""
    lost = Called("client1.a", 7, operation, 120, 0, None, "ETIMEDOUT", "", 0, 0, 0, 1)
    return [("mds1", Committed("g1", 2, 1, 1, ["mds1"], 1, [("client1.a", 7)], [100])), ("client1", lost)]


def test_a_read_may_be_reported_behind_a_write_without_an_answer_that_it_did_not_see() -> None:
    """The client of the read slept before it reported the answer."""
    before = [
        called("mds1", 1, ["Mkdir", "/a", False, 0o755], MADE, 10),
        *without_answer(["Delete", "/a", False]),
    ]
    for names, right in ((["a"], True), ([], False)):
        late = [called("mds1", 8, ROOT_LISTED, ["Listing", names, False], 50)]
        assert linearisable_after(before, late) == (True, right)


def test_a_double_effect_is_not_excused_by_its_earlier_stamp() -> None:
    """Two calls make the same directory. The first has no answer, or another group's."""
    mkdir = ["Mkdir", "/a", False, 0o755]
    for before in (without_answer(mkdir), [called("mds1", 1, mkdir, MADE, 100)]):
        for server in ("mds1", "mds3"):
            assert linearisable_after(before, [called(server, 8, mkdir, MADE, 50)]) != (True, True)


def test_a_check_that_begins_late_claims_nothing() -> None:
    """The control plane has restarted: it does not know the groups committed before."""
    file = ["Made", 2 << GROUP_SHIFT | 2]
    invariants = reported(
        BEGUN[0], committed("mds3", 7, 5), called("mds3", 2, ["Create", "/a/f", 0o644], file, 10)
    )
    row = next(row for row in invariants.invariants() if row["invariant"] == "linearisable")
    assert row["state"] == "grey" and "g2 had committed something before" in row["explanation"]


def page(
    group: int, inodes: dict[int, dict[str, int] | None], links: dict[int, int] | None = None
) -> TreePage:
    return TreePage(group, "", inodes, links or {}, 0, [], 0, 0, 0)


def test_the_scan_finds_what_does_not_fit() -> None:
    there = 2 << GROUP_SHIFT | 1
    assert fsck.faults([page(1, {ROOT: {"f": there}}), page(2, {there: None})]) == []
    assert "dangling" in fsck.faults([page(1, {ROOT: {"f": there}}), page(2, {})])[0]
    assert "orphan" in fsck.faults([page(1, {ROOT: {}}), page(2, {there: None})])[0]
    twice = {ROOT: {"f": there, "g": there}}
    assert "has 2 names and says 1" in fsck.faults([page(1, twice), page(2, {there: None})])[0]
    assert "has 2 names and says 3" in fsck.faults([page(1, twice), page(2, {there: None}, {there: 3})])[0]
    assert fsck.faults([page(1, twice), page(2, {there: None}, {there: 2})]) == []


def test_the_scan_finds_directories_that_are_named_twice_or_only_by_each_other() -> None:
    one, two = (group << GROUP_SHIFT | DIRECTORY | 5 for group in (1, 2))
    assert "two dentries" in fsck.faults([page(1, {ROOT: {"a": two, "b": two}}), page(2, {two: {}})])[0]
    circle = [page(1, {ROOT: {}, one: {"in": two}}), page(2, {two: {"in": one}})]
    assert [line.partition(":")[0] for line in fsck.faults(circle)] == ["detached", "detached"]


def test_what_was_carried_out_and_set_aside_was_there_until_then_whatever_its_call_is_answered_later() -> (
    None
):
    """The answer of a mkdir is lost, a file is created in the directory, a recovery removes both, and the repeated mkdir is refused."""
    file = ["Made", 2 << GROUP_SHIFT | 2]
    mkdir = ["Mkdir", "/a", False, 0o755]
    refused = Called("client1.a", 2, mkdir, 200, 900, None, "EEXIST", "mds1", 2, 5, 1, 2, 60)
    events = [
        *BEGUN,
        ("mds1", BarrierWritten("g1", "k", 5, 1, 1, 0, 0)),
        ("mds3", BarrierWritten("g2", "k", 5, 1, 1, 0, 0)),
        ("client2", Invoked("client1.a", 2, mkdir, 200)),
        committed("mds1", 2, 20),
        committed("mds3", 3, 30),
        called("mds3", 3, ["Create", "/a/f", 0o644], file, 30),
        ("mds1", TakenBack("g1", 1, "k", 2, 1, 0, 0, 0, 0)),
        ("mds3", TakenBack("g2", 1, "k", 2, 1, 0, 0, 0, 0)),
        ("mds1", Committed("g1", 2, 2, 9, ["mds1"], 1, [("client1.b", 1)], [50])),
        (
            "client2",
            Called("client1.b", 1, mkdir, 700, 750, ["Made", 2 << GROUP_SHIFT | DIRECTORY | 3], "", "mds1", 2, 2, 1, 1, 50),
        ),
        ("client1", refused),
    ]  # fmt: skip
    invariants = reported(*events)
    assert not [failure for failure in invariants.failures if failure.invariant == "linearisable"]
    assert invariants.paths() == {"/": True, "/a": True}


def test_the_model_goes_on_behind_a_recovery_though_a_dead_client_was_never_answered() -> None:
    """Its call waits for an answer for a minute and a half; a query without a call under way does not."""
    made = ["Made", 2 << GROUP_SHIFT | DIRECTORY | 1]
    back = {
        "mds1": TakenBack("g1", 1, "k", 2, 3, 0, 0, 0, 0),
        "mds3": TakenBack("g2", 1, "k", 2, 3, 0, 0, 0, 0),
    }
    after = Called("client1.a", 3, ["Mkdir", "/c", False, 0o755], 900, 950, made, "", "mds1", 2, 4, 1, 1, 40)
    events = [
        *BEGUN,
        ("client2", Invoked("client1.a", 2, ["Mkdir", "/b", False, 0o755], 200)),
        committed("mds1", 2, 20),
        ("mds1", BarrierWritten("g1", "k", 30, 3, 1, 0, 0)),
        ("mds3", BarrierWritten("g2", "k", 30, 3, 1, 0, 0)),
        *back.items(),
        ("client1", after),
    ]
    invariants = registry.start(many_groups(2, 1))
    for number, (server, event) in enumerate(events, 1):
        invariants.on_event(Stamped(server, 1, number, number * 1000, 0, event))  # type: ignore[arg-type]
    assert invariants.paths() == {"/": True, "/b": True, "/c": True}
