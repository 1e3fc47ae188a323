"""ZooKeeper's four-letter words: status queries with `nc`."""

from __future__ import annotations

from nodes.coordination.service import Service

WORDS = (b"ruok", b"srvr", b"mntr")


def answer_word(word: bytes, service: Service) -> bytes:
    tree = service.tree
    if word == b"ruok":
        return b"imok"
    ephemerals = sum(len(session.ephemerals) for session in tree.sessions.open.values())
    if word == b"srvr":
        lines = [
            "Zookeeper version: cloverlab embedded",
            f"Connections: {len(service.lines)}",
            f"Zxid: {tree.zxid:#x}",
            "Mode: standalone",
            f"Node count: {len(tree.nodes)}",
        ]
    else:
        lines = [
            "zk_server_state\tstandalone",
            f"zk_num_alive_connections\t{len(service.lines)}",
            f"zk_znode_count\t{len(tree.nodes)}",
            f"zk_ephemerals_count\t{ephemerals}",
            f"zk_global_sessions\t{len(tree.sessions.open)}",
            f"zk_watch_count\t{tree.watches.count()}",
        ]
    return ("\n".join(lines) + "\n").encode()
