"""The cluster part of a scenario file as a cluster's configuration."""

from __future__ import annotations

from backend.scenarios.model import ClusterPart
from backend.shape import Shape


def shape_of(part: ClusterPart) -> Shape:
    return Shape(
        groups=part.groups, standbys=part.standbys, protocol=part.protocol, placement=part.placement,
        granularity=part.granularity, cross_group=part.cross_group, data_nodes=part.data_nodes, order=part.order,
        holes=tuple(part.holes), variant=part.variant, ddg_as_printed=part.ddg_as_printed,
        journal_nodes=part.journal_nodes, quorums=part.quorums,
    )  # fmt: skip
