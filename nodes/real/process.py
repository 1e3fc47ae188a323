"""One operating-system process of a cluster: its configuration file, its world, its run and its end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import gc
import json
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from nodes.config import MILLISECOND, ClientConfig, NodeConfig, ServerConfig
from nodes.errors import Damaged
from nodes.kinds import ProcessKind, start_node
from nodes.log_lines import log
from nodes.real.clock import RealClock, monotonic_ns
from nodes.real.connection import identity_of
from nodes.real.control import BadQuestion, Control, Step
from nodes.real.disk import RealDisk
from nodes.real.forked_copies import ForkedShares
from nodes.real.links import LinkRule
from nodes.real.network import RealNetwork
from nodes.real.ring import MessageRing
from nodes.real.throttle import Throttle
from nodes.real.turn import Turn
from nodes.real.zookeeper import Zookeeper
from nodes.scope import Scope
from nodes.storage.records import CorruptJournal
from nodes.trace.base import Event
from nodes.trace.events import RoleChanged, Serving, Started, Stopped, StoppedServing, Warned
from nodes.trace.present import Causeless, causal
from nodes.trace.prose import words
from nodes.trace.writer import TraceWriter
from nodes.wire.codec import Codec
from nodes.wire.keys import Keys
from nodes.world import Share, Shares

BUG_EXIT = 70
AGAIN_EXIT = 75
"""Exit code when the journal was found damaged during service. The fabric starts the process again, and opening the journal decides how it
continues."""


LOGGED = (RoleChanged, Serving, StoppedServing)
"""Events that are log lines, too: who leads, since when, and why no longer."""
NO_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class ProcessFile(msgspec.Struct, forbid_unknown_fields=True):
    """The content of the `--config` file."""

    role: str
    config: msgspec.Raw
    data: str
    listen: str
    coordination: str
    peers: dict[str, str]
    keys_file: str
    """File of `Keys`: those of this process alone."""
    control: str
    advertise: str = ""
    """Address at which peers dial, when it differs from the listening one: a name outlives an address."""
    seed: int | None = None
    """Seed of the draws and the jitter; a fresh one at each start when absent."""


class CannotStart(Exception):
    """The process cannot start; one line for standard error gives the reason."""


class RealWorld:
    """`World` of nodes/world.py."""

    def __init__(
        self,
        name: str,
        rng: random.Random,
        clock: RealClock,
        turn: Turn,
        network: RealNetwork,
        disk: RealDisk,
        coordination: Any,
        trace: Any,
        scope: Scope,
    ):
        self.name = name
        self.rng = rng
        self.clock = clock
        self.network = network
        self.disk = disk
        self.coordination = coordination
        self.trace = trace
        self.scope = scope
        self.control = Control()
        self._loop = asyncio.get_running_loop()

    def when_idle(self, step: Callable[[], None]) -> None:
        self._loop.call_soon(step)

    def answer(self, name: str, step: Step) -> None:
        self.control.answer(name, step)

    def copies(self, share: Share, most: int) -> Shares | None:
        try:
            return ForkedShares(share, most)
        except OSError as error:
            refused = f"this process cannot be copied ({error.strerror}): it does the work alone"
            log("warning", self.name, refused)
            self.trace.emit(Warned(refused))
            return None


class LoggedTrace(TraceWriter):
    """Writes events, and some of them as log lines."""

    def emit(self, event: Event) -> int:
        if type(event) in LOGGED:
            log("info", self.server, words(event))
        return super().emit(event)


class Process:
    """One process, from the configuration file to the exit code."""

    def __init__(self, file: ProcessFile, name: str, cluster: str):
        self._file = file
        self._name = name
        self._data = Path(file.data)
        self._ending = asyncio.Event()
        self._code = 0
        self._began = False
        self._throttle = Throttle()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._on_loop_error)
        self._lock = hold(self._data)
        self.turn = Turn(loop)
        self.trace = LoggedTrace(self._data / "trace", name, monotonic_ns, self.turn.wanted, causal(loop))
        self.turn.at_end(self.trace.flush)
        self.ring = MessageRing(name, monotonic_ns)
        self._keys = keys_in(Path(file.keys_file))
        identity = identity_of(cluster, name, self._keys)
        rng = random.Random(os.urandom(16) if file.seed is None else f"{file.seed}/{name}/{self.trace.boot}")
        from nodes.mechanisms import MESSAGES, OF_CLIENTS

        network = RealNetwork(
            identity, Codec(MESSAGES), Codec(OF_CLIENTS), self.turn, rng, self._warn, self.ring, causal(loop)
        )
        self.world = RealWorld(
            name, rng, RealClock(loop), self.turn, network, RealDisk(self._data, self.turn), None, self.trace,
            Scope(name, on_error=self._on_error),
        )  # fmt: skip
        for peer, address in file.peers.items():
            network.know(peer, address)

    # --- errors ----------------------------------------------------------------------------------------------------

    def _warn(self, peer: str, what: str) -> None:
        """Warns at most once a second about each peer. A warning is the cause of no other event."""
        if self._throttle.passes(peer):
            log("warning", self._name, f"{peer}: {what}" if peer else what)
            cause = self.trace.at()
            self.trace.emit(Warned(what))
            self.trace.follows(cause)

    def _on_error(self, error: BaseException) -> None:
        """Ends the process on a failing disk or a bug: this server is of no use to its group any more. It ends even when the error cannot be
        reported."""
        if self._code:
            return
        self._code = AGAIN_EXIT if self._began and isinstance(error, CorruptJournal) else BUG_EXIT
        reason = self._reason(error)
        self._will_end(reason)
        log("error", self._name, reason, None if isinstance(error, OSError | Damaged) else error)

    def _reason(self, error: BaseException) -> str:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            return f"no room is left in {self._data}: make some and start {self._name} again"
        return f"{type(error).__name__}: {error}"

    def _on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in NO_DESCRIPTORS and "socket" in context:
            self._warn("", f"no connection can be accepted: {error.strerror}")
            return
        if error is not None and not isinstance(error, ConnectionError):
            self._on_error(error)

    def _stop(self, reason: str) -> None:
        if not self._ending.is_set():
            log("info", self._name, f"stops: {reason}")
            self._will_end(reason)

    def _will_end(self, reason: str) -> None:
        if not self._ending.is_set():
            self.trace.emit(Stopped(" ".join(reason.split())))
            self._ending.set()

    # --- life ------------------------------------------------------------------------------------------------------

    async def run(self, start: Callable[[RealWorld], None], session_timeout_ms: int) -> int:
        """Runs the process; returns its exit code. Raises CannotStart."""
        world, file = self.world, self._file
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, "asked to")
        self._answer_control()
        try:
            if file.listen:
                await world.network.listen(file.listen, file.advertise)
            await world.control.listen(Path(file.control))
        except OSError as error:
            raise CannotStart(
                f"{self._name} cannot listen on {file.listen or file.control}: {error.strerror}"
            ) from None
        if file.coordination:
            world.coordination = Zookeeper(file.coordination, session_timeout_ms, self._keys.coordination)
        self.trace.emit(Started(os.getpid(), world.network.address, world.clock.wall_ns()))
        log("info", self._name, f"process {os.getpid()} starts at {world.network.address or file.control}")
        gc.set_threshold(50_000, 20, 100)
        try:
            start(world)
        except (Damaged, OSError) as error:
            self._on_error(error)
        else:
            self._began = True
            if world.coordination is not None:
                world.coordination.start()
            self.trace.flush()
            print(
                json.dumps({"ready": True, "pid": os.getpid(), "address": world.network.address}), flush=True
            )
            gc.collect()
            gc.freeze()
        await self._ending.wait()
        await self._end()
        return self._code

    async def _end(self) -> None:
        world = self.world
        world.network.receive(lambda peer, message: None)
        world.scope.close()
        if world.coordination is not None:
            await world.coordination.close()
        world.network.close()
        world.control.close()
        with contextlib.suppress(OSError):
            self.trace.close()
        Path(self._file.control).unlink(missing_ok=True)

    # --- control ---------------------------------------------------------------------------------------------------

    def _answer_control(self) -> None:
        world = self.world
        world.answer(
            "status", lambda question: {"pid": os.getpid(), "name": self._name, "boot": self.trace.boot}
        )
        world.answer("rules", self._rules)
        world.answer("peers", self._peers)
        world.answer("stop", lambda question: self._stop("asked to"))
        world.answer("messages", lambda question: self.ring.turn(bool(question["on"])))
        world.answer("take_messages", lambda question: self.ring.take())
        world.answer("disk", self._disk)
        world.answer("clock", self._clock)
        world.answer("session", self._session)
        world.answer("trim_trace", lambda question: {"removed": self.trace.trim(int(question["below"]))})

    def _rules(self, question: dict[str, Any]) -> None:
        self.world.network.rules.replace(msgspec.convert(question["rules"], list[LinkRule]))

    def _peers(self, question: dict[str, Any]) -> None:
        for peer, address in msgspec.convert(question["peers"], dict[str, str]).items():
            self.world.network.know(peer, address)

    def _session(self, question: dict[str, Any]) -> dict[str, Any]:
        if self.world.coordination is None:
            raise BadQuestion(f"{self._name} has no coordination session")
        session, password = self.world.coordination.credentials
        return {"session": session, "password": password.hex()}

    def _clock(self, question: dict[str, Any]) -> None:
        self.world.clock.skew_ns = int(question["skew_ms"]) * MILLISECOND

    def _disk(self, question: dict[str, Any]) -> None:
        disk = self.world.disk
        if "slow_ms" in question:
            disk.slow_ns = int(question["slow_ms"] * MILLISECOND)
        disk.fails = bool(question.get("fail", disk.fails))


def keys_in(file: Path) -> Keys:
    """Raises CannotStart, OSError."""
    try:
        keys = msgspec.json.decode(file.read_bytes(), type=Keys)
    except msgspec.DecodeError as error:
        raise CannotStart(f"{file}: {error}") from None
    if not keys.client:
        raise CannotStart(f"{file} has no keys")
    return keys


def hold(directory: Path) -> int:
    """The lock of a data directory, held until the process ends. Raises CannotStart."""
    directory.mkdir(parents=True, exist_ok=True)
    fd = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.read(fd, 32).decode("ascii", "replace").strip()
        raise CannotStart(
            f"the data directory {directory} is held by process {holder or 'unknown'}"
        ) from None
    with contextlib.suppress(OSError):
        os.ftruncate(fd, 0)
        os.write(fd, f"{os.getpid()}\n".encode())
    return fd


async def run_server(file: ProcessFile) -> int:
    """Raises CannotStart, msgspec.ValidationError."""
    from nodes.mechanisms import start_server

    config = msgspec.json.decode(file.config, type=ServerConfig)
    process = Process(file, config.name, config.cluster.cluster)
    return await process.run(
        lambda world: start_server(world, config),
        config.cluster.timing.session_timeout_ms,
    )


async def run_node(kind: ProcessKind, file: ProcessFile) -> int:
    """Raises CannotStart, msgspec.ValidationError."""
    config = msgspec.json.decode(file.config, type=NodeConfig)
    process = Process(file, config.name, config.cluster.cluster)
    return await process.run(lambda world: start_node(kind, world, config), 0)


async def run_workload(file: ProcessFile) -> int:
    """Raises CannotStart, msgspec.ValidationError."""
    from nodes.workloads.generator import start_workload

    config = msgspec.json.decode(file.config, type=ClientConfig)
    process = Process(file, config.name, config.cluster.cluster)

    def start(world: RealWorld) -> None:
        workload = start_workload(world, config)

        def throttle(question: dict[str, Any]) -> None:
            workload.throttle(question.get("rate_per_s"), question.get("paused"))

        def mix(question: dict[str, Any]) -> None:
            workload.mix(msgspec.convert(question["mix"], dict[str, float]))

        world.answer("throttle", throttle)
        world.answer("mix", mix)
        world.answer("counts", lambda question: {"counts": workload.counts(), "finished": workload.finished})

    return await process.run(start, config.cluster.timing.session_timeout_ms)


class Silence(Causeless):
    """The trace of a client without readers."""

    def emit(self, event: Event) -> int:
        return 0


def client_world(name: str, cluster_id: str, keys: Keys, peers: dict[str, str]) -> RealWorld:
    """A world for a smart client inside another process's running loop; it has no disk and no coordination."""
    from nodes.mechanisms import MESSAGES, OF_CLIENTS

    loop = asyncio.get_running_loop()
    turn, rng = Turn(loop), random.Random(os.urandom(16))
    ring = MessageRing(name, monotonic_ns)
    identity = identity_of(cluster_id, name, keys)
    network = RealNetwork(
        identity, Codec(MESSAGES), Codec(OF_CLIENTS), turn, rng, lambda peer, line: None, ring
    )
    world = RealWorld(
        name,
        rng,
        RealClock(loop),
        turn,
        network,
        RealDisk(Path(os.devnull), turn),
        None,
        Silence(),
        Scope(name),
    )
    for peer, address in peers.items():
        network.know(peer, address)
    return world
