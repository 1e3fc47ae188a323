"""Conditions of a scenario's `when`: short sentences about the global view and the steps that servers take."""

from __future__ import annotations

import re
from collections.abc import Callable

from backend.clusters.picture import Picture
from nodes.trace.events import Serving, Stamped, StepTaken, StoppedServing

ROLES = ("active", "standby", "junior")
PLACE = re.compile(r"^(?P<count>\d+ )?(?P<role>active|standby|standbys|junior|juniors) in (?P<group>\S+)$")
SERVER = re.compile(r"^(?P<server>[a-z][a-z0-9-]*) is (?P<role>active|standby|junior|down)$")
STEP = re.compile(r"^step (?P<procedure>[a-z]+) (?P<step>\S+) of (?P<group>\S+)$")
HELP = "'settled', 'active of g1 serves', 'junior in g1', '3 standbys in g1', 'mds2 is standby' or 'step upgrade 4 of g1'"


class Situation:
    """What conditions look at."""

    def __init__(self, picture: Picture):
        self.picture = picture
        self.serving: dict[str, str] = {}
        """Group to the server that serves."""
        self.upgrading = ""
        """Who took the last step of an upgrade."""
        self.steps: list[StepTaken] = []
        """Since the step before began."""

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is StepTaken:
            self.steps.append(event)
            if event.procedure == "upgrade":
                self.upgrading = stamped.server
        elif type(event) is Serving:
            self.serving[event.group] = stamped.server
        elif type(event) is StoppedServing and self.serving.get(event.group) == stamped.server:
            del self.serving[event.group]

    def count(self, role: str, group: str) -> int:
        servers = self.picture.servers.values()
        return sum(server.role == role and server.group == group for server in servers)

    def serves(self, group: str) -> bool:
        """An active that says so has its place in the view."""
        server = self.picture.servers.get(self.serving.get(group, ""))
        return server is not None and server.role == "active" and server.process == "running"

    @property
    def settled(self) -> bool:
        """In every group an active serves, and every server has its place in step."""
        roles = [server.role for server in self.picture.servers.values()]
        groups = list(self.picture.groups)
        return (
            all(self.serves(group) for group in groups)
            and roles.count("active") == len(groups)
            and set(roles) <= {"active", "standby"}
        )


Condition = Callable[[Situation], bool]


def condition(text: str) -> Condition:
    """Raises ValueError with what would be right."""
    if text == "settled":
        return lambda now: now.settled
    if found := re.match(r"^active of (\S+) serves$", text):
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
        procedure, step = found["procedure"], found["step"]
        return lambda now: any(each.procedure == procedure and each.step == step for each in now.steps)
    raise ValueError(f"{text[:60]!r} is no condition; write {HELP}")
