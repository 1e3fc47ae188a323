"""Servers are replaced or renewed one after the other, while what they had must stay."""

from __future__ import annotations

from typing import Any

from nodes.config import DataConfig, Knobs
from nodes.explore.stories.scene import BEGIN_MS, Scene


def all_replaced(scene: Scene) -> None:
    """As many servers join as there were, and then those of the first configuration leave for good, the leader last. A client outlives them all."""
    rng = scene.rng
    scene.shape(sizes=(1, 2, 2), data=DataConfig(["dn1", "dn2", "dn3"], 200, 1_200))
    scene.precise()
    scene.timed(renew_scan_ms=50, session_timeout_ms=600, heartbeat_ms=150)
    # A later client asks each lost server in vain before it asks the data nodes.
    scene.timed(client_timeout_ms=rng.choice((30, 100, 400)), call_deadline_ms=60_000)
    at_ms = BEGIN_MS + rng.randrange(300)
    for _ in scene.members():
        scene.fault(at_ms, "add_server", ["g1"])
        at_ms += rng.choice((400, 800))
    for name in rng.sample(scene.others(), len(scene.others())):
        at_ms += rng.choice((500, 1_000))
        scene.fault(at_ms, "remove_server", [name])
    at_ms += rng.choice((800, 1_200))
    for _ in range(2):  # Whoever has the lock is not removed, and another one may be too slow to take it.
        scene.depose(at_ms)
        at_ms += rng.choice((800, 1_200))
        scene.fault(at_ms, "remove_server", [scene.leader()])
    scene.writes(0, at_ms + 1_500, rng.choice((40, 80)), style="closed")


def prunes_often(scene: Scene, size: int, ack_ms: int, **fields: Any) -> None:
    """A group that prunes its short journal after every few groups."""
    scene.shape(
        (size,),
        image_gap=2,
        log_bytes=1 << 12,
        image_partitions=1,
        min_in_step=0,
        data=DataConfig(),
        **fields,
    )
    scene.precise()
    scene.timed(renew_scan_ms=50, ack_timeout_ms=ack_ms, session_timeout_ms=600, heartbeat_ms=150)


def slept_through(scene: Scene) -> None:
    """A server sleeps while a checkpoint is marked, the cluster goes back to it and journals are pruned. It is renewed, and its copies are needed."""
    rng = scene.rng
    prunes_often(scene, 2, 200, image_every=rng.choice((2, 5)), knobs=Knobs(segment_bytes=300))
    sleeps_ms = BEGIN_MS + rng.randrange(100)
    mark_ms = sleeps_ms + 2_000 + rng.randrange(300)
    back_ms = mark_ms + rng.choice((500, 1_000))
    wakes_ms = back_ms + rng.choice((1_500, 2_500))
    for from_ms, until_ms, count in (
        (0, mark_ms, 60),
        (mark_ms, back_ms, 30),
        (back_ms + 300, wakes_ms, 40),
        (wakes_ms, wakes_ms + 600, 10),
    ):
        scene.writes(from_ms, until_ms, count, style="closed")
    scene.apply_fault(sleeps_ms, rng.choice(scene.members()), wakes_ms - sleeps_ms)
    scene.fault(mark_ms, "mark", ["k1"])
    scene.fault(back_ms, "recover", ["k1"])


def copied_in_vain(scene: Scene) -> None:
    """A server with a new disk cannot read the image that a checkpoint needs, and is renewed by a newer one. It must prune its journal again."""
    rng = scene.rng
    knobs = Knobs(segment_bytes=300, direct_groups=1)
    prunes_often(scene, 3, 100, image_every=2, image_store="vssp", knobs=knobs)
    sleeps_ms = BEGIN_MS + rng.randrange(100)
    mark_ms = sleeps_ms + 1_000 + rng.randrange(300)
    wakes_ms = mark_ms + rng.choice((1_500, 2_500))
    lasts = rng.choice((2_400, 2_700))
    for from_ms, until_ms in ((0, mark_ms), (mark_ms, wakes_ms), (wakes_ms, wakes_ms + lasts + 1_500)):
        scene.writes(from_ms, until_ms, 50, style="closed")
    sleeper = rng.choice(scene.members())
    scene.fault(sleeps_ms, "new_disk", [sleeper], wakes_ms - sleeps_ms)
    scene.fault(mark_ms, "mark", ["k1"])
    for back_ms in (wakes_ms + 1_100, wakes_ms + lasts - 100):  # Each ends a session of its renewal.
        scene.fault(back_ms, "respawn", [sleeper])
    for name in scene.members():
        if name != sleeper:
            scene.hold(wakes_ms - 1, name, sleeper, lasts, ("FilePiece",), 1)
