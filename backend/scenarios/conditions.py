"""Conditions of a scenario's `when`: short sentences about the global view and the steps that servers take."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import get_args

from backend.clusters.picture import Picture
from nodes.roles import ALIKE, IN_STEP, LEADING, SERVING
from nodes.trace.block_events import BlockHealth
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import AnyEvent, Serving, Stamped, StepTaken, StoppedServing

EVENTS = sorted(kind.__name__ for kind in get_args(AnyEvent))

PLACE = re.compile(
    r"^(?P<count>\d+ )?(?P<role>active|standbys?|juniors?|primary|secondary|members?|joining) in (?P<group>\S+)$"
)
SERVER = re.compile(
    r"^(?P<server>[a-z][a-z0-9-]*) is (?P<role>active|standby|junior|primary|secondary|member|joining|down)$"
)
STEP = re.compile(r"^step (?P<procedure>[a-z]+) (?P<step>\S+) of (?P<group>\S+)$")
BLOCKS = re.compile(r"^blocks (?P<health>whole|under|over|missing)$")
TOLD = re.compile(r"^told (?P<kind>[A-Z][A-Za-z]+)(?: by (?P<server>[a-z][a-z0-9-]*))?$")
HELP = (
    "'settled', 'active of g1 serves', 'junior in g1', '3 standbys in g1', 'mds2 is standby', 'step upgrade 4 of g1', "
    "'blocks whole', 'told ReplicaDamaged' or 'told ImageRefused by mds2'"
)


class Situation:
    """What conditions look at."""

    def __init__(self, picture: Picture):
        self.picture = picture
        self.serving: dict[str, str] = {}
        """Group to the server that serves."""
        self.upgrading: dict[str, str] = {}
        """Group to who took the last step of an upgrade."""
        self.time_server = ""
        """Who began to mark a checkpoint last."""
        self.steps: list[tuple[str, StepTaken]] = []
        """With their groups, since the step of the scenario before began."""
        self._recent: set[tuple[str, str]] = set()
        """Kind and teller of the events since then."""
        self._told: Counter[str] = Counter()
        self._health: dict[int, BlockHealth] = {}
        """Of each block, as it was told last."""
        self._taken_back: dict[str, TakenBack] = {}
        """By server, the last time."""

    def begin_step(self) -> None:
        """Only what comes from now on is new."""
        self.steps.clear()
        self._recent.clear()

    def begin_count(self) -> None:
        """Events that were told before do not count."""
        self._told.clear()

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        kind = type(event).__name__
        self._told[kind] += 1
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
            self._taken_back[stamped.server] = event
        elif type(event) is Serving:
            self.serving[event.group] = stamped.server
            self._health = {block: told for block, told in self._health.items() if told.group != event.group}
        elif type(event) is StoppedServing and self.serving.get(event.group) == stamped.server:
            del self.serving[event.group]

    def count(self, role: str, group: str) -> int:
        """Servers in this place, or in what is like it in another family. Where all are members, one of them stands for the active."""
        roles = [server.role for server in self.picture.servers.values() if server.group == group]
        members = roles.count("member")
        if members and role in ("active", "standby"):
            return 1 if role == "active" else members - 1
        return sum(each in ALIKE.get(role, (role,)) for each in roles)

    def serves(self, group: str) -> bool:
        """An active that says so, and since then nothing else, has its place in the view."""
        server = self.picture.servers.get(self.serving.get(group, ""))
        return (
            server is not None
            and server.role in SERVING
            and server.believes in SERVING
            and server.process == "running"
        )

    def told(self, kind: str, server: str = "") -> bool:
        """Whether such an event came in this step."""
        return any(kind == each and server in ("", teller) for each, teller in self._recent)

    def count_told(self, kind: str) -> int:
        return self._told[kind]

    @property
    def unwell(self) -> dict[str, int]:
        """Blocks that are not whole, counted by what is wrong with them. A new active begins with none and tells again what it finds."""
        told = [event.health for event in self._health.values() if event.health not in ("whole", "freed")]
        return dict(sorted(Counter(told).items()))

    def not_taken_back(self, checkpoint: str) -> list[str]:
        """Servers that run and whose last recovery was not to this checkpoint."""
        running = [name for name, server in self.picture.servers.items() if server.process == "running"]
        taken = {name: event.checkpoint for name, event in self._taken_back.items()}
        return [name for name in running if taken.get(name) != checkpoint]

    @property
    def set_aside(self) -> int:
        """Operations of clients that the last recovery set aside: in each group as many as the server that had the most of them."""
        newest = max((event.incarnation for event in self._taken_back.values()), default=0)
        most: dict[str, int] = {}
        for event in self._taken_back.values():
            if event.incarnation == newest:
                most[event.group] = max(most.get(event.group, 0), event.operations)
        return sum(most.values())

    @property
    def settled(self) -> bool:
        """In every group somebody serves, one leads where one does, and every server runs and has its place in step."""
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


def condition(text: str) -> Condition:
    """Raises ValueError with what would be right."""
    if text == "settled":
        return lambda now: now.settled
    if found := re.match(r"^(?:active|primary) of (\S+) serves$", text):
        group = found[1]
        return lambda now: now.serves(group)
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
    if found := TOLD.match(text):
        kind, teller = found["kind"], found["server"] or ""
        if kind not in EVENTS:
            raise ValueError(f"{kind[:40]!r} is no event; there are {', '.join(EVENTS)}")
        return lambda now: now.told(kind, teller)
    raise ValueError(f"{text[:60]!r} is no condition; write {HELP}")
