"""Servers that the record of a group does not name, or names with another disk, and that lead or acknowledge nevertheless."""

from __future__ import annotations

from nodes.explore.stories.scene import BEGIN_MS, COORDINATION, Scene
from nodes.sim.triggers import Trigger


def unrecorded(scene: Scene) -> None:
    """All members start again, one of them with a new and slow disk. It promises when the next leader has recorded the other disks, and acknowledges
    before that leader has registered its standbys."""
    rng = scene.rng
    # Mostly without leases of the members: the leader waits until the old ones end before it records, and all have promised by then.
    detection = scene.cluster.detection if scene.chance(0.2) else "session"
    scene.shape(sizes=(3,), min_in_step=0, detection=detection)
    scene.precise()
    members, comes = scene.members(), rng.choice(scene.members())
    at_ms = BEGIN_MS + rng.randrange(200)
    lasts, slow_ms = 3 * scene.session_ms, rng.choice((30, 50, 80))
    elected = Trigger("step", scene.whoever(), 1, "after", "upgrade/2")
    scene.writes(at_ms - 100, at_ms + 500, 20)
    for name in members:
        scene.fault(at_ms, "new_disk" if name == comes else "crash", [name], 50)
        scene.fault(at_ms, "delay", [name, COORDINATION], lasts, elected, ms=slow_ms)
        for other in members:
            if other != name:
                scene.fault(at_ms, "hold", [name, other], lasts, kind="Register", lost=True, direction="to")
    scene.fault(at_ms, "slow_disk", [comes], lasts, ms=rng.choice((20, 30, 40, 60)))


def led_from_outside(scene: Scene) -> None:
    """A server that was left out of a quiet group returns. Before it is renewed the sessions of all others end."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3, 4), min_in_step=0)
    scene.precise()
    scene.timed(ack_timeout_ms=rng.choice((60, 100, 200)))
    session, members = scene.session_ms, scene.members()
    outside = rng.choice(scene.others())
    away_ms = BEGIN_MS + rng.randrange(100)
    back_ms = away_ms + 2 * session + rng.randrange(session)
    scene.writes(0, away_ms + scene.chance(0.5) * session, 10, style="closed")
    scene.fault(away_ms, "crash", [outside], back_ms - away_ms)
    ends_ms = back_ms + rng.choice((20, 40, 60, 100, 150))
    for name in members:
        if name != outside:
            scene.fault(ends_ms, "expire_session", [name])
    scene.writes(ends_ms, ends_ms + 2 * session, 20)


def settled_anew(scene: Scene) -> None:
    """A server with an empty disk that joins has told what it has, and is replaced by a life with another disk before it receives the rest."""
    rng = scene.rng
    # Without one of three, the rest may not lose another disk, not even one that has yet to join: more must be judged than safety.
    scene.shape(sizes=(3, 4, 4, 4, 5))
    scene.precise()
    session, comes = scene.session_ms, rng.choice(scene.others())
    at_ms = BEGIN_MS + rng.randrange(200)
    back_ms = at_ms + 2 * session + rng.randrange(session)
    scene.writes(0, at_ms + rng.choice((0, 300, session)), 20)
    scene.fault(at_ms, "new_disk", [comes], back_ms - at_ms)
    again_ms = rng.choice((5, 20))
    late_ms = again_ms + rng.choice((20, 40, 80))
    sent = Trigger("sent", comes, rng.choice((1, 1, 1, 2)), "after", "Flushed")
    for name in scene.members():
        if name != comes:
            scene.fault(back_ms - 1, "hold", [name, comes], late_ms, sent, kind="Settle", direction="to")
    scene.fault(back_ms - 1, "new_disk", [comes], again_ms, sent)
    scene.writes(back_ms + session, back_ms + 2 * session, 10)
