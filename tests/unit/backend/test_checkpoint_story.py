"""Markings and rollbacks reduced from events, and incremental counts."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.checkpoints.operation_counts import Counting
from backend.checkpoints.story import reported
from nodes.trace import checkpoints as c
from nodes.trace import events as e
from nodes.trace.base import Event
from nodes.trace.block_events import BlocksSetAside
from tests.unit.backend.story import MS, Story

HOMES = {"mds1": "g1", "mds2": "g1", "mds4": "g2", "mds5": "g2"}


def step(word: str, detail: str, outcome: str = "") -> e.StepTaken:
    return e.StepTaken("checkpoint", word, "CFS §4.3, Alg. 3", detail, 1, "monday", outcome)


BEGIN = ("mds1", step("begin", "time server of 2 groups"))
TIME = ("mds1", step("time", "the average of 2 system times is 7"))
DRAIN = {server: (server, step("drain", "takes no requests")) for server in ("mds1", "mds4")}
DRAINED = {server: (server, step("drained", "nothing is open at sn 9")) for server in ("mds1", "mds4")}
WRITTEN = {
    "mds1": ("mds1", c.BarrierWritten("g1", "monday", 7, 10, 1, 3, 4)),
    "mds4": ("mds4", c.BarrierWritten("g2", "monday", 7, 20, 1, 3, 4)),
}


def decided(outcome: str) -> tuple[str, Event]:
    return "mds1", c.CheckpointOutcome("monday", outcome, 7, {"g1": 10, "g2": 20})


def after(*events: tuple[str, Event]) -> dict[str, Any]:
    story = Story()
    return reported(HOMES, [story(at_ms, server, event) for at_ms, (server, event) in enumerate(events, 1)])


def test_a_marking_is_reported_step_by_step() -> None:
    [marking] = after(BEGIN, TIME, DRAIN["mds1"])["markings"]
    assert (marking["time_server"], marking["outcome"], marking["ended_ns"]) == ("mds1", "", 0)
    assert marking["groups"]["g1"]["drain_ns"] == 3 * MS and marking["groups"]["g2"]["drain_ns"] == 0
    [marking] = after(
        BEGIN, TIME, *DRAIN.values(), *DRAINED.values(), *WRITTEN.values(), decided("complete"),
        ("mds4", step("resume", "takes requests again", "complete")),
    )["markings"]  # fmt: skip
    assert (marking["outcome"], marking["reason"]) == ("complete", "")
    assert [part["sn"] for part in marking["groups"].values()] == [10, 20]
    assert marking["groups"]["g2"]["resumed_ns"] == 10 * MS


def test_a_void_one_says_who_was_silent() -> None:
    def reason(*events: tuple[str, Event]) -> str:
        [marking] = after(BEGIN, *events, decided("void"))["markings"]
        return str(marking["reason"])

    assert "reported its system time" in reason()
    assert reason(TIME, *DRAIN.values(), DRAINED["mds1"]) == "g2 did not drain in time"
    full = (TIME, *DRAIN.values(), *DRAINED.values())
    assert reason(*full, WRITTEN["mds1"]) == "g2 did not write the barrier in time"
    assert "an active changed" in reason(*full, *WRITTEN.values())


def test_a_group_that_voids_it_itself_reports_the_outcome_too() -> None:
    resume = ("mds4", step("resume", "takes requests again", "void"))
    [marking] = after(BEGIN, TIME, DRAIN["mds4"], resume)["markings"]
    assert marking["outcome"] == "void"


def test_other_procedures_are_no_markings() -> None:
    other = e.StepTaken("election", "draw", "CFS §4.2.1", "monday: the lock is free", 1)
    assert after(("mds1", other))["markings"] == []


def test_recoveries_report_what_each_server_set_aside() -> None:
    back = [(server, c.TakenBack(HOMES[server], 1, "monday", 2, 10, 3, 4, 7, 5)) for server in HOMES]
    [recovery] = after(*back)["recoveries"]
    assert (recovery["incarnation"], recovery["checkpoint"]) == (1, "monday")
    assert {name: each["operations"] for name, each in recovery["servers"].items()} == dict.fromkeys(HOMES, 5)


def test_who_begins_from_an_image_later_has_still_set_aside_what_it_had() -> None:
    """Such a report may lack the name of the checkpoint, and may come first."""
    image = c.TakenBack("g1", 1, "", 2, 0, 0, 0, 0, 0, 31)
    restored = ("mds1", c.TakenBack("g1", 1, "monday", 2, 10, 3, 4, 7, 5))
    [recovery] = after(("mds2", image), restored, ("mds1", image))["recoveries"]
    assert recovery["checkpoint"] == "monday"
    assert {name: each["operations"] for name, each in recovery["servers"].items()} == {"mds1": 5, "mds2": 0}


def test_recoveries_report_what_each_data_node_set_aside() -> None:
    """Counts of all groups together; a second count finds nothing more."""
    reported = [(3, 900), (2, 100), (0, 0)]
    aside = [("dn1", BlocksSetAside("g1", 1, blocks, size)) for blocks, size in reported]
    [recovery] = after(("mds1", c.TakenBack("g1", 1, "monday", 2, 10, 3, 4, 7, 5)), *aside)["recoveries"]
    assert recovery["data_nodes"] == {"dn1": {"blocks": 5, "size": 1000}}
    assert after(*aside)["recoveries"] == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.booleans()), max_size=20))
def test_counting_on_gives_what_counting_anew_gives(grown: list[tuple[int, int, bool]]) -> None:
    """Journals grow, and recoveries truncate them; groups have one operation or none."""
    journals: dict[str, list[int]] = {"g1": [], "g2": []}
    barriers = {"g1": 0, "g2": 0}

    async def count(group: str, sn: int) -> tuple[int, int]:
        behind = journals[group][sn:]
        return len(behind), sum(behind)

    async def play() -> None:
        counting, incarnation = Counting(), 0
        for full, empty, back in grown:
            if back:
                incarnation += 1
                for journal in journals.values():
                    journal.clear()
            for journal in journals.values():
                journal += [1] * full + [0] * empty
            groups = sum(map(len, journals.values()))
            operations = sum(map(sum, journals.values()))
            assert await counting.behind(incarnation, barriers, count) == (groups, operations)

    asyncio.run(play())
