"""Operations that several groups carry out together, in a few directories that move all the time."""

from __future__ import annotations

from typing import Any

from nodes.config import DataConfig
from nodes.explore.draw_load import Names, draw_calls
from nodes.explore.stories.scene import BEGIN_MS, Scene
from nodes.metadata.placement import Granularity
from nodes.sim.conditions import Latency
from nodes.sim.triggers import Trigger

MOVES = {
    "rename-directory": 2,
    "rename": 4,
    "replace": 1,
    "create": 4,
    "delete": 2,
    "delete-tree": 1,
    "mkdir": 3,
    "link": 1,
    "stat": 1,
}
PLACEMENTS = ("random", "random", "random", "hash", "ddg", "ddg")

ASKING = ("OpReq", "VoteReq", "Vote", "DecisionReq", "LookUp")
DECIDING = ("CommitReq", "AbortReq", "Decision")
ENDING = ("Ack", "Decided", "OutcomeReq")
UNHEARD = ("Answer",)
MARKING = ("Drain", "WriteBarrier")
MARKED = ("Drained", "BarrierStands", "CheckpointDecided")
TWO_PHASES = ("VoteReq", "VoteReq", "Vote", "Vote", "Decision", "Decided", "LookUp")
S2PC = ("OpReq", "OpReq", "OpReq", "CommitReq", "AbortReq", "Ack", "DecisionReq")
"""Messages of an operation of several groups, and of a checkpoint. Repeated ones are drawn more often, because more depends on them."""


def shape_groups(scene: Scene, sizes: tuple[int, ...] = (2, 2, 2, 3), **fields: Any) -> None:
    """Few groups of few servers, with nearly all operations across groups; `fields` of the cluster are set."""
    rng = scene.rng
    usual: dict[str, Any] = {
        "placement": rng.choice(PLACEMENTS),
        "cross_group": rng.choice(("s2pc_mp", "s2pc_mp", "two_phase")),
        "granularity": Granularity(1, 1, 1),
        "data": DataConfig(),
        "image_every": 0,
    }
    scene.shape(sizes, rng.choice((2, 2, 2, 2, 2, 2, 3, 3, 4, 4)), **(usual | fields))
    scene.timed(client_timeout_ms=rng.choice((30, 100)))


def pair(scene: Scene) -> tuple[str, str]:
    """Two groups in random order."""
    one, other = scene.rng.sample([group.name for group in scene.cluster.groups], 2)
    return one, other


def leaders(scene: Scene) -> list[str]:
    """Leaders of all groups, in random order."""
    return scene.rng.sample(
        [f"active of {group.name}" for group in scene.cluster.groups], len(scene.cluster.groups)
    )


def between_groups(scene: Scene) -> None:
    """Messages between groups about an operation are late or lost, and another server may have taken over the sender's or receiver's part by then."""
    rng = scene.rng
    shape_groups(scene)
    session = scene.session_ms
    names = Names(rng, rng.choice((1, 3)), rng.choice((2, 3, 4)))
    first_ms = at_ms = BEGIN_MS + rng.randrange(100)
    for _ in range(rng.choice((1, 2, 2))):
        late_in_operation(scene, at_ms, *pair(scene))
        at_ms += rng.choice((rng.randrange(60), session))
    scene.calls([f"mkdir /d{number}" for number in range(names.directories)], 0, BEGIN_MS // 2)
    for _ in range(2):
        count = rng.choice((15, 25))
        lines = draw_calls(rng, names, MOVES, count, first=False)
        if scene.chance(0.6):
            lines = below(scene, names.directories, count)
        style = rng.choice(("saturate", "closed", "open", "open", "open"))
        scene.calls(lines, rng.choice((BEGIN_MS // 2, first_ms - 20)), at_ms + 50, rng.choice((1, 2)), style)


def late_in_operation(scene: Scene, at_ms: int, one: str, other: str) -> None:
    """One kind of message between two groups waits. A side dies meanwhile, and the message arrives before or after another server leads there."""
    rng, session = scene.rng, scene.session_ms
    leader, partner = f"active of {one}", f"active of {other}"
    in_one = scene.cluster.cross_group == "s2pc_mp"
    kinds = S2PC if in_one and scene.chance(0.7) else TWO_PHASES
    first = "OpReq" if in_one else "VoteReq"
    kind = first if scene.chance(0.5) else rng.choice(kinds)
    lasts = rng.choice((20, 2 * session, 3 * session, 3 * session, 4 * session, 4 * session))
    receivers = group_of(scene, other) if scene.chance(0.9) else [partner]
    if scene.chance(0.8):
        late(scene, at_ms, leader, receivers, (kind,), lasts, scene.chance(0.1))
    if scene.chance(0.9):
        faulted = rng.choice((leader, leader, leader, partner))
        said = kind if scene.chance(0.8) else rng.choice(kinds)
        place = "sent" if said == kind else rng.choice(("sent", "delivered"))
        when = rng.choice(("before", "after", "after"))
        on = Trigger(place, leader, rng.choice((1, 1, 1, 2)), when, said)
        tied = scene.chance(0.5)
        faulted_ms = at_ms if tied else at_ms + 10 + rng.randrange(90)
        scene.apply_fault(faulted_ms, faulted, rng.choice((session, 2 * session)), on if tied else None)


def said_twice(scene: Scene) -> None:
    """Messages between groups are repeated when the operation is over, and another server may lead there by then."""
    rng = scene.rng
    shape_groups(scene, cross_group=rng.choice(("s2pc_mp", "s2pc_mp", "s2pc_mp", "two_phase")))
    scene.copies(rng.choice((0.3, 0.5)), rng.choice((50_000, 200_000, 400_000)))
    directories, span_ms = rng.choice((1, 2, 3)), rng.choice((100, 300))
    scene.calls([f"mkdir /d{number}" for number in range(directories)], 0, BEGIN_MS // 2)
    for _ in range(rng.choice((2, 3))):
        lines = below(scene, directories, rng.choice((15, 25)))
        scene.calls(
            lines, BEGIN_MS, BEGIN_MS + span_ms, rng.choice((1, 2, 4)), rng.choice(("closed", "open"))
        )
    for faulted in scene.some(leaders(scene)[:2]):
        scene.apply_fault(BEGIN_MS + rng.randrange(span_ms), faulted, rng.choice((1, 2)) * scene.session_ms)


def late(
    scene: Scene,
    at_ms: int,
    end: str,
    others: list[str],
    kinds: tuple[str, ...],
    lasts: int,
    lost: bool = False,
) -> None:
    """Delays these kinds of messages between one end and others."""
    for other in others:
        for kind in kinds:
            scene.fault(at_ms, "hold", [end, other], lasts, kind=kind, lost=lost)


def group_of(scene: Scene, name: str) -> list[str]:
    return next(group.members for group in scene.cluster.groups if group.name == name)


def moving(scene: Scene) -> None:
    """Directories move to and fro while clients work below them. Answers to clients are lost, or one group learns of a move late."""
    rng = scene.rng
    apart = rng.choice(("random", "random", "random", "hash", "hash", "ddg"))
    shape_groups(scene, (2,), placement=apart, session_ttl_ms=rng.choice((2_000, 20_000)))
    scene.timed(client_timeout_ms=rng.choice((10, 30)), ack_timeout_ms=rng.choice((60, 200, 500)))
    if scene.chance(0.2):
        scene.weather["network"] = Latency(40, rng.choice((1_000, 3_000)), 0.1, 5_000)
    directories, span_ms = rng.choice((2, 3, 4)), rng.choice((200, 300, 400))
    until_ms = BEGIN_MS + span_ms
    homes = [f"mkdir /d{number}" for number in range(directories)]
    scene.calls(homes, 0, BEGIN_MS // 2)
    moved = moves_of(scene, directories, rng.choice((8, 8, 12)))
    scene.calls(moved, BEGIN_MS, until_ms, 1, rng.choice(("closed", "closed", "saturate")))
    workers = [
        scene.calls(
            below(scene, directories, rng.choice((20, 30)), "dddde"), BEGIN_MS * 2 // 3, until_ms, rng.choice((2, 4)),
            rng.choice(("closed", "open", "open")),
        )
        for _ in range(2)
    ]  # fmt: skip
    for _ in range(rng.choice((4, 6, 8, 10, 12))):
        at_ms = BEGIN_MS + rng.randrange(span_ms * 3 // 4)
        leader, *others = leaders(scene)
        if scene.chance(0.5):
            late(
                scene,
                at_ms,
                rng.choice(workers),
                [leader, *others],
                UNHEARD,
                rng.choice((60, 100, 150)),
                True,
            )
        else:
            kinds = (rng.choice((*TWO_PHASES, *TWO_PHASES, *S2PC)),)
            late(scene, at_ms, leader, others, kinds, rng.choice((5, 20, 20, 50)))


def moves_of(scene: Scene, directories: int, count: int) -> list[str]:
    """Renames of one directory after the other to a free name, now and then below another directory, and back."""
    rng, lines = scene.rng, list[str]()
    places = [f"/d{number}" for number in range(directories)]
    for _ in range(count):
        away = [each for each, place in enumerate(places) if place != f"/d{each}"]
        number = rng.choice(away) if away and scene.chance(0.6) else rng.randrange(directories)
        old = places[number]
        nested = any(place.startswith(f"{old}/") for place in places)
        tops = [place for place in places if place.count("/") == 1 and place != old]
        above = rng.choice(tops) if tops and not nested and scene.chance(0.15) else ""
        new = rng.choice([place for letter in "de" if (place := f"{above}/{letter}{number}") != old])
        if number in away and scene.chance(0.8):
            new = f"/d{number}"
        lines.append(f"rename {old} {new}")
        places = [new + place[len(old) :] if f"{place}/".startswith(f"{old}/") else place for place in places]
    return lines


def below(scene: Scene, directories: int, count: int, letters: str = "d") -> list[str]:
    """Calls on names in random directories. `letters` with two letters include the places of moved directories."""
    rng, name, lines = scene.rng, scene.client(), list[str]()

    def directory() -> str:
        return f"/{rng.choice(letters)}{rng.randrange(directories)}"

    old = f"{directory()}/{name}"
    for number in range(count):
        new = f"{directory()}/{name}-{number}"
        made = (f"create {new}",) * 4 + (f"rename {old} {new}",) * 3 + (f"mkdir {new}", f"link {old} {new}")
        line = rng.choice((*made, f"delete {old}", f"stat {old}"))
        lines.append(line)
        if line in made:
            old = new
    return lines


def moved_meanwhile(scene: Scene) -> None:
    """Names move from one directory to another while one of the directories moves. Vote requests are delayed, then arrive at once."""
    rng = scene.rng
    shape_groups(scene, (2,))
    rounds, lasts = rng.choice((3, 4, 6)), rng.choice((20, 40, 80, 80, 150))
    every_ms = lasts + rng.choice((50, 100, 300))
    first_ms = BEGIN_MS + rng.randrange(100)
    span_ms = rounds * every_ms
    made, worked, moves = works_and_moves(scene, rng.choice((2, 3, 4)), rounds, rng.choice((1, 1, 2, 3)))
    scene.calls(made, 0, BEGIN_MS // 2, 1, "saturate")
    for lines in worked:
        starts_ms = first_ms + rng.randint(1, lasts // 2)
        scene.calls(lines, starts_ms, starts_ms + span_ms, 1, "open")
    starts_ms = first_ms + rng.randint(lasts // 3, lasts - 5)
    scene.calls(moves, starts_ms, starts_ms + span_ms, 1, "open")
    for at_ms in range(first_ms, first_ms + span_ms, every_ms):
        leader, *others = leaders(scene)
        late(scene, at_ms, leader, others, ("VoteReq",), lasts)
        if scene.chance(0.2):
            late(scene, at_ms, leader, others, (rng.choice(TWO_PHASES),), lasts + rng.choice((5, 20, 50)))


def works_and_moves(
    scene: Scene, directories: int, rounds: int, workers: int
) -> tuple[list[str], list[list[str]], list[str]]:
    """The calls that create all names; for each worker one rename or link per round between two directories; one directory's move per round."""
    rng = scene.rng
    homes = [f"/d{number}" for number in rng.sample(range(10), directories)]
    made, places = [f"mkdir {home}" for home in homes], list(homes)
    worked, moves = [list[str]() for _ in range(workers)], list[str]()
    for number in range(rounds):
        old, new = rng.sample(range(directories), 2)
        for worker, lines in enumerate(worked):
            name, verb = f"f{worker}-{number}", rng.choice(("rename", "rename", "rename", "link"))
            made.append(f"create {homes[old]}/{name}")
            lines.append(f"{verb} {places[old]}/{name} {places[new]}/{name}")
        moved = rng.choice((old, new))
        before, home = places[moved], homes[moved]
        places[moved] = home if before != home else home.replace("d", "e")
        moves.append(f"rename {before} {places[moved]}")
    return made, worked, moves


def barriers(scene: Scene) -> None:
    """Checkpoints are marked one after the other while groups share operations, and the messages between groups are late."""
    rng = scene.rng
    shape_groups(scene, (2, 2, 3))
    scene.precise()
    directories, marks, session = rng.choice((1, 2, 3)), rng.choice((1, 2)), scene.session_ms
    scene.calls([f"mkdir /d{number}" for number in range(directories)], 0, BEGIN_MS // 2)
    at_ms = BEGIN_MS + rng.randrange(100)
    for number in range(1, marks + 1):
        kinds = rng.choice((ASKING, *6 * (DECIDING,), ENDING, MARKING, MARKED))
        leader, *others = leaders(scene)
        lasts, ahead_ms = rng.choice((30, 100, 200, session)), rng.choice((5, 10, 30, 50))
        late(scene, at_ms - ahead_ms, leader, others, kinds, lasts)
        scene.fault(at_ms, "mark", [f"k{number}"])
        for _ in range(2):
            lines = below(scene, directories, rng.choice((12, 20)))
            style = rng.choice(("closed", "open", "open", "saturate"))
            scene.calls(
                lines, at_ms - ahead_ms - 20, at_ms + rng.choice((0, 50)), rng.choice((1, 2, 4)), style
            )
        at_ms += lasts + rng.randrange(100)
    if scene.chance(0.3):
        scene.fault(at_ms + rng.choice((0, 200)), "recover", [f"k{rng.randint(1, marks)}"])
