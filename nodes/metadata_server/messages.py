"""Messages about images between the servers of one group, in every family (CFS §4.1.1; VSSP §III.D)."""

from __future__ import annotations

from nodes.wire.messages import Message, about


class TakeImage(Message, array_like=True, tag=True, gc=False):
    """The active asks a standby to write an image of its namespace to these servers (CFS §4.1.1)."""

    epoch: int
    order: int
    """Number of the image within the epoch. The order is repeated until it is answered."""
    replicas: list[str]


class ImageTaken(Message, array_like=True, tag=True, gc=False):
    """The servers that have the whole image; none when the standby could not take one."""

    epoch: int
    order: int
    sn: int
    holders: list[str]


class ImageGoesOn(Message, array_like=True, tag=True, gc=False):
    """Reply to a repeated order: the standby is still writing the image of this order."""

    epoch: int
    order: int


class Prune(Message, array_like=True, tag=True, gc=False):
    """Order to prune the journal up to `sn`. Only servers without an image that reaches further still need it."""

    epoch: int
    sn: int


MESSAGES = about("renewing", TakeImage, Prune, replies=(ImageTaken, ImageGoesOn))
