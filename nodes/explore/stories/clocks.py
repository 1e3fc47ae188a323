"""Wall clocks that jump while servers stamp records by them."""

from __future__ import annotations

from nodes.explore.stories.scene import BEGIN_MS, Scene

AHEAD_MS = (60_000, 60_000, 3_000_000)
"""Jumps that no stamp may follow."""
PACE_MS = 40
"""Time from one write to the next."""


def wrong_clocks(scene: Scene) -> None:
    """Under load the leader's wall clock jumps ahead, and those of others any way. Some are corrected meanwhile, or another server takes over."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3))
    session = scene.session_ms
    at_ms = BEGIN_MS + rng.randrange(session)
    until_ms = at_ms + rng.choice((2, 3)) * session
    for _ in range(rng.choice((1, 2))):
        scene.writes(0, until_ms, until_ms // PACE_MS, hot=2, style="closed")
    scene.fault(at_ms, "skew_clock", [scene.leader()], rng.choice((0, session)), ms=rng.choice(AHEAD_MS))
    for name in scene.some(scene.others()):
        scene.fault(
            at_ms,
            "skew_clock",
            [name],
            rng.choice((0, session)),
            ms=rng.choice((1, -1)) * rng.choice(AHEAD_MS),
        )
    if scene.chance(0.3):
        scene.depose(at_ms + rng.randrange(session, 2 * session))
