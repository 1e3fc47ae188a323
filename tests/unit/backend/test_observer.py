import json

from nodes.trace.events import Configured, EpochRaised, LockHeld, Placed, SessionEnded
from nodes.trace.observer import Observer

G = "/cloverlab/groups/g1"


def node(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def test_each_change_is_one_event_and_a_repetition_none() -> None:
    observer = Observer()
    place = node(state="standby", epoch=3, sn=9)
    assert observer.changed(f"{G}/view/mds2", place, 77) == [Placed("g1", "mds2", "standby", 3, 9)]
    assert observer.changed(f"{G}/view/mds2", place, 77) == []
    assert observer.changed(f"{G}/lock", node(owner="mds2"), 77) == [LockHeld("g1", "mds2")]
    assert observer.changed(f"{G}/epoch", node(epoch=4, active="mds2")) == [EpochRaised("g1", 4, "mds2")]
    assert observer.changed(f"{G}/configuration", node(number=2, members=["mds1"])) == [
        Configured("g1", 2, ["mds1"])
    ]
    assert observer.changed(f"{G}/lock", None) == [LockHeld("g1", "")]
    assert observer.changed(f"{G}/view/mds2", None) == [Placed("g1", "mds2", "", 0, 0)]


def test_a_session_is_known_by_its_place() -> None:
    observer = Observer()
    observer.changed(f"{G}/view/mds2", node(state="active"), 77)
    assert observer.session_ended(78, "expired") == []
    assert observer.session_ended(77, "expired") == [SessionEnded("mds2", 77, "expired")]
    assert observer.session_ended(77, "expired") == []


def test_other_nodes_and_rubbish_are_no_events() -> None:
    observer = Observer()
    for path in ("/x", f"{G}/draws/mds1", f"{G}/generation", "/cloverlab/servers/mds1"):
        assert observer.changed(path, b"{}") == []
    assert observer.changed(f"{G}/epoch", b"\xff\x00") == [EpochRaised("g1", 0, "")]
    assert observer.changed(f"{G}/view/mds1", b"[1]") == []
