"""The clients of a trial and their calls: few hot names that calls share, many cold ones, paths through directories that move."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import accumulate

from nodes.config import ClusterConfig
from nodes.explore.plan import Caller

CALLERS = (2, 2, 3, 4, 6)
CALLS = (40, 80, 120, 240)
"""Number of calls of all clients together."""

Weights = dict[str, int]
PROFILES: dict[str, Weights] = {
    "mixed": {
        "create": 6, "mkdir": 2, "mkdirs": 1, "delete": 3, "delete-tree": 1, "rename": 3, "replace": 1, "link": 1, "chmod": 1, "chown": 1,
        "utime": 1, "replicas": 1, "stat": 4, "list": 2, "summary": 1, "open": 1,
    },
    "ring": {"create": 3, "rename": 3, "replace": 1, "delete": 3, "stat": 2},
    "directories": {
        "mkdir": 4, "rename-directory": 4, "delete": 1, "delete-tree": 2, "create": 3, "stat": 2, "list": 2, "rename": 2,
    },
    "writes": {"create": 5, "mkdir": 1},
    "reads": {"create": 1, "stat": 5, "list": 2},
    "content": {"put": 4, "append": 4, "get": 4, "delete": 1, "rename": 1, "replace": 1, "stat": 1},
}  # fmt: skip


class Names:
    """A small set of paths. `deep` ones lead through directories that other calls move and remove."""

    def __init__(self, rng: random.Random, hot: int, directories: int):
        self._rng = rng
        self._hot = hot
        self.directories = directories
        self._cold: list[str] = []

    def directory(self) -> str:
        depth = self._rng.choice((1, 1, 1, 1, 1, 1, 2))
        return "".join(f"/d{self._rng.randrange(self.directories)}" for _ in range(depth))

    def parent(self) -> str:
        return self._rng.choice(("", self.directory()))

    def hot(self) -> str:
        return f"{self.parent()}/h{self._rng.randrange(self._hot)}"

    def new(self) -> str:
        """A name to be created: one that other calls create too, or a unique one."""
        if self._rng.random() < 0.3:
            return self.hot()
        self._cold.append(f"{self.parent()}/c{len(self._cold) + 1}")
        return self._cold[-1]

    def old(self) -> str:
        """A name that may exist."""
        if not self._cold or self._rng.random() < 0.6:
            return self.hot()
        return self._rng.choice(self._cold[-20:])

    def call(self, kind: str) -> str:
        """A call of this kind, as a line."""
        return MAKE.get(kind, _one_path(kind))(self._rng, self)


def draw_callers(
    rng: random.Random, cluster: ClusterConfig, clients: list[str], span_ms: int, moments: list[int]
) -> list[Caller]:
    """Clients with calls that are spread over the span, or concentrated around the time of a fault. Some clients die, some return under another
    name."""
    total = rng.choice(CALLS)
    names = Names(rng, rng.choice((1, 3, 8)), rng.choice((1, 3, 6)))
    profiles = [name for name in PROFILES if name != "content" or cluster.data.nodes]
    profiles = rng.sample(profiles, rng.choice((1, 2, len(profiles))))
    made: list[Caller] = []
    for name in clients:
        profile = rng.choice(profiles)
        calls = draw_calls(rng, names, PROFILES[profile], total // len(clients), first=not made)
        made.append(_caller(rng, name, calls, span_ms, moments))
    return made + returned(rng, made, span_ms)


def _caller(rng: random.Random, name: str, calls: list[str], span_ms: int, moments: list[int]) -> Caller:
    style = rng.choice(("saturate", "closed", "open"))
    start_ms, lasts_ms = rng.choice((0, 0, rng.randrange(span_ms))), span_ms
    if moments and rng.random() < 0.5:
        start_ms = max(0, rng.choice(moments) - rng.choice((0, 5, 50, 200)))
        lasts_ms = min(span_ms, rng.choice((50, 300, 1_000, 3_000)))
    spread_us = lasts_ms * 1_000 // max(1, len(calls))
    lanes = rng.choice((1, 1, 2, 4, 8))
    dies_ms = rng.randrange(start_ms + 1, span_ms + 2) if rng.random() < 0.15 else 0
    return Caller(
        name=name,
        calls=calls,
        lanes=lanes,
        pause_us=spread_us * lanes if style == "closed" else 0,
        every_us=max(1, spread_us) if style == "open" else 0,
        start_ms=start_ms,
        dies_ms=dies_ms,
        leaves=rng.random() < 0.3,
    )


def returned(rng: random.Random, callers: list[Caller], span_ms: int) -> list[Caller]:
    """Clients that died may return under another name and repeat their last calls."""
    back = []
    for caller in callers:
        if caller.dies_ms and rng.random() < 0.7:
            again = caller.calls[-min(10, len(caller.calls)) :]
            start_ms = min(span_ms, caller.dies_ms + rng.choice((1, 50, 500)))
            back.append(Caller(f"{caller.name}b", again, lanes=caller.lanes, start_ms=start_ms))
    return back


def draw_calls(rng: random.Random, names: Names, weights: Weights, count: int, first: bool) -> list[str]:
    """Draws calls; `first` also creates the directories that the others use."""
    calls = [f"mkdir /d{n}" for n in range(names.directories)] if first else []
    kinds, cumulated = list(weights), list(accumulate(weights.values()))
    while len(calls) < count:
        kind = rng.choices(kinds, cum_weights=cumulated)[0]
        calls.append(names.call(kind))
    return calls


def _one_path(verb: str) -> Callable[[random.Random, Names], str]:
    return lambda rng, names: f"{verb} {names.old()}"


def _directory(verb: str) -> Callable[[random.Random, Names], str]:
    return lambda rng, names: f"{verb} {names.directory()}"


def _sized(verb: str) -> Callable[[random.Random, Names], str]:
    return lambda rng, names: f"{verb} {names.old()} {rng.choice((0, 1, 511, 512, 700, 3_000))}"


MAKE: dict[str, Callable[[random.Random, Names], str]] = {
    "mkdir": _directory("mkdir"),
    "mkdirs": lambda rng, names: f"mkdirs {names.directory()}{names.directory()}",
    "delete-tree": _directory("delete-tree"),
    "list": _directory("list"),
    "summary": _directory("summary"),
    "create": lambda rng, names: f"create {names.new()}",
    "rename": lambda rng, names: f"rename {names.old()} {names.new()}",
    "rename-directory": lambda rng, names: f"rename {names.directory()} {names.directory()}",
    "replace": lambda rng, names: f"replace {names.old()} {names.new()}",
    "link": lambda rng, names: f"link {names.old()} {names.new()}",
    "chmod": lambda rng, names: f"chmod {names.old()} {rng.choice(('600', '640', '755'))}",
    "chown": lambda rng, names: f"chown {names.old()} user{rng.randrange(3)}",
    "utime": lambda rng, names: f"utime {names.old()} {rng.randrange(1 << 40)}",
    "replicas": lambda rng, names: f"replicas {names.old()} {rng.randint(1, 4)}",
    "put": _sized("put"),
    "append": _sized("append"),
    "get": lambda rng, names: f"get {names.old()}",
}
