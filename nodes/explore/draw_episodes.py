"""Episodes: faults that belong together, close to each other in time and at servers of one group.

Random faults rarely coincide. A failure of a replicated log takes several in a row: some servers lag, those that are ahead fail at one
moment, the rest continues, the others return. An episode is such a row with all details drawn. The kinds of lags, failures and depositions
are drawn once for a seed, so that each seed repeats a few of them.
"""

from __future__ import annotations

import random
from typing import Any

from nodes.config import ClusterConfig, GroupConfig
from nodes.explore.draw_triggers import SOON, draw_trigger
from nodes.explore.plan import WHOEVER, Fault
from nodes.explore.progress import CROSSING, messages_of
from nodes.families import Family, family_named
from nodes.faults.table import TORN
from nodes.sim.triggers import Trigger

COORDINATION = "coordination"
EPISODES = (1, 2, 3, 4, 6)
Ways = tuple[str, ...]
THEMES: dict[str, tuple[Ways, Ways]] = {
    "links": (
        ("hold", "hold", "hold", "cut", "isolate", "delay", "lose", "split"),
        ("crash", "crash", "pause", "isolate"),
    ),
    "disks": (
        ("slow_disk", "slow_leader", "slow_disks", "slow_disks", "failing_disk"),
        ("power_loss", "power_loss", "power_loss", "rot", "new_disk"),
    ),
    "coordination": (
        ("no_coordination", "slow_coordination", "split", "hold"),
        ("crash", "pause", "no_coordination", "power_loss"),
    ),
    "losses": (("hold", "cut", "pause", "isolate"), ("new_disk", "rot", "gone", "power_loss", "crash")),
}
"""Faults that belong together: kinds by which some servers fall behind while others continue, and kinds of sudden failures."""
EVERYTHING = (
    (*(way for ways, _ in THEMES.values() for way in ways), "pause"),
    tuple(way for _, ways in THEMES.values() for way in ways),
)
HARMED = ("new_disk", "rot", "power_loss", "crash")
"""Kinds of failure of a server that returns before the others."""
DEPOSALS = ("take", "take", "expire", "no_coordination", "slow_coordination", "resign", "hand_over")
CHANGES = ("add_server", "add_server", "remove_server", "mark", "rot_image")
CHECKPOINTS = ("mark", "recover", "recover", "rot_image")
DRIFTS = (-80_000, -1_000, 1_000, 80_000)
"""Clock rates in parts per million; leases tolerate a tenth."""
ROTTEN = ("journal", "journal_tail", "journal_tail", "image")
PARTS = ("lag", "strike", "depose", "change")
TIED = 0.4
"""Share of failures that are tied to a server's progress."""


class Episodes:
    def __init__(self, rng: random.Random, cluster: ClusterConfig, clients: list[str], span_ms: int):
        self._rng = rng
        self._cluster = cluster
        self._family: Family = family_named(cluster.protocol)
        self._clients = clients
        self._span_ms = span_ms
        self._session_ms = cluster.timing.session_timeout_ms
        theme = rng.choice((*THEMES, ""))
        lags, faults_applied = THEMES.get(theme, EVERYTHING)
        self._lags, self._faults_applied = self._few(lags), self._few(faults_applied)
        self._deposals = self._few(DEPOSALS)
        self._checkpoints = self._family.checkpoints and rng.random() < 0.3
        self._changes = self._few(CHECKPOINTS if self._checkpoints else CHANGES)
        self._kinds = self._few(messages_of(self._family.replication))
        self._crossing = self._few(CROSSING)
        self._torn = rng.choice((*("nothing",) * len(TORN), *TORN))
        self._marked = 0
        self._group = rng.choice(cluster.groups) if rng.random() < 0.7 else None
        """The group of all faults; None for any group."""

    def _few(self, all_of: tuple[str, ...]) -> list[str]:
        return self._rng.sample(all_of, min(len(all_of), self._rng.choice((1, 2, 3, len(all_of)))))

    def draw(self) -> list[Fault]:
        rng = self._rng
        shares = {part: rng.choice((0.2, 0.9, 0.9)) for part in PARTS}
        shares["change"] = 0.8 if self._checkpoints else rng.choice((0.0, 0.0, 0.3, 0.9))
        faults = self._drifting() if rng.random() < 0.15 else list[Fault]()
        for _ in range(rng.choice(EPISODES)):
            parts = [part for part in PARTS if rng.random() < shares[part]] or ["strike"]
            faults += self._episode(rng.randrange(self._span_ms * 3 // 4), parts)
        return faults

    def _episode(self, at_ms: int, parts: list[str]) -> list[Fault]:
        """An episode. Its parts follow each other in any order, most of them immediately; lagging comes first, because it takes time."""
        rng, cast = self._rng, Cast(self._rng, self._cluster, self._group)
        rng.shuffle(parts)
        faults: list[Fault] = []
        if "lag" in parts:
            parts.remove("lag")
            if cast.abroad and rng.random() < 0.5:
                faults.append(self._apart(at_ms, cast))
            else:
                for name in cast.behind:
                    faults += self._lag(at_ms, cast, name)
            at_ms += self._gap()
        for part in parts:
            faults += {"strike": self._apply_fault, "depose": self._depose, "change": self._change}[part](
                at_ms, cast
            )
            at_ms += self._gap()
        return faults

    def _drifting(self) -> list[Fault]:
        """Every clock runs at its own rate, from the beginning to the end."""
        names = [name for group in self._cluster.groups for name in group.members]
        rates = self._rng.choice((DRIFTS, (DRIFTS[0], DRIFTS[-1])))
        return [Fault("drift_clock", [name], {"ppm": self._rng.choice(rates)}) for name in names]

    # --- when ------------------------------------------------------------------------------------------------------

    def _gap(self) -> int:
        """Time between two parts: from none to a whole takeover."""
        rng, session = self._rng, self._session_ms
        return rng.choice(
            (
                0,
                1,
                rng.randint(1, 30),
                self._cluster.timing.ack_timeout_ms,
                rng.randint(1, session),
                session * 3 // 2,
            )
        )

    def _for(self) -> int:
        rng, session = self._rng, self._session_ms
        return rng.choice(
            (
                rng.randint(1, 40),
                self._cluster.timing.ack_timeout_ms * 2,
                rng.randint(1, session),
                session * 3 // 2,
                session * 3,
            )
        )

    def _fault(
        self,
        at_ms: int,
        verb: str,
        targets: list[str],
        for_ms: int = 0,
        on: Trigger | None = None,
        **options: Any,
    ) -> Fault:
        return Fault(verb, targets, options, min(at_ms, self._span_ms), on, for_ms)

    # --- parts -----------------------------------------------------------------------------------------------------

    def _lag(self, at_ms: int, cast: Cast, name: str) -> list[Fault]:
        rng, way, lasts = self._rng, self._rng.choice(self._lags), self._for()
        direction = rng.choice(("both", "both", "to", "from"))
        if way == "hold":
            kind, lost = rng.choice(self._kinds), rng.random() < 0.4
            return [self._fault(at_ms, way, [cast.leader, name], lasts, kind=kind, lost=lost)]
        if way == "cut":
            return [self._fault(at_ms, way, [cast.leader, name], lasts, direction=direction)]
        if way == "delay":
            return [self._fault(at_ms, way, [cast.leader, name], lasts, ms=rng.choice((5, 50, 600)))]
        if way == "lose":
            return [self._fault(at_ms, way, [cast.leader, name], lasts, share=rng.choice((0.3, 0.7)))]
        if way == "split":
            ours = rng.sample(self._clients, rng.randint(0, len(self._clients)))
            return [self._fault(at_ms, "cut", [cast.leader, *ours], lasts, island=True)]
        if way == "slow_disks":
            ms = rng.choice((5, 30, 300))
            return [self._fault(at_ms, "slow_disk", [each], lasts, ms=ms) for each in cast.everybody]
        if way in ("slow_disk", "slow_leader"):
            slow = cast.leader if way == "slow_leader" else name
            return [self._fault(at_ms, "slow_disk", [slow], lasts, ms=rng.choice((5, 30, 300)))]
        if way == "failing_disk":
            return self._failing(at_ms, rng.choice((name, cast.leader)))
        if way == "pause":
            return [self._fault(at_ms, way, [name], lasts)]
        return [self._severed(at_ms, rng.choice((name, cast.leader)), way, lasts)]

    def _failing(self, at_ms: int, name: str) -> list[Fault]:
        """A sync fails, which ends the server. It starts again, and may then lose its power."""
        rng = self._rng
        faults = [
            self._fault(
                at_ms,
                "fail_disk",
                [name],
                what=rng.choice(("sync", "sync", "write")),
                times=rng.choice((1, 1, 2)),
            )
        ]
        for number in (1, 2):
            # A role may name another, running server by then, which cannot be started.
            others = (
                [name]
                if " of " not in name
                else [each for group in self._cluster.groups for each in group.members]
            )
            again_ms = at_ms + number * rng.randint(1, self._session_ms)
            faults += [self._fault(again_ms, "restart", [each]) for each in others]
        if rng.random() < 0.7:
            faults += [
                self._fault(
                    at_ms + rng.randint(1, self._session_ms * 2),
                    "power_loss",
                    [name],
                    self._for(),
                    torn="nothing",
                )
            ]
        return faults

    def _apart(self, at_ms: int, cast: Cast) -> Fault:
        """Messages between two groups are late or lost."""
        rng, pair, lasts = self._rng, [cast.leader, cast.abroad], self._for()
        if rng.random() < 0.2:
            return self._fault(at_ms, rng.choice(("cut", "clog")), pair, lasts)
        kind, lost = rng.choice(self._crossing), rng.random() < 0.4
        return self._fault(at_ms, "hold", pair, lasts, kind=kind, lost=lost)

    def _severed(self, at_ms: int, name: str, way: str, lasts: int, on: Trigger | None = None) -> Fault:
        if way == "isolate":
            return self._fault(at_ms, "cut", [name], lasts, on)
        if way == "slow_coordination":
            return self._fault(
                at_ms, "delay", [name, COORDINATION], lasts, on, ms=self._rng.choice((20, 100, 400))
            )
        return self._fault(at_ms, "cut", [name, COORDINATION], lasts, on)

    def _apply_fault(self, at_ms: int, cast: Cast) -> list[Fault]:
        """Several servers fail at one moment; each returns at its own time."""
        rng, on = self._rng, self._place(cast) if self._rng.random() < TIED else None
        faulted = cast.faulted()
        if on is not None and on.server.startswith(WHOEVER) and rng.random() < 0.8:
            faulted[0] = on.server
        if rng.random() < 0.35:
            return self._one_returns_first(at_ms, faulted, on)
        way, faults = rng.choice(self._faults_applied), list[Fault]()
        if way == "power_loss" and rng.random() < 0.5:
            faulted = cast.everybody
        for name in faulted:
            if rng.random() < 0.3:
                way = rng.choice(self._faults_applied)
            faults += self._faulted(at_ms, name, way, self._for(), on)
        return faults

    def _one_returns_first(self, at_ms: int, faulted: list[str], on: Trigger | None) -> list[Fault]:
        """All targets stop; one of them, whose disk may be damaged, returns long before the others."""
        rng = self._rng
        first = rng.choice(faulted)
        faults = self._faulted(
            at_ms, first, rng.choice(HARMED), rng.choice((1, 20, self._session_ms // 2)), on
        )
        way = rng.choice(("crash", "power_loss", "pause"))
        for name in faulted:
            if name != first:
                faults += self._faulted(at_ms, name, way, rng.choice((2, 4)) * self._session_ms, on)
        return faults

    def _faulted(self, at_ms: int, name: str, way: str, lasts: int, on: Trigger | None) -> list[Fault]:
        if way in ("isolate", "no_coordination"):
            return [self._severed(at_ms, name, way, lasts, on)]
        if way == "power_loss":
            return [self._fault(at_ms, way, [name], lasts, on, torn=self._torn)]
        if way == "rot":
            rot = self._fault(
                at_ms,
                "corrupt",
                [name],
                0,
                on,
                what=self._rng.choice(ROTTEN),
                place=self._rng.choice(("middle", "drawn")),
            )
            return [rot, self._fault(at_ms, "crash", [name], lasts, on)]
        return [self._fault(at_ms, way, [name], 0 if way == "gone" else lasts, on)]

    def _place(self, cast: Cast) -> Trigger:
        rng = self._rng
        server = rng.choice(
            (cast.leader, f"{WHOEVER}{cast.group}", f"{WHOEVER}{cast.group}", *cast.behind[:1])
        )
        return draw_trigger(rng, self._cluster, server, SOON)

    def _depose(self, at_ms: int, cast: Cast) -> list[Fault]:
        """The leader is deposed once, or several times in quick succession."""
        rng, faults = self._rng, list[Fault]()
        for _ in range(rng.choice((1, 1, 2, 3, 5))):
            way = rng.choice(self._deposals)
            if way == "take":
                faults.append(self._fault(at_ms, self._family.unseats, [cast.group]))
            elif way == "expire":
                faults.append(self._fault(at_ms, "expire_session", [cast.leader]))
            elif way == "resign":
                faults.append(self._fault(at_ms, "stop", [cast.leader], self._for()))
            elif way == "hand_over":
                faults.append(self._fault(at_ms, way, [cast.leader]))
            else:
                faults.append(self._severed(at_ms, cast.leader, way, self._for()))
            at_ms += rng.choice(
                (0, 1, rng.randint(1, 30), rng.randint(1, 30), rng.randint(1, self._session_ms))
            )
        return faults

    def _change(self, at_ms: int, cast: Cast) -> list[Fault]:
        rng = self._rng
        way = rng.choice(self._changes)
        if way == "add_server":
            return [self._fault(at_ms, way, [cast.group])]
        if way == "remove_server":
            return [self._fault(at_ms, way, cast.behind[:1])]
        if way == "rot_image":
            return [self._fault(at_ms, "corrupt", cast.behind[:1], what="image", place="drawn")]
        if not self._family.checkpoints:
            return []
        if way == "mark" or not self._marked:
            self._marked += 1
            return [self._fault(at_ms, "mark", [f"k{self._marked}"])]
        return [self._fault(at_ms, "recover", [f"k{rng.randint(1, self._marked)}"])]


class Cast:
    """The servers in an episode: the leader of a group, some that fall behind, and all others that hold its log."""

    def __init__(self, rng: random.Random, cluster: ClusterConfig, group: GroupConfig | None):
        self._rng = rng
        group = group or rng.choice(cluster.groups)
        others_of = [each.name for each in cluster.groups if each is not group]
        self.abroad = f"active of {rng.choice(others_of)}" if others_of else ""
        """The leader of another group."""
        self.group = group.name
        self.leader = f"active of {group.name}"
        standbys = [f"standby {number} of {group.name}" for number in range(1, len(group.members))]
        holders = cluster.journal.nodes if cluster.journal.nodes and rng.random() < 0.7 else standbys
        others = list(holders)
        rng.shuffle(others)
        count = rng.randint(1, max(1, len(others)))
        self.behind = others[:count] or [self.leader]
        self.ahead = others[count:]
        self.everybody = list(dict.fromkeys([self.leader, *self.ahead, *self.behind]))

    def faulted(self) -> list[str]:
        """Targets of a failure: mostly the servers that are ahead, and the leader; sometimes all servers at once, or any."""
        rng = self._rng
        draw = rng.random()
        if draw < 0.2:
            return list(self.everybody)
        if draw < 0.5:
            return [self.leader]
        if draw < 0.8:
            return [self.leader, *self.ahead]
        return rng.sample(self.everybody, rng.randint(1, len(self.everybody)))
