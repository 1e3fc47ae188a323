"""Start parameters of each process: its file, its directory, its ports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from backend.fabrics.home import Home, replace_file
from backend.names import CLIENT
from nodes.config import ClientConfig, NodeConfig, ServerConfig, WorkloadConfig


def address(port: int) -> str:
    return f"127.0.0.1:{port}"


def peers(home: Home) -> dict[str, str]:
    names = [*home.servers(), *home.nodes()]
    return {name: address(home.file.ports[name]) for name in names if name in home.file.ports}


def common(home: Home, name: str, directory: Path) -> dict[str, Any]:
    return {
        "data": str(directory),
        "peers": {peer: where for peer, where in peers(home).items() if peer != name},
        "token_file": str(home.token_file),
        "control": str(home.socket_of(name)),
        "seed": home.file.seed,
    }


def server_file(home: Home, name: str, coordination: str) -> Path:
    """Writes the configuration file of a metadata server; `coordination` is the address of its relay."""
    config = ServerConfig(name, home.servers()[name], home.file.cluster)
    reported = {
        "role": "server",
        "config": config,
        "listen": address(home.file.ports[name]),
        "coordination": coordination,
        **common(home, name, server_directory(home, name)),
    }
    return write(home.directory("config") / f"{name}.json", reported)


def node_file(home: Home, name: str) -> Path:
    reported = {
        "role": home.nodes()[name].role,
        "config": NodeConfig(name, home.file.cluster),
        "listen": address(home.file.ports[name]),
        "coordination": "",
        **common(home, name, server_directory(home, name)),
    }
    return write(home.directory("config") / f"{name}.json", reported)


def client_file(home: Home, workload: WorkloadConfig) -> Path:
    config = ClientConfig(CLIENT, home.file.cluster, workload)
    reported = {
        "role": "workload",
        "config": config,
        "listen": "",
        "coordination": "",
        **common(home, CLIENT, server_directory(home, CLIENT)),
    }
    return write(home.directory("config") / f"{CLIENT}.json", reported)


def server_directory(home: Home, name: str) -> Path:
    return home.directory("servers", name)


def trace_directory(home: Home, name: str) -> Path:
    return server_directory(home, name) / "trace"


def write(path: Path, reported: dict[str, Any]) -> Path:
    replace_file(path, msgspec.json.format(msgspec.json.encode(reported), indent=1), 0o600)
    return path
