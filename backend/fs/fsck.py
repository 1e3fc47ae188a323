"""Comparison of the namespaces of all groups (fsck), as the actives have them at one moment."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.checkpoints.service import active_of, ask
from backend.running_cluster import Running
from nodes.metadata import fsck
from nodes.metadata.pages import TreePage

ANSWER_S = 10.0
PASSES = 3


async def check(lab: Running) -> dict[str, Any]:
    """Compares all pages of all groups. If calls change them meanwhile, only what several passes in a row have found is a fault: an object that
    was made or removed between two pages looks wrong in one pass alone.

    Raises Unavailable when a group has no active.
    """
    groups = [group.name for group in lab.home.file.cluster.groups]
    faults: list[str] | None = None
    for _ in range(PASSES):
        pages = {group: await pages_of(lab, group) for group in groups}
        every = [page for found in pages.values() for page in found]
        still = len(every) == 1 or await unchanged(lab, pages)
        found = fsck.faults(every if still else [settled(page) for page in every])
        faults = found if still or faults is None else [fault for fault in faults if fault in found]
        if still or not faults:
            break
    return {"objects": sum(len(page.inodes) for page in every), "still": still, "faults": faults}


def settled(page: TreePage) -> TreePage:
    """The page without its open operations, of which there are always some under load."""
    return msgspec.structs.replace(page, open=0)


async def pages_of(lab: Running, group: str) -> list[TreePage]:
    """The namespace of a group, a page at a time."""
    found = [await page_after(lab, group, 0)]
    while found[-1].after:
        found.append(await page_after(lab, group, found[-1].after))
    return found


async def unchanged(lab: Running, pages: dict[str, list[TreePage]]) -> bool:
    """Whether all pages show one moment: each group has one digest in all of its pages, and still has it after the last page of all groups."""
    for group, found in pages.items():
        now = await page_after(lab, group, 0, limit=1)
        if {page.digest for page in found} != {now.digest}:
            return False
    return True


async def page_after(lab: Running, group: str, after: int, **limit: int) -> TreePage:
    answer = await ask(lab, active_of(lab, group), {"do": "tree", "after": after, **limit}, ANSWER_S)
    answer.pop("ok", None)
    return msgspec.convert(answer, TreePage, strict=False)
