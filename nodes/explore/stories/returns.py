"""Some are behind, those who are ahead go away, and whoever comes back first is asked what there was."""

from __future__ import annotations

from nodes.explore.stories.scene import BEGIN_MS, Scene
from nodes.sim.triggers import Trigger

LAGS = ("hold", "hold", "cut", "slow_disk", "pause", "crash")
DECIDES = {"mams": "Commit", "paxos": "Success", "symmetric": "Settled"}
"""Words that what was appended counts."""
JOINS = {"mams": "Register", "paxos": "PaxosJoin", "symmetric": "JoinView"}
BRIEFLY = (5, 15, 30, 60)
"""Nobody is left out for being so late."""


def returns(scene: Scene) -> None:
    """As many lag as may; those who are ahead leave, for long or not, and what was answered is theirs alone."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3, 4, 4, 5, 5))
    session = scene.session_ms
    lag_ms = BEGIN_MS + rng.randrange(session)
    gap_ms = rng.choice((*BRIEFLY, scene.timing.ack_timeout_ms + rng.randint(1, 200), session))
    strike_ms = lag_ms + gap_ms
    scene.burst(strike_ms - rng.randint(3, 40))
    scene.writes(max(0, lag_ms - 300), strike_ms + rng.choice((0, 2 * session)), 60)
    behind = lagging(scene, lag_ms, gap_ms, scene.chance(0.6))
    ahead = [name for name in everybody(scene) if name not in behind]
    soon = rng.choice(ahead) if scene.chance(0.4) else ""
    for name in ahead:
        if name == soon:
            away(scene, strike_ms, name, rng.randint(1, 2 * session))
        elif scene.chance(0.9):
            scene.strike(strike_ms, name, rng.choice((3, 5)) * session)
    for name in behind if scene.chance(0.4) else []:
        if scene.chance(0.5):
            scene.strike(strike_ms, name, rng.choice((3 * session, rng.randint(1, session))))


def returns_emptied(scene: Scene) -> None:
    """All stop in the middle of writes; of those who had everything one is back first, and its disk was replaced."""
    strike_ms, first, behind, soon = stopping(scene)
    scene.fault(strike_ms, "new_disk", [first], soon)
    all_stop(scene, strike_ms, first, behind, soon)


def returns_rotten(scene: Scene) -> None:
    """All stop in the middle of writes; of those who had everything one is back first, and the end of its journal has rotted."""
    strike_ms, first, behind, soon = stopping(scene)
    scene.fault(strike_ms, "crash", [first], soon)
    place = scene.rng.choice(("middle", "middle", "drawn"))
    scene.fault(strike_ms, "corrupt", [first], what="journal_tail", place=place)
    all_stop(scene, strike_ms, first, behind, soon)


def stopping(scene: Scene) -> tuple[int, str, list[str], int]:
    """When all will stop, who of those with everything is back first, who lags behind, and how soon both are back."""
    rng = scene.rng
    scene.shape(sizes=(3, 3, 3, 3, 4, 5, 5))
    strike_ms = before_all_stop(scene)
    behind = lagging(scene, *gap_before(scene, strike_ms)) if scene.chance(0.9) else []
    scene.burst(strike_ms - rng.randint(3, 30), rng.choice((1, 2, 3, 40)))
    return strike_ms, first_back(scene, behind), behind, rng.choice((1, 20, scene.session_ms // 2))


def returns_unsynced(scene: Scene) -> None:
    """All stop in the middle of writes; who is back first lost with its power what it had acknowledged, and never had it synced."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3, 4))
    scene.timed(renew_scan_ms=50)
    session, strike_ms = scene.session_ms, before_all_stop(scene)
    soon, everywhere = rng.choice((1, 20, session // 2)), scene.chance(0.5)
    behind = [] if everywhere else lagging(scene, *gap_before(scene, strike_ms))
    first = first_back(scene, behind, leads=0.4 if everywhere else 0.8)
    slow_ms = strike_ms - rng.choice((20, 40, 200))
    for name in everybody(scene) if everywhere else [first]:
        scene.fault(slow_ms, "slow_disk", [name], session, ms=rng.choice((30, 300)))
    scene.burst(strike_ms - rng.randint(3, 30))
    scene.fault(strike_ms, "power_loss", [first], soon, torn="nothing")
    all_stop(scene, strike_ms, first, behind, soon, everywhere)


def returns_after_failed_sync(scene: Scene) -> None:
    """A sync fails, the next life says what it has, and little is written until it loses its power; it is back first."""
    rng = scene.rng
    scene.shape(sizes=(2, 2, 3))
    scene.timed(renew_scan_ms=50)
    failed_ms = BEGIN_MS + rng.randrange(scene.session_ms)
    again_ms = failed_ms + rng.randint(20, 80)
    strike_ms = again_ms + rng.randint(100, 500)
    lag_ms = failed_ms - rng.choice(BRIEFLY)
    behind = lagging(scene, lag_ms, strike_ms - lag_ms)
    first, soon = first_back(scene, behind, leads=0.1), rng.choice((1, 20, scene.session_ms // 2))
    for _ in range(rng.choice((1, 1, 1, 2))):  # Whose sessions are open by then: that is a record of its own.
        every_ms, count = rng.choice((15, 40)), rng.randint(3, 8)
        lines = [f"create /{scene.client()}-{number}" for number in range(count)]
        first_ms = failed_ms + rng.randint(-8, 8) - (count - 1) * every_ms
        scene.calls(lines, first_ms, first_ms + count * every_ms, rng.choice((1, 4)), "open")
    if scene.chance(0.2):
        scene.burst(strike_ms - rng.randint(3, 30))
    scene.fault(failed_ms - 20, "slow_disk", [first], again_ms - failed_ms, ms=rng.choice((5, 20)))
    scene.fault(
        failed_ms, "fail_disk", [first], again_ms - failed_ms, what="sync", times=rng.choice((1, 1, 2))
    )
    scene.fault(again_ms, "restart", [first])
    scene.fault(strike_ms, "power_loss", [first], soon, torn="nothing")
    all_stop(scene, strike_ms, first, behind, soon)


def returns_to_readers(scene: Scene) -> None:
    """One has acknowledged what it was not told to be decided; it is back without the end of its log, and readers ask it early."""
    rng = scene.rng
    scene.shape(sizes=(3, 3, 4))
    session, leader = scene.session_ms, scene.leader()
    name, soon, late_ms = (
        rng.choice(scene.others()),
        rng.choice((1, 5, 20)),
        rng.choice((50, 100, session // 2)),
    )
    waits_ms = rng.choice((20, 50, 100))
    strike_ms = BEGIN_MS + waits_ms + rng.randrange(session)
    told_ms = waits_ms + soon + rng.choice((0, 20, 25, 35, 45, 60, late_ms))
    decides = DECIDES.get(scene.family.replication, scene.appends[0])
    scene.fault(strike_ms - waits_ms, "hold", [leader, name], told_ms, kind=decides, direction="to")
    if scene.chance(0.7):
        scene.fault(strike_ms - waits_ms, "slow_disk", [name], waits_ms, ms=rng.choice((5, 10, 20)))
    for number in range(2):
        hot_writes(scene, strike_ms - waits_ms + rng.randint(-25, 10), f"/h{number}")
    kind, lasts = rng.choice((*3 * (scene.appends[0],), "")), soon + late_ms + rng.choice((0, 20, 100))
    scene.fault(
        strike_ms - 1, "hold", [leader, name], lasts, kind=kind, lost=scene.chance(0.2), direction="to"
    )
    if scene.chance(0.85):
        scene.fault(strike_ms, "crash", [name], soon)
        place = rng.choice(("middle", "middle", "drawn"))
        scene.fault(strike_ms, "corrupt", [name], what="journal_tail", place=place)
    else:
        scene.fault(strike_ms, "new_disk", [name], soon)
    for start_ms in (strike_ms - 5, strike_ms + soon + 15, strike_ms + soon + 25, strike_ms + soon + 50):
        scene.reads(start_ms, start_ms + late_ms, 16, hot=2)


def hot_writes(scene: Scene, at_ms: int, path: str) -> None:
    """As fast as they are answered; mostly each one changes what is seen of this name."""
    lines = [f"create {path}", f"delete {path}"] * 15
    if scene.chance(0.2):
        scene.rng.shuffle(lines)
    scene.calls(lines, at_ms, at_ms, scene.rng.choice((1, 1, 1, 2)), "saturate")


def gaps(scene: Scene) -> None:
    """One member after another misses a few records of the log and hears the later ones; then those who had them all go away."""
    rng = scene.rng
    scene.shape(sizes=(3, 3, 4, 5))
    session, at_ms = scene.session_ms, BEGIN_MS + rng.randrange(scene.session_ms)
    scene.burst(at_ms - 5, 80)
    scene.writes(at_ms - 50, at_ms + 100, 50, hot=2)
    holders = scene.holders()
    losing = rng.sample(holders, min(len(holders), rng.choice((1, 2, 2, 3))))
    for name in losing:
        lasts = rng.choice((1, 2, rng.randint(2, 20)))
        misses(scene, at_ms, name, lasts)
        at_ms += rng.choice((lasts, lasts, lasts + 1, 1))
    scene.reads(at_ms, at_ms + session // 2, 20, hot=2)
    at_ms -= rng.choice((0, 0, 1))
    for name in [scene.leader(), *(name for name in holders if name not in losing)]:
        if scene.chance(0.8):
            scene.strike(at_ms, name, rng.choice((3, 5)) * session)


def misses(scene: Scene, at_ms: int, name: str, lasts: int, on: Trigger | None = None) -> None:
    """What the log grows by does not reach one member for a while; the rest does."""
    writers = scene.members() if scene.family.journal_nodes else [scene.leader()]
    for writer in writers:
        kind, lost = scene.appends[0], scene.chance(0.8)
        scene.fault(at_ms, "hold", [writer, name], lasts, on, kind=kind, lost=lost, direction="to")


def gaps_on_return(scene: Scene) -> None:
    """Who was away so long that it was left out is told under load what it missed; some of that does not reach it, later words do."""
    rng = scene.rng
    scene.shape(sizes=(3, 3, 4))
    scene.timed(renew_scan_ms=50)
    session, leader, others = scene.session_ms, scene.leader(), scene.others()
    away_ms = BEGIN_MS + rng.randrange(session)
    for name in rng.sample(others, rng.choice((1, 1, len(others) - 1))):
        lasts = scene.timing.ack_timeout_ms + session + rng.randrange(session)
        back_ms = away_ms + lasts
        if scene.chance(0.5):
            scene.strike(away_ms, name, lasts)
        else:
            scene.fault(away_ms, "cut", [leader, name], lasts)
        asks = Trigger(
            rng.choice(("sent", "delivered")), name, rng.choice((1, 1, 2, 3)), "after", asking(scene)
        )
        misses(scene, back_ms - 5, name, rng.choice((2, 5, rng.randint(2, 60), rng.randint(2, 60))), asks)
        scene.writes(away_ms, back_ms, 10, hot=2)
        scene.writes(back_ms - 20, back_ms + 200, rng.choice((40, 100)), hot=2)
        for start_ms in (back_ms, back_ms + 100, back_ms + 200):
            scene.reads(start_ms, start_ms + session // 2, 10, hot=2)


def asking(scene: Scene) -> str:
    """By which message a member asks to be one again."""
    return JOINS.get(scene.family.replication, "")


def away(scene: Scene, at_ms: int, name: str, for_ms: int) -> None:
    """It is back, or answers again, when the others have begun to ask."""
    if scene.chance(0.5):
        scene.fault(at_ms, "pause", [name], for_ms)
    else:
        scene.strike(at_ms, name, for_ms)


def before_all_stop(scene: Scene) -> int:
    """When all will stop; until then there are writes."""
    strike_ms = BEGIN_MS + scene.rng.randrange(300, 300 + 2 * scene.session_ms)
    scene.writes(max(0, strike_ms - 300), strike_ms, 50)
    return strike_ms


def gap_before(scene: Scene, strike_ms: int) -> tuple[int, int]:
    """Since when some lag, and how long."""
    long_ms = scene.timing.ack_timeout_ms * 2
    gap_ms = scene.rng.choice((*BRIEFLY, long_ms, long_ms + scene.session_ms, long_ms + scene.session_ms))
    return max(0, strike_ms - gap_ms), gap_ms


def first_back(scene: Scene, behind: list[str], leads: float = 0.4) -> str:
    """One of those who keep the log and have all of it."""
    ahead = [name for name in scene.holders() if name not in behind]
    if not scene.family.journal_nodes and (not ahead or scene.chance(leads)):
        return scene.leader()
    return scene.rng.choice(ahead or scene.holders())


def all_stop(
    scene: Scene, strike_ms: int, first: str, behind: list[str], soon: int, without_power: bool = False
) -> None:
    """Those who had less are back as soon as the first one, those who had all much later."""
    for name in everybody(scene):
        if name == first:
            continue
        early = name in behind or name not in (scene.leader(), *scene.holders()) or scene.chance(0.1)
        lasts = soon if early else scene.rng.choice((4, 6, 8)) * scene.session_ms
        if without_power:
            scene.fault(strike_ms, "power_loss", [name], lasts, torn="nothing")
        else:
            scene.strike(strike_ms, name, lasts)


def everybody(scene: Scene) -> list[str]:
    return [*scene.members(), *scene.cluster.journal.nodes]


def lagging(scene: Scene, lag_ms: int, gap_ms: int, half: bool = False) -> list[str]:
    """Mostly as many of those who keep the log as can be missed, or one too many; what they miss is gone for good, or only late."""
    rng, holders = scene.rng, scene.holders()
    kept = len(holders) + (not scene.family.journal_nodes)
    missed = kept // 2 if half else (kept - 1) // 2
    behind = rng.sample(holders, min(len(holders), missed)) if scene.chance(0.85) else scene.some(holders)
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


def too_few(scene: Scene) -> None:
    """A majority is lost for good, one after the other: what is left may not serve before a person says so."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3, 4, 5))
    scene.beyond = True
    session, members = scene.session_ms, scene.members()
    at_ms = BEGIN_MS + rng.randrange(session)
    scene.writes(0, at_ms + 2 * session, 50)
    for name in rng.sample(members, len(members) // 2 + 1)[: len(members) - 1]:
        if scene.chance(0.7):
            scene.fault(at_ms, "gone", [name])
        else:
            scene.fault(at_ms, "new_disk", [name], rng.choice((20, session)))
        at_ms += rng.choice((0, rng.randint(1, 300), 2 * session))
    if scene.chance(0.3):
        scene.strike(at_ms, rng.choice(members), session)
