"""Planned handovers of the active role: under load, one after the other, and with a failure at each of their steps."""

from __future__ import annotations

from nodes.explore.stories.scene import BEGIN_MS, COORDINATION, Scene
from nodes.sim.triggers import Trigger

STEPS = ("handover/ask", "handover/pass", "election/lock", "upgrade/2", "upgrade/3", "upgrade/4")
MESSAGES = ("HandOver", "HandOverReply")
READS = 90
WRITES = 50
HOT = 2


def passed_on(scene: Scene) -> None:
    """An operator hands the active role over while names are toggled and read. Some server or link fails at a step of it."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3, 4), groups=rng.choice((1, 1, 1, 2)))
    scene.timed(client_timeout_ms=rng.choice((30, 100, 400)), ack_timeout_ms=rng.choice((60, 200, 500)))
    session, leader, others = scene.session_ms, scene.leader(), scene.others()
    at_ms = BEGIN_MS + rng.randrange(session)
    successor = rng.choice(others)
    named = scene.chance(0.6)
    moment_ms = at_ms
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        first = moment_ms == at_ms
        targets = [leader, successor] if first and named else ["active of g1"]
        scene.fault(moment_ms, "hand_over", targets)
        moment_ms += rng.choice((1, rng.randint(1, 60), rng.randint(1, session)))
    until_ms = moment_ms + rng.choice((session, 2 * session))
    reader = scene.reads(at_ms - 200, until_ms, READS, HOT)
    for _ in range(rng.choice((1, 2))):
        scene.writes(at_ms - 200, until_ms, WRITES, HOT)
    scene.burst(at_ms - rng.randint(2, 10))
    if scene.chance(0.3):  # The reader goes on asking the old active.
        scene.fault(at_ms - 100, "cut", [reader, successor], until_ms - at_ms)
    for _ in range(rng.choice((0, 1, 1, 2))):
        fails(scene, at_ms - 1, successor)


def fails(scene: Scene, at_ms: int, successor: str) -> None:
    """A failure around a handover that begins a moment later."""
    rng, session, leader = scene.rng, scene.session_ms, scene.leader()
    victim = rng.choice((leader, successor, scene.whoever(), rng.choice(scene.others())))
    watched = scene.whoever() if victim == scene.whoever() else rng.choice((leader, successor))
    when = rng.choice(("before", "after"))
    on = rng.choice(
        (
            Trigger("step", watched, 1, "after", rng.choice(STEPS)),
            Trigger("step", watched, 1, "after", rng.choice(STEPS)),
            Trigger(rng.choice(("sent", "delivered")), watched, 1, when, rng.choice(MESSAGES)),
            Trigger("write", watched, rng.choice((1, 1, 2)), when, rng.choice(("lock", "epoch", ""))),
            scene.place(watched),
        )
    )
    lasts = rng.choice((20, session // 3, session, 3 * session))
    way = rng.choice(("dies", "dies", "pause", "coordination", "clog", "hold", "depose", "grows"))
    if way == "dies":
        scene.apply_fault(at_ms, victim, lasts, on)
    elif way == "pause":
        scene.fault(at_ms, "pause", [victim], lasts, on)
    elif way == "coordination":
        scene.fault(
            at_ms, "cut", [victim, COORDINATION], lasts, on, direction=rng.choice(("both", "from", "to"))
        )
    elif way == "clog":
        scene.fault(at_ms, "clog", [leader, rng.choice((COORDINATION, successor))], lasts, on)
    elif way == "hold":
        scene.hold(at_ms, leader, successor, lasts, (*MESSAGES, *scene.appends))
    elif way == "depose":
        verb, target = rng.choice(((scene.family.unseats, "g1"), ("expire_session", leader)))
        scene.fault(at_ms, verb, [target], 0, on)
    else:
        scene.fault(at_ms, "add_server", ["g1"], 0, on)
