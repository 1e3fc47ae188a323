"""Some members lag, those that are ahead fail, and the first to return is asked for the log."""

from __future__ import annotations

from nodes.explore.stories.scene import BEGIN_MS, Scene
from nodes.sim.triggers import Trigger

LAGS = ("hold", "hold", "cut", "slow_disk", "pause", "crash")
SILENT = ("cut", "pause", "crash")
"""Lags in which a server takes nothing at all."""
DECIDES = {"mams": "Commit", "paxos": "Success", "symmetric": "Settled"}
"""Messages that report an appended group as committed."""
JOINS = {"mams": "Register", "paxos": "PaxosJoin", "symmetric": "JoinView"}
BRIEFLY = (5, 15, 30, 60)
"""Delays for which no member is left out."""


def returns(scene: Scene) -> None:
    """As many members lag as the family tolerates. Those that are ahead fail, for long or not, and alone have the answered writes."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3, 4, 4, 5, 5))
    session = scene.session_ms
    lag_ms = BEGIN_MS + rng.randrange(session)
    gap_ms = rng.choice((*BRIEFLY, scene.timing.ack_timeout_ms + rng.randint(1, 200), session))
    fault_ms = lag_ms + gap_ms
    scene.burst(fault_ms - rng.randint(3, 40))
    scene.writes(max(0, lag_ms - 300), fault_ms + rng.choice((0, 2 * session)), 60)
    behind = lagging(scene, lag_ms, gap_ms, scene.chance(0.6))
    ahead = [name for name in everybody(scene) if name not in behind]
    soon = rng.choice(ahead) if scene.chance(0.4) else ""
    for name in ahead:
        if name == soon:
            away(scene, fault_ms, name, rng.randint(1, 2 * session))
        elif scene.chance(0.9):
            scene.apply_fault(fault_ms, name, rng.choice((3, 5)) * session)
    for name in behind if scene.chance(0.4) else []:
        if scene.chance(0.5):
            scene.apply_fault(fault_ms, name, rng.choice((3 * session, rng.randint(1, session))))


def returns_emptied(scene: Scene) -> None:
    """All servers stop during writes. Of those that had everything, one returns first, and its disk was replaced."""
    fault_ms, first, behind, soon = stopping(scene)
    scene.precise()
    scene.fault(fault_ms, "new_disk", [first], soon)
    all_stop(scene, fault_ms, first, behind, soon)


def returns_rotten(scene: Scene) -> None:
    """All servers stop during writes. Of those that had everything, one returns first, and the end of its journal has rotted."""
    fault_ms, first, behind, soon = stopping(scene)
    scene.precise()
    scene.fault(fault_ms, "crash", [first], soon)
    place = scene.rng.choice(("middle", "middle", "drawn"))
    scene.fault(fault_ms, "corrupt", [first], what="journal_tail", place=place)
    all_stop(scene, fault_ms, first, behind, soon)


def stopping(scene: Scene) -> tuple[int, str, list[str], int]:
    """Time of the stop, the first to return of those with everything, the lagging servers, and the delay until both are back."""
    rng = scene.rng
    scene.shape(sizes=(3, 3, 3, 3, 4, 5, 5))
    scene.timed(ack_timeout_ms=rng.choice((60, 100, 200)))
    fault_ms = before_all_stop(scene)
    # Where every member of a view must have a group, nothing is answered before the lagging ones are left out.
    gap_ms = rng.choice((60 if scene.family.locked else long_gap(scene), *3 * (long_gap(scene),)))
    behind = lagging(scene, max(0, fault_ms - gap_ms), gap_ms, ways=SILENT) if scene.chance(0.95) else []
    # Of a few writes also the last one is answered by then.
    scene.burst(fault_ms - rng.randint(3, 30), rng.choice((*2 * (1, 2, 3), 40)))
    return fault_ms, first_back(scene, behind), behind, rng.choice((1, 20, scene.session_ms // 2))


def returns_unsynced(scene: Scene) -> None:
    """All servers stop during writes. The first to return lost, with its power, groups that it had acknowledged but never synced."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3, 4))
    scene.timed(renew_scan_ms=50)
    session, fault_ms = scene.session_ms, before_all_stop(scene)
    soon, everywhere = rng.choice((1, 20, session // 2)), scene.chance(0.5)
    behind = [] if everywhere else lagging(scene, *gap_before(scene, fault_ms))
    first = first_back(scene, behind, leads=0.4 if everywhere else 0.8)
    slow_ms = fault_ms - rng.choice((20, 40, 200))
    for name in everybody(scene) if everywhere else [first]:
        scene.fault(slow_ms, "slow_disk", [name], session, ms=rng.choice((30, 300)))
    scene.burst(fault_ms - rng.randint(3, 30))
    scene.fault(fault_ms, "power_loss", [first], soon, torn="nothing")
    all_stop(scene, fault_ms, first, behind, soon, everywhere)


def returns_after_failed_sync(scene: Scene) -> None:
    """A sync fails, the restarted server reports what it has, and little is written until it loses its power. It returns first."""
    rng = scene.rng
    scene.shape(sizes=(2, 2, 3))
    scene.precise()
    scene.timed(renew_scan_ms=50)
    failed_ms = BEGIN_MS + rng.randrange(scene.session_ms)
    again_ms = failed_ms + rng.randint(20, 80)
    fault_ms = again_ms + rng.randint(100, 500)
    lag_ms = failed_ms - rng.choice(BRIEFLY)
    behind = lagging(scene, lag_ms, fault_ms - lag_ms)
    first, soon = first_back(scene, behind, leads=0.1), rng.choice((1, 20, scene.session_ms // 2))
    for _ in range(rng.choice((1, 1, 1, 2))):  # Their sessions are open by then: an opening is a record, too.
        every_ms, count = rng.choice((15, 40)), rng.randint(3, 8)
        lines = [f"create /{scene.client()}-{number}" for number in range(count)]
        first_ms = failed_ms + rng.randint(-8, 8) - (count - 1) * every_ms
        scene.calls(lines, first_ms, first_ms + count * every_ms, rng.choice((1, 4)), "open")
    if scene.chance(0.2):
        scene.burst(fault_ms - rng.randint(3, 30))
    scene.fault(failed_ms - 20, "slow_disk", [first], again_ms - failed_ms, ms=rng.choice((5, 20)))
    scene.fault(
        failed_ms, "fail_disk", [first], again_ms - failed_ms, what="sync", times=rng.choice((1, 1, 1, 2))
    )
    scene.fault(again_ms, "restart", [first])
    scene.fault(fault_ms, "power_loss", [first], soon, torn="nothing")
    all_stop(scene, fault_ms, first, behind, soon)


def returns_to_readers(scene: Scene) -> None:
    """A server has acknowledged groups whose commit it did not learn. It returns without the end of its log, and readers ask it early."""
    rng = scene.rng
    scene.shape(sizes=(3, 3, 4))
    scene.precise()
    scene.timed(renew_scan_ms=rng.choice((50, 200)))
    session, leader = scene.session_ms, scene.leader()
    name, soon, late_ms = (
        rng.choice(scene.others()),
        rng.choice((1, 5, 20)),
        rng.choice((50, 100, session // 2)),
    )
    waits_ms = rng.choice((20, 50, 100))
    fault_ms = BEGIN_MS + waits_ms + rng.randrange(session)
    reported_ms = waits_ms + soon + rng.choice((0, 20, 25, 35, 45, 60, late_ms))
    decides = DECIDES.get(scene.family.replication, scene.appends[0])
    scene.fault(fault_ms - waits_ms, "hold", [leader, name], reported_ms, kind=decides, direction="to")
    if scene.chance(0.4):
        scene.fault(fault_ms - waits_ms, "slow_disk", [name], waits_ms, ms=rng.choice((5, 10, 20)))
    for number in range(2):
        hot_writes(scene, fault_ms - waits_ms + rng.randint(-25, 10), f"/h{number}")
    kind, lasts = rng.choice((*9 * (scene.appends[0],), "")), soon + late_ms + rng.choice((0, 20, 100))
    scene.fault(
        fault_ms - 1, "hold", [leader, name], lasts, kind=kind, lost=scene.chance(0.2), direction="to"
    )
    if scene.chance(0.85):
        scene.fault(fault_ms, "crash", [name], soon)
        place = rng.choice(("middle", "middle", "drawn"))
        scene.fault(fault_ms, "corrupt", [name], what="journal_tail", place=place)
    else:
        scene.fault(fault_ms, "new_disk", [name], soon)
    for start_ms in (fault_ms - 5, fault_ms + soon + 15, fault_ms + soon + 25, fault_ms + soon + 50):
        scene.reads(start_ms, start_ms + late_ms, 16, hot=2)


def hot_writes(scene: Scene, at_ms: int, path: str) -> None:
    """Writes as fast as they are answered; most of them change the visible state of this name."""
    lines = [f"create {path}", f"delete {path}"] * 15
    if scene.chance(0.2):
        scene.rng.shuffle(lines)
    scene.calls(lines, at_ms, at_ms, scene.rng.choice((1, 1, 1, 2)), "saturate")


def gaps(scene: Scene) -> None:
    """One member after another misses a few records of the log and receives the later ones. Then those that had them all fail."""
    rng = scene.rng
    scene.shape(sizes=(3, 3, 4, 5))
    scene.timed(session_timeout_ms=rng.choice((1_000, 2_000)), client_timeout_ms=rng.choice((30, 100)))
    session, at_ms = scene.session_ms, BEGIN_MS + rng.randrange(scene.session_ms)
    scene.burst(at_ms - 5, 80)
    scene.writes(at_ms - 50, at_ms + 100, 50, hot=2)
    holders = scene.holders()
    losing = rng.sample(holders, min(len(holders), rng.choice((1, 2, 2, 2, 3, 3))))
    for name in losing:
        lasts = rng.choice((1, 2, rng.randint(2, 20)))
        misses(scene, at_ms, name, lasts)
        at_ms += rng.choice((lasts, lasts, lasts + 1, 1))
    scene.reads(at_ms, at_ms + session // 2, 20, hot=2)
    at_ms -= rng.choice((0, 0, 1))
    for name in [scene.leader(), *(name for name in holders if name not in losing)]:
        if scene.chance(0.8):
            scene.apply_fault(at_ms, name, rng.choice((3, 5)) * session)


def misses(scene: Scene, at_ms: int, name: str, lasts: int, on: Trigger | None = None) -> None:
    """Appends to the log do not reach one member for a while; other messages do."""
    writers = scene.members() if scene.family.journal_nodes else [scene.leader()]
    for writer in writers:
        kind, lost = scene.appends[0], scene.chance(0.9)
        scene.fault(at_ms, "hold", [writer, name], lasts, on, kind=kind, lost=lost, direction="to")


def gaps_on_return(scene: Scene) -> None:
    """A member that was away so long that it was left out receives the missed records under load. Some of these do not reach it, later messages
    do."""
    rng = scene.rng
    scene.shape(sizes=(3, 3, 4))
    scene.timed(renew_scan_ms=50)
    session, leader, others = scene.session_ms, scene.leader(), scene.others()
    away_ms = BEGIN_MS + rng.randrange(session)
    for name in rng.sample(others, rng.choice((1, 1, len(others) - 1))):
        lasts = scene.timing.ack_timeout_ms + session + rng.randrange(session)
        back_ms = away_ms + lasts
        if scene.chance(0.5):
            scene.apply_fault(away_ms, name, lasts)
        else:
            scene.fault(away_ms, "cut", [leader, name], lasts)
        asks = Trigger(
            rng.choice(("sent", "delivered")), name, rng.choice((1, 1, 1, 1, 2)), "after", asking(scene)
        )
        misses(scene, back_ms - 5, name, rng.choice((2, 5, rng.randint(2, 60), rng.randint(2, 60))), asks)
        scene.writes(away_ms, back_ms, 10, hot=2)
        scene.writes(back_ms - 20, back_ms + 200, rng.choice((40, 100)), hot=2)
        for start_ms in (back_ms, back_ms + 100, back_ms + 200):
            scene.reads(start_ms, start_ms + session // 2, 10, hot=2)


def asking(scene: Scene) -> str:
    """The message with which a member asks to join again."""
    return JOINS.get(scene.family.replication, "")


def away(scene: Scene, at_ms: int, name: str, for_ms: int) -> None:
    """The server returns, or answers again, when the others have begun to ask."""
    if scene.chance(0.5):
        scene.fault(at_ms, "pause", [name], for_ms)
    else:
        scene.apply_fault(at_ms, name, for_ms)


def before_all_stop(scene: Scene) -> int:
    """Time when all servers will stop; until then there are writes."""
    fault_ms = BEGIN_MS + scene.rng.randrange(300, 300 + 2 * scene.session_ms)
    scene.writes(max(0, fault_ms - 300), fault_ms, 50)
    return fault_ms


def gap_before(scene: Scene, fault_ms: int) -> tuple[int, int]:
    """Time since when some servers lag, and for how long."""
    gap_ms = scene.rng.choice((*BRIEFLY, *3 * (long_gap(scene),)))
    return max(0, fault_ms - gap_ms), gap_ms


def long_gap(scene: Scene) -> int:
    """A gap after which a member is left out."""
    return scene.timing.ack_timeout_ms * 2 + scene.rng.choice((0, scene.session_ms, scene.session_ms))


def first_back(scene: Scene, behind: list[str], leads: float = 0.4) -> str:
    """One of the servers that keep the log and have all of it."""
    ahead = [name for name in scene.holders() if name not in behind]
    if not scene.family.journal_nodes and (not ahead or scene.chance(leads)):
        return scene.leader()
    return scene.rng.choice(ahead or scene.holders())


def all_stop(
    scene: Scene, fault_ms: int, first: str, behind: list[str], soon: int, without_power: bool = False
) -> None:
    """All servers stop. The lagging ones return as soon as the first one, those with the whole log much later."""
    for name in everybody(scene):
        if name == first:
            continue
        early = name in behind or name not in (scene.leader(), *scene.holders()) or scene.chance(0.03)
        lasts = soon if early else scene.rng.choice((4, 6, 8)) * scene.session_ms
        if without_power:
            scene.fault(fault_ms, "power_loss", [name], lasts, torn="nothing")
        else:
            scene.apply_fault(fault_ms, name, lasts)


def everybody(scene: Scene) -> list[str]:
    return [*scene.members(), *scene.cluster.journal.nodes]


def lagging(
    scene: Scene, lag_ms: int, gap_ms: int, half: bool = False, ways: tuple[str, ...] = LAGS
) -> list[str]:
    """Servers that lag: mostly as many holders of the log as can be missed, or one too many. The messages that they miss are lost, or only late."""
    rng, holders = scene.rng, scene.holders()
    kept = len(holders) + (not scene.family.journal_nodes)
    missed = kept // 2 if half else (kept - 1) // 2
    behind = rng.sample(holders, min(len(holders), missed)) if scene.chance(0.85) else scene.some(holders)
    way = rng.choice(ways)
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
    """A majority is lost for good, one after the other: the rest may not serve before a person forces it, during the load or after it."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3, 4, 5))
    scene.beyond = True
    session, members = scene.session_ms, scene.members()
    at_ms = BEGIN_MS + rng.randrange(session)
    scene.writes(0, at_ms + 2 * session, 50)
    lost = rng.sample(members, len(members) // 2 + 1)[: len(members) - 1]
    for name in lost:
        if scene.chance(0.7):
            scene.fault(at_ms, "gone", [name])
        else:
            scene.fault(at_ms, "new_disk", [name], rng.choice((20, session)))
        at_ms += rng.choice((0, rng.randint(1, 300), 2 * session))
    if scene.chance(0.6):
        for name in scene.some([name for name in members if name not in lost], 1):
            scene.fault(at_ms + rng.randint(session, 4 * session), "force", ["g1", name])
        scene.writes(at_ms, scene.span_ms + session, 40, hot=2)
    if scene.chance(0.3):
        scene.apply_fault(at_ms, rng.choice(members), session)
