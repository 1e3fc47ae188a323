"""BookKeeper: three bookies, and one ZooKeeper server that keeps the ledgers' metadata. It has a journal, and no namespace."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks._peers.figures import Figures, PeerScale
from benchmarks._peers.processes import JavaClient, PeerProcesses, free_ports, java_command
from benchmarks._peers.programs import class_path
from benchmarks._peers.rates import journal_latencies
from benchmarks._peers.zookeeper import ZooKeeperEnsemble

VERSION = "4.16.6"
ARTIFACTS = (
    f"org.apache.bookkeeper:bookkeeper-server:{VERSION}",
    "io.dropwizard.metrics:metrics-core:4.1.12.1",
    "org.xerial.snappy:snappy-java:1.1.10.5",
)
SOURCES = ("Harness.java", "BookKeeperClient.java")
BOOKIE = "org.apache.bookkeeper.server.Main"
CLIENT = "cloverlab.BookKeeperClient"
BOOKIES = ("bookie1", "bookie2", "bookie3")
START_S = 60.0


def programs() -> str:
    """Raises PeerMissing."""
    return class_path("bookkeeper", ARTIFACTS, SOURCES)


class BookieCluster:
    """The bookies as shipped but for addresses and directories."""

    def __init__(self, processes: PeerProcesses, jars: str):
        self._processes = processes
        self._jars = jars
        self._ensemble = ZooKeeperEnsemble(processes, jars, 1)
        self._ports = dict(zip(BOOKIES, free_ports(len(BOOKIES)), strict=True))

    @property
    def _metadata(self) -> str:
        return f"zk+hierarchical://{self._ensemble.addresses}/ledgers"

    def start(self) -> None:
        """Raises PeerMissing, TimeoutError."""
        self._ensemble.start()
        initial = [*java_command(self._jars, CLIENT), self._metadata, "init"]
        self._processes.run("init", initial, START_S)
        for name in BOOKIES:
            self._start_bookie(name)
        for name, port in self._ports.items():
            self._processes.await_port(name, port)

    def _start_bookie(self, name: str) -> None:
        directory = self._processes.directory / name
        directory.mkdir(exist_ok=True)
        settings = {
            "bookiePort": str(self._ports[name]), "advertisedAddress": "127.0.0.1", "allowLoopback": "true",
            "listeningInterface": "lo", "metadataServiceUri": self._metadata, "httpServerEnabled": "false",
            "journalDirectories": str(directory / "journal"), "ledgerDirectories": str(directory / "ledgers"),
        }  # fmt: skip
        config = directory / "bookie.conf"
        config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        self._processes.java(name, self._jars, BOOKIE, "--conf", str(config))

    def client(self) -> JavaClient:
        return JavaClient(self._processes, "client", self._jars, CLIENT, self._metadata)


def measure(directory: Path, scale: PeerScale, figures: Figures) -> None:
    """One round in an empty directory; adds its figures. Raises PeerMissing, TimeoutError, RuntimeError."""
    jars = programs()
    with PeerProcesses("bookkeeper", directory) as processes:
        cluster = BookieCluster(processes, jars)
        began_s = time.monotonic()
        cluster.start()
        client = cluster.client()
        client.ask("prepare", limit_s=START_S)
        figures |= {"start_s": time.monotonic() - began_s, "rss_mb_start": processes.rss_mb()}
        figures |= journal_latencies(client, scale)
        figures["rss_mb"] = processes.rss_mb()
        for key, fault in (("silent_gap_ms", processes.pause), ("kill_gap_ms", processes.kill)):
            client.ask("prepare", limit_s=START_S)
            client.watch("append")
            client.begin()
            fault_s = time.monotonic()
            fault(BOOKIES[0])
            figures[key] = client.gap_ms(fault_s)
            client.end()
            processes.resume(*processes.running(BOOKIES))
