"""HDFS with high availability: two namenodes, each with a failover controller, three journal nodes, and one ZooKeeper server. No data nodes."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener
from xml.sax.saxutils import escape

from benchmarks._peers.figures import OPERATIONS, Figures, PeerScale
from benchmarks._peers.processes import JavaClient, PeerProcesses, free_ports, java_command, until
from benchmarks._peers.programs import class_path
from benchmarks._peers.rates import call_rates, journal_latencies
from benchmarks._peers.zookeeper import ZooKeeperEnsemble

VERSION = "3.4.1"
ARTIFACTS = (
    *(
        f"org.apache.hadoop:{name}:{VERSION}"
        for name in ("hadoop-hdfs", "hadoop-hdfs-client", "hadoop-common")
    ),
    "com.fasterxml.jackson.core:jackson-core:2.12.7",
)
"""The last one, because Maven's choice between the versions that the others ask for is older than they need."""
SOURCES = ("Harness.java", "TreeNames.java", "HdfsClient.java", "QjmClient.java")
SERVICE = "peers"
NAMENODES = ("nn1", "nn2")
JOURNAL_NODES = ("jn1", "jn2", "jn3")
SERVER = "org.apache.hadoop.hdfs.server.namenode.NameNode"
CONTROLLER = "org.apache.hadoop.hdfs.tools.DFSZKFailoverController"
JOURNAL_NODE = "org.apache.hadoop.hdfs.qjournal.server.JournalNode"
QJM_CLIENT = "org.apache.hadoop.hdfs.server.namenode.QjmClient"
WEB_PAGES = ("hdfs", "journal", "static")
"""Directories that the servers look for; their pages are not in the jars, and are not needed."""
SHORT_PATIENCE_MS = 2_000
"""The timeout of a second client's calls, in place of 120 s."""
QUICK_RETRIES = ("dfs.client.failover.sleep.base.millis=20", "dfs.client.failover.sleep.max.millis=100")
"""So that the first answer is not missed for seconds."""
START_S = 120.0
LOG = """log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%p %c{1}: %m%n
"""


def programs() -> str:
    """Raises PeerMissing."""
    return class_path("hdfs", ARTIFACTS, SOURCES)


def site(settings: Mapping[str, str]) -> str:
    """A configuration file of Hadoop."""
    lines = [
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>"
        for name, value in settings.items()
    ]
    return "<configuration>\n" + "\n".join(lines) + "\n</configuration>\n"


class HdfsCluster:
    """The service and its processes. Everything is as shipped but for addresses, directories and what high availability asks for."""

    def __init__(self, processes: PeerProcesses, jars: str):
        self._processes = processes
        self._jars = jars
        self._ensemble = ZooKeeperEnsemble(processes, jars, 1)
        ports = free_ports(3 * len(NAMENODES) + 2 * len(JOURNAL_NODES))
        names = [f"{name} {use}" for name in NAMENODES for use in ("rpc", "http", "zkfc")]
        names += [f"{name} {use}" for name in JOURNAL_NODES for use in ("rpc", "http")]
        self._ports = dict(zip(names, ports, strict=True))

    def _address(self, name: str, use: str) -> str:
        return f"127.0.0.1:{self._ports[f'{name} {use}']}"

    def edit_log(self, name: str) -> str:
        """The address of an edit log on the journal nodes."""
        return f"qjournal://{';'.join(self._address(each, 'rpc') for each in JOURNAL_NODES)}/{name}"

    def _settings(self, name: str) -> dict[str, str]:
        """The configuration of one process; those of clients have no name."""
        directory = self._processes.directory
        settings = {
            "fs.defaultFS": f"hdfs://{SERVICE}",
            "hadoop.tmp.dir": str(directory / "tmp"),
            "ha.zookeeper.quorum": self._ensemble.addresses,
            "dfs.nameservices": SERVICE,
            f"dfs.ha.namenodes.{SERVICE}": ",".join(NAMENODES),
            f"dfs.client.failover.proxy.provider.{SERVICE}": (
                "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
            ),
            "dfs.namenode.shared.edits.dir": self.edit_log(SERVICE),
            "dfs.ha.automatic-failover.enabled": "true",
            "dfs.ha.fencing.methods": "shell(/bin/true)",
            "dfs.permissions.enabled": "true",
        }
        for each in NAMENODES:
            settings |= {
                f"dfs.namenode.rpc-address.{SERVICE}.{each}": self._address(each, "rpc"),
                f"dfs.namenode.http-address.{SERVICE}.{each}": self._address(each, "http"),
                f"dfs.ha.zkfc.port.{SERVICE}.{each}": str(self._ports[f"{each} zkfc"]),
            }
        if name in NAMENODES:
            settings |= {"dfs.ha.namenode.id": name, "dfs.namenode.name.dir": f"file://{directory / name}"}
        elif name in JOURNAL_NODES:
            settings |= {
                "dfs.journalnode.edits.dir": str(directory / name),
                "dfs.journalnode.rpc-address": self._address(name, "rpc"),
                "dfs.journalnode.http-address": self._address(name, "http"),
            }
        return settings

    def class_path_of(self, name: str) -> str:
        """Writes the configuration of a process, and returns its class path."""
        directory = self._processes.directory / f"{name}-conf"
        for page in WEB_PAGES:
            (directory / "webapps" / page).mkdir(parents=True, exist_ok=True)
        for file in ("core-site.xml", "hdfs-site.xml"):
            (directory / file).write_text(site(self._settings(name)))
        (directory / "log4j.properties").write_text(LOG)
        return f"{directory}:{self._jars}"

    def start(self) -> None:
        """Formats and starts everything in empty directories, in the order of HDFS's handbook. Raises PeerMissing, TimeoutError."""
        self._ensemble.start()
        for name in JOURNAL_NODES:
            self._processes.java(name, self.class_path_of(name), JOURNAL_NODE)
        for name in JOURNAL_NODES:
            self._processes.await_port(name, self._ports[f"{name} rpc"])
        self._once("format-zk", NAMENODES[0], CONTROLLER, "-formatZK", "-nonInteractive", "-force")
        self._once("format", NAMENODES[0], SERVER, "-format", "-nonInteractive", "-force")
        directory = self._processes.directory
        for name in NAMENODES[1:]:
            shutil.copytree(directory / NAMENODES[0], directory / name)
        for name in NAMENODES:
            self.start_namenode(name)
            self._processes.java(f"zkfc-{name}", self.class_path_of(name), CONTROLLER)

    def _once(self, step: str, name: str, main: str, *arguments: str) -> None:
        self._processes.run(step, [*java_command(self.class_path_of(name), main), *arguments], START_S)

    def start_namenode(self, name: str) -> None:
        self._processes.java(name, self.class_path_of(name), SERVER)

    def client(self, name: str, *settings: str) -> JavaClient:
        return JavaClient(self._processes, name, self.class_path_of(name), "cloverlab.HdfsClient", *settings)

    def qjm_client(self) -> JavaClient:
        """Writes an edit log of its own to the journal nodes."""
        return JavaClient(
            self._processes, "qjm", self.class_path_of("qjm"), QJM_CLIENT, self.edit_log("measured")
        )

    def state_of(self, name: str) -> str:
        """What a namenode says of itself: active, standby; empty while it does not answer."""
        bean = "/jmx?qry=Hadoop:service=NameNode,name=NameNodeStatus"
        try:
            with build_opener(ProxyHandler({})).open(
                f"http://{self._address(name, 'http')}{bean}", timeout=2.0
            ) as page:
                text = page.read().decode()
        except (URLError, OSError):
            return ""
        return next((state for state in ("active", "standby") if f'"State" : "{state}"' in text), "")

    def settled(self) -> bool:
        """Whether one namenode is active and the other stands by."""
        return sorted(map(self.state_of, NAMENODES)) == ["active", "standby"]

    def active(self) -> str:
        return next(name for name in NAMENODES if self.state_of(name) == "active")


def measure(directory: Path, scale: PeerScale, figures: Figures) -> None:
    """One round in an empty directory; adds its figures. Raises PeerMissing, TimeoutError, RuntimeError."""
    jars = programs()
    with PeerProcesses("hdfs", directory) as processes:
        cluster = HdfsCluster(processes, jars)
        began_s = time.monotonic()
        first = cluster.client("client", *QUICK_RETRIES)
        cluster.start()
        first.ask("prepare", limit_s=START_S)
        figures["start_s"] = time.monotonic() - began_s
        until(cluster.settled, START_S, "an active and a standby namenode")
        figures["rss_mb_start"] = processes.rss_mb()
        figures |= call_rates(first, OPERATIONS, scale)
        figures["rss_mb"] = processes.rss_mb()
        processes.kill("client")
        qjm = cluster.qjm_client()
        qjm.ask("prepare")
        figures |= journal_latencies(qjm, scale)
        processes.kill("qjm")
        gaps(processes, cluster, figures)


def gaps(processes: PeerProcesses, cluster: HdfsCluster, figures: Figures) -> None:
    """A namenode's process dies; then its host falls silent, its failover controller with it."""
    client = cluster.client("watcher")
    client.watch("create")
    active = cluster.active()
    client.begin()
    fault_s = time.monotonic()
    processes.kill(active)
    figures["kill_gap_ms"] = client.gap_ms(fault_s)
    cluster.start_namenode(active)
    until(cluster.settled, START_S, "an active and a standby namenode")
    impatient = cluster.client("impatient", f"ipc.client.rpc-timeout.ms={SHORT_PATIENCE_MS}")
    impatient.watch("create")
    active = cluster.active()
    for each in (client, impatient):
        each.begin()
    fault_s = time.monotonic()
    processes.pause(active, f"zkfc-{active}")
    figures["silent_gap_ms_2s_calls"] = impatient.gap_ms(fault_s)
    figures["silent_gap_ms"] = client.gap_ms(fault_s)
