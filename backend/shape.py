"""The requested properties of a cluster, from the command line; they are compared with the data directory."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from backend.errors import ClusterCannotStart, Malformed
from backend.suggestion import nearest
from nodes.config import ClusterConfig, DataConfig, GroupConfig, Holes, JournalConfig, many_groups, opened
from nodes.families import FAMILIES, Family, family_named, paper_holes
from nodes.kinds import KINDS, ProcessKind, names_of
from nodes.metadata.placement import Granularity

SERVERS_MAX = 16
GRANULARITY = re.compile(r"^(\d{1,6})-(\d{1,6})-(\d{1,9})$")
QUORUMS = re.compile(r"^([1-9])-([1-9])-([1-9])$")
LITERAL_ORDER = "fast_literal_order"
PROTOCOL = "mams"


class Shape(msgspec.Struct, frozen=True):
    """Requested properties. None means the data directory's value, or the default for a new cluster."""

    groups: int | None = None
    standbys: int | None = None
    """Standbys of each group, beside the active."""
    protocol: str | None = None
    placement: str | None = None
    granularity: str | None = None
    """`DirDep-DirWid-FileWid` of the placement ddg."""
    cross_group: str | None = None
    order: str | None = None
    """Order mechanism of symmetric members."""
    holes: tuple[str, ...] | None = None
    """The paper's holes to open, beside those of the variant."""
    members: tuple[tuple[str, ...], ...] = ()
    """The servers of each group, when a container inventory names them."""
    hosts: dict[str, list[str]] = {}
    """The nodes of each kind, when a container inventory names them."""
    variant: str | None = None
    """`safe` or `paper`."""
    ddg_as_printed: bool | None = None
    nodes: dict[str, int] = {}
    """Number of nodes by kind."""
    quorums: str | None = None
    """`E-Qw-Qa` of the protocol bookkeeper."""
    detection: str | None = None
    """`session` or `members`: what ends a silent active's role."""
    config: ClusterConfig | None = None
    """Exactly this configuration but for its name, in place of all properties above."""

    @property
    def slug(self) -> str:
        """A name made of the requested properties, `qjm` or `groups-2`; empty without any."""
        fields = (
            "groups", "standbys", "placement", "granularity", "cross_group", "order", "quorums", "detection",
        )  # fmt: skip
        given = {field: getattr(self, field) for field in fields} | self.nodes
        words = [self.protocol, self.variant, "as-printed" if self.ddg_as_printed else None]
        words += [f"{name}-{value}" for name, value in given.items() if value is not None]
        return re.sub(r"[^a-z0-9-]", "_", "-".join([*filter(None, words), *(self.holes or ())]))


def new_config(shape: Shape, name: str) -> ClusterConfig:
    """Raises Malformed in one line when requested properties contradict each other."""
    if shape.config is not None:
        return msgspec.structs.replace(shape.config, cluster=name)
    protocol = shape.protocol or PROTOCOL
    try:
        family = family_named(protocol)
    except ValueError as error:
        raise Malformed(f"{error}{nearest(protocol, FAMILIES)}") from None
    groups, standbys = shape.groups or 1, family.standbys if shape.standbys is None else shape.standbys
    if standbys > family.standbys_max:
        raise Malformed(f"{protocol} runs {family.standbys_max} standbys at most, not {standbys}")
    if groups * (standbys + 1) > SERVERS_MAX:
        raise Malformed(
            f"{groups} groups of {standbys + 1} servers are {groups * (standbys + 1)}; {SERVERS_MAX} is the most"
        )
    if groups > family.groups_max:
        most = f"{family.groups_max} group{'s' if family.groups_max > 1 else ''} at most"
        raise Malformed(f"{protocol} runs {most}, not {groups}: {family.no_more_groups}")
    wishes: dict[str, Any] = {
        "protocol": shape.protocol, "placement": shape.placement, "cross_group": shape.cross_group,
        "order": shape.order, "variant": shape.variant, "detection": detection_of(shape, protocol, family),
    }  # fmt: skip
    wishes = {key: value for key, value in wishes.items() if value is not None}
    if shape.granularity is not None:
        wishes["granularity"] = granularity(shape.granularity)
    wishes["ddg_as_printed"] = places_as_printed(shape)
    wishes["holes"] = Holes(**dict.fromkeys(holes_of(shape, protocol), True))
    names = {name: kind.named(family, count_of(shape, kind, family)) for name, kind in KINDS.items()}
    names |= shape.hosts
    wishes["data"] = DataConfig(nodes=names.pop("data_node"))
    wishes["journal"] = journal_of(names.pop("journal_node"), shape, protocol, family)
    wishes["nodes"] = {name: nodes for name, nodes in names.items() if nodes}
    try:
        cluster = many_groups(groups, standbys, cluster=name)
        cluster = msgspec.convert(
            {**msgspec.to_builtins(cluster), **msgspec.to_builtins(wishes)}, ClusterConfig
        )
    except msgspec.ValidationError as error:
        raise Malformed(f"no such cluster: {error}") from None
    if shape.members:
        named = [GroupConfig(f"g{i}", i, list(members)) for i, members in enumerate(shape.members, 1)]
        cluster = msgspec.structs.replace(cluster, groups=named)
    return cluster


def detection_of(shape: Shape, protocol: str, family: Family) -> str | None:
    """Raises Malformed for a family whose members grant no leases."""
    if shape.detection == "members" and family.cannot_grant:
        raise Malformed(f"{protocol} has no detection by members: {family.cannot_grant}")
    return shape.detection


def holes_of(shape: Shape, protocol: str) -> list[str]:
    """Holes of the variant and holes requested beside it. Raises Malformed when they contradict each other."""
    family, asked = family_named(protocol), shape.holes or ()
    wrong = next((hole for hole in asked if hole not in family.holes), "")
    if wrong:
        has = ", ".join(family.holes) or "none"
        raise Malformed(f"{wrong[:40]!r} is not a hole of {protocol}; it has {has}")
    if asked and shape.variant == "safe":
        raise Malformed(
            f"the variant safe opens no hole, and {', '.join(asked)} was requested; choose one of the two"
        )
    plain = shape.order == "plain"
    if plain and LITERAL_ORDER in asked:
        raise Malformed(f"{LITERAL_ORDER} is a rule of the order fast; the order plain has no such rule")
    text = paper_holes(protocol) if shape.variant == "paper" else ()
    return [
        hole
        for hole in family.holes
        if hole in asked or (hole in text and not (plain and hole == LITERAL_ORDER))
    ]


def places_as_printed(shape: Shape) -> bool:
    """Whether DDG places directories literally as in Fig. 2. Raises Malformed."""
    if shape.ddg_as_printed is None:
        return shape.variant == "paper" and shape.placement == "ddg"
    if shape.ddg_as_printed and shape.placement != "ddg":
        raise Malformed(f"ddg_as_printed is of the placement ddg, not of {shape.placement or 'hash'}")
    if not shape.ddg_as_printed and shape.variant == "paper" and shape.placement == "ddg":
        raise Malformed("the variant paper places as DCFS2 Fig. 2 is printed; choose one of the two")
    return shape.ddg_as_printed


def count_of(shape: Shape, kind: ProcessKind, family: Family) -> int:
    """The requested number of nodes of a kind, or else that of the family or the kind."""
    return shape.nodes.get(kind.name, kind.needed(family) or kind.count)


def journal_of(names: list[str], shape: Shape, protocol: str, family: Family) -> JournalConfig:
    """Nodes of a shared journal, and BookKeeper's three quorum sizes. Raises Malformed."""
    count = len(names)
    if not family.journal_nodes and count:
        raise Malformed(f"the servers of {protocol} share no journal: it has no journal nodes")
    if family.journal_nodes == 1 and count != 1:
        raise Malformed(f"{protocol} has one filer, not {count}")
    bookies = family.journal_role == "bookie"
    if shape.quorums is not None and not bookies:
        raise Malformed(
            f"ensemble, write quorum and acknowledgement quorum are of bookkeeper, not of {protocol}"
        )
    try:
        journal = JournalConfig(names, *quorums(shape.quorums))
    except ValueError as error:
        raise Malformed(str(error)) from None
    if bookies and count < journal.ensemble:
        raise Malformed(f"an ensemble of {journal.ensemble} needs as many bookies, not {count}")
    return journal


def quorums(text: str | None) -> tuple[int, ...]:
    """Raises Malformed."""
    if text is None:
        return ()
    found = QUORUMS.match(text)
    if found is None:
        raise Malformed(f"the quorums {text[:40]!r} are not E-Qw-Qa, such as 5-3-2")
    return tuple(int(part) for part in found.groups())


def granularity(text: str) -> Granularity:
    """Raises Malformed."""
    found = GRANULARITY.match(text)
    if found is None or "0" in found.groups():
        raise Malformed(f"the granularity {text[:40]!r} is not DirDep-DirWid-FileWid, such as 2-16-2048")
    return Granularity(*(int(part) for part in found.groups()))


def check(path: Path, have: ClusterConfig, shape: Shape) -> None:
    """Raises ClusterCannotStart when the cluster in the data directory differs from the requested shape."""
    if shape.config is not None and msgspec.structs.replace(shape.config, cluster=have.cluster) != have:
        raise ClusterCannotStart(
            f"{path} has a cluster with other settings; give another --name or --data, or begin anew with --fresh"
        )
    facts = facts_of(have)
    asked = msgspec.structs.asdict(shape) | {KINDS[kind].table: count for kind, count in shape.nodes.items()}
    for name, fact in facts.items():
        wanted = asked.get(name)
        if wanted is not None and wanted != fact and shape.members:
            raise ClusterCannotStart(
                f"{path} has a cluster with {name} {fact}, not {wanted}; request that, or remove the volumes (docker compose down -v)"
            )
        if wanted is not None and wanted != fact:
            option = name.replace("_", "-")
            raise ClusterCannotStart(
                f"{path} has a cluster with {option} {fact}; leave --{option} out or give another --data"
            )
    if shape.holes is not None and not fits(have, shape.holes):
        has = ", ".join(opened(have.holes)) or "no hole"
        raise ClusterCannotStart(
            f"{path} has a cluster with {has} open; leave --hole out or give another --data"
        )
    check_names(path, have, shape)


def check_names(path: Path, have: ClusterConfig, shape: Shape) -> None:
    """Raises ClusterCannotStart when the inventory of the containers names other servers or nodes."""
    wanted, hosts = [list(members) for members in shape.members], list(shape.hosts.values())
    groups, nodes = (
        [group.members for group in have.groups],
        [names_of(have, KINDS[kind]) for kind in shape.hosts],
    )
    if shape.members and (wanted, hosts) != (groups, nodes):
        raise ClusterCannotStart(
            f"{path} has a cluster of the groups {words(groups)} and the nodes {words(nodes)}, not of"
            f" {words(wanted)} and {words(hosts)}; configure those, or remove the volumes (docker compose down -v)"
        )


def facts_of(have: ClusterConfig) -> dict[str, Any]:
    """Properties of a cluster, under the field names of a shape."""
    journal = have.journal
    return {
        "groups": len(have.groups),
        "standbys": len(have.groups[0].members) - 1,
        "protocol": have.protocol,
        "variant": have.variant,
        "placement": have.placement,
        "granularity": "-".join(str(part) for part in msgspec.structs.astuple(have.granularity)),
        "ddg_as_printed": have.ddg_as_printed,
        "cross_group": have.cross_group,
        "order": have.order,
        "detection": have.detection,
        **{kind.table: len(names_of(have, kind)) for kind in KINDS.values()},
        "quorums": f"{journal.ensemble}-{journal.write_quorum}-{journal.ack_quorum}",
    }


def fits(have: ClusterConfig, asked: tuple[str, ...]) -> bool:
    """Whether the cluster's open holes are exactly these and those of its variant."""
    text = paper_holes(have.protocol) if have.variant == "paper" else ()
    return set(opened(have.holes)) - set(text) <= set(asked) <= set(opened(have.holes))


def words(groups: list[list[str]]) -> str:
    return ", ".join(" ".join(names) or "none" for names in groups)
