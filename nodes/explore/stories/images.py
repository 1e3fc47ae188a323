"""Images, pruned journals, and ways back."""

from __future__ import annotations

from nodes.config import Knobs
from nodes.explore.stories.scene import BEGIN_MS, Scene
from nodes.sim.triggers import Trigger


def images(scene: Scene) -> None:
    """Images are frequent and journals short; something old rots, somebody was away for long, and everybody loses power."""
    rng = scene.rng
    knobs = Knobs(
        segment_bytes=rng.choice((0, 300)),
        recent_records=rng.choice((0, 1)),
        records_per_group=rng.choice((0, 1)),
    )
    scene.shape(
        sizes=(2, 3, 3, 4), groups=rng.choice((1, 1, 2)), image_every=rng.choice((2, 5, 10)), image_gap=rng.choice((1, 2, 20)),
        log_octets=rng.choice((1 << 12, 1 << 13, 1 << 16)), image_partitions=rng.choice((1, 2)), knobs=knobs,
    )  # fmt: skip
    session, leader, others = scene.session_ms, scene.leader(), scene.others()
    strike_ms = BEGIN_MS + 2 * session + rng.randrange(session)
    scene.writes(0, strike_ms, 80)
    scene.writes(strike_ms, strike_ms + 3 * session, 20)
    away = rng.sample(others, rng.choice((0, 0, 1)) if others else 0)
    for name in away:
        scene.strike(rng.randrange(BEGIN_MS), name, strike_ms + rng.choice((1, session)))
    rotten = rng.choice((leader, *others))
    what = rng.choice(("image", "image", "journal"))
    rot_ms = strike_ms - rng.choice((1, 1, session))
    if scene.chance(0.8):
        scene.fault(rot_ms, "corrupt", [rotten], what=what, place=rng.choice(("middle", "drawn")))
    if what == "journal" and scene.chance(0.6):
        return
    gone = rng.choice((leader, *others, ""))
    for name in scene.members():
        if name not in away and (name == rotten or scene.chance(0.8)):
            lasts = 6 * session if name == gone and name != rotten else rng.randint(1, session)
            scene.fault(strike_ms, "power_loss", [name], lasts, torn="nothing")


def going_back(scene: Scene) -> None:
    """Checkpoints are marked under load; then the cluster goes back, some lose power on the way, or slept through it all."""
    rng = scene.rng
    scene.shape(
        sizes=(2, 3, 3), groups=rng.choice((1, 1, 2, 2)), image_every=rng.choice((2, 5, 20)), image_gap=rng.choice((2, 20, 5_000)),
        log_octets=rng.choice((1 << 12, 1 << 13, 1 << 16)), image_partitions=rng.choice((1, 2)),
    )  # fmt: skip
    session, members = scene.session_ms, scene.members()
    mark_ms = BEGIN_MS + rng.randrange(session)
    back_ms = mark_ms + rng.choice((session // 2, session, 2 * session))
    until_ms = back_ms + 2 * session
    loaded_ms = rng.choice((until_ms, back_ms - 50))
    for _ in range(2):
        scene.calls(
            moves(scene, 40), 0, loaded_ms, rng.choice((1, 2)), rng.choice(("closed", "open", "saturate"))
        )
    scene.fault(mark_ms, "mark", ["k1"])
    if scene.chance(0.4):
        scene.fault(rng.randint(mark_ms, back_ms), "mark", ["k2"])
    if scene.chance(0.4):
        scene.strike(
            rng.randrange(mark_ms), rng.choice(members), back_ms - mark_ms + rng.choice((1, session))
        )
    if scene.chance(0.4):
        for name in scene.some(members, 1):
            scene.fault(back_ms - 1, "corrupt", [name], what="image", place=rng.choice(("middle", "drawn")))
    scene.fault(back_ms, "recover", [rng.choice(("k1", "k1", "k2"))])
    struck = scene.some(members)
    step = rng.choice(("begin", "time", "drain", "drained", "decided", "resume"))
    on = Trigger("step", rng.choice((scene.leader(), scene.whoever())), 1, "after", f"checkpoint/{step}")
    if scene.chance(0.3):
        when, name = rng.choice(("before", "after")), rng.choice(("", "journal", "image"))
        on = Trigger("sync", rng.choice((*members, scene.whoever())), rng.randint(1, 6), when, name)
    tied = scene.chance(0.7)
    at_ms = rng.choice((back_ms, back_ms, mark_ms)) if tied else back_ms + rng.randrange(60)
    for name in struck:
        scene.strike(at_ms, name, rng.choice((50, session)), on if tied else None)
    if scene.chance(0.5):
        scene.fault(back_ms + rng.randint(session // 2, 2 * session), "recover", [rng.choice(("k1", "k2"))])


def moves(scene: Scene, count: int) -> list[str]:
    """Names in few directories, most of which are made by other groups than their parents'."""
    rng, name, lines = scene.rng, scene.client(), list[str]()
    for number in range(count):
        directory = f"/d{rng.randrange(3)}"
        lines.append(
            rng.choice(
                (f"mkdir {directory}", f"create {directory}/{name}-{number}", f"mkdir {directory}/{name}-{number}", f"create /{name}-{number}",
                 f"rename {directory}/{name}-{number - 1} /d{rng.randrange(3)}/{name}-{number}", f"delete {directory}/{name}-{number - 1}")
            )
        )  # fmt: skip
    return lines
