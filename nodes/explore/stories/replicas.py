"""Replicas of blocks: orders and reports that take long, while files are given fewer replicas and other writing fills the data nodes."""

from __future__ import annotations

from nodes.config import DataConfig
from nodes.explore.stories.scene import BEGIN_MS, Scene

FILES = 6
SIZES = (512, 1_024, 3_000)
"""Sizes of the files, in bytes."""


def thinned(scene: Scene) -> None:
    """Orders to remove excess replicas are long on their way, and meanwhile other data nodes become the fullest."""
    rng = scene.rng
    at_ms = stored(scene, beat_ms=rng.choice((100, 200, 300)))
    lasts = rng.choice((4_000, 6_000))
    late_ms = rng.choice((300, 600, 1_200))
    for node in scene.cluster.data.nodes:
        scene.fault(at_ms, "delay", ["active of g1", node], lasts, ms=late_ms, jitter_ms=rng.choice((0, 100)))
    less_ms = at_ms + rng.randrange(500)
    fewer(scene, less_ms)
    filled(scene, less_ms, less_ms + 2_000 + 2 * late_ms)
    scene.span_ms = at_ms + lasts + 2_000


def reported_late(scene: Scene) -> None:
    """Copies of a data node's reports arrive when it has removed the replicas that they name and is in its next life, which falls silent."""
    rng = scene.rng
    # A heartbeat proves for two of its intervals that a node is there; so long a replica is doubted, too.
    at_ms = stored(scene, beat_ms=rng.choice((500, 700)))
    scene.weather["reorder_us"] = rng.choice((5_000_000, 6_000_000, 8_000_000))
    nodes, lives_ms = scene.cluster.data.nodes, rng.choice((1_500, 2_500, 3_500))
    for node in nodes:
        for verb in ("duplicate", "reorder"):
            share = rng.choice((0.8, 0.95))
            scene.fault(at_ms + 100, verb, [node, "active of g1"], lives_ms, share=share, direction="to")
        scene.fault(at_ms + 100, "crash", [node], 50)
    less_ms = at_ms + 100 + lives_ms
    fewer(scene, less_ms)
    filled(scene, less_ms, less_ms + 1_200)
    again_ms = less_ms + 1_800 + rng.randrange(500)
    for node in rng.sample(nodes, rng.choice((1, 2, 2, 3))):
        scene.fault(again_ms, "crash", [node], 50)
        scene.fault(again_ms + rng.choice((100, 300)), "pause", [node], 5_000)
    scene.span_ms = again_ms + 6_000


def stored(scene: Scene, beat_ms: int) -> int:
    """Four data nodes, and files with all their replicas. Returns the time at which they are reported."""
    data = DataConfig([f"dn{number}" for number in range(1, 5)], beat_ms, 6 * beat_ms, 1_000)
    scene.shape(sizes=(2, 2, 3), data=data)
    scene.precise()
    files = [f"put /f{number} {scene.rng.choice(SIZES)}" for number in range(FILES)]
    scene.calls(files, 0, BEGIN_MS + 500, 2)
    return BEGIN_MS + 1_000 + 2 * beat_ms


def fewer(scene: Scene, at_ms: int) -> None:
    """Most files are given one replica."""
    lines = [f"replicas /f{number} {scene.rng.choice((1, 1, 1, 2))}" for number in range(FILES)]
    scene.calls(lines, at_ms, at_ms + scene.rng.choice((100, 500)))


def filled(scene: Scene, from_ms: int, until_ms: int) -> None:
    """Other files fill the data nodes by turns."""
    lines = [f"put /g{number} {scene.rng.choice(SIZES)}" for number in range(10)]
    scene.calls(lines, from_ms, until_ms, 1, "open")
