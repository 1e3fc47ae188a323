"""The kinds of node: processes that serve beside the metadata servers and have no session at coordination. One row describes each.

Simulator, processes, containers, command line, scenario files, faults, state and page are derived from the table (docs/extend.md).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Literal

import msgspec

from nodes.config import NODES_MAX, ClusterConfig, NodeConfig
from nodes.families import Family
from nodes.trace.base import Event
from nodes.trace.block_events import NodeHolds
from nodes.trace.journal_events import JournalStored
from nodes.world import World


class Column(msgspec.Struct, frozen=True):
    """A number that each node of a kind shows."""

    field: str
    """Field of the event that reports it."""
    label: str
    unit: Literal["count", "bytes"] = "count"
    summed: bool = False
    """Whether the lane shows the sum over all nodes."""
    bad: bool = False
    """Whether a number above 0 is damage; 0 is not shown."""


class ProcessKind(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """Target of faults, `data_node`. Its nodes are `data_nodes` in files and responses, `--data-nodes` on the command line."""
    label: str
    named: Callable[[Family, int], list[str]]
    """Names of so many nodes."""
    server: str
    """Module with `start(world, config)`. It is imported when a node starts."""
    needed: Callable[[Family], int] = lambda family: 0
    """Number of nodes without which a family cannot serve."""
    count: int = 0
    """Number of nodes of a new cluster whose family needs none."""
    least: int = 0
    most: int = NODES_MAX
    help: str
    """Description of the option on the command line."""
    part: str = ""
    """Part of ClusterConfig that holds the names beside settings of its own; empty when `nodes` holds them."""
    own_hosts: bool = False
    """Whether compose.yaml has containers for it. Other nodes run in containers that have no metadata server."""
    reports: type[Event]
    """Event that reports the columns."""
    columns: tuple[Column, ...]
    says: str = ""
    """Description of its lane on the page."""
    sign: str
    """Outline of its sign, as an SVG path in a square of 16."""
    linked: Literal["servers", "clients"]
    """Processes that send it messages: all metadata servers, or actives and clients."""
    stays: str
    """Reason why no node of it is removed for good."""
    counted: bool = False
    """Whether its nodes answer the question `replication` about their costs."""

    @property
    def table(self) -> str:
        """Word for all of its nodes."""
        return f"{self.name}s"

    @property
    def role(self) -> str:
        """Word of `python -m nodes`, `data-node`."""
        return self.name.replace("_", "-")


def numbered(prefix: str) -> Callable[[Family, int], list[str]]:
    return lambda family, count: [f"{prefix}{number}" for number in range(1, count + 1)]


KINDS: dict[str, ProcessKind] = {
    kind.name: kind
    for kind in (
        ProcessKind(
            name="journal_node", label="journal node", named=Family.journal_names, server="nodes.servers.journal",
            needed=lambda family: family.journal_nodes, least=1, part="journal", counted=True,
            help="Journal nodes (3) or bookies (4) of a shared journal.",
            reports=JournalStored, columns=(Column("sn", "sn"), Column("epoch", "epoch")), linked="servers",
            says="the journal that the servers share",
            stays="quorums of the journal are counted over the nodes that it began with",
            sign="M8 3.5C6 2 3.5 2 2 2.5v10.5c1.5-.5 4-.5 6 1 2-1.5 4.5-1.5 6-1V2.5C12.5 2 10 2 8 3.5Zm0 0V14",
        ),
        ProcessKind(
            name="data_node", label="data node", named=numbered("dn"), server="nodes.servers.data_node",
            count=3, part="data", own_hosts=True, help="Servers that keep blocks of files (3).",
            reports=NodeHolds, linked="clients",
            stays="nothing moves its replicas away first; once it is stopped they are written again elsewhere",
            columns=(
                Column("blocks", "blocks", summed=True), Column("size", "kept", "bytes", summed=True),
                Column("damaged", "damaged", bad=True),
            ),
            sign="M2 3.5C2 2 14 2 14 3.5v9C14 14 2 14 2 12.5Zm0 0C2 5 14 5 14 3.5M2 8c0 1.5 12 1.5 12 0",
        ),
    )
}  # fmt: skip


def names_of(cluster: ClusterConfig, kind: ProcessKind) -> list[str]:
    names: list[str] = getattr(cluster, kind.part).nodes if kind.part else cluster.nodes.get(kind.name, [])
    return names


def nodes_of(cluster: ClusterConfig) -> dict[str, ProcessKind]:
    """Every node of a cluster, with its kind."""
    return {name: kind for kind in KINDS.values() for name in names_of(cluster, kind)}


def start_node(kind: ProcessKind, world: World, config: NodeConfig) -> None:
    """Starts a node in this world. Raises Damaged, OSError of the disk's content."""
    import_module(kind.server).start(world, config)
