"""What a trial may have beside its pattern: clients that die or leave, wrong clocks, one slow link or disk, several cut off from several, data
nodes that lose something.

Each is drawn alone and for the whole trial, because no pattern and no scattered fault draws it often enough to meet the others.
"""

from __future__ import annotations

import random

from msgspec.structs import replace

from nodes.config import ClusterConfig
from nodes.explore.draw_faults import FaultDrawer
from nodes.explore.draw_load import PROFILES, Names, draw_calls, returned
from nodes.explore.draw_options import draw_options
from nodes.explore.plan import Caller, Fault
from nodes.sim.triggers import Trigger

DYING, LEAVING, RING = 0.12, 0.05, 0.1
CLOCKS = 0.09
SLOW_LINK, SLOW_DISK, PARTED = 0.04, 0.04, 0.02
LOSING = 0.3
"""Share of the clusters with data nodes in which one of these loses something."""
LOSSES = ("power_loss", "power_loss", "crash", "new_disk", "new_disk", "gone")
TIED = 0.6
"""Share of these losses at a sync of the data node."""
RING_CALLS = 40
CONTENT_CALLS = 12
WRITES = ("put", "append")


class Company:
    """Adds to the clients and faults of one trial. `share`: the part of the usual shares, for patterns that need exact times."""

    def __init__(
        self,
        rng: random.Random,
        cluster: ClusterConfig,
        callers: list[Caller],
        faults: list[Fault],
        span_ms: int,
        share: float = 1.0,
    ):
        self._rng = rng
        self._cluster = cluster
        self._span_ms = max(1, span_ms)
        self._share = share
        self._servers = [name for group in cluster.groups for name in group.members]
        self.callers = list(callers)
        self.faults = list(faults)

    def draw(self) -> None:
        if self._chance(RING):
            self._joins("ring", RING_CALLS, hot=1)
        if self._cluster.data.nodes and self._chance(LOSING):
            self._data_node_loses()
        if self._chance(DYING):
            self._one_dies()
        if self._chance(LEAVING):
            self._one_leaves()
        if self._chance(CLOCKS):
            self._wrong_clocks()
        if self._chance(SLOW_LINK):
            self._slow_link()
        if self._chance(SLOW_DISK):
            options = {"ms": self._rng.choice((2, 5, 20))}
            self.faults.append(Fault("slow_disk", [self._rng.choice(self._servers)], options))

        if self._chance(PARTED):
            clients = [each.name for each in self.callers]
            self.faults.append(FaultDrawer(self._rng, self._cluster, clients, self._span_ms).apart())

    def _chance(self, share: float) -> bool:
        return self._rng.random() < share * self._share

    # --- clients ---------------------------------------------------------------------------------------------------

    def _joins(self, profile: str, count: int, hot: int) -> None:
        """One more client, whose calls are spread over the span or follow each other at once."""
        rng = self._rng
        calls = draw_calls(rng, Names(rng, hot, 1), PROFILES[profile], count, first=False)
        pause_us = rng.choice((0, self._span_ms * 1_000 // count))
        lanes = rng.choice((1, 1, 2))
        self.callers.append(Caller(f"c{len(self.callers) + 1}", calls, lanes, pause_us=pause_us * lanes))

    def _one_dies(self) -> None:
        """A client is killed, soon after its beginning or at any time, and may return under another name. Those that write content come first."""
        rng, alive = self._rng, [each for each in self.callers if not each.dies_ms]
        writers = [each for each in alive if any(call.startswith(WRITES) for call in each.calls)]
        if not alive:
            return
        dies = rng.choice(writers or alive)
        left_ms = max(1, self._span_ms - dies.start_ms)
        dies_ms = dies.start_ms + rng.choice((rng.randint(1, 50), rng.randint(1, left_ms)))
        victim = replace(dies, dies_ms=dies_ms)
        self.callers[self.callers.index(dies)] = victim
        self.callers += returned(rng, [victim], self._span_ms)

    def _one_leaves(self) -> None:
        """A client ends its session between two of its calls, and goes on in another one."""
        place = self._rng.randrange(len(self.callers))
        caller = self.callers[place]
        at = self._rng.randint(1, max(1, len(caller.calls) - 1))
        self.callers[place] = replace(caller, calls=[*caller.calls[:at], "leave", *caller.calls[at:]])

    # --- faults ----------------------------------------------------------------------------------------------------

    def _wrong_clocks(self) -> None:
        """Wall clocks step, and in half of the trials that server's clock drifts, too."""
        rng = self._rng
        for name in rng.sample(self._servers, rng.randint(1, min(3, len(self._servers)))):
            at_ms = rng.choice((0, rng.randrange(self._span_ms)))
            self.faults.append(Fault("skew_clock", [name], self._options("skew_clock"), at_ms))
            if rng.random() < 0.5:
                self.faults.append(Fault("drift_clock", [name], self._options("drift_clock")))

    def _slow_link(self) -> None:
        """One link is slower than all others."""
        rng, ends = self._rng, [*self._servers, *self._cluster.journal.nodes, *self._cluster.data.nodes]
        other = rng.choice([each.name for each in self.callers] if len(ends) == 1 else ends[1:])
        one = rng.choice([name for name in self._servers if name != other])
        self.faults.append(Fault("delay", [one, other], {"ms": rng.choice((1, 5, 20))}))

    def _data_node_loses(self) -> None:
        """One data node after the other fails while content is written."""
        rng, nodes = self._rng, self._cluster.data.nodes
        if not any(call.startswith(WRITES) for caller in self.callers for call in caller.calls):
            self._joins("content", CONTENT_CALLS, hot=2)
        for name in rng.sample(nodes, rng.randint(1, len(nodes))):
            verb = rng.choice(LOSSES)
            lasts = rng.choice((20, self._cluster.data.silence_ms, 2 * self._cluster.data.silence_ms))
            on = None
            if rng.random() < TIED:
                on = Trigger("sync", name, rng.randint(1, 6), rng.choice(("before", "after")))
            at_ms, for_ms = 0 if on else rng.randrange(self._span_ms), 0 if verb == "gone" else lasts
            self.faults.append(Fault(verb, [name], self._options(verb), at_ms, on, for_ms))

    def _options(self, verb: str) -> dict[str, object]:
        return draw_options(self._rng, self._cluster, verb)
