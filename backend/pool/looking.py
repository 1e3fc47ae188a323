"""What images on the disks of the pool say of one path, without a server that loads them (VSSP §III.D)."""

from __future__ import annotations

from typing import Any

from backend.checkpoints.service import ask
from backend.errors import Impossible, NotThere, Unavailable
from backend.lab import Lab
from nodes.units import ROOT_GROUP, home_group

LOOK_S = 30.0
"""A partition of a large image is read a packet at a time, beside the server's other work."""


async def look(lab: Lab, path: str, sn: int) -> dict[str, Any]:
    """From group to group, as the path goes, in each one's newest image; at a given `sn` in the first group's alone.

    Raises NotThere when no server has such an image, Impossible for a path that is none, Unavailable.
    """
    homes = {group.number: group.name for group in lab.home.file.cluster.groups}
    group, start, left = ROOT_GROUP, 0, path
    steps: list[dict[str, Any]] = []
    while True:
        seen = await look_in_group(lab, homes[group], {"path": left, "start": start, "sn": sn})
        steps.append(
            {
                key: seen[key]
                for key in ("group", "server", "sn", "partitions", "loaded", "octets", "of_octets")
            }
        )
        if not seen["elsewhere"]:
            found = seen["found"]
            return {"path": path, "found": found, "names": seen["names"], "steps": steps}
        start, left = seen["elsewhere"], "/" + "/".join(seen["left"])
        group = home_group(start)
        if sn:
            raise Impossible(
                f"{homes[group]} goes on with {path}, and its images have other numbers: ask without sn"
            )


async def look_in_group(lab: Lab, group: str, question: dict[str, Any]) -> dict[str, Any]:
    """By the first server that has the image; standbys before the active, which has more to do."""
    servers = [server for server in lab.fabric.picture.servers.values() if server.group == group]
    reasons: list[str] = []
    for server in sorted(servers, key=lambda each: each.believes == "active"):
        try:
            seen = await ask(lab, server.name, {"do": "look_in_image", **question}, LOOK_S)
            return {"group": group, "server": server.name, **seen}
        except (Impossible, Unavailable) as refused:
            reasons.append(f"{server.name}: {refused.message}")
    raise NotThere(reasons[0] if reasons else f"{group} has no server")
