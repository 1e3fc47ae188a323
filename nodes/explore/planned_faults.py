"""The faults of a plan, each carried out at its time or at its place in a server's run, and taken back at its end."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from nodes.config import MILLISECOND
from nodes.explore.atlas import Atlas
from nodes.explore.coverage import Coverage
from nodes.explore.deeds import carry_out, resolve, take_back
from nodes.explore.plan import WHOEVER, Fault
from nodes.explore.stage import Stage
from nodes.faults.check import FaultUnsupported
from nodes.faults.table import LINK_VERBS
from nodes.sim.triggers import Trigger


class PlannedFaults:
    """The record of what was done, of which the atlas knows what the cluster may lose by it."""

    def __init__(self, cluster: Stage, atlas: Atlas, coverage: Coverage):
        self._cluster = cluster
        self._atlas = atlas
        self._coverage = coverage
        self.done: list[tuple[Fault, list[str]]] = []
        """Faults that were carried out, and their targets."""
        self.skipped = 0
        """Number of faults that were impossible at their place or time."""
        self._over = False
        self._links_stay = False

    def keep_links(self) -> None:
        """From here on no fault of links ends at its own time: a server that was cut off would be joined to a part of the others again."""
        self._links_stay = True

    def end_all(self) -> None:
        """From here on no fault ends at its own time: everything is healed, and what fails later is a part of the audit."""
        self._over = True

    def take_up(self, fault: Fault) -> None:
        """Begins a fault whose time has come, or arms its trigger."""
        if fault.on is None:
            self._begin(fault)
        else:
            self._arm(fault, fault.on)

    def _arm(self, fault: Fault, trigger: Trigger) -> None:
        """Arms a fault's trigger. A server that cannot make such progress is not waited for."""
        waiting = [True]

        def apply_fault(server: str) -> None:
            if waiting:
                waiting.clear()
                targets = [server if word.startswith(WHOEVER) else word for word in fault.targets]
                faulted = replace(fault, targets=targets)
                if fault.verb == "stop":  # A process hears of it only between two of its steps.
                    self._cluster.at(self._cluster.now_ns, self._begin, faulted)
                else:
                    self._begin(faulted)

        try:
            for server in self._who(trigger.server):
                self._cluster.arm(replace(trigger, server=server), partial(apply_fault, server))
        except FaultUnsupported:
            self.skipped += 1

    def _who(self, word: str) -> list[str]:
        """Names of a target. Raises FaultUnsupported."""
        if not word.startswith(WHOEVER):
            return [resolve(self._cluster, word)]
        group = word.removeprefix(WHOEVER)
        return [name for name, server in self._cluster.servers.items() if server.group == group]

    def _begin(self, fault: Fault) -> None:
        """Carries out a fault, and schedules its end; does nothing where it is impossible."""
        try:
            names = carry_out(self._cluster, fault)
        except FaultUnsupported:
            self.skipped += 1
            return
        self.done.append((fault, names))
        what = str(fault.options.get("what", fault.options.get("torn", "")))
        self._atlas.note(fault.verb, names, what, self._cluster.now_ns)
        self._coverage.note_fault(fault.verb)
        if fault.for_ms:
            at_ns = self._cluster.now_ns + fault.for_ms * MILLISECOND
            self._cluster.at(at_ns, self._end, fault, names)

    def _end(self, fault: Fault, names: list[str]) -> None:
        if self._over or (self._links_stay and fault.verb in LINK_VERBS):
            return
        try:
            take_back(self._cluster, fault, names)
        except FaultUnsupported:
            pass
