"""Messages among pool nodes (VSSP §III.B, §III.D)."""

from __future__ import annotations

from nodes.slots import StoredFile
from nodes.wire.messages import Mark, Message, Question, Reply, about


class OpenImage(Message, array_like=True, tag=True, gc=False):
    """Announces an image on this chain. A later round of the same image has another chain, without the silent nodes."""

    image: str
    round: int
    mark: Mark
    partitions: int
    chain: list[str]
    """Nodes of the chain, the writer first."""
    acknowledging: str


class ImagePacket(Message, array_like=True, tag=True, gc=False):
    image: str
    round: int
    partition: int
    offset: int
    last: bool
    sums: bytes
    """A CRC-32C for each chunk of 512 bytes."""
    data: bytes


class ImagePacketAcked(Message, array_like=True, tag=True, gc=False):
    """The holders have the partition's stream up to this offset; at the end of the stream, all of it is durable there."""

    image: str
    round: int
    partition: int
    offset: int
    holders: list[str]


class PacketNotTaken(Message, array_like=True, tag=True, gc=False):
    """To the writer: the sender's offset in the partition, and its reason for refusing more; `have` is -1 for an unknown image."""

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
    """The manifest is durable on the sender."""

    image: str


class AskImages(Question, array_like=True, tag=True, gc=False):
    pass


class ImagesReply(Reply, array_like=True, tag=True, gc=False):
    """Whole images from which the sender's journal continues."""

    images: list[str]


class FetchFile(Question, array_like=True, tag=True, gc=False):
    """Asks for bytes of a file of a whole image."""

    file: str
    offset: int
    length: int


class FilePiece(Reply, array_like=True, tag=True, gc=False):
    """A piece of a file. `total` is the size of the file, -1 when the sender does not have it."""

    file: str
    offset: int
    total: int
    sums: bytes
    data: bytes


class AskSums(Question, array_like=True, tag=True, gc=False):
    """Asks for the CRC-32C of each packet of a file, from this packet on."""

    file: str
    packet: int


class SumsReply(Reply, array_like=True, tag=True, gc=False):
    file: str
    packet: int
    sums: list[int]


class AskReport(Question, array_like=True, tag=True, gc=False):
    again: bool = False
    """Every file must be read again, whatever an earlier check found."""


class FileReport(Reply, array_like=True, tag=True, gc=False):
    """All journals and images of a pool node (VSSP §III.B)."""

    disk_bytes: int
    files: list[StoredFile]


class RecoverFile(Message, array_like=True, tag=True, gc=False):
    """Command to complete the receiver's replica from the source, beginning at the first bad or missing offset."""

    file: str
    source: str
    offset: int
    size: int


class RemoveFile(Message, array_like=True, tag=True, gc=False):
    """Command to remove the receiver's replica, which is useless."""

    file: str


MESSAGES = about(
    "renewing", OpenImage, ImagePacket, CloseImage, AskImages, ImagesReply, FetchFile, FilePiece, AskSums, SumsReply,
    AskReport, FileReport, RecoverFile, RemoveFile, replies=(ImagePacketAcked, PacketNotTaken, ImageShelved),
)  # fmt: skip
