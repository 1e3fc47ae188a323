"""Members of a view whose successor is half made: its messages outlive it, or count though the change failed."""

from __future__ import annotations

from nodes.config import DataConfig, Knobs
from nodes.explore.stories.scene import BEGIN_MS, COORDINATION, Scene
from nodes.sim.triggers import Trigger

SETTLING = (*4 * ("Settle",), "Settled", "Flushed", "Fetch")
"""Messages that make a change of the view, and after which its initiator may fall silent."""
HALF_MADE = ("view change/settle", "view change/flush")


def open_writes(scene: Scene, from_ms: int, every_ms: int, lasts_ms: int) -> str:
    """Writes that begin at a fixed rate, whether they are answered or not."""
    name = scene.client()
    lines = [f"create /{name}-{number}" for number in range(lasts_ms // every_ms)]
    return scene.calls(lines, from_ms, from_ms + lasts_ms, 8, "open")


def half_made(scene: Scene) -> None:
    """The other members receive nothing of one member, which receives everything. They begin a view without it and do not finish, while its
    clients continue to write."""
    rng = scene.rng
    lease = rng.choice((200, 200, 300))
    scene.shape(sizes=(3,))
    scene.precise()
    scene.timed(ack_timeout_ms=lease, client_timeout_ms=30)
    members = scene.members()
    mute = rng.choice((scene.leader(), *members))
    others = [name for name in members if name != mute]
    at_ms = 2 * BEGIN_MS + rng.randrange(100)
    until_ms = at_ms + 10 * lease + 400
    own = open_writes(scene, at_ms - 150, 10, 150 + rng.choice((20, 20, 60)))
    theirs = open_writes(scene, at_ms - 150, 10, 150 + rng.choice((20, 20, 60)))
    for client, avoided in ((own, others), (theirs, [mute])):
        for name in avoided:
            scene.fault(at_ms - 149, "cut", [client, name], until_ms - at_ms)
    for name in others:
        scene.fault(at_ms, "cut", [mute, name], until_ms - at_ms, direction="to")
    if scene.chance(0.95):
        scene.fault(at_ms, "cut", [mute, COORDINATION], until_ms - at_ms)
    slow_ms = lease * rng.randint(12, 17) // 10
    where = Trigger("step", scene.whoever(), 1, "after", rng.choice(HALF_MADE))
    for name in others:
        from_ms = at_ms - rng.choice((10, 15, 20, 40))
        scene.fault(from_ms, "slow_disk", [name], rng.choice((slow_ms, until_ms - from_ms)), ms=slow_ms)
        scene.fault(at_ms, "cut", [name, COORDINATION], until_ms - at_ms - lease, where)
        slow_ms = min(slow_ms * rng.randint(15, 35) // 10, 10 * lease)
    if scene.chance(0.05):
        scene.fault(at_ms + lease, "crash", [rng.choice(others)], lease, scene.place(rng.choice(others)))


def wedged(scene: Scene) -> None:
    """The view is wedged while disks are slow, so that journals look stalled. No attempt is made for a while, and then others are gone for ever:
    the slow ones are needed."""
    rng = scene.rng
    lease = rng.choice((200, 300))
    scene.shape(sizes=(5,))
    scene.precise()
    scene.timed(ack_timeout_ms=lease, client_timeout_ms=rng.choice((30, 100)))
    members = scene.members()
    at_ms = BEGIN_MS + rng.randrange(300)
    until_ms = at_ms + lease * rng.randint(8, 20)
    slow = rng.sample(members, rng.choice((1, 1, len(members) // 2)))
    scene.writes(at_ms - 30, at_ms + 30, 12, style="open")
    for name in slow:
        scene.fault(at_ms - 20, "slow_disk", [name], until_ms - at_ms, ms=rng.choice((100, 300)))
    settles = Trigger("sent", scene.whoever(), 1, "after", "Settle")
    for name in members:
        for other in members:
            if other != name:
                scene.fault(
                    at_ms - 1,
                    "hold",
                    [name, other],
                    until_ms - at_ms,
                    kind="Settle",
                    lost=True,
                    direction="to",
                )
        scene.fault(at_ms - 1, "cut", [name, COORDINATION], until_ms - at_ms, settles)
    scene.fault(at_ms, "force_view", ["g1"])
    others = [name for name in members if name not in slow]
    for name in rng.sample(others, min(len(others), (len(members) - 1) // 2)):
        scene.fault(until_ms - rng.choice((1, lease)), "gone", [name])


def old_words(scene: Scene) -> None:
    """The initiator of a view falls silent. The others continue and stop, and a returning one receives the old messages before it can ask for
    the present view."""
    rng = scene.rng
    lease = rng.choice((200, 500))
    scene.shape(sizes=(2, 3, 3, 3))
    scene.precise()
    scene.timed(ack_timeout_ms=lease, client_timeout_ms=rng.choice((30, 100)))
    maker, others = scene.leader(), scene.others()
    at_ms = BEGIN_MS + rng.randrange(300)
    stop_ms = at_ms + 3 * lease + rng.choice((200, 400, lease))
    first = rng.choice(others)
    back_ms = stop_ms + rng.choice((5, 20, 100))
    resume_ms = back_ms + rng.choice((10, 50, 100))
    gone_ms = resume_ms + rng.choice((100, 300, 400))
    alone_ms = gone_ms + 4 * lease + 400
    writer = scene.writes(at_ms - 50, stop_ms, rng.choice((40, 80)), rng.choice((0, 2)))
    scene.fault(at_ms - 49, "cut", [writer, maker], stop_ms - at_ms)
    kind = rng.choice(SETTLING)
    for name in others:
        lost = "Settled" if kind == "Settle" and scene.chance(0.3) else kind
        scene.fault(at_ms, "hold", [maker, name], back_ms - at_ms, kind=lost, lost=scene.chance(0.8))
    by = "sent" if kind in ("Settle", "Fetch") else "delivered"
    where = Trigger(by, maker if by == "sent" else rng.choice(others), rng.choice((1, 1, 2)), "after", kind)
    if scene.chance(0.3):
        where = Trigger("step", maker, 1, "after", rng.choice(HALF_MADE))
    scene.fault(at_ms, "pause", [maker], resume_ms - at_ms, where)
    scene.fault(at_ms + 1, "force_view", ["g1"])
    for name in others:
        scene.apply_fault(stop_ms, name, (back_ms if name == first else alone_ms) - stop_ms)
    scene.fault(stop_ms, "cut", [first, COORDINATION], gone_ms + rng.choice((0, 100)) - stop_ms)
    scene.apply_fault(gone_ms, maker, alone_ms - gone_ms)


def late_flushes(scene: Scene) -> None:
    """The member that has images taken and journals pruned restarts. Copies of the messages with which the others let it join arrive when it counts
    again."""
    rng = scene.rng
    scene.shape(
        sizes=(2, 3, 3), image_every=rng.choice((2, 5)), image_gap=2, log_bytes=1 << 12, image_partitions=1,
        knobs=Knobs(segment_bytes=300), data=DataConfig(),
    )  # fmt: skip
    scene.precise()
    scene.timed(ack_timeout_ms=2_000)
    scene.weather["reorder_us"] = rng.choice((300_000, 600_000))
    first, *others = scene.cluster.groups[0].members
    at_ms = BEGIN_MS + rng.randrange(200)
    back_ms = at_ms + rng.choice((50, 100, scene.session_ms))
    scene.fault(at_ms, "crash", [first], back_ms - at_ms)
    for name in others:
        for verb, share in (("duplicate", 0.9), ("reorder", 0.3)):
            scene.fault(back_ms, verb, [name, first], 4 * scene.session_ms, share=share, direction="to")
    for _ in range(2):
        scene.writes(at_ms, back_ms + 6 * scene.session_ms, 80, style="closed")
