"""The settings of `up`."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from backend.cluster_bounds import ClusterBounds
from backend.errors import Malformed
from backend.fabrics.inventory import Inventory
from backend.fabrics.watched_cluster import GENTLE
from backend.names import DEFAULT_PORT
from backend.places import default_data
from backend.reach import LOCAL_REACH, NetworkReach
from backend.repository import REPOSITORY
from backend.shape import Shape
from backend.simulated.inputs import PastRun
from backend.store.retention import KEPT_EVENTS, KEPT_S
from nodes.config import WorkloadConfig
from nodes.explore.plan import Plan

NAME = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$")
PAGE = REPOSITORY / "frontend" / "dist"
RING = 20_000


def data_of(name: str) -> Path:
    """The directory of a named cluster. Raises Malformed."""
    if not NAME.match(name):
        raise Malformed(f"--name {name[:40]!r}: write letters, digits, `-`, `_` and `.`, at most 100")
    return default_data() / "clusters" / name


class Settings(msgspec.Struct, frozen=True):
    data: Path
    port: int = DEFAULT_PORT
    shape: Shape = Shape()
    zookeeper: str | None = None
    """`host:port,host:port` of a real ensemble; None starts the embedded server."""
    simulated: bool = False
    """Whether the cluster is simulated, in virtual time; otherwise it consists of processes or containers."""
    inventory: Inventory | None = None
    """The containers of the cluster; None starts processes here."""
    published_port: int = 0
    """The port by which a browser reaches `port` from outside a container; 0 for the same."""
    listen: str = "127.0.0.1"
    token_file: Path | None = None
    """File with the cluster's secret; None keeps the secret in the data directory."""
    metrics_port: int = 0
    """Port of the metrics for Prometheus on other machines; this machine also finds them on the page's own port."""
    health: Path | None = None
    """Health file, touched once a second from the first settled moment on."""
    page: Path = PAGE
    kept_s: int = KEPT_S
    """Age in seconds beyond which events and runs are removed."""
    kept_events: int = KEPT_EVENTS
    """Events beyond which the oldest are removed."""
    ring: int = RING
    """Events in memory for pages that return after a broken connection."""
    workload: WorkloadConfig | None = GENTLE
    """The load of the cluster from its start on."""
    plan: Plan | None = None
    """A trial that a simulated cluster plays; it has a load and faults of its own."""
    seed: int | None = None
    """The seed of a new cluster; None for a drawn one."""
    past: PastRun | None = None
    """What a simulated cluster repeats first."""
    bounds: ClusterBounds | None = None
    """What nobody may exceed on a cluster of many; None for a cluster of who started the control plane."""
    reach: NetworkReach = LOCAL_REACH
    """Who may call the page and the API, and under which addresses."""
