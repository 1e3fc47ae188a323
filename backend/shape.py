"""What a cluster is made of, as far as somebody asked for it: for the command line and the data directory."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from backend.errors import CannotStart, Malformed
from nodes.config import ClusterConfig, DataConfig, GroupConfig, Holes, JournalConfig, many_groups, opened
from nodes.families import family_named
from nodes.metadata.placement import Granularity

SERVERS_MAX = 16
GRANULARITY = re.compile(r"^(\d{1,6})-(\d{1,6})-(\d{1,9})$")
PROTOCOL = "mams"
DATA_NODES = 3


class Shape(msgspec.Struct, frozen=True):
    """None: as the data directory has it, else the default."""

    groups: int | None = None
    standbys: int | None = None
    """In each group, beside the active."""
    protocol: str | None = None
    placement: str | None = None
    granularity: str | None = None
    """`DirDep-DirWid-FileWid` of the placement ddg."""
    cross_group: str | None = None
    data_nodes: int | None = None
    order: str | None = None
    """How symmetric members come to a total order."""
    holes: tuple[str, ...] | None = None
    """The paper's holes to open."""
    members: tuple[tuple[str, ...], ...] = ()
    """The servers of each group, where others have named them."""
    nodes: tuple[str, ...] = ()
    """The data nodes, likewise."""


def new_config(shape: Shape, name: str) -> ClusterConfig:
    """Raises Malformed in one line when the wishes do not go together."""
    try:
        family = family_named(shape.protocol or PROTOCOL)
    except ValueError as error:
        raise Malformed(str(error)) from None
    groups, standbys = shape.groups or 1, family.standbys if shape.standbys is None else shape.standbys
    if standbys > family.standbys_max:
        raise Malformed(f"{shape.protocol} runs {family.standbys_max} standbys at most, not {standbys}")
    if groups * (standbys + 1) > SERVERS_MAX:
        raise Malformed(
            f"{groups} groups of {standbys + 1} servers are {groups * (standbys + 1)}; {SERVERS_MAX} is the most"
        )
    if groups > family.groups_max:
        raise Malformed(f"{shape.protocol} runs {family.groups_max} group at most, not {groups}")
    wrong = next((hole for hole in shape.holes or () if hole not in family.holes), "")
    if wrong:
        has = ", ".join(family.holes) or "none"
        raise Malformed(f"{wrong[:40]!r} is no hole of {shape.protocol or PROTOCOL}; it has {has}")
    wishes: dict[str, Any] = {
        "protocol": shape.protocol, "placement": shape.placement, "cross_group": shape.cross_group,
        "order": shape.order,
    }  # fmt: skip
    wishes = {key: value for key, value in wishes.items() if value is not None}
    if shape.granularity is not None:
        wishes["granularity"] = granularity(shape.granularity)
    wishes["holes"] = Holes(**dict.fromkeys(shape.holes or (), True))
    count = DATA_NODES if shape.data_nodes is None else shape.data_nodes
    wishes["data"] = DataConfig(nodes=[f"dn{n}" for n in range(1, count + 1)])
    wishes["journal"] = JournalConfig(nodes=family.journal_names())
    try:
        cluster = many_groups(groups, standbys, cluster=name)
        cluster = msgspec.convert(
            {**msgspec.to_builtins(cluster), **msgspec.to_builtins(wishes)}, ClusterConfig
        )
    except msgspec.ValidationError as error:
        raise Malformed(f"no such cluster: {error}") from None
    if shape.members:
        named = [GroupConfig(f"g{i}", i, list(members)) for i, members in enumerate(shape.members, 1)]
        cluster = msgspec.structs.replace(cluster, groups=named, data=DataConfig(nodes=list(shape.nodes)))
    return cluster


def granularity(text: str) -> Granularity:
    """Raises Malformed."""
    found = GRANULARITY.match(text)
    if found is None or "0" in found.groups():
        raise Malformed(f"the granularity {text[:40]!r} is not DirDep-DirWid-FileWid, such as 2-16-2048")
    return Granularity(*(int(part) for part in found.groups()))


def check(path: Path, have: ClusterConfig, shape: Shape) -> None:
    """Raises CannotStart when the cluster that lies there is another one than is wanted."""
    facts = {
        "groups": len(have.groups),
        "standbys": len(have.groups[0].members) - 1,
        "protocol": have.protocol,
        "placement": have.placement,
        "granularity": "-".join(str(part) for part in msgspec.structs.astuple(have.granularity)),
        "cross_group": have.cross_group,
        "data_nodes": len(have.data.nodes),
        "order": have.order,
    }
    for name, fact in facts.items():
        wanted = getattr(shape, name)
        if wanted is not None and wanted != fact and shape.members:
            raise CannotStart(
                f"{path} has a cluster with {name} {fact}, not {wanted}; ask for that, or remove the volumes (docker compose down -v)"
            )
        if wanted is not None and wanted != fact:
            option = name.replace("_", "-")
            raise CannotStart(
                f"{path} has a cluster with {option} {fact}; leave --{option} out or give another --data"
            )
    if shape.holes is not None and set(shape.holes) != set(opened(have.holes)):
        has = ", ".join(opened(have.holes)) or "no hole"
        raise CannotStart(f"{path} has a cluster with {has} open; leave --hole out or give another --data")
    named = [list(members) for members in shape.members], list(shape.nodes)
    there = [list(group.members) for group in have.groups], list(have.data.nodes)
    if shape.members and named != there:
        raise CannotStart(
            f"{path} has a cluster of the groups {words(there[0])} and the data nodes {words([there[1]])}, not of"
            f" {words(named[0])} and {words([named[1]])}; give it those, or remove the volumes (docker compose down -v)"
        )


def words(groups: list[list[str]]) -> str:
    return ", ".join(" ".join(names) or "none" for names in groups)
