"""The manifest, with which an image counts: written after all its partitions are whole (safety rule 18).

File: magic, format number (u16), CRC-32C (u32) of the rest, a MessagePack array. Numbers are little-endian.
"""

from __future__ import annotations

import re
from struct import Struct

import msgspec
from crc32c import crc32c

from nodes.format_number import number_of, of_other_version, stored
from nodes.metadata.images import ImageDamaged, UnknownImageFormat
from nodes.metadata.partitions import PARTITIONS_MOST
from nodes.storage.identity import IMAGES
from nodes.wire.messages import Mark

MAGIC = b"CLVRMNFT"
FORMAT = 1
HEAD = Struct("<8sHI")
MANIFEST_MAX = 64 << 10
PARTITION_MAX = 1 << 36
NAME = re.compile(r"^(\d{6})-(\d{10})-(\d{20})-[0-9a-f]{8}$")
DIRECTORY = IMAGES


class PartitionEntry(msgspec.Struct, array_like=True, frozen=True):
    length: int
    checksum: int
    """CRC-32C of the whole stream."""


class Manifest(msgspec.Struct, array_like=True, frozen=True):
    image: str
    mark: Mark
    """Mark of the last group inside."""
    partitions: list[PartitionEntry]

    @property
    def size(self) -> int:
        return sum(each.length for each in self.partitions)


def image_name(mark: Mark, nonce: int) -> str:
    """The name of an image. Names sort like (incarnation, epoch, sn). The nonce distinguishes two images of one sn, whose streams may differ in
    order."""
    return f"{mark.incarnation:06d}-{mark.epoch:010d}-{mark.sn:020d}-{nonce:08x}"


def rank_of(image: str) -> tuple[int, int, int]:
    """(incarnation, epoch, sn) of an image. Raises ImageDamaged for an invalid name."""
    match = NAME.match(image)
    if match is None:
        raise ImageDamaged(f"{image[:64]!r} is no name of an image")
    incarnation, epoch, sn = (int(each) for each in match.groups())
    return incarnation, epoch, sn


def partition_file(image: str, partition: int) -> str:
    return f"{image}.p{partition:02d}"


def manifest_file(image: str) -> str:
    return f"{image}.manifest"


def path_of(file: str) -> str:
    return f"{DIRECTORY}/{file}"


def image_of(file: str) -> tuple[str, int | None] | None:
    """(image, partition or None for the manifest) of a file's name; None when no image has such a file."""
    image, _, kind = file.rpartition(".")
    if NAME.match(image) is None:
        return None
    if kind == "manifest":
        return image, None
    if re.fullmatch(r"p\d\d", kind) and int(kind[1:]) < PARTITIONS_MOST:
        return image, int(kind[1:])
    return None


def encode(manifest: Manifest) -> bytes:
    payload = msgspec.msgpack.encode(manifest)
    return HEAD.pack(MAGIC, stored(FORMAT), crc32c(payload)) + payload


def decode(data: bytes, image: str) -> Manifest:
    """Raises ImageDamaged; both numbers are named when the format is unknown."""
    where = f"the manifest of image {image[:64]}"
    if not HEAD.size < len(data) <= MANIFEST_MAX:
        raise ImageDamaged(f"{where} has {len(data)} bytes")
    magic, found, crc = HEAD.unpack_from(data)
    number = number_of(found)
    if magic != MAGIC or number is None:
        raise ImageDamaged(f"{where} begins with {data[:10]!r}, not with {MAGIC!r} and a format number")
    if number != FORMAT:
        raise UnknownImageFormat(f"{where} {of_other_version(number, FORMAT)}")
    payload = data[HEAD.size :]
    if crc32c(payload) != crc:
        raise ImageDamaged(f"{where} has a wrong checksum")
    try:
        manifest = msgspec.msgpack.decode(payload, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ImageDamaged(f"{where} is not readable: {error}") from None
    mark = manifest.mark
    fits = manifest.image == image and rank_of(image) == (mark.incarnation, mark.epoch, mark.sn)
    if not fits or not 0 < len(manifest.partitions) <= PARTITIONS_MOST:
        raise ImageDamaged(f"{where} names {manifest.image[:64]!r} of {len(manifest.partitions)} partitions")
    if any(not 0 < each.length <= PARTITION_MAX for each in manifest.partitions):
        raise ImageDamaged(f"{where} has a partition of an absurd size")
    return manifest
