"""Some are behind, those who are ahead go away, and whoever comes back first is asked what there was."""

from __future__ import annotations

from nodes.explore.stories.scene import BEGIN_MS, Scene

LAGS = ("hold", "hold", "cut", "slow_disk", "pause", "crash")
HARMS = ("new_disk", "new_disk", "rot", "rot", "power", "power", "power", "failed sync")


def returns(scene: Scene) -> None:
    """As many lag as may; those who are ahead leave, for long or not, and what was answered is theirs alone."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3, 4, 4, 5))
    session = scene.session_ms
    lag_ms = BEGIN_MS + rng.randrange(session)
    gap_ms = rng.choice(
        (rng.randint(5, 60), rng.randint(5, 60), scene.timing.ack_timeout_ms + rng.randint(1, 200), session)
    )
    strike_ms = lag_ms + gap_ms
    scene.burst(strike_ms - rng.randint(3, 40))
    scene.writes(max(0, lag_ms - 300), strike_ms + rng.choice((0, 2 * session)), 60)
    behind = lagging(scene, lag_ms, gap_ms)
    for name in everybody(scene):
        fate = rng.random()
        if fate < (0.1 if name not in behind else 0.7):
            continue
        late = fate > (0.25 if name not in behind else 0.85)
        scene.strike(strike_ms, name, rng.choice((3, 5)) * session if late else rng.randint(1, session))
    if scene.chance(0.3):
        scene.fault(strike_ms, "pause", [rng.choice(scene.members())], rng.choice((1, 2)) * session)


def returns_with_less(scene: Scene) -> None:
    """All stop in the middle of writes; of those who had everything one is back first and has lost something, or never had it synced."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3, 3, 4))
    session = scene.session_ms
    gap_ms = rng.choice((rng.randint(5, 60), rng.randint(5, 60), scene.timing.ack_timeout_ms * 2))
    lag_ms = BEGIN_MS + rng.randrange(2 * session)
    strike_ms = lag_ms + gap_ms
    harm = rng.choice(HARMS)
    behind = lagging(scene, lag_ms, gap_ms) if scene.chance(0.6) else []
    ahead = [name for name in everybody(scene) if name not in behind]
    first = rng.choice([name for name in ahead if name in scene.holders()] or [scene.leader()])
    if not scene.family.journal_nodes and scene.chance(0.4):
        first = scene.leader()
    scene.writes(max(0, lag_ms - 300), strike_ms, 50)
    slow = rng.choice(([first], [scene.leader()], ahead, ahead)) if harm == "power" else []
    for name in slow:
        scene.fault(
            strike_ms - rng.choice((20, 40, 200)), "slow_disk", [name], session, ms=rng.choice((30, 300))
        )
    scene.burst(strike_ms - rng.randint(3, 30))
    soon = rng.choice((1, 20, session // 2))
    if harm == "new_disk":
        scene.fault(strike_ms, "new_disk", [first], soon)
    elif harm == "rot":
        scene.fault(strike_ms, "crash", [first], soon)
        scene.fault(strike_ms, "corrupt", [first], what="journal_tail", place=rng.choice(("middle", "drawn")))
    elif harm == "failed sync":
        failed_ms = strike_ms - rng.randint(50, 2 * session)
        scene.fault(failed_ms - 20, "slow_disk", [first], 60, ms=20)
        scene.fault(failed_ms, "fail_disk", [first], what="sync", times=1)
        scene.fault(failed_ms + rng.randint(1, 40), "restart", [first])
    if harm in ("failed sync", "power"):
        scene.fault(strike_ms, "power_loss", [first], soon, torn="nothing")
    for name in everybody(scene):
        if name != first:
            early = name in behind or name not in (scene.leader(), *scene.holders()) or scene.chance(0.1)
            lasts = soon if early else rng.choice((4, 6, 8)) * session
            if slow == ahead:
                scene.fault(strike_ms, "power_loss", [name], lasts, torn="nothing")
            else:
                scene.strike(strike_ms, name, lasts)


def everybody(scene: Scene) -> list[str]:
    return [*scene.members(), *scene.cluster.journal.nodes]


def lagging(scene: Scene, lag_ms: int, gap_ms: int) -> list[str]:
    """Mostly as many of those who keep the log as can be missed; what they miss is gone for good, or only late."""
    rng, holders = scene.rng, scene.holders()
    kept = len(holders) + (not scene.family.journal_nodes)
    behind = (
        rng.sample(holders, min(len(holders), rng.choice(((kept - 1) // 2, kept // 2))))
        if scene.chance(0.8)
        else scene.some(holders)
    )
    way = rng.choice(LAGS)
    for name in behind:
        if way == "hold":
            scene.hold(lag_ms, scene.leader(), name, gap_ms, scene.appends, 0.8)
        elif way == "slow_disk":
            scene.fault(lag_ms, way, [name], gap_ms, ms=300)
        elif way in ("pause", "crash"):
            scene.fault(lag_ms, way, [name], gap_ms)
        else:
            scene.fault(lag_ms, way, [scene.leader(), name], gap_ms)
    if scene.family.journal_nodes and scene.chance(0.7):
        for name in scene.others():
            for node in holders:
                scene.fault(lag_ms, "cut", [name, node], gap_ms)
    return behind
