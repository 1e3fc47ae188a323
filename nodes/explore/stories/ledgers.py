"""A journal on nodes of its own: who closes it dies, nodes are silent, and copies of old words come late."""

from __future__ import annotations

from msgspec.structs import replace

from nodes.config import JournalConfig
from nodes.explore.stories.scene import BEGIN_MS, Scene
from nodes.sim.triggers import Trigger

CLOSING = (
    "AddEntry",
    "AddEntry",
    "WriteJournal",
    "AcceptJournal",
    "NewEpoch",
    "FinishSegment",
    "JournalWritten",
    "EntryAdded",
)


def closing(scene: Scene) -> None:
    """Who takes over dies while it closes what the last one has left; the next one reaches other nodes."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3))
    if scene.family.journal_role == "bookie":
        quorum = rng.choice((2, 3, 3))
        names = scene.family.journal_names(rng.choice((4, 4, 5)))
        scene.cluster = replace(
            scene.cluster, journal=JournalConfig(names, 3, quorum, rng.randint(2, quorum))
        )
    session, nodes = scene.session_ms, list(scene.cluster.journal.nodes)
    strike_ms = BEGIN_MS + rng.randrange(session)
    until_ms = strike_ms + 3 * session
    scene.writes(strike_ms - 200, strike_ms, 30)
    scene.writes(strike_ms, until_ms, 60)
    for name in scene.others():
        if scene.chance(0.4):
            scene.fault(
                strike_ms - 200,
                "hold",
                [rng.choice(nodes), name],
                2 * session,
                kind="JournalRead",
                lost=scene.chance(0.5),
            )
    if scene.chance(0.4):
        for node in nodes:
            scene.fault(0, "duplicate", [rng.choice(scene.members()), node], until_ms, share=0.6)
            scene.fault(0, "reorder", [rng.choice(scene.members()), node], until_ms, share=0.3)
    scene.fault(strike_ms, "crash", [scene.leader()], rng.choice((session, 3 * session)))
    lasts, apart = rng.choice((session, 2 * session)), rng.choice(nodes)
    silent = rng.sample([node for node in nodes if node != apart], rng.choice((0, 1, 1)))
    for node in silent:
        scene.fault(strike_ms - rng.choice((0, 1, 30)), "pause", [node], 2 * lasts)
    kind = rng.choice(CLOSING)
    for name in scene.others():
        scene.fault(strike_ms, "hold", [name, apart], lasts, kind=kind, lost=scene.chance(0.5))
    if scene.chance(0.4):
        late_words(scene, strike_ms + lasts + rng.choice((5, 50, session // 3)), apart)
        return
    when, sends = rng.choice(("before", "after", "after")), rng.choice(("sent", "sent", "delivered"))
    on = Trigger(sends, scene.whoever(), rng.choice((1, 2, 3, 4)), when, kind)
    scene.strike(strike_ms + 1, scene.whoever(), rng.choice((1, 3)) * session, on)
    for node in nodes:
        if node != apart and node not in silent and scene.chance(0.8):
            scene.fault(
                strike_ms + 1, rng.choice(("pause", "crash")), [node], rng.choice((2, 3)) * session, on
            )


def late_words(scene: Scene, at_ms: int, apart: str) -> None:
    """What was held back has come; then one of those who have everything dies together with the leader."""
    rng, nodes = scene.rng, list(scene.cluster.journal.nodes)
    scene.burst(at_ms - 10)
    for name in scene.others():
        scene.fault(
            at_ms - rng.randint(20, 400),
            "hold",
            [rng.choice(nodes), name],
            scene.session_ms,
            kind="JournalRead",
            lost=True,
        )
    scene.strike(at_ms, "active of g1", 3 * scene.session_ms)
    scene.strike(at_ms, rng.choice([node for node in nodes if node != apart]), 5 * scene.session_ms)
