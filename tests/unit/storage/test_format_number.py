"""Rot in a format number does not count as another version: a rotten file is quarantined, another version stops the server."""

from __future__ import annotations

import pytest

from nodes.format_number import NUMBER_MAX, number_of, stored
from nodes.metadata.images import ImageDamaged
from nodes.protocols.vssp import manifest
from nodes.protocols.vssp.manifest import Manifest, PartitionEntry, image_name
from nodes.storage import block_file
from nodes.storage.block_file import BlockDamaged
from nodes.storage.records import (
    FORMAT,
    HEADER,
    MAGIC,
    CorruptJournal,
    UnknownJournal,
    check_header,
    header,
)
from nodes.storage.sealed_file import HEAD, SealBroken, UnknownSeal, seal, unseal
from nodes.wire.messages import Mark

MARK = Mark(2, 7, 4711, 99)
MANIFEST = Manifest(image_name(MARK, 0xABC), MARK, [PartitionEntry(10, 1)])
NUMBER_AT = len(MAGIC)
BITS = range(16)


@pytest.mark.parametrize("number", range(1, NUMBER_MAX + 1))
def test_one_wrong_bit_is_never_another_number(number: int) -> None:
    assert number_of(stored(number)) == number == number_of(number)
    assert {number_of(stored(number) ^ 1 << bit) for bit in BITS} == {None}


def flipped(data: bytes, bit: int) -> bytes:
    wrong = bytearray(data)
    wrong[NUMBER_AT + bit // 8] ^= 1 << bit % 8
    return bytes(wrong)


@pytest.mark.parametrize("bit", BITS)
def test_rot_in_a_segments_number_is_damage(bit: int) -> None:
    with pytest.raises(CorruptJournal, match="is no format number") as caught:
        check_header("a", flipped(header(1), bit), 1)
    assert type(caught.value) is CorruptJournal


@pytest.mark.parametrize("bit", BITS)
def test_rot_in_a_sealed_files_number_is_damage(bit: int) -> None:
    with pytest.raises(SealBroken, match="where its format number should be") as caught:
        unseal("a", b"CLVRTEST", 1, flipped(seal(b"CLVRTEST", 1, 7), bit), int)
    assert type(caught.value) is SealBroken


@pytest.mark.parametrize("bit", BITS)
def test_rot_in_the_number_of_a_manifest_or_of_a_replica_is_damage(bit: int) -> None:
    with pytest.raises(ImageDamaged, match="and a format number") as image:
        manifest.decode(flipped(manifest.encode(MANIFEST), bit), MANIFEST.image)
    with pytest.raises(BlockDamaged, match="damaged head") as block:
        block_file.read_head("a", flipped(block_file.head(1, 1), bit), 1)
    assert type(image.value) is ImageDamaged and type(block.value) is BlockDamaged


def test_another_version_is_named() -> None:
    with pytest.raises(UnknownJournal, match="has format 9; this version reads format 1"):
        check_header("a", HEADER.pack(MAGIC, stored(9), 1), 1)
    with pytest.raises(
        UnknownSeal, match=r"has format 9; this version reads format 1.*start the version that wrote it"
    ):
        unseal("a", b"CLVRTEST", 1, seal(b"CLVRTEST", 9, 7), int)


def test_numbers_that_were_written_without_their_complement_are_read() -> None:
    check_header("a", HEADER.pack(MAGIC, FORMAT, 1), 1)
    sealed = seal(b"CLVRTEST", 1, 7)
    plain = HEAD.pack(b"CLVRTEST", 1, HEAD.unpack_from(sealed)[2]) + sealed[HEAD.size :]
    assert unseal("a", b"CLVRTEST", 1, plain, int) == 7
