"""Changes of the lock, the epoch and the configuration while writes are under way."""

from __future__ import annotations

from typing import Any

from nodes.explore.stories.scene import BEGIN_MS, COORDINATION, Scene
from nodes.sim.triggers import Trigger

GROWING = {"mams": "configuration/both", "paxos": "view/", "symmetric": "view change/install"}
"""The step just before a member begins to count, by replication."""
RETURNING = {"mams": "Promise", "paxos": "PaxosJoin", "symmetric": "JoinView"}
"""Messages of a member that returns from silence, by replication."""
PROMISES = {"mams": "Promise", "paxos": "PaxosPromise"}
"""The reply to a candidate, by replication."""
WAYS = (
    ("add", 3, 1),
    ("add", 3, 1),
    ("back", 4, 1),
    ("silent", 4, 1),
    ("silent", 3, 2),
    ("silent", 4, 2),
    ("back", 3, 1),
)
"""Ways in which members join: new ones, ones that were down, ones that were unreachable; with the number of members and of joining ones."""

DEAF: tuple[tuple[str, dict[str, Any]], ...] = (
    ("cut", {"direction": "from"}),
    ("cut", {"direction": "from"}),
    ("cut", {"direction": "from"}),
    ("delay", {"ms": 50}),
    ("delay", {"ms": 200}),
    ("clog", {}),
)
"""Faults that keep a server from learning that it has lost the lock."""


def joining(scene: Scene) -> None:
    """A member joins or returns under load. While the change is written, acknowledgements are late; then all servers that had the change die."""
    rng = scene.rng
    way, size, coming = rng.choice(WAYS)
    scene.shape(sizes=(size,), min_in_step=0)
    scene.timed(renew_scan_ms=50)
    session, leader, others = scene.session_ms, scene.leader(), scene.others()
    change_ms = BEGIN_MS + rng.randrange(session // 2)
    away_ms = rng.choice((scene.timing.ack_timeout_ms * 2, session * 3 // 2))
    back_ms = change_ms + away_ms
    comes = rng.sample(others, min(coming, len(others)))
    if way == "add":
        back_ms = change_ms
        comes = [f"mds{len(others) + 2}"]
        scene.fault(change_ms, "add_server", ["g1"])
    for name in comes if way != "add" else []:
        if way == "back":
            scene.fault(change_ms, "crash", [name], away_ms)
        else:
            scene.fault(change_ms, "cut", [leader, name], away_ms + rng.randrange(20))
    if scene.chance(0.85):
        scene.fault(back_ms - 30, "delay", [leader, COORDINATION], 2 * session, ms=rng.choice((20, 30, 50)))
    if scene.chance(0.4):
        scene.fault(back_ms - 30, "slow_disk", [leader], 2 * session, ms=rng.choice((5, 30)))
    step = GROWING.get(scene.family.replication)
    reaches = Trigger("step", leader, 1, "after", step) if step else None
    stays = [name for name in others if name not in comes]
    keeps = rng.sample(stays, min(1, len(stays))) or rng.sample(comes, 1)
    silent = [name for name in (*comes, *stays) if name not in keeps]
    for name in silent:
        kind = rng.choice(scene.appends)
        scene.fault(
            back_ms - 20, "hold", [leader, name], 2 * session, reaches, kind=kind, lost=scene.chance(0.7)
        )
    for start_ms in range(back_ms - 50, back_ms + session, session // 3):
        scene.writes(start_ms, start_ms + session // 3, 25)
    written = Trigger(
        "write", leader, rng.choice((1, 1, 2)), "after", rng.choice(("configuration", "epoch", ""))
    )
    dies = rng.choice((written, None, None))
    at_ms = back_ms - 20 if dies else back_ms + rng.randint(150, max(400, session))
    for name in [leader, *keeps]:
        scene.apply_fault(at_ms, name, rng.choice((3, 5)) * session, dies)


def back_in_turn(scene: Scene) -> None:
    """All other members were silent. While the change for the returned ones is written, the last one also returns, and it alone receives the
    following messages."""
    rng = scene.rng
    scene.shape(sizes=(3, 3, 3, 3, 4), min_in_step=0)
    scene.timed(ack_timeout_ms=rng.choice((60, 200, 500)), renew_scan_ms=50)
    session, leader, others = scene.session_ms, scene.leader(), scene.others()
    silent_ms = BEGIN_MS + rng.randrange(session // 2)
    back_ms = silent_ms + scene.timing.ack_timeout_ms + rng.choice((200, 300, session))
    slow_ms = rng.choice((10, 20, 30))
    """A change takes some dozens of these delays: coordination is asked again and again."""
    received_ms = back_ms + rng.randint(12, 40) * slow_ms
    scene.fault(back_ms - 10, "delay", [leader, COORDINATION], 80 * slow_ms, ms=slow_ms)
    last, *early = rng.sample(others, len(others))
    for name in others:
        scene.fault(silent_ms, "cut", [leader, name], back_ms - silent_ms)
    answers = RETURNING.get(scene.family.replication, "")
    scene.fault(back_ms + 1, "hold", [leader, last], received_ms - back_ms, kind=answers, direction="from")
    step = GROWING.get(scene.family.replication)
    reaches = Trigger("step", leader, 1, "after", step) if step else None
    if reaches and scene.chance(0.9):
        scene.fault(back_ms + 2, "heal", [leader, last], 0, reaches)
    for name in early:
        kind, lost = scene.appends[0], scene.chance(0.8)
        scene.fault(back_ms, "hold", [leader, name], 2 * session, reaches, kind=kind, lost=lost)
    scene.writes(silent_ms, silent_ms + 50, 4)
    for _ in range(2):
        scene.writes(back_ms, received_ms + 20 * slow_ms, 30)
    written = Trigger("write", leader, 1, "after", rng.choice((*4 * ("configuration",), "")))
    dies = written if scene.chance(0.85) else None
    dies_ms = back_ms if dies else received_ms + rng.randint(5, 40) * slow_ms
    for name in (leader, last):
        scene.apply_fault(dies_ms, name, rng.choice((3, 5)) * session + 40 * slow_ms, dies)


GROWTHS = (
    (1, "back"),
    (1, "back"),
    (3, "add"),
    (3, "add"),
    (3, "back"),
    (3, "silent"),
)
"""Number of members that count before one more does, and its way of joining: new, after a crash, or reachable again."""


def growing(scene: Scene) -> None:
    """One more member is about to count while a busy leader commits slowly. Writes under way then reach a bare quorum, which dies with the change."""
    rng = scene.rng
    count, way = rng.choice(GROWTHS)
    scene.shape(sizes=(count if way == "add" else count + 1,), min_in_step=0)
    scene.timed(ack_timeout_ms=rng.choice((60, 200, 500)), renew_scan_ms=50)
    session, leader, others = scene.session_ms, scene.leader(), scene.others()
    change_ms = BEGIN_MS + rng.randrange(session // 2)
    back_ms = change_ms + session * 3 // 2 + 2 * scene.timing.ack_timeout_ms
    if way == "add":
        back_ms, comes = change_ms, f"mds{len(others) + 2}"
        scene.fault(back_ms, "add_server", ["g1"])
    else:
        comes = rng.choice(others)
        verb, targets = ("crash", [comes]) if way == "back" else ("cut", [leader, comes])
        scene.fault(change_ms, verb, targets, back_ms - change_ms)
        scene.writes(change_ms, change_ms + 50, 2)
    stays = [name for name in others if name != comes]
    slow_ms, commit_ms = rng.choice((20, 30, 50)), rng.choice((10, 20, 30))
    scene.fault(back_ms - 10, "delay", [leader, COORDINATION], 3 * session, ms=slow_ms)
    if not stays or scene.chance(0.7):
        scene.fault(back_ms - 10, "slow_disk", [leader], 3 * session, ms=commit_ms)
    else:
        for name in stays:
            scene.fault(back_ms - 10, "delay", [leader, name], 3 * session, ms=commit_ms)
    keeps = rng.sample(stays, min(count // 2, len(stays)))
    step = GROWING.get(scene.family.replication)
    reaches = Trigger("step", leader, 1, "after", step) if step else None
    for name in (comes, *stays):
        if name not in keeps:
            kind, lost = rng.choice(scene.appends), scene.chance(0.7)
            scene.fault(back_ms - 5, "hold", [leader, name], 2 * session, reaches, kind=kind, lost=lost)
    begins_ms = back_ms - rng.randrange(30)
    lines = [f"create /{scene.client()}-{number}" for number in range(60)]
    scene.calls(lines, begins_ms, begins_ms + rng.choice((4, 8, 12)) * len(lines), 4, "open")
    scene.burst(begins_ms + rng.randrange(100), 20)
    written = Trigger("write", leader, 1, "after", rng.choice((*5 * ("configuration",), "")))
    dies = written if scene.chance(0.9) else None
    dies_ms = back_ms - 5 if dies else back_ms + rng.randint(10, 40) * slow_ms
    for name in (leader, *keeps):
        scene.apply_fault(dies_ms, name, rng.choice((3, 5)) * session + 40 * slow_ms, dies)


def takeovers(scene: Scene) -> None:
    """One deposition follows another while messages of the old leaders are still under way."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3, 4))
    session, leader, members = scene.session_ms, scene.leader(), scene.members()
    at_ms = BEGIN_MS + rng.randrange(session)
    lasts = rng.choice((50, session // 3, session * 3 // 4, 2 * session))
    until_ms = at_ms + lasts + session
    for _ in range(rng.choice((1, 2))):
        scene.writes(at_ms - 200, until_ms, 50, hot=2)
    scene.burst(at_ms - rng.randint(2, 10), 60)
    deaf = rng.choice(("from", "from", "delay", "cut", "pause", ""))
    if deaf == "from":
        scene.fault(at_ms, "cut", [leader, COORDINATION], lasts, direction="from")
    elif deaf == "delay":
        scene.fault(at_ms, "delay", [leader, COORDINATION], lasts, ms=rng.choice((20, 100, 300)))
    elif deaf == "cut":
        scene.fault(at_ms, "cut", [leader, COORDINATION], lasts)
    elif deaf == "pause":
        scene.fault(at_ms, "pause", [leader], lasts)
    if scene.chance(0.5):
        for name in rng.sample(scene.others(), 1):
            scene.fault(at_ms, "cut", [leader, name], lasts)
    few = tuple(rng.sample(scene.kinds, min(len(scene.kinds), rng.choice((1, 2, 2, 3)))))
    nodes = scene.cluster.journal.nodes
    for kind in few:
        name, other = rng.choice(members), rng.choice((*members, *nodes))
        scene.hold(at_ms, name, other, rng.choice((20, lasts, session)), (kind,), lost=0.3)
    if scene.chance(0.4):
        writes = Trigger("write", scene.whoever(), 1, "before", rng.choice(("epoch", "epoch", "lock")))
        scene.fault(
            at_ms,
            "clog",
            [scene.whoever(), COORDINATION],
            rng.choice((session // 6, session // 3, session // 2)),
            writes,
        )
        scene.fault(at_ms, scene.family.unseats, ["g1"], 0, writes)
    for _ in range(rng.choice((1, 1, 2, 3))):
        scene.depose(at_ms + rng.randint(0, 3))
        at_ms += rng.choice((1, rng.randint(1, 60), rng.randint(1, session)))
    if scene.chance(0.5):
        on = scene.place(scene.whoever()) if scene.chance(0.5) else None
        scene.apply_fault(
            at_ms + rng.randrange(session), rng.choice(members), rng.choice((1, 3)) * session, on
        )


def unheard(scene: Scene) -> None:
    """A deposed leader does not learn of its deposition and continues with members that have answered its successor, whose first appends are late."""
    rng = scene.rng
    # Mostly without leases of the members, which end earlier.
    detection = scene.cluster.detection if scene.chance(0.2) else "session"
    scene.shape(sizes=(3, 3, 3, 4), detection=detection)
    session, leader, others = scene.session_ms, scene.leader(), scene.others()
    at_ms = BEGIN_MS + rng.randrange(session)
    lasts = rng.choice((30, session // 6, session // 3, session // 2))
    how, options = rng.choice(DEAF)
    scene.fault(at_ms - 1, how, [leader, COORDINATION], lasts + rng.choice((0, session)), **options)
    quorum = len(others) // 2 + len(others) % 2
    reached = rng.sample(others, min(len(others), quorum))
    if scene.chance(0.8):
        for name in reached:
            scene.fault(at_ms - 1, "delay", [name, COORDINATION], lasts, ms=rng.choice((10, 20, 50)))
    for heir in others:
        if heir in reached:
            continue
        if scene.chance(0.9):
            stays_ms, way = lasts + rng.choice((0, 20, session)), rng.choice(("from", "from", "from", "both"))
            scene.fault(at_ms - 1, "cut", [leader, heir], stays_ms, direction=way)
        for name in scene.cluster.journal.nodes or reached:
            kind, lost = scene.appends[0], scene.chance(0.3)
            scene.fault(at_ms - 1, "hold", [heir, name], lasts, kind=kind, lost=lost, direction="to")
    scene.writes(at_ms - 100, at_ms + lasts, 20, hot=2)
    for start_ms in (at_ms - rng.randint(2, 10), at_ms + rng.randint(2, 10)):
        scene.burst(start_ms, 40)
    scene.depose(at_ms)
    if scene.chance(0.6):
        scene.apply_fault(at_ms + lasts + rng.randrange(20), rng.choice((leader, *reached)), 2 * session)


def alone(scene: Scene) -> None:
    """The leader reaches coordination but permanently too few of the others, which must continue without it."""
    rng = scene.rng
    scene.shape(sizes=(3, 3, 4, 5))
    session, leader, others = scene.session_ms, scene.leader(), scene.others()
    at_ms = BEGIN_MS + rng.randrange(session)
    scene.writes(at_ms - 100, at_ms + session, 40, hot=2)
    reached = rng.sample(others, 1) if len(others) > 3 and scene.chance(0.3) else []
    for name in others:
        if name not in reached:
            way = rng.choice(("both", "both", "both", "to", "from"))
            scene.fault(
                at_ms + rng.choice((0, 0, rng.randrange(session))), "cut", [leader, name], direction=way
            )
    scene.span_ms += rng.choice((0, session, 3 * session))
    if scene.chance(0.3):
        scene.apply_fault(at_ms + rng.randrange(session), rng.choice(others), session)


def promiser_gone(scene: Scene) -> None:
    """Half of the members stop for good, and the rest is too few. One of these has promised when it is cut off; only those that return can replace
    it."""
    rng = scene.rng
    scene.shape(sizes=(4,))
    scene.timed(session_timeout_ms=rng.choice((1_000, 2_000)))
    session, members = scene.session_ms, scene.members()
    at_ms = BEGIN_MS + rng.randrange(2 * session)
    down = rng.sample(members, len(members) // 2)
    if scene.chance(0.8):
        down = [scene.leader(), *(name for name in down if name != scene.leader())][: len(down)]
    there = [name for name in members if name not in down]
    scene.writes(at_ms - 100, at_ms, 30, hot=2)
    for name in there:
        if scene.chance(0.8):
            scene.fault(1, "cut", [rng.choice(down), name])
    for name in down:
        scene.fault(at_ms, "crash", [name])
    scene.span_ms += rng.choice((2, 3)) * session


def outnumbered(scene: Scene) -> None:
    """Too few members are left to elect a leader, and try in vain. When others return one by one, a member that has already replied is gone."""
    rng = scene.rng
    scene.shape(sizes=(3, 4, 4, 4, 4, 5))
    session, leader, others = scene.session_ms, scene.leader(), scene.others()
    majority = (len(others) + 1) // 2 + 1
    down = [leader, *rng.sample(others, len(others) + 1 - majority)]
    at_ms = BEGIN_MS + rng.randrange(session)
    back_ms = at_ms + session * rng.randint(12, 40) // 10
    scene.writes(at_ms - 100, at_ms, 10)
    scene.writes(back_ms, back_ms + 3 * session, 20)
    replied = Trigger("sent", scene.whoever(), 1, "after", PROMISES.get(scene.family.replication, ""))
    way = rng.choice(("gone", "gone", "gone", "crash", "pause", "cut"))
    scene.fault(back_ms - rng.choice((1, session // 3, session)), way, [scene.whoever()], 0, replied)
    for name in rng.sample(down, len(down)):
        scene.apply_fault(at_ms, name, back_ms - at_ms)
        back_ms += rng.choice((0, 20, 150, 150, session // 2))
