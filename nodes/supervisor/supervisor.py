"""The first process of a server's container: it starts, signals and monitors the server, breaks its links and reports its state."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from nodes.kinds import KINDS
from nodes.log_lines import log
from nodes.real.clock import monotonic_ns
from nodes.real.connection import PeerConnection
from nodes.real.control import LINE_MAX, BadQuestion
from nodes.real.disk_replacement import wipe
from nodes.real.links import LinkRule
from nodes.real.memory import used_share
from nodes.real.private_files import replace_file
from nodes.real.relay import Relay
from nodes.real.rot import corrupt
from nodes.real.synced_lengths import lose_power
from nodes.supervisor import zookeeper
from nodes.supervisor.calls import ANSWER_S, ControlCalls, answer_time_s
from nodes.supervisor.keeper import Keeper, NotReady
from nodes.supervisor.kernel import Kernel
from nodes.supervisor.messages import Events, Status
from nodes.supervisor.packets import left_to_transport
from nodes.supervisor.reaper import Reaper
from nodes.supervisor.secret import read_secret
from nodes.trace.files import TraceDamaged
from nodes.trace.reader import TraceReader
from nodes.wire.keys import WeakToken

BEAT_S = 1.0
FOLLOW_S = 0.01
EVENTS_MOST = 5_000
SEND_AHEAD_BYTES = 4 << 20
"""Unsent bytes of a connection beyond which no more events are read for it."""
READY_S = 45.0
"""Timeout of a start, on a machine on which a whole cluster starts at once."""
STOP_S = 2.0
SERVER_PORT = 7000
LISTENING = ("server", *(kind.role for kind in KINDS.values()))
"""Kinds of process that others send messages to, and that have a disk."""
LAUNCHED = (*LISTENING, "workload")
RELAY_PORT = 21_810
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class SupervisorSettings(msgspec.Struct, frozen=True):
    name: str
    data: Path
    """Directory of the volume."""
    token_file: Path
    """File of its secret: the cluster's token, or the keys of this container alone."""
    port: int
    ensemble: list[str]
    """Names of the ZooKeeper servers when this is one of them, else empty."""
    health: Path
    """File that is touched once a second while the supervisor is healthy."""


class Launch(msgspec.Struct, forbid_unknown_fields=True):
    """The process that the control plane wants to run here. It is kept in the volume, so that a restarted container continues with it."""

    kind: str
    cluster: str
    config: msgspec.Raw
    peers: dict[str, str]
    coordination: str
    seed: int | None
    running: bool = True


class Supervisor:
    """`calls` is its port; its table of steps has every question of the control plane.

    Many methods: one answers each question."""

    def __init__(self, settings: SupervisorSettings):
        self.settings = settings
        settings.data.mkdir(parents=True, exist_ok=True)
        self.reaper = Reaper()
        self.kernel = Kernel(settings.name, settings.port, self.reaper)
        self.keeper = Keeper(settings.health.parent / "logs", self.reaper, self._changed)
        steps: dict[str, Callable[[PeerConnection, dict[str, Any]], Any]] = {
            "status": lambda connection, args: {"status": msgspec.to_builtins(self.status())},
            "start": self._start,
            "stop": self._stop,
            "kill": self._kill,
            "lose_power": self._lose_power,
            "new_disk": self._new_disk,
            "corrupt": self._corrupt,
            "pause": self._pause,
            "resume": self._resume,
            "rules": self._rules,
            "ask": self._ask,
            "follow": self._follow,
            "logs": self._logs,
            "forget": self._forget,
        }
        self.calls = ControlCalls(settings.name, settings.token_file, steps, self._closed)
        self._launch: Launch | None = None
        self._role = "down" if settings.ensemble else ""
        self._relays: dict[str, Relay] = {}
        self._following: dict[PeerConnection, asyncio.Task[None]] = {}
        self._boot_id = BOOT_ID.read_text().strip() if BOOT_ID.exists() else ""
        self._address = ""
        self._starting = False

    # --- life -----------------------------------------------------------------------------------------------------

    async def run(self, ending: asyncio.Event) -> None:
        """Runs until `ending`. Raises OSError when the port is taken."""
        await self.kernel.probe()
        server = await self.calls.listen("0.0.0.0", self.settings.port)
        beating = asyncio.get_running_loop().create_task(self._beat())
        await self._go_on()
        await ending.wait()
        beating.cancel()
        server.close()
        await self.keeper.stop(STOP_S)

    async def _go_on(self) -> None:
        """Starts the process that was wanted when the container ended; a ZooKeeper server is wanted unless it was stopped on purpose."""
        try:
            if self.settings.ensemble:
                if not self._ended_mark.exists():
                    self._start_zookeeper()
            elif self._launch_file.exists():
                self._launch = msgspec.json.decode(self._launch_file.read_bytes(), type=Launch)
                if self._launch.running:
                    await self._spawn(self._launch)
        except (OSError, NotReady, WeakToken, msgspec.DecodeError) as error:
            self._say(f"what ran before cannot go on: {error}")

    async def _beat(self) -> None:
        while True:
            self._address = await self.kernel.address()
            if self.settings.ensemble:
                self._role = await zookeeper.role() if self.keeper.state == "running" else "down"
            if not self.settings.ensemble or self._role in ("leader", "follower"):
                self.settings.health.touch()
            self._changed()
            await asyncio.sleep(BEAT_S)

    def _say(self, line: str) -> None:
        log("warning", f"supervisor of {self.settings.name}", line)

    # --- events and status ----------------------------------------------------------------------------------------

    def status(self) -> Status:
        launch, keeper = self._launch, self.keeper
        return Status(
            name=self.settings.name,
            kind="zookeeper" if self.settings.ensemble else launch.kind if launch else "",
            cluster=launch.cluster if launch else "",
            state=keeper.state,
            pid=keeper.pid,
            began_ns=keeper.began_ns,
            ended=keeper.ended,
            role=self._role,
            address=self._address,
            container=socket.gethostname()[:12],
            image=os.environ.get("CLOVERLAB_IMAGE", ""),
            boot_id=self._boot_id,
            monotonic_ns=monotonic_ns(),
            wall_ns=time.time_ns(),
            netem=self.kernel.netem,
            free_bytes=shutil.disk_usage(self.settings.data).free,
            memory_share=used_share(),
        )

    def _changed(self) -> None:
        if self.settings.ensemble and self.keeper.state != "running":
            self._role = "down"
        self.calls.report_all(self.status())

    def _closed(self, connection: PeerConnection) -> None:
        following = self._following.pop(connection, None)
        if following is not None:
            following.cancel()

    def _follow(self, connection: PeerConnection, args: dict[str, Any]) -> None:
        """Sends the server's events after number `after`, and the status, on this connection from here on."""
        self._closed(connection)
        trace = self._directory(args["cluster"]) / "trace"
        reading = self._read_events(connection, TraceReader(trace, int(args["after"])))
        self._following[connection] = asyncio.get_running_loop().create_task(reading)
        self.calls.report(connection, self.status())

    async def _read_events(self, connection: PeerConnection, reader: TraceReader) -> None:
        while True:
            if connection.unsent > SEND_AHEAD_BYTES:
                await asyncio.sleep(FOLLOW_S)
                continue
            try:
                found = reader.read()
            except (TraceDamaged, OSError) as error:
                self._say(str(error))
                return
            for begin in range(0, len(found), EVENTS_MOST):
                self.calls.report(connection, Events(found[begin : begin + EVENTS_MOST]))
            await asyncio.sleep(0 if found else FOLLOW_S)

    # --- the process ----------------------------------------------------------------------------------------------

    @property
    def _launch_file(self) -> Path:
        return self.settings.data / "launch.json"

    @property
    def _ended_mark(self) -> Path:
        """File that exists while a ZooKeeper server is stopped on purpose."""
        return self.settings.data / "ended"

    def _directory(self, cluster: str) -> Path:
        """The directory of a cluster. Raises BadQuestion for an invalid name."""
        if (
            not cluster
            or not all(c.isascii() and (c.isalnum() or c == "-") for c in cluster)
            or len(cluster) > 64
        ):
            raise BadQuestion(f"{cluster[:64]!r} is no name of a cluster")
        return self.settings.data / "clusters" / cluster

    async def _start(self, connection: PeerConnection, args: dict[str, Any]) -> None:
        """Starts a server or workload as in `Launch`; a ZooKeeper server needs no arguments."""
        if self.keeper.pid or self._starting:
            raise BadQuestion(f"{self.settings.name} runs already")
        if self.settings.ensemble:
            self._ended_mark.unlink(missing_ok=True)
            self._start_zookeeper()
            return
        launch = msgspec.convert({**args, "config": msgspec.Raw(msgspec.json.encode(args["config"]))}, Launch)
        if launch.kind not in LAUNCHED:
            raise BadQuestion(f"{launch.kind[:40]!r} is not offered; there are {', '.join(LAUNCHED)}")
        self._directory(launch.cluster)
        self._starting = True
        try:
            await self._spawn(launch)
        finally:
            self._starting = False

    def _start_zookeeper(self) -> None:
        settings = self.settings
        self.keeper.spawn(zookeeper.prepare(settings.name, settings.ensemble, settings.data / "zookeeper"))

    async def _spawn(self, launch: Launch) -> None:
        """Spawns a process. Raises NotReady, WeakToken, OSError."""
        directory = self._directory(launch.cluster)
        directory.mkdir(parents=True, exist_ok=True)
        self._launch = launch
        self._keep(True)
        address = await self.kernel.address()
        reported = {
            "role": launch.kind,
            "config": launch.config,
            "data": str(directory),
            "listen": f"{address}:{SERVER_PORT}" if launch.kind in LISTENING else "",
            "advertise": f"{self.settings.name}:{SERVER_PORT}" if launch.kind in LISTENING else "",
            "coordination": await self._relayed(launch.coordination) if launch.coordination else "",
            "peers": launch.peers,
            "keys_file": str(self._write_keys(launch.kind)),
            "control": str(self._socket),
            "seed": launch.seed,
        }
        file = directory / "process.json"
        file.write_bytes(msgspec.json.encode(reported))
        self.keeper.spawn([sys.executable, "-m", "nodes", launch.kind, "--config", str(file)])
        await self.keeper.ready(READY_S)

    def _write_keys(self, kind: str) -> Path:
        """Writes the keys of a process of this kind. Raises WeakToken, OSError."""
        file = self.settings.health.parent / f"{self.settings.name}.keys"
        secret = read_secret(self.settings.token_file, self.settings.name)
        replace_file(file, msgspec.json.encode(secret.of_process(serves=kind in LISTENING)))
        return file

    def _keep(self, running: bool) -> None:
        if self._launch is not None:
            self._launch.running = running
            new = self._launch_file.with_suffix(".new")
            new.write_bytes(msgspec.json.encode(self._launch))
            new.replace(self._launch_file)
        elif self.settings.ensemble and not running:
            self._ended_mark.touch()

    async def _stop(self, connection: PeerConnection, args: dict[str, Any]) -> None:
        self._keep(False)
        await self.keeper.stop(STOP_S)

    async def _kill(self, connection: PeerConnection, args: dict[str, Any]) -> None:
        self._keep(False)
        await self.keeper.kill()

    async def _lose_power(self, connection: PeerConnection, args: dict[str, Any]) -> dict[str, Any]:
        if self._launch is None or self._launch.kind not in LISTENING:
            raise BadQuestion("what is synced is known of who has a disk only: a client has none")
        await self._kill(connection, args)
        return {"lost": lose_power(self._directory(self._launch.cluster), random.Random(args.get("seed")))}

    async def _new_disk(self, connection: PeerConnection, args: dict[str, Any]) -> None:
        if self._launch is None or self._launch.kind not in LISTENING:
            raise BadQuestion("who has a disk may get another one: a client has none")
        if self.keeper.pid:
            await self._kill(connection, args)
        try:
            wipe(self._directory(self._launch.cluster))
        except OSError as error:
            raise BadQuestion(f"the disk cannot be emptied: {error.strerror}") from None

    def _corrupt(self, connection: PeerConnection, args: dict[str, Any]) -> dict[str, Any]:
        if self._launch is None:
            raise BadQuestion("no server has run here")
        return {"where": corrupt(self._directory(self._launch.cluster), str(args["what"]))}

    def _pause(self, connection: PeerConnection, args: dict[str, Any]) -> None:
        self.keeper.pause()

    def _resume(self, connection: PeerConnection, args: dict[str, Any]) -> None:
        self.keeper.resume()

    def _logs(self, connection: PeerConnection, args: dict[str, Any]) -> dict[str, Any]:
        with self.keeper.errors.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 65_536))
            return {"text": file.read().decode("utf-8", "replace")}

    def _forget(self, connection: PeerConnection, args: dict[str, Any]) -> None:
        """Removes a cluster's files here; refused for the running cluster."""
        directory = self._directory(args["cluster"])
        if self.keeper.pid and self._launch is not None and self._launch.cluster == args["cluster"]:
            raise BadQuestion(f"{args['cluster']} runs here: end it first")
        shutil.rmtree(directory, ignore_errors=True)

    # --- links and questions --------------------------------------------------------------------------------------

    async def _rules(self, connection: PeerConnection, args: dict[str, Any]) -> None:
        """Sets rules. The kernel makes cuts. The server's transport and the relays to coordination do the rest, as in `left_to_transport`."""
        rules = msgspec.convert(args["rules"], list[LinkRule])
        await self.kernel.apply(rules, {rule.peer: self._host_of(rule.peer) for rule in rules})
        left = left_to_transport(rules, self.kernel.netem)
        for name, relay in self._relays.items():
            ours = [rule for rule in left if rule.peer in (name, "*")]
            relay.rules(
                delay_ms=sum(rule.delay_ms for rule in ours),
                jitter_ms=sum(rule.jitter_ms for rule in ours),
                loss=max((rule.loss for rule in ours), default=0.0),
            )
        if self.keeper.state == "running" and not self.settings.ensemble:
            await self._to_process({"do": "rules", "rules": msgspec.to_builtins(left)})

    def _host_of(self, peer: str) -> str:
        """The host name of a peer: from its address where it was given, else its own name."""
        reported = self._launch.peers.get(peer, "") if self._launch is not None else ""
        return reported.rpartition(":")[0] or peer

    async def _relayed(self, coordination: str) -> str:
        """The hosts by which the server reaches coordination: the supervisor's relays when the kernel cannot delay packets."""
        if self.kernel.netem:
            return coordination
        hosts, slash, chroot = coordination.partition("/")
        for number, host in enumerate(hosts.split(",")):
            name = host.partition(":")[0]
            if name not in self._relays:
                self._relays[name] = Relay(RELAY_PORT + number, host)
                await self._relays[name].start()
        ours = [f"127.0.0.1:{self._relays[host.partition(':')[0]].port}" for host in hosts.split(",")]
        return ",".join(ours) + slash + chroot

    @property
    def _socket(self) -> Path:
        return self.settings.health.parent / f"{self.settings.name}.sock"

    async def _ask(self, connection: PeerConnection, args: dict[str, Any]) -> dict[str, Any]:
        """Passes a question on to the server's own control socket, for an answer within so many seconds."""
        return await self._to_process(args["question"], answer_time_s(args))

    async def _to_process(self, question: dict[str, Any], within_s: float = ANSWER_S) -> dict[str, Any]:
        if self.settings.ensemble or not self.keeper.pid:
            raise BadQuestion(f"{self.settings.name} does not run a server now")
        async with asyncio.timeout(within_s):
            reader, writer = await asyncio.open_unix_connection(str(self._socket), limit=32 * LINE_MAX)
            try:
                writer.write(msgspec.json.encode(question) + b"\n")
                answer = msgspec.json.decode(await reader.readline(), type=dict[str, Any])
            finally:
                writer.close()
        if answer.get("ok") is False:
            raise BadQuestion(str(answer.get("error", "refused")))
        return answer
