"""Single faults at random times and tied to progress, spread over the whole span.

Each seed draws from a few kinds only, so that some seeds consist of power losses and others of broken links.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from nodes.config import ClusterConfig
from nodes.explore.draw_triggers import COUNTED, draw_trigger
from nodes.explore.plan import Fault
from nodes.explore.progress import CLIENT_MESSAGES, messages_of
from nodes.families import Family, family_named
from nodes.faults.table import FAILING, TORN
from nodes.faults.table import VERBS as FAULTS
from nodes.kinds import nodes_of
from nodes.sim.triggers import Trigger

COORDINATION = "coordination"
COUNTS = (0, 1, 2, 3, 3, 4, 6, 10)
KINDS = (
    "process",
    "power",
    "pause",
    "link",
    "clog",
    "coordination",
    "disk",
    "damage",
    "clock",
    "change",
    "checkpoint",
    "client",
    "alone",
)
DRAWN = (*(row.verb for row in FAULTS if row.drawn), "mark", "recover")


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
            faults += DRAW[self._rng.choice(kinds)](self)
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
        return draw_trigger(self._rng, self._family, len(self._groups), self._server(), COUNTED)

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

    def process(self) -> list[Fault]:
        verb = self._rng.choice(("crash", "crash", "stop"))
        return [self._fault(verb, self._some())]

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
            if len(others) == 1 and rng.random() < 0.5:
                rest = [name for name in group.members if name not in others]
                faults.append(
                    Fault(rng.choice(("pause", "crash")), rest, {}, dies_ms, None, session * 3 // 2)
                )
        return faults

    def power(self) -> list[Fault]:
        torn = {"torn": self._rng.choice(TORN)}
        if self._rng.random() < 0.2:
            return self._all_lose_power(torn)
        return [self._fault("power_loss", self._some(), torn)]

    def _all_lose_power(self, torn: dict[str, Any]) -> list[Fault]:
        """A whole group loses power at once. The tail of one journal rots meanwhile, and each server returns at its own time."""
        members = list(self._rng.choice(self._cluster.groups).members)
        at_ms = self._rng.randrange(self._span_ms)
        returns = [Fault("power_loss", [name], torn, at_ms, for_ms=self._duration() or 1) for name in members]
        rot = {"what": "journal_tail", "place": self._rng.choice(("middle", "drawn"))}
        return [*returns, Fault("corrupt", [self._rng.choice(members)], rot, at_ms)]

    def pause(self) -> list[Fault]:
        return [self._fault("pause", self._some())]

    def link(self) -> list[Fault]:
        verb = self._rng.choice(
            ("cut", "cut", "cut", "isolate", "island", "delay", "lose", "duplicate", "reorder", "hold")
        )
        direction = {"direction": self._rng.choice(("both", "both", "to", "from"))}
        if verb == "isolate":
            return [self._fault("cut", [self._server()], direction)]
        if verb == "island":
            names = self._rng.sample(self._all, self._rng.randint(1, max(1, len(self._all) // 2)))
            return [self._fault("cut", names, {"island": True})]
        options: dict[str, Any] = dict(direction)
        if verb == "delay":
            options["ms"] = self._rng.choice((1, 5, 50, 600))
        elif verb == "hold":
            options |= {
                "kind": self._rng.choice(messages_of(self._family.replication)),
                "lost": self._rng.random() < 0.5,
            }
        elif verb != "cut":
            options["share"] = self._rng.choice((0.05, 0.3, 1.0 if verb != "lose" else 0.6))
        return [self._fault(verb, [self._server(), self._other()], options)]

    def clog(self) -> list[Fault]:
        """Several clogs at once: they open in another order than they began."""
        return [
            self._fault("clog", [self._rng.choice(self._servers), self._other()])
            for _ in range(self._rng.choice((1, 2, 3)))
        ]

    def coordination(self) -> list[Fault]:
        verb = self._rng.choice(("take_lock", "expire_session", "crash", "delay", "cut", "ensemble", "slow"))
        if verb == "take_lock":
            return [self._fault(self._family.unseats, [self._rng.choice(self._groups)], lasting=False)]
        if verb == "expire_session":
            return [self._fault(verb, [self._server()], lasting=False)]
        if verb == "crash":
            return [self._fault("crash", [COORDINATION])]
        if verb == "ensemble":
            member = f"{COORDINATION}{self._rng.randint(1, 3)}"
            return [self._fault(self._rng.choice(("crash", "cut")), [member])]
        if verb == "slow":
            return [self._fault("delay", [COORDINATION], {"ms": self._rng.choice((5, 50, 300))})]
        options = {"ms": self._rng.choice((5, 50, 600))} if verb == "delay" else {}
        return [self._fault(verb, [self._server(), COORDINATION], options)]

    def disk(self) -> list[Fault]:
        verb = self._rng.choice(("slow_disk", "hold", "slow_disk", "fail_disk", "fill_disk"))
        options: dict[str, Any] = {}
        if verb == "slow_disk":
            options = {"ms": self._rng.choice((5, 50, 700)), "share": self._rng.choice((0.1, 1.0))}
        elif verb == "fail_disk":
            options = {"what": self._rng.choice(FAILING), "times": self._rng.choice((0, 1, 1, 3))}
        elif verb == "fill_disk":
            options = {"free": self._rng.choice((0, 4_096, 65_536))}
        return [self._fault(verb, [self._server()], options)]

    def damage(self) -> list[Fault]:
        verb = self._rng.choice(("corrupt", "corrupt", "new_disk", "gone"))
        server = self._server()
        if verb == "corrupt":
            what = self._rng.choice(("journal", "journal_tail", "image", "block"))
            place = self._rng.choice(("middle", "drawn"))
            crash = [self._fault("crash", [server])] if self._rng.random() < 0.5 else []
            return [*crash, self._fault(verb, [server], {"what": what, "place": place}, lasting=False)]
        return [self._fault(verb, [server], lasting=verb == "new_disk")]

    def clock(self) -> list[Fault]:
        if self._rng.random() < 0.5:
            ms = self._rng.choice((-60_000, -500, 500, 60_000, 3_000_000))
            return [self._fault("skew_clock", [self._server()], {"ms": ms})]
        return [
            self._fault(
                "drift_clock", [self._server()], {"ppm": self._rng.choice((-80_000, -1_000, 1_000, 80_000))}
            )
        ]

    def change(self) -> list[Fault]:
        verb = self._rng.choice(("add_server", "add_server", "remove_server", "force"))
        group = self._rng.choice(self._groups)
        targets = {"add_server": [group], "force": [group, self._server()]}.get(verb, [self._server()])
        return [self._fault(verb, targets, lasting=False)]

    def checkpoint(self) -> list[Fault]:
        if not self._family.checkpoints:
            return self.process()
        if self._checkpoints and self._rng.random() < 0.4:
            name = f"k{self._rng.randint(1, self._checkpoints)}"
            return [self._fault("recover", [name], lasting=False)]
        self._checkpoints += 1
        return [self._fault("mark", [f"k{self._checkpoints}"], lasting=False)]

    def client(self) -> list[Fault]:
        verb = self._rng.choice(("pause", "cut", "lose", "duplicate", "hold"))
        client = self._rng.choice(self._clients)
        if verb == "pause":
            return [self._fault(verb, [client])]
        options: dict[str, Any] = {"direction": self._rng.choice(("both", "to", "from"))}
        if verb == "hold":
            options |= {"kind": self._rng.choice(CLIENT_MESSAGES), "lost": self._rng.random() < 0.5}
        elif verb != "cut":
            options["share"] = self._rng.choice((0.1, 0.5))
        return [self._fault(verb, [client, self._server()], options)]


DRAW: dict[str, Callable[[FaultDrawer], list[Fault]]] = {kind: getattr(FaultDrawer, kind) for kind in KINDS}
