"""The view of the coordination tree, and the causes of its changes."""

from pathlib import Path
from typing import Any

import httpx
import msgspec

from backend.coordination.changes import CAUSES_MOST, CHANGES_MOST, newest_changes
from backend.coordination.tree import DATA_MOST, NODES_MOST, SESSIONS_MOST, view
from backend.lab import Lab
from nodes.trace import events as e
from nodes.trace.election_events import Drawn
from nodes.trace.lease_events import LockRemoved
from tests.unit.backend.story import Story
from tests.unit.backend.test_api import ONE_GROUP, with_api

GROUP = "/cloverlab/groups/g1"


def node(path: str, owner: int = 0, data: str = "", **more: Any) -> dict[str, Any]:
    return {"path": path, "data": data, "owner": owner, "version": 3, **more}


def says(stamped: e.Stamped) -> dict[str, Any]:
    return {"number": stamped.number, "server": stamped.server}


def after(stamped: e.Stamped, cause: e.Stamped) -> e.Stamped:
    return msgspec.structs.replace(stamped, cause=cause.number, cause_server=cause.server)


def test_an_ephemeral_node_names_the_server_of_its_session() -> None:
    nodes = [node(f"{GROUP}/lock", 17), node(f"{GROUP}/view/mds2", 17), node(f"{GROUP}/epoch")]
    seen = {
        each["path"]: (each["owner"], each["session"], each["version"]) for each in view(nodes, None)["nodes"]
    }
    assert seen[f"{GROUP}/lock"] == seen[f"{GROUP}/view/mds2"] == ("mds2", "0x11", 3)
    assert seen[f"{GROUP}/epoch"] == ("", "", 3)


def test_sessions_have_their_server_nodes_and_watches() -> None:
    watches = {"data": [1, 2], "child": [1]}
    nodes = [
        node("/a", 3, watches=watches),
        node(f"{GROUP}/view/mds1", 2, watches={"data": [2], "child": []}),
    ]
    opened = [{"session": each, "timeout_ms": 5_000, "connected": each != 2} for each in (1, 2, 3, 4)]
    seen = view(nodes, opened)
    assert seen["watches_known"] and seen["sessions_known"]
    assert seen["nodes"][0]["watchers"] == ["0x1", "mds1"]
    assert [list(each.values()) for each in seen["sessions"]] == [
        ["0x2", "mds1", [f"{GROUP}/view/mds1"], 2, 5_000, False],
        ["0x1", "", [], 1, 5_000, True],
        ["0x3", "", ["/a"], 0, 5_000, True],
        ["0x4", "", [], 0, 5_000, True],
    ]


def test_a_service_that_tells_neither_sessions_nor_watches_shows_the_owners_of_nodes() -> None:
    seen = view([node("/a", 5), node("/b")], None)
    assert not seen["watches_known"] and not seen["sessions_known"]
    assert [(each["session"], each["timeout_ms"], each["connected"]) for each in seen["sessions"]] == [
        ("0x5", 0, None)
    ]


def test_what_is_left_out_is_counted_and_never_a_groups_lock() -> None:
    many = [node(f"/cloverlab/checkpoints/{number:04}") for number in range(NODES_MOST + 20)]
    opened = [{"session": each, "timeout_ms": 1, "connected": True} for each in range(SESSIONS_MOST + 3)]
    seen = view([*many, node(f"{GROUP}/lock", data="x" * (DATA_MOST + 7))], opened)
    assert (len(seen["sessions"]), seen["sessions_left_out"]) == (SESSIONS_MOST, 3)
    assert (len(seen["nodes"]), seen["left_out"]) == (NODES_MOST, 21)
    lock = seen["nodes"][-1]
    assert (lock["path"], len(lock["data"]), lock["cut"]) == (f"{GROUP}/lock", DATA_MOST, 7)


def test_a_change_has_the_chain_that_led_to_it() -> None:
    story = Story()
    fault = story(1, "control", e.FaultInjected(1, "take_lock", ["g1", "mds1"], {}))
    held = story(0, "coordination", e.LockHeld("g1", "mds1"))
    free = story(2, "coordination", e.LockHeld("g1", ""))
    drawn = after(story(3, "mds2", Drawn("g1", 1, [("mds2", 1, 5, 9)], "mds2", "alone")), free)
    taken = after(story(4, "coordination", e.LockHeld("g1", "mds2")), drawn)
    newest = newest_changes([held, fault, free, drawn, taken], says, {"mds2"})["changes"]
    assert [each["event"]["number"] for each in newest] == [3, 2, 1]
    assert newest[0]["path"] == f"{GROUP}/lock"
    assert newest[0]["causes"] == [says(fault), says(free), says(drawn)]
    assert newest[1]["causes"] == [says(fault)] and newest[2]["causes"] == []


def test_a_long_chain_keeps_its_beginning_and_a_long_list_its_end() -> None:
    story, chain = Story(), list[e.Stamped]()
    for number in range(CHANGES_MOST + 10):
        stamped = story(number, "coordination", e.EpochRaised("g1", number + 1, "mds1"))
        chain.append(after(stamped, chain[-1]) if chain else stamped)
    found = newest_changes(chain, says, ())
    assert (len(found["changes"]), found["left_out"]) == (CHANGES_MOST, 10)
    first = found["changes"][0]
    assert [each["number"] for each in first["causes"]] == [
        1,
        *range(CHANGES_MOST + 10 - 5, CHANGES_MOST + 10),
    ]
    assert first["skipped"] == CHANGES_MOST + 9 - CAUSES_MOST


def test_the_newest_change_of_each_node_is_never_left_out() -> None:
    story = Story()
    events = [
        story(0, "coordination", e.LockHeld("g1", "")),
        story(1, "coordination", e.LockHeld("g1", "mds1")),
    ]
    events += [
        story(number, "coordination", e.EpochRaised("g1", number, "mds1"))
        for number in range(2, CHANGES_MOST + 9)
    ]
    found = newest_changes(events, says, ())
    assert len(found["changes"]) == CHANGES_MOST + 1 and found["left_out"] == len(events) - CHANGES_MOST - 1
    assert (found["changes"][-1]["path"], found["changes"][-1]["event"]["number"]) == (f"{GROUP}/lock", 2)


def test_a_cause_that_is_not_kept_is_named() -> None:
    story = Story()
    removed = story(1, "mds1", LockRemoved("g1", "mds2", "silence", ["mds1"]))
    names = [("mds3", 8), ("client1.ab", 9), (f"{GROUP}/epoch", 10)]
    caused = [msgspec.structs.replace(removed, cause_server=name, cause=number) for name, number in names]
    beyond = [newest_changes([each], says, {"mds3"})["changes"][0] for each in caused]
    assert [each["beyond"] for each in beyond] == [
        "event 8 of mds3",
        "call 9 of client1.ab",
        f"a change of {GROUP}/epoch",
    ]
    assert beyond[0]["path"] == f"{GROUP}/lock"


def test_the_api_tells_the_changes_of_the_live_run(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        story = Story()
        lab._on_events(
            [
                story(1, "control", e.FaultInjected(1, "crash", ["mds1"], {})),
                story(2, "coordination", e.SessionEnded("mds1", 1 << 60, "expired")),
            ]
        )
        found = (await client.get("/api/coordination/changes")).json()
        assert found["left_out"] == 0
        change = found["changes"][0]
        assert change["event"]["says"] == "the session of mds1 has expired" and change["path"] == ""
        assert [each["says"] for each in change["causes"]] == ["fault 1: crash mds1"]
        assert (await client.get("/api/coordination")).status_code == 503
        assert (await client.get("/coordination")).status_code == 200

    with_api(tmp_path, ask, ONE_GROUP)
