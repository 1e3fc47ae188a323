"""Images, pruned journals, and rollbacks."""

from __future__ import annotations

from nodes.config import DataConfig, Knobs
from nodes.explore.stories.scene import BEGIN_MS, Scene
from nodes.sim.triggers import Trigger


def images(scene: Scene) -> None:
    """Images are frequent and journals short. An old file rots, a server was away for long, and all servers lose power."""
    rng = scene.rng
    knobs = Knobs(
        segment_bytes=rng.choice((0, 300)),
        recent_records=rng.choice((0, 1)),
        records_per_group=rng.choice((0, 1)),
    )
    scene.shape(
        sizes=(2, 3, 3, 4), groups=rng.choice((1, 1, 2)), image_every=rng.choice((2, 5, 10)), image_gap=rng.choice((1, 2, 20)),
        log_bytes=rng.choice((1 << 12, 1 << 13, 1 << 16)), image_partitions=rng.choice((1, 2)), knobs=knobs,
    )  # fmt: skip
    session, leader, others = scene.session_ms, scene.leader(), scene.others()
    fault_ms = BEGIN_MS + 2 * session + rng.randrange(session)
    scene.writes(0, fault_ms, 80)
    scene.writes(fault_ms, fault_ms + 3 * session, 20)
    away = rng.sample(others, rng.choice((0, 0, 1)) if others else 0)
    for name in away:
        scene.apply_fault(rng.randrange(BEGIN_MS), name, fault_ms + rng.choice((1, session)))
    rotten = rng.choice((leader, *others))
    what = rng.choice(("image", "image", "journal"))
    rot_ms = fault_ms - rng.choice((1, 1, session))
    if scene.chance(0.8):
        scene.fault(rot_ms, "corrupt", [rotten], what=what, place=rng.choice(("middle", "drawn")))
    if what == "journal" and scene.chance(0.6):
        return
    gone = rng.choice((leader, *others, ""))
    for name in scene.members():
        if name not in away and (name == rotten or scene.chance(0.8)):
            lasts = 6 * session if name == gone and name != rotten else rng.randint(1, session)
            scene.fault(fault_ms, "power_loss", [name], lasts, torn="nothing")


def rots_while_away(scene: Scene) -> None:
    """An old file rots unnoticed on the present servers. Then servers that were away, or begin with an empty disk, must receive its content."""
    rng = scene.rng
    records = rng.choice((0, 1, 1, 2))
    knobs = Knobs(segment_bytes=rng.choice((0, 300)), recent_records=1, records_per_group=records)
    scene.shape(
        sizes=(3, 3, 4), image_every=rng.choice((0, 0, 5)), image_gap=rng.choice((20, 5_000)), log_bytes=1 << 16,
        knobs=knobs, data=DataConfig(),
    )  # fmt: skip
    session, leader, others = scene.session_ms, scene.leader(), scene.others()
    back_ms = BEGIN_MS + rng.choice((50, session))
    scene.writes(0, back_ms - 20, rng.choice((15, 30)))
    scene.writes(back_ms, back_ms + session, 8)
    away = rng.sample(others, 1)
    for name in away:
        scene.apply_fault(rng.randrange(60), name, back_ms)
    rotten = leader if scene.chance(0.8) else rng.choice(others)
    what, place = (
        rng.choice(("journal", "journal", "journal", "any")),
        rng.choice(("middle", "drawn", "drawn")),
    )
    scene.fault(
        back_ms - rng.choice((1, 10, 30)),
        "corrupt",
        [rotten],
        what=what,
        place=place if what == "journal" else "drawn",
    )
    if scene.chance(0.1):
        scene.depose(back_ms + rng.randrange(session))


def going_back(scene: Scene) -> None:
    """Checkpoints are marked, newer images are taken and old journals are pruned. Then the cluster rolls back, and some servers lose power
    during the rollback."""
    rng = scene.rng
    scene.shape(
        sizes=(2, 2, 3), groups=rng.choice((1, 1, 1, 2)), image_every=rng.choice((2, 2, 5, 20)), image_gap=rng.choice((2, 20, 5_000)),
        log_bytes=rng.choice((1 << 12, 1 << 13, 1 << 16)), image_partitions=rng.choice((1, 2)),
        knobs=Knobs(segment_bytes=rng.choice((0, 300))), data=DataConfig(),
    )  # fmt: skip
    session, members = scene.session_ms, scene.members()
    mark_ms = BEGIN_MS + rng.randrange(100)
    grown_ms = mark_ms + rng.choice((100, 300, session))
    back_ms = grown_ms + rng.choice((20, 100, 300))
    scene.calls(moves(scene, rng.choice((10, 20))), 0, mark_ms, 1, "closed")
    scene.calls(
        moves(scene, rng.choice((20, 40))), mark_ms, grown_ms, 1, rng.choice(("closed", "open", "saturate"))
    )
    if scene.chance(0.4):
        scene.calls(moves(scene, 10), back_ms, back_ms + session // 2, 1, rng.choice(("closed", "open")))
    names = ["k1"]
    scene.fault(mark_ms, "mark", ["k1"])
    if scene.chance(0.3):
        names.append("k2")
        scene.fault(rng.randint(mark_ms, grown_ms), "mark", ["k2"])
    if scene.chance(0.3):
        scene.apply_fault(
            rng.randrange(mark_ms), rng.choice(members), back_ms - mark_ms + rng.choice((1, session))
        )
    if scene.chance(0.3):
        for name in scene.some(members, 1):
            scene.fault(back_ms - 1, "corrupt", [name], what="image", place=rng.choice(("middle", "drawn")))
    scene.fault(back_ms, "recover", [rng.choice(names)])
    fault_on_the_way(scene, back_ms)
    if scene.chance(0.3):
        scene.fault(back_ms + rng.randint(session // 2, 2 * session), "recover", [rng.choice(names)])


def outgrown(scene: Scene) -> None:
    """Many images are newer than the checkpoint, and the journals below them are pruned, when the cluster rolls back to it and loses its power."""
    rng = scene.rng
    scene.shape(
        sizes=(2, 2, 2, 3), image_every=rng.choice((1, 2, 5)), image_gap=rng.choice((2, 5)), log_bytes=1 << 12,
        image_partitions=1, knobs=Knobs(segment_bytes=300), data=DataConfig(),
    )  # fmt: skip
    session, members = scene.session_ms, scene.members()
    mark_ms = BEGIN_MS + rng.randrange(100)
    grown_ms = mark_ms + rng.choice((2, 3)) * session
    scene.calls(moves(scene, rng.choice((5, 10))), 0, mark_ms, 1, "closed")
    scene.fault(mark_ms, "mark", ["k1"])
    scene.calls(moves(scene, rng.choice((40, 60))), mark_ms, grown_ms, 1, rng.choice(("closed", "open")))
    back_ms = grown_ms + rng.choice((20, 300, session))
    scene.fault(back_ms, "recover", ["k1"])
    if scene.chance(0.7):
        ordinal, when = rng.choice((1, 1, 2, 3, 4)), rng.choice(("before", "after"))
        synced = rng.choice(("aside", "journal"))
        lasts = rng.choice((50, session))
        for name in members if scene.chance(0.7) else scene.some(members, 1):
            scene.apply_fault(back_ms, name, lasts, Trigger("sync", name, ordinal, when, synced))


def fault_on_the_way(scene: Scene, back_ms: int) -> None:
    """During the rollback each server loses power at the same place of its progress, or all when the first comes there, or none does."""
    rng, session = scene.rng, scene.session_ms
    how = rng.choice(("each", "each", "each", "first", "time", "nobody"))
    faulted = scene.some(scene.members(), 1) if scene.chance(0.4) else scene.members()
    when, name = rng.choice(("before", "after")), rng.choice(("aside", "aside", "journal", "incarnation", ""))
    ordinal = rng.choice((1, 1, 2, 2, 3, 4))
    lasts = rng.choice((50, session))
    for server in faulted if how != "nobody" else ():
        at = server if how == "each" else scene.whoever()
        on = Trigger("sync", at, ordinal, when, name) if how != "time" else None
        scene.apply_fault(back_ms + (rng.randrange(60) if how == "time" else 0), server, lasts, on)


def moves(scene: Scene, count: int) -> list[str]:
    """Calls on names in a few directories, most of them created in other groups than their parents'."""
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
