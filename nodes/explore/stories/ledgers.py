"""A journal on nodes of its own: who closes it dies, nodes are silent, and copies of old words come late."""

from __future__ import annotations

from msgspec.structs import replace

from nodes.config import JournalConfig
from nodes.explore.stories.scene import BEGIN_MS, Scene
from nodes.sim.triggers import Trigger

WORDS = {
    "shared-bookkeeper": ("AddEntry", "AddEntry", "EntryAdded", "LedgerFenced"),
    "": (
        "AcceptJournal",
        "AcceptJournal",
        "WriteJournal",
        "NewEpoch",
        "EpochPromised",
        "FinishSegment",
        "JournalWritten",
    ),
}
"""What is said while a journal changes hands, by replication."""

BOOKS = {"shared-bookkeeper": "ledgers"}
"""The last part of the path of what coordination keeps about the journal."""


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
    if scene.chance(0.4):
        scene.copies(0.3, rng.choice((20_000, 100_000, 300_000)))
    session, nodes, others = scene.session_ms, list(scene.cluster.journal.nodes), scene.others()
    strike_ms = BEGIN_MS + rng.randrange(session)
    lasts = rng.choice((100, session // 2, session))
    begins_ms = unseated(scene, strike_ms)
    scene.writes(begins_ms, begins_ms + 2 * session, 60)
    apart, kind = rng.choice(nodes), rng.choice(WORDS.get(scene.family.replication, WORDS[""]))
    lost = scene.chance(0.5)
    for name in others:
        scene.fault(strike_ms + 1, "hold", [name, apart], begins_ms - strike_ms + lasts, kind=kind, lost=lost)
    silent = rng.sample([node for node in nodes if node != apart], rng.choice((0, 1, 1)))
    for node in silent:
        scene.fault(strike_ms - rng.choice((0, 1, 30)), "pause", [node], begins_ms - strike_ms + 3 * session)
    when, sends = rng.choice(("before", "after", "after")), rng.choice(("sent", "sent", "delivered"))
    ordinal, alike = rng.choice((1, 1, 2, 3, 4)), scene.chance(0.7)
    peer = apart if scene.chance(0.6) else ""
    for name in others[: rng.choice((1, len(others)))]:
        on = Trigger(sends, name, ordinal, when, kind, peer)
        scene.strike(strike_ms + 1, name, rng.choice((1, 3)) * session, on)
        for node in nodes:
            if node != apart and node not in silent and alike:
                scene.fault(strike_ms + 1, "pause", [node], rng.choice((2, 3)) * session, on)


def unseated(scene: Scene, strike_ms: int) -> int:
    """The leader goes while much is being written. When the next one may begin."""
    rng, session = scene.rng, scene.session_ms
    scene.burst(strike_ms - rng.randint(5, 30))
    if scene.chance(0.5):
        scene.depose(strike_ms)
        return strike_ms
    scene.fault(strike_ms, "crash", [scene.leader()], rng.choice((2, 4)) * session)
    return strike_ms + session


def closed_by_two(scene: Scene) -> None:
    """A node is silent; who closes the journal writes down whom it takes instead, and dies; the next one can ask that one alone."""
    rng = scene.rng
    scene.shape(sizes=(3,))
    scene.timed(ack_timeout_ms=rng.choice((60, 100, 200)))
    if scene.family.journal_role == "bookie":
        quorum = rng.choice((2, 3, 3))
        names = scene.family.journal_names(rng.choice((4, 4, 4, 5)))
        acks = quorum if scene.chance(0.8) else rng.randint(2, quorum)
        scene.cluster = replace(scene.cluster, journal=JournalConfig(names, 3, quorum, acks))
    session, nodes = scene.session_ms, list(scene.cluster.journal.nodes)
    silent, *others = used = rng.sample(nodes, min(3, len(nodes) - 1))
    spare = [node for node in nodes if node not in used]
    strike_ms = BEGIN_MS + rng.randrange(session)
    if scene.chance(0.9):
        strike_ms += begun_without(scene, spare)
    if scene.chance(0.3):
        scene.burst(strike_ms - rng.randint(5, 30), 30)
    else:  # Mostly the last one is answered, and no later one has told the nodes so.
        scene.writes(strike_ms - rng.randint(50, 200), strike_ms, rng.randint(4, 12))
    if scene.chance(0.5):
        scene.depose(strike_ms)
        begins_ms = strike_ms
    else:
        scene.fault(strike_ms, "crash", ["active of g1"], rng.choice((5, 6)) * session)
        begins_ms = strike_ms + session
    scene.fault(
        strike_ms - rng.choice((-1, -1, -1, 0, 0, 2)), "pause", [silent], begins_ms - strike_ms + 5 * session
    )
    ordinal, when = rng.choice((1, 2, 2, 2, 2, 2, 3)), rng.choice(("before", *4 * ("after",)))
    on = Trigger("write", scene.whoever(), ordinal, when, BOOKS.get(scene.family.replication, ""))
    scene.strike(strike_ms + 1, scene.whoever(), rng.choice((3, 4)) * session, on)
    for node in others if scene.chance(0.9) else scene.some(others):
        scene.fault(strike_ms + 1, "pause", [node], rng.choice((3, 4)) * session, on)
    scene.writes(begins_ms, begins_ms + 4 * session, 30)


def begun_without(scene: Scene, spare: list[str]) -> int:
    """Who takes over early begins a journal while these are silent: they can be taken instead of another one later. How long it lasts."""
    away_ms = scene.rng.randint(350, 900)
    book = BOOKS.get(scene.family.replication, "")
    scene.depose(BEGIN_MS)
    for node in spare:  # The journal before is closed with all of them: that is the second change.
        on = Trigger("write", scene.whoever(), 2, "after", book)
        scene.fault(BEGIN_MS, scene.rng.choice(("pause", "crash")), [node], away_ms, on)
    return away_ms + 100


def closed_late(scene: Scene) -> None:
    """What closed the journal comes to a node again behind much that was written since; then who has everything dies together with the writer."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3))
    session, nodes = scene.session_ms, scene.cluster.journal.nodes
    late, *others = rng.sample(nodes, len(nodes))
    behind, whole = others[: len(nodes) // 2], others[len(nodes) // 2 :]
    strike_ms = BEGIN_MS + rng.randrange(session)
    begins_ms = unseated(scene, strike_ms)
    comes_ms = begins_ms + rng.choice((100, session // 2, session))
    dies_ms = comes_ms + rng.choice((3, 30, 100))
    kind = "AcceptJournal" if scene.chance(0.7) else rng.choice(WORDS[""])
    for name in scene.members():
        scene.fault(strike_ms + 1, "hold", [name, late], comes_ms - strike_ms, kind=kind, direction="to")
        for node in others:
            reading = "WriteJournal" if node in behind else "JournalRead"
            scene.fault(comes_ms - 60, "hold", [name, node], session, kind=reading, lost=True)
    scene.writes(begins_ms, comes_ms, 30)
    scene.burst(comes_ms - rng.randint(10, 50))
    on = Trigger("delivered", scene.whoever(), 1, "after", kind, late) if scene.chance(0.5) else None
    for name in ("active of g1", *whole):
        scene.strike(dies_ms if on is None else comes_ms - 1, name, rng.choice((3, 5)) * session, on)
