"""Files with content, and clients that repeat requests."""

from __future__ import annotations

from typing import Any

from nodes.config import DataConfig
from nodes.explore.draw_load import PROFILES, Names, draw_calls
from nodes.explore.progress import CLIENT_MESSAGES
from nodes.explore.stories.scene import BEGIN_MS, Scene
from nodes.sim.triggers import Trigger


def content(scene: Scene) -> None:
    """Answers are lost and requested again, leaders change twice, and members learn late of block numbers that others allocated."""
    rng = scene.rng
    data = rng.choice((0, 1, 2, 3))
    scene.shape(
        sizes=(2, 3, 3), data=DataConfig([f"dn{n}" for n in range(1, data + 1)], 200, 1_200, rng.choice((200, 1_000))),
        session_ttl_ms=rng.choice((2_000, 20_000)),
    )  # fmt: skip
    scene.timed(client_timeout_ms=rng.choice((30, 100)))
    session, members = scene.session_ms, scene.members()
    names = Names(rng, rng.choice((1, 2, 4)), rng.choice((1, 3)))
    until_ms = BEGIN_MS + rng.choice((2, 4)) * session
    profile = (
        PROFILES["content"]
        if data and scene.chance(0.7)
        else PROFILES[rng.choice(("ring", "directories", "mixed"))]
    )
    for number in range(rng.choice((2, 3))):
        lines = draw_calls(rng, names, profile, 25, first=not number)
        scene.calls(
            lines,
            0,
            until_ms,
            rng.choice((1, 2)),
            rng.choice(("closed", "open", "saturate")),
            leaves=scene.chance(0.5),
        )
    for _ in range(rng.choice((2, 3, 5))):
        at_ms, lasts = rng.randrange(until_ms), rng.choice((50, session // 2, session, 2 * session))
        way = rng.choice(("hold", "hold", "client", "client", "depose", "strike"))
        client = rng.choice(scene.callers).name
        if way == "hold" and len(members) > 1:
            one, other = rng.sample(members, 2)
            scene.hold(at_ms, one, other, lasts)
        elif way == "client":
            scene.hold(at_ms, client, rng.choice(("active of g1", *members)), lasts, CLIENT_MESSAGES)
        elif way == "depose":
            scene.depose(at_ms)
        else:
            scene.apply_fault(at_ms, "active of g1", lasts)
    if scene.chance(0.3):
        share = rng.choice((0.1, 0.4))
        for name in members:
            scene.fault(0, "duplicate", [rng.choice(scene.callers).name, name], until_ms, share=share)


def given_out(scene: Scene) -> None:
    """The commander of the data nodes learns late of a block that another member allocated, and the writer falls silent in between."""
    rng = scene.rng
    beat = rng.choice((100, 200))
    data = DataConfig([f"dn{n}" for n in range(1, rng.choice((1, 1, 3)) + 1)], beat, 4 * beat, 1_000)
    scene.shape(sizes=(2, 3, 3), data=data)
    scene.precise()
    scene.timed(client_timeout_ms=rng.choice((100, 400)), ack_timeout_ms=2_000, session_timeout_ms=1_000)
    commander, others = scene.leader(), scene.others()
    other = rng.choice(others)
    at_ms = BEGIN_MS + 5 * beat + rng.randrange(500)
    lasts = rng.choice((600, 1_000, 1_500))
    until_ms = at_ms + lasts + 500
    lines = [f"put /f{number} {rng.choice((1, 512, 3_000))}" for number in range(6)]
    lines += [f"get /f{rng.randrange(6)}" for _ in range(6)]
    writer = scene.calls(lines, at_ms - 60, until_ms, 1, "saturate")
    unheard: dict[str, Any] = {"kind": "Request", "lost": True, "direction": "to"}
    for name in scene.members():
        if name != other:
            scene.fault(at_ms - 59, "hold", [writer, name], until_ms - at_ms + 59, **unheard)
    for kind in rng.choice((*5 * (("Held", "Alive"),), ("Held",), ("Alive",), ("Held", "Broadcast"))):
        scene.fault(
            at_ms - 60, "hold", [other, commander], lasts, kind=kind, lost=scene.chance(0.1), direction="to"
        )
    node = rng.choice(data.nodes)
    silent = rng.choice(
        (
            Trigger("sync", node, rng.choice((1, 1, 2, 3)), rng.choice(("before", "after"))),
            Trigger("sent", node, rng.choice((1, 1, 2)), "after", "Changes"),
            Trigger("delivered", other, rng.choice((4, 8, rng.randint(1, 12))), "after", "Answer"),
        )
    )
    scene.fault(at_ms - 58, "hold", [writer, other], lasts - 60, silent, **unheard)
    if scene.chance(0.05):
        scene.fault(at_ms, "slow_disk", [rng.choice(data.nodes)], lasts, ms=rng.choice((50, 300)))


def late_copies(scene: Scene) -> None:
    """Short-lived clients end while copies of their calls are under way: made by the network, or sent again because an answer was lost."""
    rng = scene.rng
    scene.shape(sizes=(2, 3), data=DataConfig(), session_ttl_ms=rng.choice((2_000, 2_000, 20_000)))
    scene.timed(client_timeout_ms=rng.choice((30, 100, 400)))
    scene.weather["reorder_us"] = rng.choice((20_000, 100_000, 500_000, 3_000_000))
    names, until_ms = Names(rng, 2, 2), BEGIN_MS + rng.choice((1_000, 2_000, 4_000))
    profile = PROFILES[rng.choice(("ring", "writes", "mixed"))]
    for number in range(rng.choice((4, 5, 6))):
        start_ms = rng.choice((0, BEGIN_MS, rng.randrange(until_ms)))
        lines = draw_calls(rng, names, profile, rng.choice((1, 2, 4, 8)), first=not number)
        dies_ms = start_ms + rng.randint(5, 300) if scene.chance(0.1) else 0
        # The client leaves long before the links are healed: most of its time goes into retries.
        name = scene.calls(
            lines,
            start_ms,
            start_ms + rng.choice((0, 50, 500)),
            rng.choice((1, 2)),
            rng.choice(("closed", "saturate")),
            leaves=scene.chance(0.9),
            dies_ms=dies_ms,
        )
        copies_of(scene, name, start_ms + 1, until_ms)
    if scene.chance(0.3):
        scene.depose(rng.randrange(until_ms))
    scene.span_ms = until_ms + rng.choice((1_000, 4_000))


def copies_of(scene: Scene, name: str, at_ms: int, lasts: int) -> None:
    """Some of a client's requests arrive twice; some answers are lost or late."""
    rng = scene.rng
    twice, lost, late = (
        rng.choice((0.3, 0.6, 0.9)),
        rng.choice((0.0, 0.2, 0.4, 0.6)),
        rng.choice((0, 0.2, 0.5)),
    )
    for member in scene.members():
        scene.fault(at_ms, "duplicate", [name, member], lasts, share=twice, direction="to")
        if lost:
            scene.fault(at_ms, "lose", [name, member], lasts, share=lost, direction="from")
        if late:
            scene.fault(
                at_ms, "reorder", [name, member], lasts, share=late, direction=rng.choice(("both", "from"))
            )
    if scene.chance(0.2):
        scene.hold(
            at_ms + rng.randrange(lasts),
            name,
            rng.choice(scene.members()),
            rng.choice((100, 500, 1_500, 3_000)),
            CLIENT_MESSAGES,
        )


def outlived(scene: Scene) -> None:
    """Clients send requests but do not receive the answers. When they ask again or reach the servers again, their sessions have ended or are
    about to."""
    rng = scene.rng
    ttl = rng.choice((1_000, 2_000))
    scene.shape(sizes=(2, 3), data=DataConfig(), session_ttl_ms=ttl)
    scene.timed(client_timeout_ms=rng.choice((30, 100, 200)))
    names, least_ms = Names(rng, 2, 1), 0
    for number in range(rng.choice((1, 2, 2))):
        start_ms = rng.randrange(300)
        if not number and scene.chance(0.6):
            least_ms = reported_unknown(scene, start_ms, ttl)
            continue
        lines = ["stat /", *draw_calls(rng, names, PROFILES["mixed"], rng.choice((1, 2, 4)), first=False)]
        name = scene.calls(
            lines,
            start_ms,
            start_ms + rng.choice((100, ttl)),
            style=rng.choice(("closed", "open")),
            leaves=scene.chance(0.2),
        )
        deaf_ms = start_ms + rng.choice((1, rng.randint(1, 100), rng.randint(1, 2 * ttl)))
        lasts, way = ttl * rng.randint(8, 16) // 8, rng.choice(("from", "from", "from", "both"))
        for member in scene.members():
            scene.fault(deaf_ms, "cut", [name, member], lasts, direction=way)
    if scene.chance(0.2):
        scene.depose(rng.randrange(ttl))
    scene.span_ms = max(least_ms, scene.span_ms) + rng.choice((200, 1_000))


def reported_unknown(scene: Scene, start_ms: int, ttl: int) -> int:
    """A client learns that its call is unknown when it has meanwhile been carried out; its next message is late. Returns the time."""
    rng, timeout = scene.rng, scene.timing.client_timeout_ms
    scene.weather["reorder_us"] = ttl * rng.choice((1_000, 1_500, 2_000))
    # Its first requests wait. It asks whether they are recorded, and receives some of the replies after they have arrived.
    made_ms = start_ms + 60 + timeout * rng.randint(11, 25) // 10
    eighths = rng.randint(2, 4)
    away_ms = made_ms + ttl * eighths // 8
    back_ms = made_ms + ttl * rng.randint(9, 8 + eighths) // 8 + rng.randrange(100)
    lines = ["stat /", "stat /", "create /a", *(f"stat /{rng.choice(('', 'a'))}" for _ in range(38))]
    name = scene.calls(lines, start_ms, away_ms + 50, rng.choice((1, 2)), "open")
    for member in scene.members():
        ends = [name, member]
        scene.fault(start_ms + 1, "hold", ends, kind="Request", direction="to")
        scene.fault(start_ms + 1, "reorder", ends, share=rng.choice((0.5, 0.9)), direction="from")
        scene.fault(made_ms - 1, "hold", ends, kind="Answer", lost=scene.chance(0.8), direction="from")
        scene.fault(made_ms, "heal", ends, direction="to")
        scene.fault(made_ms + 1, "hold", ends, kind="CheckOperation", lost=True, direction="to")
        scene.fault(made_ms + rng.choice((5, 20, 50)), "heal", ends, direction="from")
        scene.fault(away_ms, "hold", ends, kind="Request", direction="to")
        scene.fault(back_ms, "heal", ends, direction="to")
    return back_ms
