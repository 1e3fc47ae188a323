"""What a person may have the active do to the storage pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.protocols.mams.imaging import Imaging


def pool_orders(
    imaging: Callable[[], Imaging | None],
) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
    """By the word that asks; `imaging` is None on everybody else."""

    def take_image(question: dict[str, Any]) -> dict[str, Any]:
        orders = imaging()
        return {"refused": "not active" if orders is None else orders.order_now()}

    def check_pool(question: dict[str, Any]) -> dict[str, Any]:
        orders = imaging()
        if orders is not None:
            orders.check_now()
        return {"refused": "not active" if orders is None else ""}

    return {"take_image": take_image, "check_pool": check_pool}
