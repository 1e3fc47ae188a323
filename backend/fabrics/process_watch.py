"""Polls the processes of a cluster and reports what no server can: a process that ended by itself, and one that can be reached again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from backend.names import CLIENT, CONTROL
from nodes.faults.table import STOPPING
from nodes.states import ProcessState
from nodes.trace.events import ProcessEnded, ProcessFound

if TYPE_CHECKING:
    from backend.fabrics.fabric import ClusterFabric

WATCH_S = 0.1


class ProcessWatch:
    """The states that the last poll saw."""

    def __init__(self, fabric: ClusterFabric):
        self._fabric = fabric
        self._states: dict[str, ProcessState] = {}
        self._roles: list[str] = []
        self._unseen: dict[str, tuple[int, str]] = {}
        """Processes reported as ended because their host cannot be reached: the number of their start, and the role that they believed to have."""

    async def run(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(WATCH_S)

    def look(self) -> None:
        """Reports changes since the last poll."""
        fabric = self._fabric
        states = fabric.states()
        roles = [fabric.role_of(name) for name in fabric.coordination_servers]
        if states != self._states or roles != self._roles:
            self._report_found(states)
            self._report_ends(states)
            self._states, self._roles = states, roles
            fabric.on_states()

    def _report_ends(self, states: dict[str, ProcessState]) -> None:
        """Reports processes that stopped without a fault."""
        fabric = self._fabric
        made_to = {
            target
            for each in fabric.ledger.standing.values()
            if each.verb in STOPPING
            for target in fabric.spread(each.targets)
        }
        for name, state in states.items():
            ended = state == "stopped" != self._states.get(name, "stopped")
            if not ended or name in (*made_to, CLIENT) or fabric.ending:
                continue
            process = fabric.process(name)
            fabric.report(
                CONTROL, ProcessEnded(name, (process.ended if process else "") or "not ended from here")
            )
            if fabric.is_unseen(name):
                server = fabric.picture.servers.get(name)
                self._unseen[name] = (fabric.life_of(name), server.believes if server else "none")

    def _report_found(self, states: dict[str, ProcessState]) -> None:
        """Reports processes that can be reached again."""
        fabric = self._fabric
        for name in [name for name in self._unseen if states.get(name) != "stopped"]:
            life, believed = self._unseen.pop(name)
            role = believed if life == fabric.life_of(name) else "none"
            fabric.report(CONTROL, ProcessFound(name, fabric.pid_of(name), role))
