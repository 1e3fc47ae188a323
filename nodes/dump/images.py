"""The rows of an image on disk, partition by partition, as they are stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from nodes.metadata.images import Header, ImageDamaged, ImageStream
from nodes.metadata.kinds import KINDS
from nodes.protocols.vssp.manifest import (
    DIRECTORY,
    MANIFEST_MAX,
    Manifest,
    decode,
    image_of,
    manifest_file,
    partition_file,
)

PIECE_BYTES = 1 << 20
FIELDS = {
    "inodes": (
        "number", "mode", "mtime_ns", "atime_ns", "owner", "group", "replication", "length", "nlink", "directory",
    ),
    "dentries": ("parent", "name", "child"),
    "bodies": ("inode", "block_size", "blocks", "writer"),
    "units": ("inode", "unit"),
    "sessions": ("client", "lowest_open", "used_ns", "results"),
}  # fmt: skip
"""Names of the fields in the rows of a kind; the rows of other kinds are single values."""
_decoders: dict[str, Any] = {kind: msgspec.msgpack.Decoder(each.page) for kind, each in KINDS.items()}
_header = msgspec.msgpack.Decoder(tuple[Header])


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of the newest whole image in a server's directory; of the image whose manifest `path` is; or of one partition.

    Raises ImageDamaged, after all that is whole, with the place and the reason; FileNotFoundError, OSError.
    """
    known = image_of(path.name)
    if path.is_file() and known is not None and known[1] is not None:
        yield from partition(path, known[1])
        return
    file = path if path.is_file() else newest(path)
    manifest = read_manifest(file)
    yield {"kind": "manifest", **msgspec.to_builtins(msgspec.structs.asdict(manifest))}
    for number, entry in enumerate(manifest.partitions):
        part = file.with_name(partition_file(manifest.image, number))
        size = part.stat().st_size if part.exists() else 0
        if size < entry.length:
            yield from partition(part, number) if size else ()
            raise ImageDamaged(f"{part} has {size} bytes; the manifest says {entry.length}")
        yield from partition(part, number)


def newest(path: Path) -> Path:
    """The manifest of the newest image of a server, or of a directory of images. Raises FileNotFoundError."""
    for directory in (path / DIRECTORY, path):
        found = [file for file in directory.glob("*.manifest") if image_of(file.name)]
        if found:
            return max(found, key=lambda file: file.name)
    raise FileNotFoundError(f"{path} has no image with a manifest")


def read_manifest(file: Path) -> Manifest:
    known = image_of(file.name)
    if known is None:
        raise ImageDamaged(f"{file} is neither the manifest nor a partition of an image, by its name")
    if file.stat().st_size > MANIFEST_MAX:
        raise ImageDamaged(f"{file} has {file.stat().st_size} bytes; a manifest has at most {MANIFEST_MAX}")
    manifest = decode(file.read_bytes(), known[0])
    assert file.name == manifest_file(manifest.image)
    return manifest


def partition(file: Path, number: int) -> Iterator[dict[str, Any]]:
    """The rows of one partition. Raises ImageDamaged, OSError."""
    stream = ImageStream(number)
    with file.open("rb") as source:
        while piece := source.read(PIECE_BYTES):
            try:
                for kind, page in stream.chunks(piece):
                    yield from _named(file, stream, kind, page)
            except ImageDamaged as damaged:
                raise ImageDamaged(
                    f"{file}: {damaged}; {stream.whole_bytes} bytes before it are whole"
                ) from None
    if not stream.ended:
        raise ImageDamaged(f"{file} is cut off behind {stream.whole_bytes} whole bytes")


def _named(file: Path, stream: ImageStream, kind: str, page: msgspec.Raw) -> Iterator[dict[str, Any]]:
    if kind == "end":
        return
    try:
        if kind == "header":
            [header] = _header.decode(page)
            yield {"kind": kind, **msgspec.structs.asdict(header)}
            return
        found = _decoders[kind].decode(page)
    except (KeyError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ImageDamaged(f"{stream.where} is not readable: {error}") from None
    names = FIELDS.get(kind)
    for row in msgspec.to_builtins(found, str_keys=True):
        yield {"kind": kind, **(dict(zip(names, row, strict=True)) if names else {"value": row})}
