"""The means of a story: a cluster that it shapes, its cast, faults in order, and clients that read at the right moment."""

from __future__ import annotations

import random
from typing import Any

from msgspec.structs import replace

from nodes.config import ClusterConfig, Timing
from nodes.explore.draw_cluster import SERVERS_MAX, sized
from nodes.explore.draw_triggers import draw_kind, draw_trigger
from nodes.explore.plan import FIRST, WHOEVER, Caller, Fault
from nodes.explore.progress import messages_of
from nodes.families import Family, family_named
from nodes.sim.triggers import Trigger

COORDINATION = "coordination"
BEGIN_MS = 300
"""Time by which sessions are open and paths are cached."""
LARGE = 0.05
"""Share of large groups among those of several possible sizes."""
SESSIONS_MS = (600, 600, 1_000, 1_000, 2_000)
GARNISHED = 0.36
DISTURBED = 0.4
PRECISE = 0.1
"""Both probabilities for a story whose faults meet only at exact times."""
DRIFT_PPM = 80_000
"""Clock drift in parts per million; leases tolerate a tenth."""

APPENDS = {
    "mams": ("Prepare",),
    "paxos": ("Accept", "Accept", "Success"),
    "symmetric": ("Broadcast", "Broadcast", "Held"),
    "": ("WriteJournal", "AddEntry"),
}
"""The messages that append to the log, by replication."""


class Scene:
    """One trial under construction. Each member of the cast is named by its role at the beginning of the load."""

    def __init__(self, rng: random.Random, cluster: ClusterConfig):
        self.rng = rng
        self.cluster = cluster
        self.family: Family = family_named(cluster.protocol)
        self.lonely = len(cluster.groups[0].members) == 1
        """Whether every group has one server, which nothing replaces."""
        self.faults: list[Fault] = []
        self.callers: list[Caller] = []
        self.span_ms = 0
        self.beyond = False
        """Whether more is damaged than the family survives. Then only safety is judged, and that a person can force service."""
        self.garnished = GARNISHED
        """Probability that this trial is garnished."""
        self.disturbed = DISTURBED
        """Probability that the links and disks of this trial are not calm."""
        self.weather: dict[str, Any] = {}
        """Required values of the trial's conditions."""
        self.kinds = messages_of(self.family.replication)
        self.appends = APPENDS.get(self.family.replication, APPENDS[""])

    # --- the cluster -----------------------------------------------------------------------------------------------

    def shape(self, sizes: tuple[int, ...] = (2, 3, 3, 4), groups: int = 1, **fields: Any) -> None:
        """So many groups, each of one of these sizes, as far as the family allows; `fields` of the cluster are set."""
        session_ms = self.rng.choice(SESSIONS_MS)
        old = self.cluster.timing
        timing = replace(old, session_timeout_ms=session_ms, heartbeat_ms=session_ms // 4)
        fields = {"timing": timing, **fields}
        if groups == 1 and len(sizes) > 1 and self.chance(LARGE):
            sizes = (5, SERVERS_MAX)
        size = 1 if self.lonely else self.rng.choice(sizes)
        self.cluster = replace(sized(self.cluster, groups, size), **fields)

    def precise(self) -> None:
        """Nothing else happens in most trials of this story."""
        self.garnished = self.disturbed = PRECISE

    def timed(self, **fields: int) -> None:
        self.cluster = replace(self.cluster, timing=replace(self.timing, **fields))

    @property
    def timing(self) -> Timing:
        return self.cluster.timing

    @property
    def session_ms(self) -> int:
        return self.timing.session_timeout_ms

    # --- the cast --------------------------------------------------------------------------------------------------

    def leader(self, group: str = "g1") -> str:
        return f"{FIRST}active of {group}"

    def others(self, group: str = "g1") -> list[str]:
        size = len(self.cluster.groups[0].members)
        return [f"{FIRST}standby {number} of {group}" for number in range(1, size)]

    def members(self) -> list[str]:
        return [self.leader(), *self.others()]

    def holders(self) -> list[str]:
        """The servers that keep the log beside the leader: journal nodes, or the other members."""
        return list(self.cluster.journal.nodes) if self.family.journal_nodes else self.others()

    def some(self, names: list[str], least: int = 0) -> list[str]:
        """Some of these names, in random order."""
        return self.rng.sample(names, self.rng.randint(min(least, len(names)), len(names)))

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    # --- faults ----------------------------------------------------------------------------------------------------

    def fault(
        self,
        at_ms: int,
        verb: str,
        targets: list[str],
        for_ms: int = 0,
        on: Trigger | None = None,
        **options: Any,
    ) -> None:
        self.faults.append(Fault(verb, targets, options, max(0, at_ms), on, for_ms))
        self.span_ms = max(self.span_ms, at_ms + for_ms)

    def depose(self, at_ms: int, group: str = "g1") -> None:
        """Deposes the leader by an operator's command, or by ending its session."""
        if self.chance(0.3):
            self.fault(at_ms, "expire_session", [f"active of {group}"])
        else:
            self.fault(at_ms, self.family.unseats, [group])

    def hold(
        self, at_ms: int, a: str, b: str, for_ms: int, kinds: tuple[str, ...] = (), lost: float = 0.4
    ) -> None:
        """Holds one kind of message between two servers."""
        if a != b:
            kind = self.rng.choice(kinds) if kinds else draw_kind(self.rng, self.cluster, 0.8)
            is_lost = self.chance(lost)
            direction = self.rng.choice(("both", "both", "to", "from"))
            self.fault(at_ms, "hold", [a, b], for_ms, kind=kind, lost=is_lost, direction=direction)

    def drift(self, slow: str, apart: bool = False) -> None:
        """Slows one server's clock and speeds up the others', or gives each its own rate."""
        apart = apart or self.chance(0.7)
        granting = self.holders() if self.cluster.detection == "members" else []
        for name in dict.fromkeys((*self.members(), *granting)):
            ppm = -DRIFT_PPM if name == slow else DRIFT_PPM
            self.fault(
                0, "drift_clock", [name], ppm=ppm if apart else self.rng.choice((-DRIFT_PPM, DRIFT_PPM))
            )

    def apply_fault(self, at_ms: int, name: str, for_ms: int, on: Trigger | None = None) -> None:
        """Crashes a server, or takes the power of one whose data is synced; nothing is damaged."""
        if self.chance(0.5):
            self.fault(at_ms, "power_loss", [name], for_ms, on, torn="nothing")
        else:
            self.fault(at_ms, "crash", [name], for_ms, on)

    def copies(self, share: float, late_us: int) -> None:
        """Doubles this share of messages, and delays this share; some arrive when their request has long been done."""
        self.weather |= {"duplicate": share, "reorder": share, "reorder_us": late_us}

    def place(self, server: str, bound: int = 3) -> Trigger:
        """A place in a server's progress."""
        return draw_trigger(self.rng, self.cluster, server, (1, bound))

    def whoever(self, group: str = "g1") -> str:
        return f"{WHOEVER}{group}"

    # --- load ------------------------------------------------------------------------------------------------------

    def client(self) -> str:
        """The name of the next client."""
        return f"c{len(self.callers) + 1}"

    def calls(
        self,
        lines: list[str],
        from_ms: int,
        until_ms: int,
        lanes: int = 1,
        style: str = "closed",
        **fields: Any,
    ) -> str:
        """A client that makes these calls in this time. `open` begins each at its time, `closed` waits for answers, `saturate` does not pause."""
        every_us = max(1, (until_ms - from_ms) * 1_000 // max(1, len(lines)))
        pause_us, open_us = (
            (every_us * lanes if style == "closed" else 0),
            (every_us if style == "open" else 0),
        )
        name = self.client()
        self.callers.append(Caller(name, lines, lanes, pause_us, open_us, max(0, from_ms), **fields))
        self.span_ms = max(self.span_ms, until_ms)
        return name

    def writes(self, from_ms: int, until_ms: int, count: int, hot: int = 0, style: str = "") -> str:
        """Writes to unique names, and toggles of a few hot ones. `style`: drawn unless given."""
        rng, lines, name = self.rng, list[str](), self.client()
        for number in range(count):
            if hot and rng.random() < 0.7:
                path = f"/h{rng.randrange(hot)}"
                lines.append(rng.choice((f"create {path}", f"delete {path}")))
            else:
                lines.append(f"create /{name}-{number}")
        style = style or rng.choice(("closed", "closed", "open", "saturate"))
        return self.calls(lines, from_ms, until_ms, rng.choice((1, 2, 4)), style)

    def burst(self, at_ms: int, count: int = 40) -> str:
        """Writes as fast as possible, so that one is under way at any moment."""
        name = self.client()
        lines = [f"create /{name}-{number}" for number in range(count)]
        return self.calls(lines, at_ms, at_ms, self.rng.choice((1, 2, 4)), "saturate")

    def reads(self, from_ms: int, until_ms: int, count: int, hot: int) -> str:
        """Reads of the hot names, evenly spread over the time."""
        verbs = ("stat", "stat", "open")
        lines = [f"{self.rng.choice(verbs)} /h{self.rng.randrange(hot)}" for _ in range(count)]
        return self.calls(lines, from_ms, until_ms, 4, "open")


def leave_one(scene: Scene, client: str, server: str, at_ms: int, for_ms: int) -> None:
    """Cuts a client off from all members but this one."""
    for other in scene.members():
        if other != server:
            scene.fault(at_ms, "cut", [client, other], for_ms)
