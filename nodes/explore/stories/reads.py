"""Who answers reads by what it was once granted, while the others go on without it."""

from __future__ import annotations

from nodes.explore.stories.scene import BEGIN_MS, COORDINATION, Scene
from nodes.sim.triggers import Trigger

HOT = 2
READS = 90
WRITES = 50


def shores(scene: Scene) -> None:
    """Somebody is cut off with its readers; on the other side there is soon another leader, and names are toggled."""
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
    if scene.chance(0.3):
        for other in members:
            if other != victim:
                scene.fault(apart_ms, "cut", [victim, other], until_ms - apart_ms)
    else:
        scene.fault(apart_ms, "cut", [victim, *readers], until_ms - apart_ms, island=True)
    if scene.chance(0.7):
        at_ms = apart_ms + rng.choice((0, 0, 0, rng.randrange(100)))
        if scene.chance(0.8):
            scene.fault(at_ms, "expire_session", [victim])
        else:
            scene.depose(at_ms)


def last_moments(scene: Scene) -> None:
    """A lease is about to run out, by clocks that drift apart or of a session that is shorter than was asked for; the next leader cannot wait."""
    rng = scene.rng
    scene.shape(sizes=(2, 3))
    scene.timed(client_timeout_ms=30, session_timeout_ms=2_000, heartbeat_ms=rng.choice((500, 600)))
    session, victim = scene.session_ms, scene.leader()
    cut_ms = BEGIN_MS + rng.randrange(session)
    if scene.chance(0.5):
        scene.drift(victim, apart=True)
        apart_ms = cut_ms + session * rng.randint(2, 6) // 10
        scene.fault(cut_ms, "cut", [victim, COORDINATION], 2 * session)
    else:
        scene.weather["session_max_ms"] = session * 4 // 10
        apart_ms = cut_ms
    reader = scene.reads(apart_ms - 50, apart_ms + 1_300, 110, HOT)
    for _ in range(2):
        scene.writes(apart_ms - 100, apart_ms + 1_300, 90, HOT)
    scene.fault(apart_ms, "cut", [victim, reader], session, island=True)
    scene.fault(apart_ms + rng.choice((0, 0, 20)), "expire_session", [victim])


LAST_SAID = ("Flushed", "Flushed", "Settled", "Alive", "Held")
"""What somebody may have said last before it hears nothing any more."""
TOGETHER = (("Settle", "Installed"), ("Settle", "Installed"), ("Installed",), ("Flush", "Installed"))
"""Messages without which a member does not learn how a change of the view has ended."""


def views(scene: Scene) -> None:
    """The view changes once or several times, and not everybody hears of it: who is behind has readers that ask nobody else."""
    rng = scene.rng
    scene.shape(sizes=(3, 3, 4))
    scene.timed(client_timeout_ms=rng.choice((30, 100)), ack_timeout_ms=rng.choice((500, 1_200, 2_000)))
    session, members = scene.session_ms, scene.members()
    deaf = rng.sample(members, rng.choice((1, 1, 2)))
    at_ms = BEGIN_MS + session + rng.randrange(session)
    lasts = rng.choice((session // 2, session, 2 * session))
    until_ms = at_ms + lasts + session
    for name in deaf:
        reader = scene.reads(at_ms - 200, until_ms, READS, HOT)
        for other in members:
            if other != name:
                scene.fault(at_ms - 100, "cut", [reader, other], until_ms - at_ms)
    writer = scene.writes(at_ms - 200, until_ms, WRITES, HOT)
    for name in deaf:
        scene.fault(at_ms - 100, "cut", [writer, name], until_ms - at_ms)
    if scene.chance(0.3):
        away = rng.choice(members)
        scene.fault(rng.randrange(at_ms), "crash", [away], rng.choice((200, session)))
    few = rng.choice((*TOGETHER, tuple(rng.sample(scene.kinds, rng.choice((1, 2, 3))))))
    how = rng.choice(("said", "said", "kinds"))
    for name in deaf:
        said = Trigger("sent", name, rng.choice((1, 1, 2)), "after", rng.choice(LAST_SAID))
        if scene.chance(0.8):
            on = said if how == "said" and scene.chance(0.5) else None
            scene.fault(at_ms, "cut", [name, COORDINATION], lasts, on, direction=rng.choice(("both", "from")))
        for other in members:
            if other != name:
                if how == "said":
                    scene.fault(at_ms, "cut", [name, other], lasts, said, direction="from")
                else:
                    for kind in few:
                        scene.fault(at_ms, "hold", [other, name], lasts, kind=kind, lost=True, direction="to")
    for _ in range(rng.choice((1, 2, 2, 3))):
        at_ms += rng.choice((1, rng.randint(1, 60), rng.randint(1, session // 2)))
        scene.depose(at_ms)
        if scene.chance(0.3):
            name, other = rng.sample(members, 2)
            scene.hold(at_ms, name, other, rng.choice((50, session)))
        if scene.chance(0.2):
            scene.strike(at_ms + rng.randint(1, session), rng.choice(members), rng.choice((1, 3)) * session)
