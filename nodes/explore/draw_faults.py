"""Single faults at random times and tied to progress, spread over the whole span.

Each seed draws from a few kinds only, so that some seeds consist of power losses and others of broken links.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from nodes.config import ClusterConfig
from nodes.explore.draw_options import draw_options
from nodes.explore.draw_triggers import COUNTED, draw_trigger
from nodes.explore.plan import Fault
from nodes.explore.progress import CLIENT_MESSAGES
from nodes.families import Family, family_named
from nodes.faults.table import BY_NAME, VERBS
from nodes.kinds import nodes_of
from nodes.sim.ensemble import COORDINATION, MEMBERS
from nodes.sim.triggers import Trigger

COUNTS = (0, 1, 2, 3, 3, 4, 6, 10)
WAYS = {
    "process": ("crash", "crash", "stop", "respawn"),
    "pause": ("pause",),
    "disk": ("slow_disk", "slow_disk", "fail_disk", "fill_disk"),
    "clock": ("skew_clock", "drift_clock"),
    "change": ("add_server", "add_server", "remove_server", "force", "hand_over"),
}
"""Kinds of single faults."""
KINDS = (*WAYS, "alone", "power", "link", "clog", "coordination", "damage", "checkpoint", "client")
QUESTIONS = ("mark", "recover")
"""Orders about checkpoints, drawn beside the verbs of faults."""
DRAWN = (*(row.verb for row in VERBS if row.drawn), *QUESTIONS, "hand_over")
SEVERAL = 0.5
"""Share of cuts that part several from several others, while each still reaches everybody else."""
AT_COORDINATION = ("crash coordination", "cut coordination", "delay coordination")
NEEDS: dict[str, Callable[[Family], bool]] = {
    "take_lock": lambda family: family.locked,
    "force_view": lambda family: not family.locked,
    "force": lambda family: not family.cannot_force,
    "remove_server": lambda family: not family.cannot_leave,
    "mark": lambda family: family.checkpoints,
    "recover": lambda family: family.checkpoints,
    "hand_over": lambda family: not family.cannot_hand_over,
}
"""Conditions of verbs that not every family can use."""


class FaultDrawer:
    """Draws faults for one cluster and its clients."""

    def __init__(self, rng: random.Random, cluster: ClusterConfig, clients: list[str], span_ms: int):
        self._rng = rng
        self._cluster = cluster
        self._family: Family = family_named(cluster.protocol)
        self._groups = [group.name for group in cluster.groups]
        self._servers = [name for group in cluster.groups for name in group.members]
        self._all = [*self._servers, *nodes_of(cluster)]
        self._clients = clients
        self._span_ms = span_ms
        self._checkpoints = 0

    def draw(self) -> list[Fault]:
        """Faults in no order. Kinds are drawn first, so that a seed has many faults of few kinds."""
        kinds = self._rng.sample(KINDS, self._rng.choice((1, 2, 3, len(KINDS))))
        faults: list[Fault] = []
        for _ in range(self._rng.choice(COUNTS)):
            kind = self._rng.choice(kinds)
            faults += self.one(self._rng.choice(WAYS[kind])) if kind in WAYS else getattr(self, kind)()
        return faults

    # --- when ------------------------------------------------------------------------------------------------------

    def _fault(
        self, verb: str, targets: list[str], options: dict[str, Any] | None = None, lasting: bool = True
    ) -> Fault:
        on = self._trigger() if self._rng.random() < 0.4 else None
        at_ms = 0 if on else self._rng.randrange(self._span_ms)
        return Fault(verb, targets, options or {}, at_ms, on, self._duration() if lasting else 0)

    def _duration(self) -> int:
        """A duration from a moment to for ever, most often near the session time-out."""
        session = self._cluster.timing.session_timeout_ms
        return self._rng.choice((1, 20, session // 4, session, session * 3 // 2, session * 3, 0))

    def _trigger(self) -> Trigger:
        return draw_trigger(self._rng, self._cluster, self._server(), COUNTED)

    # --- targets ---------------------------------------------------------------------------------------------------

    def _server(self) -> str:
        """A name, or a role at that time: leaders are drawn more often than others."""
        group = self._rng.choice(self._groups)
        named = self._rng.choice(self._all)
        return self._rng.choice((f"active of {group}", f"standby of {group}", named, named))

    def _some(self) -> list[str]:
        count = self._rng.choice((1, 1, 2, len(self._servers)))
        if count == 1:
            return [self._server()]
        return self._rng.sample(self._servers, min(count, len(self._servers)))

    def _other(self) -> str:
        return self._rng.choice((*self._all, COORDINATION, *self._clients))

    # --- faults ----------------------------------------------------------------------------------------------------

    def one(self, way: str) -> list[Fault]:
        """Faults of one way: of a verb at servers, links or groups that it fits, of `mark` or `recover`, of `hand_over`, or of a verb and
        `coordination`, which is applied to the service, or to a server of its ensemble."""
        verb, _, at_coordination = way.partition(" ")
        if verb in QUESTIONS:
            return self._question(verb)
        if verb == "hand_over":
            return [self._handover()]
        if verb == "cut" and not at_coordination and self._rng.random() < SEVERAL:
            return [self.apart()]
        lasting = BY_NAME[verb].undo is not None
        return [self._fault(verb, self._targets(verb, bool(at_coordination)), self._options(verb), lasting)]

    def _options(self, verb: str) -> dict[str, Any]:
        return draw_options(self._rng, self._cluster, verb)

    def _targets(self, verb: str, at_coordination: bool) -> list[str]:
        rng, row = self._rng, BY_NAME[verb]
        if at_coordination:
            return [COORDINATION] if rng.random() < 0.5 else [rng.choice(MEMBERS)]
        if row.on_links:  # Two ends, or one with all its links.
            return [self._server(), self._other()] if rng.random() < 0.7 else [self._server()]
        group = rng.choice(self._cluster.groups)
        if row.targets == ("group",):
            return [group.name]
        if verb == "force":
            return [group.name, rng.choice(group.members)]
        return self._some() if row.counts[1] > 1 else [self._server()]

    def apart(self) -> Fault:
        """Two or three are cut off from two or three others, in one or both directions."""
        rng, everybody = self._rng, [*self._all, COORDINATION, *self._clients]
        rng.shuffle(everybody)
        ones, others = everybody[: rng.choice((2, 2, 3))], everybody[-rng.choice((2, 2, 3)) :]
        others = [name for name in others if name not in ones]
        return self._fault("cut", ones, {**self._options("cut"), "others": others})

    def alone(self) -> list[Fault]:
        """The leader is cut off from its group, or from one member, but not from clients and coordination; then it may die.

        The member that was left out may then be alone for a while: it must not lead with the state that it has.
        """
        rng, group, timing = self._rng, self._rng.choice(self._cluster.groups), self._cluster.timing
        session = timing.session_timeout_ms
        leader, at_ms = f"active of {group.name}", rng.randrange(self._span_ms)
        cut_ms = rng.choice((timing.ack_timeout_ms * 4, session * 3))
        others = group.members if rng.random() < 0.6 else [rng.choice(group.members)]
        faults = [Fault("cut", [leader, name], {}, at_ms, None, cut_ms) for name in others]
        if rng.random() < 0.7:
            dies_ms = min(self._span_ms, at_ms + timing.ack_timeout_ms + rng.randrange(session * 2))
            verb = rng.choice(("crash", "power_loss"))
            faults.append(Fault(verb, [leader], {}, dies_ms, None, session * 3))
            rest = [name for name in group.members if name not in others]
            if len(others) == 1 and rest and rng.random() < 0.5:
                faults.append(
                    Fault(rng.choice(("pause", "crash")), rest, {}, dies_ms, None, session * 3 // 2)
                )
        return faults

    def power(self) -> list[Fault]:
        if self._rng.random() < 0.2:
            return self._all_lose_power(self._options("power_loss"))
        return self.one("power_loss")

    def _all_lose_power(self, torn: dict[str, Any]) -> list[Fault]:
        """A whole group loses power at once. The tail of one journal rots meanwhile, and each server returns at its own time."""
        members = list(self._rng.choice(self._cluster.groups).members)
        at_ms = self._rng.randrange(self._span_ms)
        returns = [Fault("power_loss", [name], torn, at_ms, for_ms=self._duration() or 1) for name in members]
        rot = {"what": "journal_tail", "place": self._rng.choice(("middle", "drawn"))}
        return [*returns, Fault("corrupt", [self._rng.choice(members)], rot, at_ms)]

    def link(self) -> list[Fault]:
        way = self._rng.choice(
            ("cut", "cut", "cut", "island", "delay", "lose", "damage", "duplicate", "reorder", "hold", "hold")
        )
        if way != "island":
            return self.one(way)
        names = self._rng.sample(self._all, self._rng.randint(1, max(1, len(self._all) // 2)))
        return [self._fault("cut", names, {"island": True})]

    def clog(self) -> list[Fault]:
        """Several clogs at once: they open in another order than they began."""
        return [fault for _ in range(self._rng.choice((2, 2, 3))) for fault in self.one("clog")]

    def coordination(self) -> list[Fault]:
        way = self._rng.choice((*AT_COORDINATION, self._family.unseats, "expire_session", "link"))
        if way != "link":
            return self.one(way)
        verb = self._rng.choice(("cut", "delay"))
        return [self._fault(verb, [self._server(), COORDINATION], self._options(verb))]

    def damage(self) -> list[Fault]:
        faults = self.one(self._rng.choice(("corrupt", "corrupt", "new_disk", "gone")))
        stops = faults[0].verb == "corrupt" and self._rng.random() < 0.5
        return [*([self._fault("crash", faults[0].targets)] if stops else []), *faults]

    def checkpoint(self) -> list[Fault]:
        return self.one(self._rng.choice(QUESTIONS if self._family.checkpoints else WAYS["process"]))

    def _question(self, verb: str) -> list[Fault]:
        """An order about a checkpoint. The first marks one; so a rollback has one to go back to, mostly."""
        if verb == "recover" and self._checkpoints:
            return [self._fault(verb, [f"k{self._rng.randint(1, self._checkpoints)}"], lasting=False)]
        self._checkpoints += 1
        mark = Fault("mark", [f"k{self._checkpoints}"], at_ms=self._rng.randrange(self._span_ms))
        if verb == "mark":
            return [mark]
        later_ms = self._rng.randint(mark.at_ms, self._span_ms)
        return [mark, Fault("recover", mark.targets, at_ms=later_ms)]

    def _handover(self) -> Fault:
        """The active of a group hands over to any standby, or to a named server, which may be behind, or the active itself."""
        group = self._rng.choice(self._cluster.groups)
        named = [self._rng.choice((f"standby of {group.name}", *group.members))]
        successor = named if self._rng.random() < 0.5 else []
        return self._fault("hand_over", [f"active of {group.name}", *successor], lasting=False)

    def client(self) -> list[Fault]:
        verb = self._rng.choice(("pause", "cut", "lose", "duplicate", "hold"))
        client = self._rng.choice(self._clients)
        if verb == "pause":
            return [self._fault(verb, [client])]
        options = self._options(verb)
        if verb == "hold":
            options["kind"] = self._rng.choice(CLIENT_MESSAGES)
        return [self._fault(verb, [client, self._server()], options)]


def ways_of(family: Family) -> list[str]:
    """All ways of `FaultDrawer.one` that a family can use, each once. Nothing is forced at random: a group that is served refuses it."""
    verbs = [verb for verb in DRAWN if verb != "force" and NEEDS.get(verb, able)(family)]
    return [*verbs, *AT_COORDINATION]


def able(family: Family) -> bool:
    return True
