"""Messages among pool nodes (VSSP §III.B, §III.D)."""

from __future__ import annotations

from nodes.slots import StoredFile
from nodes.wire.calls import Question, Reply
from nodes.wire.messages import Mark, Message


class OpenImage(Message, array_like=True, tag=True, gc=False):
    """An image is going to come down this chain; a later round of the same image has another chain, without those who fell silent."""

    image: str
    round: int
    mark: Mark
    partitions: int
    chain: list[str]
    """The writer first."""
    acknowledging: str


class ImagePacket(Message, array_like=True, tag=True, gc=False):
    image: str
    round: int
    partition: int
    offset: int
    last: bool
    sums: bytes
    """A CRC-32C for each chunk of 512 octets."""
    octets: bytes


class ImagePacketAcked(Message, array_like=True, tag=True, gc=False):
    """The holders have the partition's stream up to this offset; all of it is durable there when that is its end."""

    image: str
    round: int
    partition: int
    offset: int
    holders: list[str]


class PacketNotTaken(Message, array_like=True, tag=True, gc=False):
    """To the writer: what the sender of this has of the partition, and why it took no more; `have` is -1 for an unknown image."""

    image: str
    round: int
    partition: int
    have: int
    reason: str


class CloseImage(Message, array_like=True, tag=True, gc=False):
    """From the writer to each node: all partitions are whole on enough replicas."""

    image: str
    manifest: bytes


class ImageShelved(Message, array_like=True, tag=True, gc=False):
    """The manifest is durable here."""

    image: str


class AskImages(Question, array_like=True, tag=True, gc=False):
    pass


class ImagesTold(Reply, array_like=True, tag=True, gc=False):
    """Whole images behind which the sender's journal goes on."""

    images: list[str]


class FetchFile(Question, array_like=True, tag=True, gc=False):
    """Asks for octets of a file of a whole image."""

    file: str
    offset: int
    length: int


class FilePiece(Reply, array_like=True, tag=True, gc=False):
    """`total` is the size of the file, -1 when the sender does not have it."""

    file: str
    offset: int
    total: int
    sums: bytes
    octets: bytes


class AskSums(Question, array_like=True, tag=True, gc=False):
    """Asks for the CRC-32C of each packet of a file, from this packet on."""

    file: str
    packet: int


class SumsTold(Reply, array_like=True, tag=True, gc=False):
    file: str
    packet: int
    sums: list[int]


class AskReport(Question, array_like=True, tag=True, gc=False):
    again: bool = False
    """Every file is to be read again, whatever was found in it before."""


class FileReport(Reply, array_like=True, tag=True, gc=False):
    """All journals and images of a pool node (VSSP §III.B)."""

    disk_octets: int
    files: list[StoredFile]


class RecoverFile(Message, array_like=True, tag=True, gc=False):
    """The receiver's replica lacks something: from the source, from the first bad or missing offset on."""

    file: str
    source: str
    offset: int
    size: int


class RemoveFile(Message, array_like=True, tag=True, gc=False):
    """The receiver's replica is of no use to anybody."""

    file: str


MESSAGES: tuple[type[Message], ...] = (
    OpenImage, ImagePacket, ImagePacketAcked, PacketNotTaken, CloseImage, ImageShelved, AskImages, ImagesTold, FetchFile,
    FilePiece, AskSums, SumsTold, AskReport, FileReport, RecoverFile, RemoveFile,
)  # fmt: skip
