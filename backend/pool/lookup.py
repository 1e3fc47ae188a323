"""Lookup of a path in the images on the pool's disks, without a server that loads them (VSSP §III.D)."""

from __future__ import annotations

from typing import Any

from backend.checkpoints.service import ask
from backend.errors import Impossible, NotThere, Unavailable
from backend.picture import PAUSED
from backend.pool.models import LookedIn
from backend.running_cluster import Running
from nodes.metadata.paths import shown, split
from nodes.units import ROOT_GROUP, home_group

LOOK_S = 30.0
"""Timeout of a lookup: a partition of a large image is read packet by packet, beside the server's other work."""


async def look(lab: Running, path: str, sn: int) -> dict[str, Any]:
    """Looks a path up from group to group, in each group's newest image; with `sn`, only in the first group's image at that sn.

    Raises FsError for an invalid path, NotThere when no server has such an image, Impossible, Unavailable.
    """
    split(path)
    homes = {group.number: group.name for group in lab.home.file.cluster.groups}
    group, start, left = ROOT_GROUP, 0, path
    steps: list[dict[str, Any]] = []
    while True:
        seen = await look_in_group(lab, homes[group], {"path": left, "start": start, "sn": sn})
        steps.append({key: seen[key] for key in LookedIn.model_fields})
        if not seen["elsewhere"]:
            return {"path": path, "found": seen["found"], "names": seen["names"], "steps": steps}
        start, left = seen["elsewhere"], "/" + "/".join(seen["left"])
        group = home_group(start)
        if sn:
            raise Impossible(
                f"{shown(path)} continues in {homes[group]}, whose images have other numbers: leave out sn"
            )


async def look_in_group(lab: Running, group: str, question: dict[str, Any]) -> dict[str, Any]:
    """Asks the first server that has the image; standbys before the active, which has more to do."""
    servers = [server for server in lab.fabric.picture.servers.values() if server.group == group]
    refusals: list[str] = []
    silent: list[str] = []
    for server in sorted(servers, key=lambda each: each.believes == "active"):
        if server.process == PAUSED:
            silent.append(f"{server.name} is paused")
            continue
        try:
            seen = await ask(lab, server.name, {"do": "look_in_image", **question}, LOOK_S)
            return {"group": group, "server": server.name, **seen}
        except Impossible as refused:
            refusals.append(f"{server.name}: {refused.message}")
        except Unavailable as unavailable:
            silent.append(unavailable.message)
    if refusals:
        raise NotThere(refusals[0])
    raise Unavailable(
        f"no server of {group} can read its images now: {'; '.join(silent[:1]) or 'it has none'}"
    )
