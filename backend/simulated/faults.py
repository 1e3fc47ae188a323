"""The fault verbs on a simulated cluster. The simulator carries them out; targets like `active of g1` are resolved before."""

from __future__ import annotations

from itertools import chain
from typing import Any

from backend.errors import of_fault
from backend.fabrics.targets import resolve
from backend.simulated.fabric import SimulatedFabric
from backend.simulated.inputs import InjectFault
from nodes.faults import check


class SimulatedFaults:
    def __init__(self, fabric: SimulatedFabric):
        self._fabric = fabric
        self.added = ""
        """The server that the last `add_server` created."""
        self.forced = ""
        """One line with the result of the last `force`."""

    async def do(self, name: str, words: list[str], options: dict[str, Any] | None = None) -> int:
        """Returns the fault's number, or that of the fault that it ended, 0 for none.

        Raises NotThere, Impossible, Malformed, FaultUnsupported or Unavailable, each with one line.
        """
        fabric = self._fabric
        try:
            verb = check.verb_named(name, "simulated")
            given = check.resolved(verb, options or {}, "simulated")
            targets = list(chain.from_iterable(resolve(word, fabric.picture, fabric.rng) for word in words))
            check.check_count(verb, targets, given)
            check.check_kind(verb, targets, fabric.picture.kind_of)
        except check.FaultUnsupported as error:
            raise of_fault(error) from None
        done = await fabric.apply(InjectFault(name, targets, given))
        if name == "add_server":
            self.added = done["added"]
        elif name == "force":
            group = fabric.picture.groups[fabric.picture.servers[targets[-1]].group]
            sn = fabric.picture.servers[targets[-1]].sn
            self.forced = f"{targets[-1]} serves from sn {sn} on; sn {group.commit_sn} was the last one known in {group.name}"
        return int(done["fault"])
