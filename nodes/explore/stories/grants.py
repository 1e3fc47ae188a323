"""Leases that members or journal nodes grant: an old active, its readers and a few of those that grant, at the moment when the next one begins."""

from __future__ import annotations

from nodes.explore.stories.scene import BEGIN_MS, COORDINATION, Scene, leave_one
from nodes.sim.triggers import Trigger

HOT = 2
NEXT = ("Recover", "Prepare", "Commit", "AskGrant")
"""Messages of the next active that a former one would obey."""
LATE_MS = 2_500
"""The record of an end lands up to this much later."""


def granted(scene: Scene, sizes: tuple[int, ...]) -> int:
    """Shapes a group whose grants are much shorter than its sessions, and whose members stay though they are silent. The length of a grant in ms."""
    rng = scene.rng
    scene.shape(sizes=sizes, detection="members")
    scene.precise()
    session, grant = rng.choice((2_000, 5_000)), rng.choice((300, 400))
    scene.timed(
        session_timeout_ms=session,
        heartbeat_ms=session // 4,
        grant_ms=grant,
        draw_wait_ms=10,
        ack_timeout_ms=rng.choice((800, 3_000)),
        renew_scan_ms=50,
        client_timeout_ms=rng.choice((30, 30, 100)),
    )
    return grant


def readers_and_writers(
    scene: Scene, at_ms: int, until_ms: int, early_ms: int = 100, active: str = ""
) -> None:
    """Readers ask the old active alone, writers all others alone, from early on: a write that it cannot replicate would hold its reads back."""
    rng, leader = scene.rng, active or scene.leader()
    reader = scene.reads(at_ms - 50, until_ms, (until_ms - at_ms) // 8, HOT)
    leave_one(scene, reader, leader, at_ms - 49, until_ms - at_ms)
    first_ms = at_ms - early_ms
    for _ in range(2):
        writer = scene.writes(
            first_ms, until_ms, (until_ms - first_ms) // 12, HOT, rng.choice(("open", "closed"))
        )
        scene.fault(first_ms + 1, "cut", [writer, leader], until_ms - first_ms)


def apart(scene: Scene, at_ms: int, until_ms: int, active: str = "") -> None:
    """The old active is cut off and does not learn that its session has ended."""
    leader = active or scene.leader()
    for name in dict.fromkeys((*scene.members(), *scene.holders(), COORDINATION)):
        if name != leader:
            scene.fault(at_ms, "cut", [leader, name], until_ms - at_ms)
    scene.fault(at_ms + scene.rng.choice((0, 0, 1, 5)), "expire_session", [leader])


def cut_under_grants(scene: Scene) -> None:
    """The active is deposed and cut off while grants last that some gave it."""
    grant, others = granted(scene, (3,)), scene.holders()
    keeps = few_of(scene, others) if scene.chance(0.5) else others
    at_ms, until_ms = under_grants(scene, grant, keeps)
    if scene.chance(0.15):
        scene.drift(scene.leader())
    apart(scene, at_ms, until_ms)
    readers_and_writers(scene, at_ms, until_ms, 2 * grant)


def restarted_under_grants(scene: Scene) -> None:
    """The active is deposed and cut off while grants last that few gave it, and these restart."""
    grant = granted(scene, (3,))
    keeps = few_of(scene, scene.holders())
    at_ms, until_ms = under_grants(scene, grant, keeps)
    apart(scene, at_ms, until_ms)
    for name in keeps:
        scene.fault(at_ms + scene.rng.choice((0, 1, 5)), "crash", [name], scene.rng.choice((1, 1, 5)))
    if scene.chance(0.4):
        scene.drift(scene.leader())
    readers_and_writers(scene, at_ms, until_ms, 2 * grant)


def late_grants(scene: Scene) -> None:
    """The active is deposed and cut off, and the last grant that few gave it was late."""
    grant, leader = granted(scene, (3,)), scene.leader()
    keeps = few_of(scene, scene.holders())
    at_ms, until_ms = under_grants(scene, grant, keeps)
    late_ms = grant * scene.rng.randint(5, 9) // 10
    for name in keeps:
        scene.fault(at_ms - late_ms, "hold", [name, leader], late_ms - 2, kind="Granted", direction="to")
        first = Trigger("delivered", leader, 1, "after", "AskGrant", name)
        lasts = late_ms + until_ms - at_ms
        scene.fault(at_ms - late_ms, "cut", [leader, name], lasts, first, direction="to")
    apart(scene, at_ms, until_ms)
    readers_and_writers(scene, at_ms, until_ms, 2 * grant)


def few_of(scene: Scene, others: list[str]) -> list[str]:
    """As many of those that grant as are just enough: half of the other members, or a majority of the journal nodes."""
    least = len(others) // 2 + 1 if scene.family.journal_nodes else (len(others) + 1) // 2
    return scene.rng.sample(others, least)


def under_grants(scene: Scene, grant: int, keeps: list[str]) -> tuple[int, int]:
    """The grants of all but a few run out. The times at which the active is deposed, and until which it is cut off."""
    rng, leader = scene.rng, scene.leader()
    at_ms = BEGIN_MS + 3 * grant + rng.randrange(grant)
    until_ms = at_ms + 2 * grant + 200
    for name in scene.holders():
        if name not in keeps:
            cut_ms = at_ms - grant * rng.randint(12, 15) // 10
            scene.fault(cut_ms, "cut", [leader, name], until_ms - cut_ms)
    return at_ms, until_ms


def outgrown_grants(scene: Scene) -> None:
    """A tenure begins with two members, and two more return. They elect without the other two, of which one still grants the lease."""
    rng = scene.rng
    grant = granted(scene, (4,))
    scene.timed(session_timeout_ms=2_000, heartbeat_ms=500, ack_timeout_ms=300)
    old, *away = scene.others()
    passed_ms = BEGIN_MS + scene.session_ms + rng.choice((600, 1_200))
    back_ms = passed_ms + rng.choice((200, 300))
    at_ms = back_ms + rng.choice((1_000, 1_500, 2_000)) + rng.randrange(grant)
    until_ms = at_ms + 2 * grant + 200
    for name in away:
        scene.fault(BEGIN_MS, "crash", [name], back_ms - BEGIN_MS)
        cut_ms = at_ms - grant * rng.randint(12, 15) // 10
        scene.fault(cut_ms, "cut", [old, name], until_ms - cut_ms)
    scene.writes(BEGIN_MS, back_ms, 10)
    scene.fault(passed_ms, "hand_over", ["active of g1", old])
    apart(scene, at_ms, until_ms, old)
    readers_and_writers(scene, at_ms, until_ms, 2 * grant, old)


def ended_late(scene: Scene) -> None:
    """An active restarts, and the lead is handed back to it. The record of its first end lands only later, when it does not learn of it."""
    rng = scene.rng
    granted(scene, (3, 3, 3, 4))
    leader = scene.leader()
    scene.timed(session_timeout_ms=5_000, heartbeat_ms=1_250)
    scene.weather |= {"ends_recorded": True, "ends_late_ms": LATE_MS}
    at_ms = BEGIN_MS + rng.randrange(100)
    back_ms = at_ms + rng.choice((200, 200, 400))
    scene.fault(at_ms, "crash", [leader], rng.choice((5, 20)))
    scene.fault(at_ms + 2, "expire_session", [leader])
    scene.fault(back_ms, "hand_over", ["active of g1", leader])
    from_ms = back_ms + rng.choice((50, 100, 100, 200))
    until_ms = from_ms + scene.session_ms // 2
    scene.fault(from_ms, "cut", [leader, COORDINATION], until_ms - from_ms)
    for name in scene.others():
        for kind in NEXT:
            scene.fault(
                from_ms, "hold", [name, leader], until_ms - from_ms, kind=kind, lost=True, direction="to"
            )
    readers_and_writers(scene, from_ms, until_ms)


def forgotten_promise(scene: Scene) -> None:
    """A member that has promised the next epoch loses its disk, and with it the promise. It meets the old active first, which has a write open."""
    rng = scene.rng
    grant = granted(scene, (3,))
    scene.timed(ack_timeout_ms=800)
    leader, others = scene.leader(), scene.others()
    forgets = rng.choice(others)
    at_ms = BEGIN_MS + grant + rng.randrange(grant)
    lost_ms = at_ms + grant + rng.choice((100, 150, 250))
    until_ms = lost_ms + 2 * grant + 200
    scene.calls([f"create /open-{at_ms}"], at_ms + 1, at_ms + 2, 1, "open")
    for name in others:
        scene.fault(at_ms, "cut", [f"c{len(scene.callers)}", name], until_ms - at_ms)
        scene.fault(at_ms, "cut", [leader, name], (lost_ms + 2 if name == forgets else until_ms) - at_ms)
    scene.fault(at_ms, "cut", [leader, COORDINATION], until_ms - at_ms)
    scene.fault(at_ms + 1, "expire_session", [leader])
    scene.fault(at_ms, "cut", [forgets, COORDINATION], until_ms - at_ms)
    for name in others:
        if name != forgets:
            scene.fault(lost_ms - 1, "cut", [forgets, name], until_ms - lost_ms)
    scene.fault(lost_ms, "new_disk", [forgets], rng.choice((1, 5, 20)))
    readers_and_writers(scene, at_ms, until_ms)


def late_words(scene: Scene) -> None:
    """The active leaves a silent member out, and its write is late. The others remove its lock meanwhile, and one of them leads when it lands.

    That one dies then, with what it wrote last on few others.
    """
    rng = scene.rng
    grant, ack = granted(scene, (4,)), 300
    scene.timed(ack_timeout_ms=ack)
    leader = scene.leader()
    first, *rest = rng.sample(scene.others(), len(scene.others()))
    at_ms = BEGIN_MS + 2 * grant + rng.randrange(grant)
    lasts = 2 * grant + rng.choice((200, 400))
    lands_ms = at_ms + ack + 30 + lasts
    writes = Trigger("write", leader, 1, "before", "configuration")
    scene.fault(at_ms, "cut", [leader, first], lasts + ack)
    for name in rest:
        scene.fault(at_ms + 1, "cut", [leader, name], lasts + 50, writes)
        for other in rest:
            if other != name:
                scene.hold(lands_ms - 100, name, other, 400, scene.appends[:1], 1)
    scene.fault(at_ms + 1, "clog", [leader, COORDINATION], lasts, writes, direction="to")
    learns = Trigger("sent", first, 1, "after", "Register")
    scene.fault(lands_ms - 150, "crash", ["active of g1"], 3 * scene.session_ms, learns)
    scene.writes(0, lands_ms + 1_000, lands_ms // 10, HOT, "closed")
    scene.writes(0, lands_ms + 1_000, lands_ms // 10, HOT, "closed")
