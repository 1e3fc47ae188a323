"""What the servers of one group say to each other of images, in every family (CFS §4.1.1; VSSP §III.D)."""

from __future__ import annotations

from nodes.wire.messages import Message


class TakeImage(Message, array_like=True, tag=True, gc=False):
    """The active asks a standby to write an image of its namespace to these servers (CFS §4.1.1)."""

    epoch: int
    order: int
    """Counts the images of the epoch; sent again until it is answered."""
    replicas: list[str]


class ImageTaken(Message, array_like=True, tag=True, gc=False):
    """Who has the image whole; nobody when the standby could not take one."""

    epoch: int
    order: int
    sn: int
    holders: list[str]


class ImageGoesOn(Message, array_like=True, tag=True, gc=False):
    """The standby still writes the image of this order; the answer to being asked again."""

    epoch: int
    order: int


class Prune(Message, array_like=True, tag=True, gc=False):
    """Nobody needs the journal up to `sn` any more who does not have an image that reaches further."""

    epoch: int
    sn: int


MESSAGES: tuple[type[Message], ...] = (TakeImage, ImageTaken, ImageGoesOn, Prune)
