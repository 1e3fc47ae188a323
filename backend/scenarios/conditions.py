"""Conditions of a scenario's `when`: short sentences about the global view and the steps that servers take."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import get_args

from backend.errors import Malformed, NotThere
from backend.picture import Picture
from nodes.roles import ALIKE, IN_STEP, LEADING, SERVING
from nodes.trace.block_events import BlockHealth
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import AnyEvent, Serving, Stamped, StepTaken, StoppedServing

EVENTS = sorted(kind.__name__ for kind in get_args(AnyEvent))

SERVES = re.compile(r"^(?:active|primary) of (?P<group>\S+) serves$")
PLACE = re.compile(
    r"^(?P<count>\d+ )?(?P<role>active|standbys?|juniors?|primary|secondary|members?|joining) in (?P<group>\S+)$"
)
SERVER = re.compile(
    r"^(?P<server>[a-z][a-z0-9-]*) is (?P<role>active|standby|junior|primary|secondary|member|joining|down)$"
)
HOLDER = re.compile(r"^(?:active|primary) of (?P<group>\S+) is (?P<server>[a-z][a-z0-9-]*)$")
STEP = re.compile(r"^step (?P<procedure>[a-z]+) (?P<step>\S+) of (?P<group>\S+)$")
BLOCKS = re.compile(r"^blocks (?P<health>whole|under|over|missing)$")
REPORTED = re.compile(r"^(?:reported|told) (?P<kind>[A-Z][A-Za-z]+)(?: by (?P<server>[a-z][a-z0-9-]*))?$")
HELP = (
    "'settled', 'active of g1 serves', 'active of g1 is mds2', 'junior in g1', '3 standbys in g1', 'mds2 is standby', 'step upgrade 4 of g1', "
    "'blocks whole', 'reported ReplicaDamaged' or 'reported ImageRefused by mds2'"
)
OF_STATE = "settled; active of g1 serves; active of g1 is mds2; mds3 is standby; 3 standbys in g1"
"""Examples of conditions on the state alone."""


class Situation:
    """The state that conditions are evaluated on."""

    def __init__(self, picture: Picture):
        self.picture = picture
        self.serving: dict[str, str] = {}
        """Server that serves, by group."""
        self.upgrading: dict[str, str] = {}
        """Server that took the last step of an upgrade, by group."""
        self.time_server = ""
        """Server that last began to mark a checkpoint."""
        self.steps: list[tuple[str, StepTaken]] = []
        """Steps and their groups, since the scenario's step before began."""
        self._recent: set[tuple[str, str]] = set()
        """Kind and server of each event since then."""
        self._reported: Counter[str] = Counter()
        self._health: dict[int, BlockHealth] = {}
        """Last reported health of each block."""
        self._rolled_back: dict[str, TakenBack] = {}
        """Last recovery of each server."""

    @classmethod
    def of(cls, picture: Picture) -> Situation:
        """The state that a picture shows, without the events that led to it: a server serves that has a serving role and believes so."""
        now = cls(picture)
        for server in picture.servers.values():
            if server.role in SERVING and server.believes in SERVING:
                now.serving.setdefault(server.group, server.name)
        return now

    def begin_step(self) -> None:
        """Starts the record of a new step; earlier events do not count for it."""
        self.steps.clear()
        self._recent.clear()

    def begin_count(self) -> None:
        """Starts the counts of events; earlier events do not count."""
        self._reported.clear()

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        kind = type(event).__name__
        self._reported[kind] += 1
        self._recent.add((kind, stamped.server))
        if type(event) is StepTaken:
            server = self.picture.servers.get(stamped.server)
            group = server.group if server is not None else ""
            self.steps.append((group, event))
            if event.procedure == "upgrade":
                self.upgrading[group] = stamped.server
            elif (event.procedure, event.step) == ("checkpoint", "begin"):
                self.time_server = stamped.server
        elif type(event) is BlockHealth:
            self._health[event.block] = event
        elif type(event) is TakenBack:
            self._rolled_back[stamped.server] = event
        elif type(event) is Serving:
            self.serving[event.group] = stamped.server
            self._health = {
                block: reported for block, reported in self._health.items() if reported.group != event.group
            }
        elif type(event) is StoppedServing and self.serving.get(event.group) == stamped.server:
            del self.serving[event.group]

    def count(self, role: str, group: str) -> int:
        """Number of servers with this role, or with a like role of another family. A group of members counts one of them as the active."""
        roles = [server.role for server in self.picture.servers.values() if server.group == group]
        members = roles.count("member")
        if members and role in ("active", "standby"):
            return 1 if role == "active" else members - 1
        return sum(each in ALIKE.get(role, (role,)) for each in roles)

    def serves(self, group: str) -> bool:
        """Whether the group's active has reported that it serves, still has its place in the view, and runs."""
        server = self.picture.servers.get(self.serving.get(group, ""))
        return (
            server is not None
            and server.role in SERVING
            and server.believes in SERVING
            and server.process == "running"
        )

    def reported(self, kind: str, server: str = "") -> bool:
        """Whether such an event came in this step."""
        return any(kind == each and server in ("", teller) for each, teller in self._recent)

    def count_reported(self, kind: str) -> int:
        return self._reported[kind]

    @property
    def unwell(self) -> dict[str, int]:
        """Number of blocks by health, without the whole ones. A new active starts with an empty record and reports its findings again."""
        reported = [event.health for event in self._health.values() if event.health not in ("whole", "freed")]
        return dict(sorted(Counter(reported).items()))

    def not_rolled_back(self, checkpoint: str) -> list[str]:
        """Running servers whose last recovery was not to this checkpoint."""
        running = [name for name, server in self.picture.servers.items() if server.process == "running"]
        taken = {name: event.checkpoint for name, event in self._rolled_back.items()}
        return [name for name in running if taken.get(name) != checkpoint]

    @property
    def quarantined(self) -> int:
        """Client operations that the last recovery quarantined: the sum over the groups of the largest number that one server reported."""
        newest = max((event.incarnation for event in self._rolled_back.values()), default=0)
        most: dict[str, int] = {}
        for event in self._rolled_back.values():
            if event.incarnation == newest:
                most[event.group] = max(most.get(event.group, 0), event.operations)
        return sum(most.values())

    @property
    def settled(self) -> bool:
        """True when a server of every group serves, every group with an active has exactly one, and every server runs and is in step."""
        servers = self.picture.servers.values()
        roles = [server.role for server in servers]
        groups = list(self.picture.groups)
        leading = 0 if "member" in roles else len(groups)
        return (
            all(self.serves(group) for group in groups)
            and sum(role in LEADING for role in roles) == leading
            and set(roles) <= set(IN_STEP)
            and all(server.process == "running" for server in servers)
        )


Condition = Callable[[Situation], bool]


def of_events(text: str) -> bool:
    """Whether a condition is about events, and not about the state alone."""
    return any(form.match(text) for form in (STEP, BLOCKS, REPORTED))


def condition(text: str) -> Condition:
    """Parses a condition. Raises ValueError with the accepted forms."""
    if text == "settled":
        return lambda now: now.settled
    if found := SERVES.match(text):
        group = found["group"]
        return lambda now: now.serves(group)
    if found := HOLDER.match(text):
        of, name = found["group"], found["server"]
        return lambda now: now.serves(of) and now.serving[of] == name
    if found := PLACE.match(text):
        role, least = found["role"].removesuffix("s"), int(found["count"] or 1)
        of = found["group"]
        return lambda now: now.count(role, of) >= least
    if found := SERVER.match(text):
        server, role = found["server"], found["role"]
        return lambda now: server in now.picture.servers and now.picture.servers[server].role == role
    if found := STEP.match(text):
        procedure, step, of = found["procedure"], found["step"], found["group"]
        return lambda now: any(
            group == of and (each.procedure, each.step) == (procedure, step) for group, each in now.steps
        )
    if found := BLOCKS.match(text):
        health = found["health"]
        return lambda now: health in now.unwell if health != "whole" else not now.unwell
    if found := REPORTED.match(text):
        kind, teller = found["kind"], found["server"] or ""
        if kind not in EVENTS:
            raise ValueError(f"{kind[:40]!r} is not an event; there are {', '.join(EVENTS)}")
        return lambda now: now.reported(kind, teller)
    raise ValueError(f"{text[:60]!r} is not a condition; write {HELP}")


def state_condition(text: str) -> Condition:
    """A condition on the state alone, which can be evaluated at any moment. Raises Malformed for another."""
    try:
        holds = condition(text)
    except ValueError as error:
        raise Malformed(str(error)) from None
    if of_events(text):
        raise Malformed(
            f"{text[:60]!r} is about events, which a scenario waits for; conditions on the state are {OF_STATE}"
        )
    return holds


def holds_now(text: str, picture: Picture) -> bool:
    """Whether a condition on the state holds. Raises Malformed for another, NotThere where it names a server or group that does not exist."""
    holds = state_condition(text)
    forms = (form.match(text) for form in (SERVES, HOLDER, PLACE, SERVER))
    named = next((found.groupdict() for found in forms if found), {})
    for kind, known in (("group", picture.groups), ("server", picture.servers)):
        name = named.get(kind)
        if name is not None and name not in known:
            raise NotThere(f"no {kind} is called {name[:40]!r}; there are {', '.join(known)}")
    return holds(Situation.of(picture))
