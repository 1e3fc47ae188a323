"""Start parameters of each process: its file, its directory, its ports."""

from __future__ import annotations

from pathlib import Path

import msgspec

from backend.fabrics.home import Home
from nodes.real.private_files import replace_file


def address(port: int) -> str:
    return f"127.0.0.1:{port}"


def peers(home: Home) -> dict[str, str]:
    names = [*home.servers(), *home.nodes()]
    return {name: address(home.file.ports[name]) for name in names if name in home.file.ports}


def process_file(home: Home, name: str, role: str, config: msgspec.Struct, coordination: str = "") -> Path:
    """Writes the configuration file of a process. A process without a port sends messages and receives no connections."""
    port = home.file.ports.get(name)
    reported = {
        "role": role,
        "config": config,
        "data": str(server_directory(home, name)),
        "listen": "" if port is None else address(port),
        "coordination": coordination,
        "peers": {peer: where for peer, where in peers(home).items() if peer != name},
        "keys_file": str(home.keys_file(role)),
        "control": str(home.socket_of(name)),
        "seed": home.file.seed,
    }
    file = home.directory("config") / f"{name}.json"
    replace_file(file, msgspec.json.format(msgspec.json.encode(reported), indent=1))
    return file


def server_directory(home: Home, name: str) -> Path:
    return home.directory("servers", name)


def trace_directory(home: Home, name: str) -> Path:
    return server_directory(home, name) / "trace"
