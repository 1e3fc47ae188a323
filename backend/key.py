"""The key of the API: made once for a data directory, and found again by the command line."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import msgspec

from backend.errors import ClusterCannotStart, reason_of
from backend.places import running_file
from nodes.real.private_files import replace_file

FILE = "key"
VARIABLE = "CLOVERLAB_KEY"
"""Environment variable with the key, where the command line does not find the directory."""
LENGTH_MIN = 32


class Listed(msgspec.Struct):
    """What matters here of a control plane that runs."""

    data: str


def key_in(data: Path) -> str:
    """The key of a data directory, readable by its owner alone. It outlives the control plane. Raises ClusterCannotStart."""
    path = data / FILE
    try:
        if not path.exists():
            replace_file(path, secrets.token_urlsafe(LENGTH_MIN).encode())
        path.chmod(0o600)
        key = path.read_bytes().strip().decode("ascii", "replace")
    except OSError as error:
        raise ClusterCannotStart(f"cannot use {path}: {reason_of(error)}") from None
    if len(key) < LENGTH_MIN or not key.isprintable():
        raise ClusterCannotStart(
            f"{path} is no key of at least {LENGTH_MIN} letters; remove it, and a new one is made"
        )
    return key


def link(port: int, key: str) -> str:
    """The address that lets a browser in."""
    return f"http://127.0.0.1:{port}/?key={key}"


def key_of(port: int) -> str:
    """The key for the control plane at a port; empty where it is unknown."""
    if key := os.environ.get(VARIABLE, ""):
        return key
    try:
        data = msgspec.json.decode(running_file(port).read_bytes(), type=Listed).data
        return (Path(data) / FILE).read_text().strip()
    except (OSError, RuntimeError, ValueError):
        return ""


def authorization(key: str) -> dict[str, str]:
    """The header that lets a program in."""
    return {"Authorization": f"Bearer {key}"} if key else {}
