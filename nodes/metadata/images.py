"""The whole namespace as partitions, each a stream of checked chunks. Partitions can be written, checked and loaded alone and in any order.

A stream begins with the magic and the format number (u16, little-endian). A chunk is the length (u32) and the CRC-32 (u32) of its payload,
and the payload: a MessagePack array [kind, rows]. The first chunk is the header, and the last one counts the chunks before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from struct import Struct
from typing import Any
from zlib import crc32

import msgspec

from nodes.errors import Damaged
from nodes.format_number import number_of, of_other_version, stored
from nodes.metadata.digest import MASK, MOVE_TERM
from nodes.metadata.kinds import KINDS, Placed
from nodes.metadata.namespace import Namespace
from nodes.metadata.partitions import PARTITIONS_MOST, partition_of
from nodes.mutations import NO_MUTATIONS, Mutations
from nodes.units import ROOT, ROOT_GROUP

MAGIC = b"CLVRIMGE"
FORMAT = 6
HEAD = Struct("<8sH")
FRAME = Struct("<II")
ROWS = 512
"""Rows in a chunk, which may exceed it by one batch. Names are at most 255 bytes, so that a chunk stays well below a megabyte."""
CHUNK_MAX = 64 << 20
"""Largest payload of a chunk: a session may hold thousands of results."""
PATIENCE = 4096
"""Rows that are skipped before the caller gets a turn."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[str, msgspec.Raw]).decode
_decoders: dict[str, Any] = {kind: msgspec.msgpack.Decoder(each.page) for kind, each in KINDS.items()}


class ImageDamaged(Damaged):
    """An image that must not be trusted; one line says where it is damaged."""


class UnknownImageFormat(ImageDamaged):
    """An image of another version, which this version must not alter; one line names both numbers."""


class Header(msgspec.Struct, array_like=True, frozen=True):
    """The first chunk of every partition. All fields but `partition` are the same in all of them."""

    group: int
    short_memory: bool
    dentry_locks_only: bool
    next_number: int
    inodes: int
    moves: int
    """Number of directory moves in the whole file system."""
    newest_ns: int
    """Stamp of the last record inside."""
    digest: int
    partitions: int
    partition: int


_header_of = msgspec.msgpack.Decoder(tuple[Header]).decode
_count_of = msgspec.msgpack.Decoder(tuple[int]).decode


# --- writing ---------------------------------------------------------------------------------------------------------


def dump(namespace: Namespace) -> Iterator[bytes]:
    """The chunks of an image of one partition."""
    return (chunk for _, chunk in dump_partitions(namespace, 1) if chunk)


def dump_partitions(
    namespace: Namespace, partitions: int, wanted: Collection[int] | None = None
) -> Iterator[tuple[int, bytes]]:
    """(partition, next bytes of its stream) of the present state, which must not change meanwhile. Limited to the `wanted` partitions, if given.

    The bytes may be empty, so that each step takes at most some milliseconds.
    """
    assert 0 < partitions <= PARTITIONS_MOST
    tree, chosen = namespace.tree, range(partitions) if wanted is None else sorted(wanted)
    counts = dict.fromkeys(chosen, 1)

    def taken(key: int) -> bool:
        return partition_of(key, partitions) in counts

    for number in chosen:
        header = Header(
            namespace.group, namespace.short_memory, namespace.dentry_locks_only, tree.next_number,
            len(tree.inodes), tree.moves, namespace.newest_ns, namespace.digest, partitions, number,
        )  # fmt: skip
        yield number, HEAD.pack(MAGIC, stored(FORMAT)) + _chunk("header", [header])
    for kind, each in KINDS.items():
        for number, page in _pages(each.rows(namespace, taken), partitions, counts):
            if page:
                counts[number] += 1
            yield number, _chunk(kind, page) if page else b""
    for number in chosen:
        yield number, _chunk("end", [counts[number]])


def _pages(
    batches: Iterator[Placed], partitions: int, chosen: Collection[int]
) -> Iterator[tuple[int, list[Any]]]:
    """Full pages of rows by partition, then the rest. An empty page is yielded now and then, to let other procedures run."""
    pages: dict[int, list[Any]] = {number: [] for number in chosen}
    passed = 0
    for key, rows in batches:
        passed += len(rows)
        if not rows or passed >= PATIENCE:
            passed = 0
            yield 0, []
        number = 0 if key is None else partition_of(key, partitions)
        page = pages.get(number)
        if page is None:
            continue
        page += rows
        if len(page) >= ROWS:
            yield number, page
            page.clear()
    yield from ((number, page) for number, page in pages.items() if page)


def _chunk(kind: str, rows: list[Any]) -> bytes:
    payload = _encode([kind, rows])
    return FRAME.pack(len(payload), crc32(payload)) + payload


# --- loading ---------------------------------------------------------------------------------------------------------


class Loader:
    """Fills one namespace from the partitions of one image, in pieces of any of them."""

    def __init__(self, mutations: Mutations = NO_MUTATIONS, open_calls: int = 0) -> None:
        self._mutations = mutations
        """Mutations of the loading process; an image carries neither them nor its limit of open calls."""
        self._open_calls = open_calls
        self.namespace = Namespace()
        self.header: Header | None = None
        self.loaded: set[int] = set()
        """Partitions that are completely in the namespace."""
        self._digest = 0
        self._streams: dict[int, ImageStream] = {}

    def feed(self, partition: int, data: bytes) -> None:
        """Takes the next bytes of a partition's stream. Raises ImageDamaged, after which no more may be fed."""
        stream = self._streams.get(partition)
        if stream is None:
            stream = self._streams[partition] = ImageStream(partition)
        for kind, payload in stream.chunks(data):
            if kind == "header":
                self._begin(partition, payload)
            elif kind == "end":
                self.loaded.add(partition)
            else:
                self._load(stream, kind, payload)

    def _begin(self, partition: int, payload: msgspec.Raw) -> None:
        try:
            [header] = _header_of(payload)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ImageDamaged(f"the header of partition {partition} is not readable: {error}") from None
        if header.partition != partition or not partition < header.partitions <= PARTITIONS_MOST:
            raise ImageDamaged(
                f"partition {partition} of the image says that it is {header.partition} of {header.partitions}"
            )
        if self.header is None:
            self.header = header
            self.namespace = Namespace(
                header.group, header.short_memory, header.dentry_locks_only, self._mutations, self._open_calls
            )
            self.namespace.tree.inodes.clear()
        elif msgspec.structs.replace(header, partition=self.header.partition) != self.header:
            raise ImageDamaged(f"partition {partition} belongs to another image than the ones before it")

    def _load(self, stream: ImageStream, kind: str, payload: msgspec.Raw) -> None:
        try:
            self._digest += KINDS[kind].load(self.namespace, _decoders[kind].decode(payload))
        except (KeyError, TypeError, ValueError, OverflowError, msgspec.DecodeError) as error:
            raise ImageDamaged(f"{stream.where} does not fit together: {error!r}") from None

    def finish(self, checked: bool = True) -> Namespace:
        """The namespace, once it contains every partition. Raises ImageDamaged when one is missing, or the digest is not the header's.

        `checked` is False only in a mutation.
        """
        header, tree = self.header, self.namespace.tree
        if header is None:
            raise ImageDamaged("the image ends too early: partition 0 is not whole")
        tree.next_number, tree.moves = header.next_number, header.moves
        self.namespace.newest_ns = header.newest_ns
        tree.digest = (self._digest + header.moves * MOVE_TERM) & MASK
        if checked:
            self._check(header)
        return self.namespace

    def _check(self, header: Header) -> None:
        tree = self.namespace.tree
        if len(self.loaded) < header.partitions:
            missing = sorted(set(range(header.partitions)) - self.loaded)
            raise ImageDamaged(f"the image ends too early: partition {missing[0]} is not whole")
        if len(tree.inodes) != header.inodes or (tree.group == ROOT_GROUP and ROOT not in tree.inodes):
            raise ImageDamaged(f"the image holds {len(tree.inodes)} inodes; its header says {header.inodes}")
        if self.namespace.digest != header.digest:
            raise ImageDamaged("the namespace in the image does not have the digest of its header")


class ImageStream:
    """Splits the stream of one partition into chunks and checks them."""

    def __init__(self, partition: int):
        self._partition = partition
        self._buffer = bytearray()
        self._begun = False
        self._count = 0
        self.whole_bytes = 0
        """Number of bytes in valid chunks from the beginning of the stream."""
        self.ended = False

    @property
    def where(self) -> str:
        return f"chunk {self._count} of partition {self._partition}"

    def chunks(self, data: bytes) -> Iterator[tuple[str, msgspec.Raw]]:
        """Yields (kind, rows) of each whole chunk. Raises ImageDamaged."""
        buffer, offset = self._buffer, 0
        buffer += data
        try:
            if not self._begun and len(buffer) >= HEAD.size:
                self._check_head(HEAD.unpack_from(buffer))
                offset, self.whole_bytes = HEAD.size, HEAD.size
            while self._begun and len(buffer) - offset >= FRAME.size:
                length, crc = FRAME.unpack_from(buffer, offset)
                if length > CHUNK_MAX or self.ended:
                    raise ImageDamaged(f"{self.where} has {length} bytes, or nothing should follow")
                end = offset + FRAME.size + length
                if len(buffer) < end:
                    break
                payload = bytes(buffer[offset + FRAME.size : end])
                offset = end
                yield self._opened(payload, crc)
                self.whole_bytes += FRAME.size + length
            if self.ended and len(buffer) > offset:
                raise ImageDamaged(f"{self.where} should not be there")
        finally:
            del buffer[:offset]

    def _check_head(self, head: tuple[bytes, int]) -> None:
        magic, found = head
        number = number_of(found)
        if magic != MAGIC or number is None:
            begins = HEAD.pack(magic, found)
            raise ImageDamaged(
                f"partition {self._partition} begins with {begins!r}, not with {MAGIC!r} and a format number"
            )
        if number != FORMAT:
            raise UnknownImageFormat(
                f"partition {self._partition} of the image {of_other_version(number, FORMAT)}"
            )
        self._begun = True

    def _opened(self, payload: bytes, crc: int) -> tuple[str, msgspec.Raw]:
        if crc32(payload) != crc:
            raise ImageDamaged(f"{self.where} has a wrong checksum")
        try:
            kind, rows = _decode(payload)
            if kind == "end":
                self.ended = _count_of(rows) == (self._count,)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ImageDamaged(f"{self.where} is not readable: {error}") from None
        if (kind == "header") != (self._count == 0) or (kind == "end") != self.ended:
            raise ImageDamaged(f"{self.where} is a `{kind}` in the wrong place")
        self._count += 1
        return kind, rows


def load(chunks: Iterable[bytes]) -> Namespace:
    """The namespace of an image of one partition. Raises ImageDamaged."""
    loader = Loader()
    for chunk in chunks:
        loader.feed(0, chunk)
    return loader.finish()


def whole_bytes(pieces: Iterable[bytes]) -> int:
    """Number of good bytes at the beginning of a partition's stream. Damage behind them cannot be distinguished from an end."""
    stream = ImageStream(0)
    try:
        for piece in pieces:
            for _ in stream.chunks(piece):
                pass
    except ImageDamaged:
        pass
    return stream.whole_bytes
