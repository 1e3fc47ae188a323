"""A person's commands to the active about the storage pool, and queries to any server about the images on its disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from nodes.errors import FsError
from nodes.metadata.images import ImageDamaged
from nodes.metadata.paths import split
from nodes.metadata_server.snapshots import Imaging
from nodes.slots import ImageStore
from nodes.units import ROOT


def pool_orders(
    imaging: Callable[[], Imaging | None],
) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
    """Handlers of pool commands by name. `imaging` returns None on every server but the active."""

    def take_image(question: dict[str, Any]) -> dict[str, Any]:
        orders = imaging()
        return {"refused": "not active" if orders is None else orders.order_now()}

    def check_pool(question: dict[str, Any]) -> dict[str, Any]:
        orders = imaging()
        if orders is not None:
            orders.pruning.check_now()
        return {"refused": "not active" if orders is None else ""}

    return {"take_image": take_image, "check_pool": check_pool}


def image_questions(images: ImageStore) -> dict[str, Callable[[dict[str, Any]], Any]]:
    """`look_in_image`: the entry of `path` in the newest image on this disk, or in that at `sn`. Listing begins at the inode `start`, by default
    the root."""

    async def look(question: dict[str, Any]) -> dict[str, Any]:
        try:
            names = split(str(question["path"]))
            seen = await images.look(int(question.get("start") or ROOT), names, int(question.get("sn") or 0))
        except (FsError, ImageDamaged, FileNotFoundError) as error:
            return {"refused": str(error)}
        reported: dict[str, Any] = msgspec.to_builtins(seen)
        if seen.found is not None:
            reported["found"] = msgspec.to_builtins(msgspec.structs.asdict(seen.found))
        return reported

    return {"look_in_image": look}
