"""A client's connection to one server of the simulated coordination service."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from nodes.coordination import operations as ops
from nodes.coordination.operations import OperationResult
from nodes.sim.quorum import EnsembleMember
from nodes.sim.stream import SimStream

if TYPE_CHECKING:
    from nodes.sim.coordination import SimCoordination
    from nodes.sim.ensemble import SimEnsemble

COORDINATION = "coordination"
"""The service as a whole, in links and faults."""
READS = (ops.Get, ops.Exists, ops.GetChildren, ops.GetAcl, ops.CheckVersion)

Reply = Callable[[OperationResult], None]


class SimConnection:
    """One TCP connection of one client to one server of the ensemble; that server answers in the order of requests."""

    def __init__(self, ensemble: SimEnsemble, owner: SimCoordination, member: EnsembleMember):
        self._ensemble = ensemble
        self.owner = owner
        self.member = member
        self.open = True
        self.session = 0
        name, server, loop, links = owner.name, member.name, ensemble.loop, ensemble.links
        self._to = SimStream(loop, links, (name, COORDINATION), (name, server))
        self._from = SimStream(loop, links, (COORDINATION, name), (server, name))
        self._writing = 0
        """Writes that the server has passed on to the leader and not yet applied."""
        self._behind: deque[tuple[ops.Operation, Reply]] = deque()
        """Requests that wait for these writes."""

    @property
    def is_two_way(self) -> bool:
        """Whether the server's packets reach the client. TCP opens no connection without them, although those of an open one still arrive."""
        return not self._from.cut

    def to_service(self, step: Callable[[], None]) -> None:
        self._to.send(step)

    def to_server(self, step: Callable[[], None]) -> None:
        self._from.send(step)

    def go_on(self) -> None:
        """Delivers stalled messages after a heal."""
        self._to.go_on()
        self._from.go_on()

    def request(self, operation: ops.Operation, reply: Reply) -> None:
        """Handles a request at the server: a read that follows a write of the same client reflects it."""
        self._ensemble.sessions.touch(self)
        if not self._behind and not self._writing:
            self._take(operation, reply)
        elif self._behind or isinstance(operation, READS):
            self._behind.append((operation, reply))
        else:
            self._take(operation, reply)

    def _take(self, operation: ops.Operation, reply: Reply) -> None:
        if isinstance(operation, READS):
            reply(self._ensemble.read(self, operation))
            return
        self._writing += 1

        def applied(result: OperationResult) -> None:
            self._writing -= 1
            reply(result)
            while self._behind and not (self._writing and isinstance(self._behind[0][0], READS)):
                self._take(*self._behind.popleft())

        self._ensemble.write(self, operation, applied)

    def close(self) -> None:
        """Closes both ends; messages in flight are lost."""
        if self.open:
            self.open = False
            self._to.close()
            self._from.close()
            self._ensemble.closed(self)
