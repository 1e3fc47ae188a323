"""ZooKeeper's four-letter words: status queries with `nc`, one per connection."""

from __future__ import annotations

import platform
from collections.abc import Callable

from nodes.coordination.service import ZooKeeperService

VERSION = "cloverlab embedded"
MODE = "standalone"


def ruok(service: ZooKeeperService) -> list[str]:
    return ["imok"]


def isro(service: ZooKeeperService) -> list[str]:
    """Whether it only serves reads, as a server without a quorum may."""
    return ["rw"]


def srvr(service: ZooKeeperService) -> list[str]:
    return [
        f"Zookeeper version: {VERSION}",
        f"Connections: {len(service.lines)}",
        f"Zxid: {service.tree.zxid:#x}",
        f"Mode: {MODE}",
        f"Node count: {len(service.tree.nodes)}",
    ]


def stat(service: ZooKeeperService) -> list[str]:
    version, *rest = srvr(service)
    return [version, "Clients:", *cons(service), *rest]


def cons(service: ZooKeeperService) -> list[str]:
    """The connections of clients, with session and time-out in milliseconds."""
    found = []
    for number, line in service.lines.items():
        session = service.tree.sessions.open.get(number)
        if session is not None:
            found.append(f" /{line.address}(sid={number:#x},to={session.timeout_ms})")
    return [*found, ""]


def mntr(service: ZooKeeperService) -> list[str]:
    tree = service.tree
    ephemerals = sum(len(session.ephemerals) for session in tree.sessions.open.values())
    return [
        f"zk_version\t{VERSION}",
        f"zk_server_state\t{MODE}",
        f"zk_num_alive_connections\t{len(service.lines)}",
        f"zk_znode_count\t{len(tree.nodes)}",
        f"zk_ephemerals_count\t{ephemerals}",
        f"zk_global_sessions\t{len(tree.sessions.open)}",
        f"zk_watch_count\t{tree.watches.count()}",
    ]


def envi(service: ZooKeeperService) -> list[str]:
    return [
        "Environment:",
        f"zookeeper.version={VERSION}",
        f"host.name={platform.node()}",
        f"os.name={platform.system()}",
        f"os.arch={platform.machine()}",
        f"os.version={platform.release()}",
        f"python.version={platform.python_version()}",
    ]


def conf(service: ZooKeeperService) -> list[str]:
    sessions = service.tree.sessions
    return [
        f"tickTime={sessions.tick_ms}",
        f"minSessionTimeout={sessions.min_timeout_ms}",
        f"maxSessionTimeout={sessions.max_timeout_ms}",
        "serverId=0",
    ]


def dump(service: ZooKeeperService) -> list[str]:
    """The sessions, and the ephemeral nodes of each."""
    sessions = service.tree.sessions.open
    owners = {number: session.ephemerals for number, session in sessions.items() if session.ephemerals}
    lines = [f"Sessions ({len(sessions)}):", *(f"{number:#x}" for number in sessions)]
    lines.append(f"Sessions with Ephemerals ({len(owners)}):")
    for number, paths in owners.items():
        lines += [f"{number:#x}:", *(f"\t{path}" for path in paths)]
    return lines


def wchs(service: ZooKeeperService) -> list[str]:
    watches = service.tree.watches
    return [
        f"{watches.sessions()} connections watching {len(watches.data.keys() | watches.child.keys())} paths",
        f"Total watches:{watches.count()}",
    ]


ANSWERS: dict[bytes, Callable[[ZooKeeperService], list[str]]] = {
    b"ruok": ruok, b"isro": isro, b"srvr": srvr, b"stat": stat, b"cons": cons, b"mntr": mntr, b"envi": envi,
    b"conf": conf, b"dump": dump, b"wchs": wchs,
}  # fmt: skip
WITHOUT_LINE_END = (b"ruok", b"isro")


def answer_word(word: bytes, service: ZooKeeperService) -> bytes:
    """`word` is a key of `ANSWERS`."""
    text = "\n".join(ANSWERS[word](service))
    return text.encode() if word in WITHOUT_LINE_END else f"{text}\n".encode()
