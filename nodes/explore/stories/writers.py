"""Files with content, and clients that ask again."""

from __future__ import annotations

from nodes.config import DataConfig
from nodes.explore.draw_load import PROFILES, Names, draw_calls
from nodes.explore.progress import CLIENT_MESSAGES
from nodes.explore.stories.scene import BEGIN_MS, Scene


def content(scene: Scene) -> None:
    """Answers are lost and asked for again, leaders change twice, members hear late what others gave out."""
    rng = scene.rng
    data = rng.choice((0, 1, 1, 3))
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
            scene.strike(at_ms, "active of g1", lasts)
    if scene.chance(0.3):
        share = rng.choice((0.1, 0.4))
        for name in members:
            scene.fault(0, "duplicate", [rng.choice(scene.callers).name, name], until_ms, share=share)
