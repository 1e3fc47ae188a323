"""The smallest mechanism for the slot `replication`: one server, everything in memory. `docs/add-a-protocol.md` walks through it."""

from __future__ import annotations

from nodes.config import ServerConfig, group_of
from nodes.errors import FsError
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import WRITES
from nodes.replicas.view import ACTIVE, GlobalView, Place
from nodes.trace.events import Committed, RoleChanged, Serving
from nodes.units import OpId
from nodes.wire.messages import Answer, Checked, CheckOperation, Message, Request
from nodes.world import World

EPOCH = 1


class Toy:
    def __init__(self, world: World, config: ServerConfig):
        self._world = world
        self._group = group_of(config.cluster, config.group)
        self._view = GlobalView(world.coordination, config.group, world.name, unguarded=False)
        self._namespace = Namespace(group=self._group.number)
        self._sn = 0

    def start(self) -> None:
        self._world.network.receive(self.on_message)
        self._world.coordination.on_state(self.on_state)
        self.on_state(self._world.coordination.state)

    def on_state(self, state: str) -> None:
        """Each session of the coordination service has to be given this server's place in the global view."""
        if state == "connected":
            self._world.scope.spawn(self._take_place(), "place in the view")

    async def _take_place(self) -> None:
        world, group = self._world, self._group
        await self._view.prepare(group.members, world.network.address)
        await self._view.take_place(Place(ACTIVE, EPOCH, self._sn))
        world.trace.emit(RoleChanged(group.name, ACTIVE, EPOCH, self._sn, "has entered the view"))
        world.trace.emit(Serving(group.name, EPOCH, self._sn, 0))

    def on_message(self, peer: str, message: Message) -> None:
        if isinstance(message, Request):
            self._world.network.send(peer, self._answer(message))
        elif isinstance(message, CheckOperation):
            self._world.network.send(peer, Checked(message.number, EPOCH, "absent"))

    def _answer(self, request: Request) -> Answer:
        try:
            result, error = self._carry_out(request), ""
        except FsError as refused:
            result, error = None, str(refused)
        return Answer(request.number, EPOCH, self._sn, 1, result, error, self._world.clock.wall_ns())

    def _carry_out(self, request: Request) -> object:
        """Raises FsError."""
        namespace, op_id = self._namespace, OpId(request.session, request.number)
        if type(request.operation) not in WRITES:
            return namespace.read(request.operation)
        recorded = namespace.sessions.recorded(op_id)
        if recorded is not None:
            return recorded
        now_ns = max(self._world.clock.wall_ns(), namespace.newest_ns + 1)
        record = namespace.plan(request.operation, op_id, request.lowest_open, now_ns)
        namespace.apply(record, None)
        self._sn += 1
        self._tell_committed(op_id)
        return record.result

    def _tell_committed(self, op_id: OpId) -> None:
        """One record is a group of its own, safe as soon as it is in memory: the checks compare answers with these."""
        world, group = self._world, self._group.name
        world.trace.emit(
            Committed(group, self._sn, EPOCH, 0, [world.name], 1, [(op_id.client, op_id.number)])
        )


def start(world: World, config: ServerConfig) -> None:
    Toy(world, config).start()
