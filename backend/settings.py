"""The settings of `up`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from backend.fabrics.inventory import Inventory
from backend.names import DEFAULT_PORT
from backend.repository import REPOSITORY
from backend.shape import Shape

PAGE = REPOSITORY / "frontend" / "dist"


def default_data() -> Path:
    """The data directory of docs/architecture.md, in the user's home."""
    return Path.home() / ".local" / "share" / "cloverlab"


class Settings(msgspec.Struct, frozen=True):
    data: Path
    port: int = DEFAULT_PORT
    shape: Shape = Shape()
    zookeeper: str | None = None
    """`host:port,host:port` of a real ensemble; None starts the embedded server."""
    inventory: Inventory | None = None
    """The containers of the cluster; None starts processes here."""
    listen: str = "127.0.0.1"
    token_file: Path | None = None
    """File with the cluster's secret; None keeps the secret in the data directory."""
    metrics_port: int = 0
    """Port of the metrics for Prometheus on other machines; this machine also finds them on the page's own port."""
    health: Path | None = None
    """Health file, touched once a second from the first settled moment on."""
    page: Path = PAGE
    workload: bool = True
