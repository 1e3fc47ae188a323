"""Servers that answer reads under an old lease while the others continue without them."""

from __future__ import annotations

from typing import Any

from nodes.explore.stories.scene import BEGIN_MS, COORDINATION, Scene, leave_one
from nodes.sim.triggers import Trigger

HOT = 2
READS = 90
WRITES = 50


def shores(scene: Scene) -> None:
    """A server is cut off together with its readers. The other side soon has another leader, and names are toggled there."""
    rng = scene.rng
    scene.shape()
    scene.timed(client_timeout_ms=rng.choice((30, 100)))
    session, members = scene.session_ms, scene.members()
    victim = rng.choice((scene.leader(), scene.leader(), *scene.others()[:1]))
    cut_ms = BEGIN_MS + rng.randrange(session)
    apart_ms = cut_ms + rng.choice((0, session * 3 // 10, rng.randrange(session)))
    until_ms = apart_ms + 5 * session // 2
    readers = [scene.reads(cut_ms - 200, until_ms, READS, HOT) for _ in range(rng.choice((1, 1, 2)))]
    for _ in range(rng.choice((1, 2))):
        scene.writes(cut_ms - 200, until_ms, WRITES, HOT)
    if scene.chance(0.2):
        scene.drift(victim)
    if scene.chance(0.3):
        scene.fault(cut_ms - rng.randrange(200), "cut", [f"{COORDINATION}{rng.randint(1, 3)}"], 3 * session)
    if apart_ms > cut_ms:
        scene.fault(cut_ms, "cut", [victim, COORDINATION], until_ms - cut_ms)
    if scene.chance(0.4):
        lasts = rng.choice((until_ms - apart_ms, 0))
        for other in members:
            if other != victim:
                scene.fault(apart_ms, "cut", [victim, other], lasts)
    else:
        scene.fault(apart_ms, "cut", [victim, *readers], until_ms - apart_ms, island=True)
    if scene.chance(0.7):
        at_ms = apart_ms + rng.choice((0, 0, 0, rng.randrange(100)))
        if scene.chance(0.8):
            scene.fault(at_ms, "expire_session", [victim])
        else:
            scene.depose(at_ms)


def last_moments(scene: Scene) -> None:
    """A lease is about to expire, by clocks that drift apart or under a session that is shorter than requested. The next leader has no time to
    wait."""
    rng = scene.rng
    # Mostly without leases of the members, which end earlier.
    detection = scene.cluster.detection if scene.chance(0.2) else "session"
    scene.shape(sizes=(2, 3), detection=detection)
    scene.precise()
    scene.timed(client_timeout_ms=30, session_timeout_ms=2_000, heartbeat_ms=rng.choice((500, 600)))
    session, victim = scene.session_ms, scene.leader()
    cut_ms = BEGIN_MS + rng.randrange(session)
    if scene.chance(0.5):
        scene.drift(victim, apart=True)
        apart_ms = cut_ms + session * rng.randint(3, 6) // 10
        scene.fault(cut_ms, "cut", [victim, COORDINATION], 2 * session)
    else:
        scene.weather["session_max_ms"] = session * 4 // 10
        apart_ms = cut_ms
    reader = scene.reads(apart_ms - 50, apart_ms + 1_300, 110, HOT)
    for _ in range(2):
        scene.writes(apart_ms - 100, apart_ms + 1_300, 90, HOT)
    scene.fault(apart_ms, "cut", [victim, reader], session, island=True)
    scene.fault(apart_ms + rng.choice((0, 0, 20)), "expire_session", [victim])


LAST_SAID = (*4 * ("Flushed",), "Settled", "Alive", "Held")
"""Last messages that a member may send before it becomes deaf."""
TOGETHER = (*3 * (("Settle", "Installed"),), ("Installed",), ("Flush", "Installed"))
"""Messages without which a member does not learn how a change of the view has ended."""


def views(scene: Scene) -> None:
    """The view changes within a lease, and some members do not learn the result: a member that is left out has readers that ask no other server."""
    deaf, _, at_ms, until_ms = view_changes(scene)
    deaf_once(scene, deaf, at_ms, until_ms)


def views_twice(scene: Scene) -> None:
    """The view changes twice within a lease. One member learns late how the first change ended, and another receives nothing more."""
    deaf, late, at_ms, until_ms = view_changes(scene)
    second = Trigger("sent", scene.leader(), 1, "after", "Installed")
    hears_late(scene, late, at_ms, until_ms)
    hears_nothing_after(scene, deaf, at_ms, until_ms, scene.rng.choice((*4 * ("Settled",), "Flushed")))
    scene.fault(at_ms + 1, "force_view", ["g1"], 0, second if scene.chance(0.95) else None)


def reached_late(scene: Scene) -> None:
    """What one member appends reaches another one late, but before anyone is left out. Names are toggled at the first. The other one writes, too, and
    is read."""
    rng = scene.rng
    lease = rng.choice((500, 1_000, 2_000))
    scene.shape(sizes=(3, 3, 3, 4, 5))
    scene.precise()
    scene.timed(client_timeout_ms=rng.choice((30, 100)), ack_timeout_ms=lease)
    source, late = rng.sample(scene.members(), 2)
    at_ms = BEGIN_MS + rng.randrange(300)
    lasts = lease * rng.randint(2, 8) // 10
    toggles = scene.writes(at_ms - 250, at_ms + lasts, WRITES, HOT, rng.choice(("open", "closed")))
    writes = scene.writes(at_ms - 250, at_ms + lasts, WRITES, style="open")
    reads = scene.reads(at_ms - 250, at_ms + lasts, READS, HOT)
    for client, server in ((toggles, source), (writes, late), (reads, late)):
        leave_one(scene, client, server, at_ms - 249, lasts + lease)
    scene.fault(at_ms, "hold", [source, late], lasts, kind=scene.appends[0], direction="to")


def view_changes(scene: Scene) -> tuple[str, str, int, int]:
    """Two members other than the change's initiator, and the time in which the readers ask."""
    rng = scene.rng
    lease = rng.choice((1_200, 2_000))
    deaf, late = two_others(scene, lease)
    scene.precise()
    at_ms = BEGIN_MS + lease * rng.randint(12, 20) // 10
    until_ms = at_ms + lease + 500
    looks(scene, deaf, late, at_ms, until_ms)
    scene.fault(at_ms + 1, "force_view", ["g1"])
    return deaf, late, at_ms, until_ms


def rejoins(scene: Scene) -> None:
    """A member that was away is in the view again, but learns this only when the next change has begun, of which another member receives nothing. The
    leases from before its return have nearly ended by then."""
    rng = scene.rng
    lease = rng.choice((1_000, 2_000, 2_000))
    deaf, late = two_others(scene, lease, (*5 * (3,), 4))
    scene.precise()
    away_ms = lease * rng.randint(12, 14) // 10
    at_ms = BEGIN_MS + away_ms + lease * rng.randint(12, 14) // 10
    next_ms = at_ms + lease * rng.randint(9, 13) // 10
    until_ms = next_ms + 2 * lease
    looks(scene, deaf, late, at_ms, until_ms)
    comes_back(scene, late, away_ms, at_ms)
    hears_late(scene, late, at_ms, until_ms)
    if scene.chance(0.95):
        mute: dict[str, Any] = {"kind": "Alive", "lost": True, "direction": "to"}
        scene.fault(at_ms, "hold", [late, scene.leader()], until_ms - at_ms, **mute)
    few = rng.choice((*3 * (("Flush", "Installed"),), *2 * (("Flush",),), ("Settle", "Installed")))
    unheard(scene, deaf, few, next_ms - 1, until_ms)
    scene.fault(next_ms, "force_view", ["g1"])


def two_others(scene: Scene, lease_ms: int, sizes: tuple[int, ...] = (3, 3, 3, 4)) -> list[str]:
    """Two members beside the initiator of the change."""
    rng = scene.rng
    scene.shape(sizes=sizes)
    scene.timed(client_timeout_ms=rng.choice((30, 100)), ack_timeout_ms=lease_ms)
    return rng.sample(scene.others(), 2)


def looks(scene: Scene, deaf: str, late: str, at_ms: int, until_ms: int) -> None:
    """Readers ask one member alone, writers ask the members that receive everything."""
    rng = scene.rng
    reader = scene.reads(at_ms - 100, until_ms, READS, HOT)
    writer = scene.writes(at_ms - 100, until_ms, WRITES, HOT)
    leave_one(scene, reader, deaf, at_ms - 99, until_ms - at_ms)
    for other in (deaf, late) if rng.random() < 0.7 else (deaf,):
        scene.fault(at_ms - 99, "cut", [writer, other], until_ms - at_ms)


def unheard(
    scene: Scene, name: str, kinds: tuple[str, ...], at_ms: int, until_ms: int, on: Trigger | None = None
) -> None:
    """These messages, and notifications of the coordination service, do not reach one member."""
    way = scene.rng.choice(("both", "from"))
    scene.fault(at_ms, "cut", [name, COORDINATION], until_ms - at_ms, on, direction=way)
    for kind in kinds:
        for other in scene.members():
            if other != name:
                scene.fault(
                    at_ms, "hold", [other, name], until_ms - at_ms, on, kind=kind, lost=True, direction="to"
                )


def hears_nothing_after(scene: Scene, name: str, at_ms: int, until_ms: int, said: str) -> None:
    """The member also does not learn how the change ends in which it takes part."""
    unheard(scene, name, ("Installed",), at_ms, until_ms)
    for other in scene.members():
        if other != name:
            on = Trigger("sent", name, 1, "after", said)
            scene.fault(at_ms, "cut", [name, other], until_ms - at_ms, on, direction="from")


def hears_late(scene: Scene, name: str, at_ms: int, until_ms: int) -> None:
    """The member learns how a change has ended only after it has reported its state for the next one."""
    unheard(scene, name, ("Installed",), at_ms, until_ms)
    scene.fault(at_ms, "heal", [name, COORDINATION], 0, Trigger("sent", name, 2, "after", "Flushed"))


def deaf_once(scene: Scene, name: str, at_ms: int, until_ms: int) -> None:
    """The member receives nothing after a message of its own, or none of some messages."""
    rng = scene.rng
    if scene.chance(0.5):
        hears_nothing_after(scene, name, at_ms, until_ms, rng.choice(LAST_SAID))
    else:
        few = rng.choice((*TOGETHER, tuple(rng.sample(scene.kinds, 2))))
        unheard(scene, name, few, at_ms, until_ms)


def comes_back(scene: Scene, name: str, away_ms: int, at_ms: int) -> None:
    """A member that was away long enough to be left out returns, and the others do not learn of it for a while."""
    for other in scene.members():
        if other != name:
            scene.fault(1, "hold", [name, other], at_ms - 1, kind="JoinView", lost=True, direction="to")
    scene.fault(1, scene.rng.choice(("crash", "stop")), [name], away_ms)
