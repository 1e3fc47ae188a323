"""A simulated cluster that lives on: it is advanced a little at a time, and everything from outside goes through `apply`."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from backend.errors import LabError, Unavailable, of_fault
from backend.names import CLIENT, COORDINATION
from backend.simulated import inputs
from backend.simulated.inputs import ClusterOrigin, Input, InputLog
from backend.simulated.playback import Playback
from nodes.config import ClientConfig, WorkloadConfig
from nodes.explore.audit import OWN_CLIENTS
from nodes.faults.check import FaultUnsupported
from nodes.real.ring import MessageRing
from nodes.sim.cluster import SimClient, SimCluster
from nodes.sim.ensemble import MEMBERS
from nodes.sim.world import SimWorld
from nodes.states import ProcessState
from nodes.trace.events import Stamped, Started
from nodes.trace.present import UNKNOWN
from nodes.wire.messages import Message
from nodes.workloads.generator import Workload, start_workload

CONSOLE = "console"
"""The client that makes the calls of the page and the command line."""
OBSERVING = frozenset({"counters", "replication", "standing", "group", "tree", "messages", "take_messages"})
"""Questions that change nothing. Their answers are read between two instants, and they are no inputs."""
PART_BYTES = 1 << 16
Result = Any
"""The answer to an input: a value of the input's own type, or an awaitable of one in virtual time."""


class VirtualCluster:
    """`take_events()` returns what has happened; `advance` lets more happen."""

    def __init__(self, origin: ClusterOrigin, log: InputLog | None = None):
        self.origin = origin
        self._playback = Playback(origin.plan) if origin.plan is not None else None
        self.sim: SimCluster = (
            SimCluster(origin.cluster, origin.seed) if self._playback is None else self._playback.stage
        )
        self._log = log
        self._workload = origin.workload
        self._throttle = inputs.ThrottleWorkload(None, None)
        self._generator: Workload | None = None
        self._console: SimClient | None = None
        self._rings: dict[str, MessageRing] = {}
        if origin.workload is not None:
            self.sim.add_process(CLIENT, self._start_client)

    # --- time -------------------------------------------------------------------------------------

    @property
    def now_ns(self) -> int:
        return self.sim.now_ns

    def advance(self, until_ns: int, stop: Callable[[], bool] = lambda: False) -> None:
        """Runs to an instant, or to the end of the first one after which `stop()` is true or it is `halted`. Raises errors of a server's code."""
        if self._playback is not None:
            self._playback.advance(until_ns, stop)
            return
        self.sim.loop.run(until_ns, stop)
        self.sim.loop.run(self.sim.now_ns)

    @property
    def halted(self) -> bool:
        """Whether the last advance ended early, because the played trial has broken a promise or is over."""
        return self._playback is not None and self._playback.halted

    def close(self) -> None:
        if self._playback is not None:
            self._playback.close()

    def take_events(self) -> list[Stamped]:
        return self.sim.take_events()

    # --- inputs -----------------------------------------------------------------------------------

    def apply(self, input: Input) -> Result:
        """Logs an input and applies it now. Raises LabError with one line; a refused input stays in the log, because it may have had an effect."""
        if self._log is not None:
            self._log.append(self.now_ns, input)
        try:
            return self._apply(input)
        except FaultUnsupported as error:
            raise of_fault(error) from None
        finally:
            self.sim.loop.run(self.now_ns)

    def _apply(self, input: Input) -> Result:
        match input:
            case inputs.InjectFault():
                return self._inject(input)
            case inputs.AskServer():
                return self._begin_asking(input)
            case inputs.ThrottleWorkload():
                self._throttle_workload(input)
            case inputs.ReplaceWorkload():
                self._replace_workload(input.workload)
            case inputs.ChangeClock():
                return None
            case _:
                return self._call(input)
        return None

    def _inject(self, input: inputs.InjectFault) -> dict[str, Any]:
        faults = self.sim.faults
        fault = faults.do(input.verb, list(input.targets), dict(input.options))
        return {"fault": fault, "added": faults.added if input.verb == "add_server" else ""}

    def _begin_asking(self, input: inputs.AskServer) -> Awaitable[dict[str, Any]]:
        machine = self.sim.servers[self._running(input.server)].machine
        assert machine is not None

        async def answered() -> dict[str, Any]:
            answer = self.sim.ask(input.server, input.question)
            found: dict[str, Any] = await answer if inspect.isawaitable(answer) else answer
            return found

        return self.sim.loop.create_task(answered(), context=machine.context)

    def _running(self, name: str) -> str:
        """Raises Unavailable for a process that cannot answer."""
        server = self.sim.servers.get(name)
        if server is None or server.process != "running":
            raise Unavailable(f"{name} does not answer: it is {server.process if server else 'unknown'}")
        return name

    # --- observing --------------------------------------------------------------------------------

    def observes(self, server: str, question: dict[str, Any]) -> bool:
        """Whether a question changes nothing."""
        return question["do"] in OBSERVING

    def observe(self, server: str, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question that changes nothing. Raises Unavailable."""
        self._running(server)
        if question["do"] in ("messages", "take_messages"):
            return self._messages(server, question)
        if not self.sim.answers(server, question["do"]):
            raise Unavailable(f"{server} does not answer {question['do']}")
        answer: dict[str, Any] = self.sim.ask(server, question)
        return answer

    def _messages(self, server: str, question: dict[str, Any]) -> dict[str, Any]:
        ring = self._rings.get(server)
        if ring is None:
            ring = self._rings[server] = MessageRing(server, lambda: self.now_ns)
        if question["do"] == "take_messages":
            return ring.take()
        ring.turn(bool(question["on"]))
        self.sim.net.on_sent.unsubscribe(self._sent)
        if any(each.on for each in self._rings.values()):
            self.sim.net.on_sent.subscribe(self._sent)
        return {}

    def _sent(self, sender: str, receiver: str, message: Message) -> None:
        ring = self._rings.get(sender)
        if ring is not None and ring.on:
            ring.sent(receiver, ([message], [UNKNOWN]), 0)

    def states(self) -> dict[str, ProcessState]:
        """The state of every process, with that of each coordination server and of the service."""
        ensemble = self.sim.ensemble
        found: dict[str, ProcessState] = {name: server.process for name, server in self.sim.servers.items()}
        found |= {name: "running" if ensemble.runs(name) else "stopped" for name in (COORDINATION, *MEMBERS)}
        found.pop(CONSOLE, None)
        return found

    def roles(self) -> dict[str, str]:
        """The role of each coordination server."""
        ensemble = self.sim.ensemble
        leader = ensemble.leader
        return {
            member.name: "down"
            if not member.up
            else "leader"
            if member is leader
            else "follower"
            if member.serving
            else "looking"
            for member in ensemble.members
        }

    def tree(self) -> list[dict[str, Any]]:
        """Every node of the coordination tree by path, with the sessions that watch it at any of the servers."""
        ensemble = self.sim.ensemble
        tables = [member.tree.watches for member in ensemble.members]
        return [
            {
                "path": path,
                "data": node.data.decode(errors="replace"),
                "owner": node.owner,
                "version": node.version,
                "watches": {
                    kind: [session for watches in tables for session in watches.of(path).get(kind, [])]
                    for kind in ("data", "child")
                },
            }
            for path, node in sorted(ensemble.tree.nodes.items())
        ]

    def sessions(self) -> list[dict[str, Any]]:
        """Every open session of the coordination service."""
        ensemble = self.sim.ensemble
        connections = ensemble.sessions.owners
        return [
            {
                "session": number,
                "timeout_ms": session.timeout_ms,
                "connected": number in connections and connections[number].open,
            }
            for number, session in ensemble.tree.sessions.open.items()
        ]

    # --- clients ----------------------------------------------------------------------------------

    def _start_client(self, world: SimWorld) -> None:
        assert self._workload is not None
        self._generator = start_workload(world, ClientConfig(CLIENT, self.origin.cluster, self._workload))
        self._generator.throttle(self._throttle.rate_per_s, self._throttle.paused)

    def _throttle_workload(self, input: inputs.ThrottleWorkload) -> None:
        if self._generator is None:
            raise Unavailable("this cluster has no workload")
        old = self._throttle
        self._throttle = inputs.ThrottleWorkload(
            old.rate_per_s if input.rate_per_s is None else input.rate_per_s,
            old.paused if input.paused is None else input.paused,
        )
        self._generator.throttle(input.rate_per_s, input.paused)

    def _replace_workload(self, workload: WorkloadConfig) -> None:
        self._workload, self._throttle = workload, inputs.ThrottleWorkload(None, None)
        server = self.sim.servers.get(CLIENT)
        if server is None:
            self.sim.add_process(CLIENT, self._start_client)
            return
        if server.machine is not None:
            server.machine.die()
        self.sim.start(server)

    def _call(self, input: Input) -> Awaitable[Any]:
        if self._console is None:
            self._console = self.sim.start_client(CONSOLE)
        console = self._console
        match input:
            case inputs.CallOperation():
                return console.spawn(input.operation)
            case inputs.PutContent():
                source = parts(input.content)
                if input.append:
                    return console.begin(console.files.append(input.path, source, input.force))
                return console.begin(console.files.put(input.path, source, input.block_size))
            case inputs.GetContent():
                return console.begin(some(console.files.get(input.path, input.start), input.most))
            case inputs.FindBlocks():
                return console.begin(console.files.places(input.path, input.first, input.limit))
        raise LabError(f"{type(input).__name__} is no input of a client")

    @property
    def believed_active(self) -> str:
        return self._console.client.believed_active if self._console is not None else ""


async def parts(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), PART_BYTES):
        yield content[start : start + PART_BYTES]


async def some(source: AsyncIterator[bytes], most: int) -> bytes:
    """The first parts, until they are `most` bytes or more; empty at the end."""
    found = bytearray()
    async for part in source:
        found += part
        if len(found) >= most:
            break
    return bytes(found)


def replayed(origin: ClusterOrigin, entries: list[inputs.LoggedInput], until_ns: int) -> list[Stamped]:
    """The events of a cluster that receives the inputs of a log again, up to an instant."""
    cluster = VirtualCluster(origin)
    found: list[Stamped] = []
    for entry in entries:
        if entry.at_ns > until_ns:
            break
        cluster.advance(entry.at_ns)
        try:
            cluster.apply(entry.input)
        except LabError:
            pass
        found += cluster.take_events()
    cluster.advance(until_ns)
    return found + cluster.take_events()


def is_own_client(stamped: Stamped) -> bool:
    """Whether an event says that a client of the control plane or of a trial's audit has begun, which is no process of the cluster."""
    return isinstance(stamped.event, Started) and stamped.server.startswith((CONSOLE, *OWN_CLIENTS))
