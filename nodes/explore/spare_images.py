"""Every pruned journal still leads from two images to the present: a server begins from the second when the newest has rotted (safety rule 18)."""

from __future__ import annotations

from nodes.trace.events import JournalOpened, Stamped
from nodes.trace.pool_events import ImageShelved, JournalPruned

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
        event, images = stamped.event, self._images.setdefault(stamped.server, {})
        if type(event) is ImageShelved:
            images[event.image] = event.sn
        elif type(event) is JournalOpened:  # The report of an image may be lost with its server.
            images["begun from"] = event.image_sn
        elif type(event) is JournalPruned and not self.lacking:
            reaching = sum(sn >= event.first_sn - 1 for sn in images.values())
            if reaching < SPARE:
                self.lacking = f"the journal of {stamped.server} begins with sn {event.first_sn}, where {reaching} of its images can continue"
