"""The cluster part of a scenario file as a cluster's configuration."""

from __future__ import annotations

from backend.errors import Malformed
from backend.scenarios.model import ClusterPart
from backend.shape import Shape


def shape_of(part: ClusterPart) -> Shape:
    """Raises Malformed for an unknown family."""
    try:
        nodes = part.counts()
    except ValueError as error:
        raise Malformed(str(error)) from None
    return Shape(
        groups=part.groups, standbys=part.standbys, protocol=part.protocol, placement=part.placement,
        granularity=part.granularity, cross_group=part.cross_group, order=part.order,
        holes=tuple(part.holes), variant=part.variant, ddg_as_printed=part.ddg_as_printed,
        quorums=part.quorums, detection=part.detection, nodes=nodes,
    )  # fmt: skip
