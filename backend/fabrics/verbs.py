"""The fault verbs that processes can do: what menus, keys, the API and the command line show is made from
this table."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from backend.errors import FaultUnsupported, Malformed, NotThere
from nodes.families import Family
from nodes.storage.rot import CORRUPTIBLE

HOUR_MS = 3_600_000
OptionType = Literal["direction", "milliseconds", "offset", "share", "boolean", "file"]
Targets = Literal["server", "link", "group", "coordination", "cluster"]


class VerbOption(msgspec.Struct, frozen=True):
    name: str
    type: OptionType
    default: Any


class Verb(msgspec.Struct, frozen=True):
    verb: str
    key: str
    label: str
    targets: Targets
    options: tuple[VerbOption, ...] = ()
    undo: str | None = None
    danger: str | None = None
    """What it destroys or stops, said before it is done."""
    counts: tuple[int, int] = (1, 1)
    """Fewest and most targets."""
    locked: bool | None = None
    """Only for families whose groups have a lock (True) or have none (False)."""
    asks: bool = False
    """The page says what it costs now, and asks once more."""


DIRECTION = VerbOption("direction", "direction", "both")

VERBS: tuple[Verb, ...] = (
    Verb(
        "crash",
        "C",
        "Crash",
        "server",
        undo="restart",
        danger="Kills the process (SIGKILL); its memory is lost.",
        counts=(1, 32),
    ),
    Verb("restart", "R", "Restart", "server", counts=(1, 32)),
    Verb(
        "stop",
        "S",
        "Stop gracefully",
        "server",
        undo="restart",
        danger="Ends the process after it has closed its session.",
        counts=(1, 32),
    ),
    Verb(
        "power_loss",
        "W",
        "Power loss",
        "server",
        undo="restart",
        danger="Kills the process; what it has not synced to its disk is gone.",
        counts=(1, 32),
    ),
    Verb(
        "new_disk",
        "Y",
        "Empty disk",
        "server",
        undo="restart",
        danger="Kills the process and puts an empty disk in the place of its own; what is on that one is gone.",
        counts=(1, 32),
    ),
    Verb(
        "pause",
        "P",
        "Pause",
        "server",
        undo="resume",
        danger="Stops the process (SIGSTOP) until it is resumed.",
        counts=(1, 32),
    ),
    Verb("resume", "U", "Resume", "server", counts=(1, 32)),
    Verb(
        "cut", "X", "Cut", "link", (DIRECTION, VerbOption("island", "boolean", False)), "heal", counts=(1, 32)
    ),
    Verb("heal", "H", "Heal", "link", counts=(0, 2)),
    Verb("heal_all", "A", "Heal all", "cluster", counts=(0, 0)),
    Verb(
        "delay",
        "D",
        "Delay",
        "link",
        (VerbOption("ms", "milliseconds", 100), DIRECTION),
        "heal",
        counts=(1, 2),
    ),
    Verb("lose", "O", "Lose", "link", (VerbOption("share", "share", 0.2), DIRECTION), "heal", counts=(1, 2)),
    Verb(
        "take_lock",
        "L",
        "Take the lock away",
        "group",
        danger="Removes the lock and its owner's place from the global view.",
        locked=True,
    ),
    Verb(
        "force_view",
        "V",
        "Change the view",
        "group",
        danger="Makes the members agree on a new view now, with whoever is there.",
        locked=False,
    ),
    Verb(
        "expire_session",
        "E",
        "Expire the session",
        "server",
        danger="Ends the server's session with coordination.",
    ),
    Verb("slow_disk", "K", "Slow disk", "server", (VerbOption("ms", "milliseconds", 50),), "slow_disk"),
    Verb("fail_disk", "F", "Failing disk", "server", (VerbOption("on", "boolean", True),), "fail_disk"),
    Verb(
        "damage",
        "G",
        "Damage packets",
        "link",
        (VerbOption("share", "share", 0.2), DIRECTION),
        "heal",
        counts=(1, 2),
    ),
    Verb(
        "corrupt",
        "B",
        "Flip a bit on disk",
        "server",
        (VerbOption("what", "file", "image"),),
        danger="Flips one bit of a file on the server's disk.",
    ),
    Verb("skew_clock", "T", "Skew the clock", "server", (VerbOption("ms", "offset", 60_000),), "skew_clock"),
    Verb("add_server", "N", "Add a server", "group"),
    Verb(
        "force",
        "J",
        "Force it to serve",
        "server",
        danger="It serves without the others; what only they hold is lost.",
        counts=(1, 2),
        asks=True,
    ),
)

BY_NAME = {verb.verb: verb for verb in VERBS}
ELSEWHERE = {
    "duplicate": "duplicates messages",
    "reorder": "reorders messages",
}
LINK_VERBS = ("cut", "delay", "lose", "damage")
AT_ONCE = ("take_lock", "force_view", "expire_session", "add_server", "corrupt", "force")
"""Verbs that are over as soon as they are done."""


def verbs_of(family: Family) -> list[Verb]:
    """What can be done to a cluster of this family."""
    forced = not family.cannot_force
    return [
        verb for verb in VERBS if verb.locked in (None, family.locked) and (forced or verb.verb != "force")
    ]


def verb_named(name: str) -> Verb:
    """Raises NotThere for a word that is no verb, FaultUnsupported for one of another fabric."""
    if name in BY_NAME:
        return BY_NAME[name]
    if name in ELSEWHERE:
        raise FaultUnsupported(f"only the simulator {ELSEWHERE[name]}; real servers cannot do {name}")
    raise NotThere(f"no fault is called {name[:40]!r}; there are {', '.join(BY_NAME)}")


def checked_options(verb: Verb, given: dict[str, Any]) -> dict[str, Any]:
    """Defaults filled in. Raises Malformed for an unknown option or a value of the wrong type or size."""
    known = {option.name: option for option in verb.options}
    for name in given:
        if name not in known:
            allowed = f"it has {', '.join(known)}" if known else "it has none"
            raise Malformed(f"{verb.verb} has no option {name[:40]!r}; {allowed}")
    return {name: checked(verb, option, given.get(name, option.default)) for name, option in known.items()}


def checked(verb: Verb, option: VerbOption, value: Any) -> Any:
    where = f"option {option.name} of {verb.verb}"
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if option.type == "direction" and value not in ("both", "to", "from"):
        raise Malformed(f"{where} is one of both, to, from")
    if option.type == "milliseconds" and not (number is not None and 0 <= number <= 60_000):
        raise Malformed(f"{where} is a number of milliseconds from 0 to 60000")
    if option.type == "offset" and not (type(value) is int and abs(value) <= HOUR_MS):
        raise Malformed(f"{where} is a whole number of milliseconds, an hour forward or back at most")
    if option.type == "file" and value not in CORRUPTIBLE:
        raise Malformed(f"{where} is one of {', '.join(CORRUPTIBLE)}")
    if option.type == "share" and not (number is not None and 0 <= number <= 1):
        raise Malformed(f"{where} is a share from 0 to 1")
    if option.type == "boolean" and not isinstance(value, bool):
        raise Malformed(f"{where} is true or false")
    return value


def check_count(verb: Verb, targets: list[str]) -> None:
    fewest, most = verb.counts
    if not fewest <= len(targets) <= most:
        wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        raise Malformed(
            f"{verb.verb} takes {wanted} target{'' if wanted == '1' else 's'}, was given {len(targets)}"
        )
