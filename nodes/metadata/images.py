"""The whole namespace as a sequence of checked chunks, and back.

A chunk is the CRC-32 of its payload (4 bytes, big-endian) and the payload: a MessagePack array [kind, rows]. The first is the header,
the last says how many came before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from zlib import crc32

import msgspec

from nodes.errors import Damaged
from nodes.metadata.blocks import Body
from nodes.metadata.inode import NO_NAMES, Inode
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Block, Result
from nodes.units import OpId

MAGIC = "cloverlab image"
FORMAT = 1
ROWS = 512
"""Rows in a chunk: names are at most 255 bytes, so that a chunk stays well below a megabyte, and mostly below 64 KiB."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode


class ImageDamaged(Damaged):
    """An image that must not be believed; one line says where it is damaged."""


class Header(msgspec.Struct, array_like=True):
    magic: str
    format: int
    group: int
    short_memory: bool
    next_number: int
    inodes: int
    digest: int


InodeRow = tuple[int, int, int, int, str, str, int, int, bool]
DentryRow = tuple[int, str, int]
BodyRow = tuple[int, int, list[Block], OpId | None]
SessionRow = tuple[str, int, dict[int, Result]]


def dump(namespace: Namespace) -> Iterator[bytes]:
    """Chunks of an image of the present state."""
    tree = namespace.tree
    header = Header(
        MAGIC, FORMAT, namespace.group, namespace.short_memory, tree.next_number, len(tree.inodes), namespace.digest
    )  # fmt: skip
    count = 0
    for kind, rows in (
        ("header", iter([header])),
        ("inodes", (_inode_row(inode) for inode in tree.inodes.values())),
        ("dentries", _dentry_rows(namespace)),
        ("bodies", ((body.inode, body.block_size, body.blocks, body.writer) for body in tree.bodies)),
        ("next block", iter([tree.bodies.next_block])),
        ("sessions", ((client, each.lowest_open, each.results) for client, each in namespace.sessions)),
    ):
        for chunk in _chunks(kind, rows):
            count += 1
            yield chunk
    yield from _chunks("end", iter([count]))


def _inode_row(inode: Inode) -> InodeRow:
    return (
        inode.number,
        inode.mode,
        inode.mtime_ns,
        inode.atime_ns,
        inode.owner,
        inode.group,
        inode.replication,
        inode.length,
        inode.entries is not None,
    )


def _dentry_rows(namespace: Namespace) -> Iterator[DentryRow]:
    for inode in namespace.tree.inodes.values():
        for name, child in (inode.entries or NO_NAMES).items():
            yield inode.number, name, child


def _chunks(kind: str, rows: Iterator[Any]) -> Iterator[bytes]:
    page: list[Any] = []
    for row in rows:
        page.append(row)
        if len(page) == ROWS:
            yield _chunk(kind, page)
            page = []
    if page:
        yield _chunk(kind, page)


def _chunk(kind: str, rows: list[Any]) -> bytes:
    payload = _encode([kind, rows])
    return crc32(payload).to_bytes(4, "big") + payload


def load(chunks: Iterable[bytes]) -> Namespace:
    """The namespace of an image. Raises ImageDamaged."""
    namespace, header, place, ended = Namespace(), None, 0, False
    for place, chunk in enumerate(chunks):
        kind, rows = _open_chunk(place, chunk)
        try:
            if (kind == "header") != (place == 0) or ended:
                raise ImageDamaged(f"chunk {place} of the image is a `{kind}` in the wrong place")
            if kind == "header":
                header = _header(rows)
                namespace = Namespace(header.group, header.short_memory)
                namespace.tree.inodes.clear()
            elif kind == "end":
                ended = rows == [place]
            else:
                _LOADERS[kind](namespace, rows)
        except (KeyError, TypeError, ValueError, msgspec.ValidationError) as error:
            raise ImageDamaged(f"chunk {place} of the image does not fit together: {error!r}") from None
    if header is None or not ended:
        raise ImageDamaged(f"the image ends after chunk {place}, too early")
    _finish(namespace, header)
    return namespace


def _open_chunk(place: int, chunk: bytes) -> tuple[str, list[Any]]:
    payload = chunk[4:]
    if len(chunk) < 5 or crc32(payload) != int.from_bytes(chunk[:4], "big"):
        raise ImageDamaged(f"chunk {place} of the image has a wrong checksum")
    try:
        kind, rows = _decode(payload)
    except (msgspec.DecodeError, ValueError, TypeError) as error:
        raise ImageDamaged(f"chunk {place} of the image is not readable: {error}") from None
    return kind, rows


def _header(rows: list[Any]) -> Header:
    header = msgspec.convert(rows[0], Header)
    if header.magic != MAGIC or header.format != FORMAT:
        raise ImageDamaged(
            f"the image has format {header.format!r} of {header.magic!r}, not {FORMAT} of {MAGIC!r}"
        )
    return header


def _load_inodes(namespace: Namespace, rows: list[Any]) -> None:
    for row in msgspec.convert(rows, list[InodeRow]):
        inode = Inode(*row[:-1], NO_NAMES if row[-1] else None)
        namespace.tree.inodes[inode.number] = inode


def _load_dentries(namespace: Namespace, rows: list[Any]) -> None:
    inodes = namespace.tree.inodes
    for number, name, child in msgspec.convert(rows, list[DentryRow]):
        parent = inodes[number]
        if parent.entries is None:
            raise TypeError(f"inode {number} is no directory")
        if parent.entries is NO_NAMES:
            parent.entries = {}
        parent.entries[name] = child


def _load_bodies(namespace: Namespace, rows: list[Any]) -> None:
    for row in msgspec.convert(rows, list[BodyRow]):
        namespace.tree.bodies.restore(Body(*row))


def _load_next_block(namespace: Namespace, rows: list[Any]) -> None:
    (namespace.tree.bodies.next_block,) = msgspec.convert(rows, list[int])


def _load_sessions(namespace: Namespace, rows: list[Any]) -> None:
    for client, lowest_open, results in msgspec.convert(rows, list[SessionRow]):
        namespace.sessions.restore(client, lowest_open, results)


_LOADERS = {
    "inodes": _load_inodes,
    "dentries": _load_dentries,
    "bodies": _load_bodies,
    "next block": _load_next_block,
    "sessions": _load_sessions,
}


def _finish(namespace: Namespace, header: Header) -> None:
    tree = namespace.tree
    root = tree.inodes.get(tree.root.number)
    if root is None or len(tree.inodes) != header.inodes:
        raise ImageDamaged(f"the image holds {len(tree.inodes)} inodes; its header says {header.inodes}")
    tree.root = root
    tree.next_number = header.next_number
    tree.digest = tree.recompute_digest()
    if namespace.digest != header.digest:
        raise ImageDamaged("the namespace in the image does not have the digest of its header")
