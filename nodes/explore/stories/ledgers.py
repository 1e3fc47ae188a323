"""A journal on separate nodes: its closing server dies, nodes are silent, and copies of old messages are late."""

from __future__ import annotations

from msgspec.structs import replace

from nodes.config import JournalConfig, Knobs
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
"""Messages of a takeover of the journal, by replication."""

BOOKS = {"shared-bookkeeper": "ledgers"}
"""The last part of the coordination path with the journal's records."""


def closing(scene: Scene) -> None:
    """A server that takes over dies while it closes the previous journal; the next server reaches other nodes."""
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
    fault_ms = BEGIN_MS + rng.randrange(session)
    lasts = rng.choice((100, session // 2, session))
    begins_ms = unseated(scene, fault_ms)
    scene.writes(begins_ms, begins_ms + 2 * session, 60)
    apart, kind = rng.choice(nodes), rng.choice(WORDS.get(scene.family.replication, WORDS[""]))
    lost = scene.chance(0.5)
    for name in others:
        scene.fault(fault_ms + 1, "hold", [name, apart], begins_ms - fault_ms + lasts, kind=kind, lost=lost)
    silent = rng.sample([node for node in nodes if node != apart], rng.choice((0, 1, 1)))
    for node in silent:
        scene.fault(fault_ms - rng.choice((0, 1, 30)), "pause", [node], begins_ms - fault_ms + 3 * session)
    when, sends = rng.choice(("before", "after", "after")), rng.choice(("sent", "sent", "delivered"))
    ordinal, alike = rng.choice((1, 1, 2, 3, 4)), scene.chance(0.7)
    peer = apart if scene.chance(0.6) else ""
    for name in others[: rng.choice((1, len(others)))]:
        on = Trigger(sends, name, ordinal, when, kind, peer)
        scene.apply_fault(fault_ms + 1, name, rng.choice((1, 3)) * session, on)
        for node in nodes:
            if node != apart and node not in silent and alike:
                scene.fault(fault_ms + 1, "pause", [node], rng.choice((2, 3)) * session, on)


def unseated(scene: Scene, fault_ms: int) -> int:
    """The leader goes during many writes. Returns the time when the next one may begin."""
    rng, session = scene.rng, scene.session_ms
    scene.burst(fault_ms - rng.randint(5, 30))
    if scene.chance(0.5):
        scene.depose(fault_ms)
        return fault_ms
    scene.fault(fault_ms, "crash", [scene.leader()], rng.choice((2, 4)) * session)
    return fault_ms + session


def closed_by_two(scene: Scene) -> None:
    """A node is silent. The closing server records its replacement, and dies. The next server can reach only the silent node."""
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
    fault_ms = BEGIN_MS + rng.randrange(session)
    if scene.chance(0.9):
        fault_ms += begun_without(scene, spare)
    if scene.chance(0.3):
        scene.burst(fault_ms - rng.randint(5, 30), 30)
    else:  # Mostly the last write is answered, and no later one reports it.
        scene.writes(fault_ms - rng.randint(50, 200), fault_ms, rng.randint(4, 12))
    if scene.chance(0.5):
        scene.depose(fault_ms)
        begins_ms = fault_ms
    else:
        scene.fault(fault_ms, "crash", ["active of g1"], rng.choice((5, 6)) * session)
        begins_ms = fault_ms + session
    scene.fault(
        fault_ms - rng.choice((-1, -1, -1, 0, 0, 2)), "pause", [silent], begins_ms - fault_ms + 5 * session
    )
    ordinal, when = rng.choice((1, 2, 2, 2, 2, 2, 3)), rng.choice(("before", *4 * ("after",)))
    on = Trigger("write", scene.whoever(), ordinal, when, BOOKS.get(scene.family.replication, ""))
    scene.apply_fault(fault_ms + 1, scene.whoever(), rng.choice((3, 4)) * session, on)
    for node in others if scene.chance(0.9) else scene.some(others):
        scene.fault(fault_ms + 1, "pause", [node], rng.choice((3, 4)) * session, on)
    scene.writes(begins_ms, begins_ms + 4 * session, 30)


def begun_without(scene: Scene, spare: list[str]) -> int:
    """A server that takes over early begins a journal while the spare nodes are silent, so that they can replace others later. Returns its
    duration."""
    away_ms = scene.rng.randint(350, 900)
    book = BOOKS.get(scene.family.replication, "")
    scene.depose(BEGIN_MS)
    for node in spare:  # The second change closes the previous journal with all nodes.
        on = Trigger("write", scene.whoever(), 2, "after", book)
        scene.fault(BEGIN_MS, scene.rng.choice(("pause", "crash")), [node], away_ms, on)
    return away_ms + 100


def closed_late(scene: Scene) -> None:
    """The message that closed the journal arrives at a node again after many later writes. Then every node with all entries dies together with
    the writer."""
    rng = scene.rng
    scene.shape(sizes=(2, 3, 3))
    session, nodes = scene.session_ms, scene.cluster.journal.nodes
    late, *others = rng.sample(nodes, len(nodes))
    behind, whole = others[: len(nodes) // 2], others[len(nodes) // 2 :]
    fault_ms = BEGIN_MS + rng.randrange(session)
    begins_ms = unseated(scene, fault_ms)
    comes_ms = begins_ms + rng.choice((100, session // 2, session))
    dies_ms = comes_ms + rng.choice((3, 30, 100))
    kind = "AcceptJournal" if scene.chance(0.7) else rng.choice(WORDS[""])
    for name in scene.members():
        scene.fault(fault_ms + 1, "hold", [name, late], comes_ms - fault_ms, kind=kind, direction="to")
        for node in others:
            reading = "WriteJournal" if node in behind else "JournalRead"
            scene.fault(comes_ms - 60, "hold", [name, node], session, kind=reading, lost=True)
    scene.writes(begins_ms, comes_ms, 30)
    scene.burst(comes_ms - rng.randint(10, 50))
    on = Trigger("delivered", scene.whoever(), 1, "after", kind, late) if scene.chance(0.5) else None
    for name in ("active of g1", *whole):
        scene.apply_fault(dies_ms if on is None else comes_ms - 1, name, rng.choice((3, 5)) * session, on)


def begins_late(scene: Scene) -> None:
    """A node learns late, or never, that a segment has ended and the next one begun. It continues with its writer; then its copy decides the end."""
    rng = scene.rng
    scene.shape(sizes=(2, 3), journal=JournalConfig(scene.family.journal_names(3)))
    scene.precise()
    scene.timed(ack_timeout_ms=rng.choice((60, 100)), client_timeout_ms=rng.choice((100, 400)))
    session = scene.session_ms
    late, behind, whole = rng.sample(scene.cluster.journal.nodes, 3)
    lags_ms = rng.randint(100, 400)
    ends_ms = lags_ms + scene.timing.ack_timeout_ms + 1_100
    dies_ms, away_ms = ends_ms + rng.choice((20, 100, 300)), rng.choice((250, 400))
    lost = scene.chance(0.5)
    # The node is left out for the last group before a pause, and writes go on until the writer dies.
    scene.writes(0, lags_ms + 60, 20, style="open")
    for name in scene.members():
        # The node has the group that it seems to lack, and is left out only until the next segment, a second later.
        scene.fault(
            lags_ms - rng.choice((60, 30)),
            "hold",
            [name, behind],
            300,
            kind="JournalWritten",
            direction="from",
        )
        for kind in ("FinishSegment", "StartSegment"):
            lasts = dies_ms + 200 - lags_ms
            scene.fault(lags_ms + 1, "hold", [name, late], lasts, kind=kind, lost=lost, direction="to")
        for node in scene.cluster.journal.nodes if name != scene.leader() else ():
            scene.fault(dies_ms - 1, "hold", [name, node], 2 * session, kind="JournalRead", lost=True)
    scene.writes(ends_ms, dies_ms + 200, 80, style="open")
    scene.apply_fault(dies_ms, behind, away_ms)
    scene.apply_fault(dies_ms + rng.choice((30, 100)), "active of g1", rng.choice((3, 5)) * session)
    scene.apply_fault(dies_ms + away_ms + rng.choice((20, 100)), whole, rng.choice((3, 5)) * session)
    scene.writes(dies_ms + session, dies_ms + 4 * session, 10)


def overtaken(scene: Scene) -> None:
    """Images are frequent and the shared journal is truncated often. A server with an empty disk, or one that read nothing for a while, returns."""
    rng = scene.rng
    knobs = Knobs(
        segment_bytes=rng.choice((0, 300, 300, 300)),
        records_per_group=rng.choice((0, 1)),
        ledger_entries=rng.choice((1, 1, 3, 6)),
    )
    scene.shape(
        sizes=(2, 3, 3), image_every=rng.choice((2, 5, 10)), image_gap=rng.choice((2, 20)), knobs=knobs
    )
    session, nodes = scene.session_ms, scene.cluster.journal.nodes
    away = rng.choice((scene.leader(), *scene.others(), *scene.others()))
    at_ms = BEGIN_MS + rng.randint(2_000, 4_000)
    """By then a few images have been copied, and what they cover is dropped."""
    lasts = rng.choice((50, session // 2, session, 2 * session))
    way = rng.choice(("new_disk", "new_disk", "new_disk", "cut", "pause"))
    if way == "cut":
        for node in nodes:
            scene.fault(at_ms, way, [away, node], lasts)
    else:
        scene.fault(at_ms, way, [away], lasts)
    # Writes that are spread over the time: each image then covers a few ledgers.
    for from_ms, until_ms in ((0, at_ms), (at_ms, at_ms + lasts + session)):
        scene.writes(from_ms, until_ms, 60, style=rng.choice(("closed", "closed", "open")))
    if scene.chance(0.4):
        scene.depose(at_ms + lasts + rng.randrange(session))
