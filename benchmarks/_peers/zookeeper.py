"""ZooKeeper: an ensemble of three servers with its defaults. It has no rename, and no directories beside its nodes."""

from __future__ import annotations

import socket
import time
from pathlib import Path

from benchmarks._peers.figures import Figures, PeerScale
from benchmarks._peers.processes import JavaClient, PeerProcesses, free_ports, until
from benchmarks._peers.programs import class_path
from benchmarks._peers.rates import call_rates

VERSION = "3.8.4"
ARTIFACTS = (
    f"org.apache.zookeeper:zookeeper:{VERSION}",
    "io.dropwizard.metrics:metrics-core:4.1.12.1",
    "org.xerial.snappy:snappy-java:1.1.10.5",
)
SOURCES = ("Harness.java", "TreeNames.java", "ZooKeeperClient.java")
MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
SERVERS = 3
SESSION_MS = 5_000
"""The session's timeout of the client, as in our own clusters."""
START_S = 60.0
LOG = """<configuration>
  <appender name="console" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%level %logger{0}: %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="console"/></root>
</configuration>
"""
"""Warnings only; without this file every detail is logged."""


def programs() -> str:
    """Raises PeerMissing."""
    return class_path("zookeeper", ARTIFACTS, SOURCES)


class ZooKeeperEnsemble:
    """So many servers, of which one alone is no ensemble; they run with the defaults of the sample configuration."""

    def __init__(self, processes: PeerProcesses, class_path: str, servers: int):
        self._processes = processes
        self._class_path = class_path
        self.names = [f"zookeeper{number}" for number in range(1, servers + 1)]
        self.ports = free_ports(servers)
        inner = free_ports(2 * servers)
        self._members = [
            f"server.{number}=127.0.0.1:{inner[2 * number - 2]}:{inner[2 * number - 1]}"
            for number in range(1, servers + 1)
        ]

    @property
    def addresses(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def start(self) -> None:
        """Starts all servers; they listen when this returns. Raises PeerMissing, TimeoutError."""
        for number in range(len(self.names)):
            self._start(number)
        for name, port in zip(self.names, self.ports, strict=True):
            self._processes.await_port(name, port)

    def restart(self, name: str) -> None:
        """Raises PeerMissing, TimeoutError."""
        number = self.names.index(name)
        self._start(number)
        self._processes.await_port(name, self.ports[number])

    def _start(self, number: int) -> None:
        directory = self._processes.directory / self.names[number]
        directory.mkdir(exist_ok=True)
        (directory / "myid").write_text(f"{number + 1}\n")
        lines = [
            "tickTime=2000", "initLimit=10", "syncLimit=5", f"dataDir={directory}", "admin.enableServer=false",
            f"clientPort={self.ports[number]}", "clientPortAddress=127.0.0.1", "4lw.commands.whitelist=srvr",
            *(self._members if len(self.names) > 1 else []),
        ]  # fmt: skip
        (directory / "zoo.cfg").write_text("\n".join(lines) + "\n")
        self._processes.java(self.names[number], self._class_path, MAIN, str(directory / "zoo.cfg"))

    def leader(self) -> str:
        """Its name; empty while there is none."""
        for name, port in zip(self.names, self.ports, strict=True):
            if "Mode: leader" in answer_of(port, "srvr"):
                return name
        return ""

    def whole(self) -> bool:
        """Whether every server follows or leads."""
        return all("Mode: " in answer_of(port, "srvr") for port in self.ports)


def answer_of(port: int, word: str) -> str:
    """A server's answer to one of its short commands; empty when there is none."""
    try:
        with socket.create_connection(("127.0.0.1", port), 1.0) as connection:
            connection.sendall(word.encode())
            connection.settimeout(1.0)
            return b"".join(iter(lambda: connection.recv(4096), b"")).decode()
    except OSError:
        return ""


def measure(directory: Path, scale: PeerScale, figures: Figures) -> None:
    """One round in an empty directory; adds its figures. Raises PeerMissing, TimeoutError, RuntimeError."""
    (directory / "logback.xml").write_text(LOG)
    jars = f"{directory}:{programs()}"
    with PeerProcesses("zookeeper", directory) as processes:
        ensemble = ZooKeeperEnsemble(processes, jars, SERVERS)
        began_s = time.monotonic()
        ensemble.start()
        client = JavaClient(
            processes, "client", jars, "cloverlab.ZooKeeperClient", ensemble.addresses, str(SESSION_MS)
        )
        client.ask("prepare", limit_s=START_S)
        figures |= {"start_s": time.monotonic() - began_s, "rss_mb_start": processes.rss_mb()}
        figures |= call_rates(client, ("create", "stat", "delete"), scale)
        figures["rss_mb"] = processes.rss_mb()
        client.watch("create")
        for key, fault, undo in (
            ("kill_gap_ms", processes.kill, ensemble.restart),
            ("silent_gap_ms", processes.pause, processes.resume),
        ):
            until(ensemble.whole, START_S, "an ensemble of three")
            leader = ensemble.leader()
            client.begin()
            fault_s = time.monotonic()
            fault(leader)
            figures[key] = client.gap_ms(fault_s)
            undo(leader)
        client.end()
