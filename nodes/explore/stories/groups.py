"""Operations that several groups carry out together, in few directories that move all the time."""

from __future__ import annotations

from nodes.explore.draw_load import Names, draw_calls
from nodes.explore.stories.scene import BEGIN_MS, Scene
from nodes.metadata.placement import Granularity
from nodes.sim.triggers import Trigger

MOVES = {
    "rename-directory": 4,
    "rename": 4,
    "replace": 1,
    "create": 4,
    "delete": 2,
    "delete-tree": 1,
    "mkdir": 3,
    "link": 1,
    "stat": 1,
}
PLACEMENTS = ("random", "random", "hash", "ddg")

TELLING = (
    "OpReq",
    "OpReq",
    "CommitReq",
    "VoteReq",
    "Vote",
    "Vote",
    "Decision",
    "DecisionReq",
    "Ack",
    "OutcomeReq",
)
"""Messages of an operation of several groups; the more often, the more depends on them."""


def between_groups(scene: Scene) -> None:
    """Messages between groups come late or are lost, actives die in the middle of an operation, barriers are marked meanwhile."""
    rng = scene.rng
    groups = rng.choice((2, 2, 3))
    scene.shape(
        sizes=(1, 2, 2, 3), groups=groups, placement=rng.choice(PLACEMENTS), granularity=Granularity(1, 1, 1)
    )
    scene.timed(client_timeout_ms=rng.choice((30, 100)))
    session = scene.session_ms
    names = Names(rng, rng.choice((1, 3)), rng.choice((2, 3, 4)))
    span_ms = BEGIN_MS + rng.choice((2, 3)) * session
    for number in range(rng.choice((2, 3, 4))):
        lines = draw_calls(rng, names, MOVES, rng.choice((20, 30, 40)), first=not number)
        style = rng.choice(("saturate", "closed", "open"))
        scene.calls(lines, rng.choice((0, BEGIN_MS)), span_ms, rng.choice((1, 2)), style)
    few = rng.sample(TELLING, rng.choice((1, 2, 3)))
    numbers = [group.name for group in scene.cluster.groups]
    for _ in range(rng.choice((3, 4, 6, 8))):
        one, other = rng.sample(numbers, 2)
        at_ms = rng.randrange(BEGIN_MS // 3, span_ms)
        kind, lasts = rng.choice(few), rng.choice((20, 200, session, 2 * session))
        leader, partner = f"active of {one}", f"active of {other}"
        way = rng.choice(
            ("hold", "hold and strike", "hold and strike", "strike", "strike", "answers", "mark")
        )
        if way.startswith("hold"):
            lost = scene.chance(0.3)
            for name in rng.choice(([partner], group_of(scene, other))):
                scene.fault(at_ms, "hold", [leader, name], lasts, kind=kind, lost=lost)
        if way.endswith("strike"):
            when, sends = rng.choice(("before", "after")), rng.choice(("sent", "delivered"))
            on = Trigger(sends, leader, rng.choice((1, 1, 2, 4)), when, kind) if scene.chance(0.7) else None
            scene.strike(at_ms, rng.choice((leader, partner)), session, on)
        elif way == "answers":
            client = rng.choice(scene.callers).name
            scene.fault(at_ms, "cut", [leader, client], lasts, direction="to")
        elif way == "mark" and scene.family.images:
            scene.fault(at_ms, "mark", [f"k{len(scene.faults)}"])


def group_of(scene: Scene, name: str) -> list[str]:
    return next(group.members for group in scene.cluster.groups if group.name == name)
