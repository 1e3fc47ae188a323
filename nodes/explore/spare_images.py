"""Every pruned journal still leads from two images to the present: a server begins from the second when the newest has rotted (safety rule 18)."""

from __future__ import annotations

from pathlib import PurePosixPath

from nodes.trace.events import Stamped
from nodes.trace.pool_events import HeldFile, ImageShelved, JournalPruned, PoolReported

SPARE = 2


class SpareImages:
    """Counts the images of each server from which its journal continues, at each pruning. A server that has lost images since is counted as if it
    still had them."""

    def __init__(self) -> None:
        self._images: dict[str, dict[str, int]] = {}
        """The sn of each image that a server ever had, by its name."""
        self.lacking = ""
        """The first pruning that left fewer, as a sentence; empty while there is none."""

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is ImageShelved:
            self._of(stamped.server)[event.image] = event.sn
        elif type(event) is PoolReported:
            # The event of an image may be lost with its server. A server tells what it has before each pruning.
            self._of(event.node).update(whole_images(event.held))
        elif type(event) is JournalPruned and not self.lacking:
            reaching = sum(sn >= event.first_sn - 1 for sn in self._of(stamped.server).values())
            if reaching < SPARE:
                self.lacking = f"the journal of {stamped.server} begins with sn {event.first_sn}, where {reaching} of its images can continue"

    def _of(self, server: str) -> dict[str, int]:
        return self._images.setdefault(server, {})


def whole_images(held: list[HeldFile]) -> dict[str, int]:
    """The sn of each image that a report shows with its manifest and without damage, by its name."""
    paths = {PurePosixPath(each.name): each for each in held}
    damaged = {path.stem for path, each in paths.items() if each.valid < each.size}
    return {
        path.stem: each.last_sn
        for path, each in paths.items()
        if path.suffix == ".manifest" and path.stem not in damaged
    }
