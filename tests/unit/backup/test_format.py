"""The format of a backup: what is written is read again, in any pieces, and no damage is taken for a backup."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from nodes.backup.decoder import BackupReader
from nodes.backup.records import (
    FORMAT,
    FRAME,
    HEAD,
    MAGIC,
    PART_MAX,
    BackupDamaged,
    BackupEnd,
    BackupHeader,
    Content,
    DirectoryBegin,
    DirectoryEnd,
    Encoder,
    EndedEarly,
    FileBegin,
    FurtherName,
    Record,
    Totals,
)
from nodes.format_number import stored

HEADER = BackupHeader("clover", "mams", "1.0", "monday", 0, 1_700_000_000_000_000_000, {"g1": 12, "g2": 7})
TREE: list[Record] = [
    HEADER,
    DirectoryBegin("", 0o755, "clover", "clover"),
    DirectoryBegin("a", 0o700, "ada", "lab"),
    FileBegin("f", 0o644, "ada", "lab", 1, 2, 3, 65_536, 5, 1),
    Content(b"abc"),
    Content(b"de"),
    FileBegin("g", 0o600, "ada", "lab", 1, 2, 1, 0, 0, 0),
    DirectoryEnd(3, 4),
    FurtherName("b", 1),
    DirectoryEnd(5, 6),
    BackupEnd(Totals(2, 2, 1, 5)),
]


def written(records: Iterable[Record]) -> bytes:
    encoder = Encoder()
    return encoder.head() + b"".join([encoder.part(record) for record in records])


def read(data: bytes, pieces: int = 0) -> list[Record]:
    reader, size = BackupReader(), pieces or len(data) or 1
    found = [record for at in range(0, len(data), size) for record in reader.records(data[at : at + size])]
    reader.finish()
    return found


def refused(data: bytes) -> str:
    with pytest.raises(BackupDamaged) as caught:
        read(data)
    line = str(caught.value)
    assert "\n" not in line
    return line


NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=20
).filter(lambda name: name not in (".", ".."))
OWNERS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=10)
TIMES = st.integers(0, (1 << 63) - 1)
MODES = st.integers(0, 0o7777)


@st.composite
def trees(draw: st.DrawFn) -> list[Record]:
    records: list[Record] = [HEADER]
    links: list[int] = []
    counts = {"directories": 0, "files": 0, "names": 0, "size": 0}

    def directory(name: str, depth: int) -> None:
        records.append(DirectoryBegin(name, draw(MODES), draw(OWNERS), draw(OWNERS)))
        counts["directories"] += 1
        for below in sorted(draw(st.lists(NAMES, unique=True, max_size=4))):
            kind = draw(st.sampled_from(["directory", "file", "name"]))
            if kind == "directory" and depth < 4:
                directory(below, depth + 1)
            elif kind == "name" and links:
                records.append(FurtherName(below, draw(st.sampled_from(links))))
                counts["names"] += 1
            else:
                file(below)
        records.append(DirectoryEnd(draw(TIMES), draw(TIMES)))

    def file(name: str) -> None:
        content = draw(st.lists(st.binary(min_size=1, max_size=50), max_size=3))
        link = draw(st.booleans()) and len(links) + 1
        if link:
            links.append(link)
        size = sum(map(len, content))
        records.append(
            FileBegin(name, draw(MODES), draw(OWNERS), draw(OWNERS), draw(TIMES), draw(TIMES), draw(st.integers(1, 512)), 512, size, int(link))
        )  # fmt: skip
        records.extend(map(Content, content))
        counts["files"] += 1
        counts["size"] += size

    directory("", 0)
    return [*records, BackupEnd(Totals(**counts))]


@given(trees(), st.integers(1, 200))
def test_every_tree_is_read_as_it_was_written_in_any_pieces(records: list[Record], pieces: int) -> None:
    assert read(written(records), pieces) == records


@given(trees(), st.data())
def test_no_changed_byte_and_no_cut_is_taken_for_a_backup(records: list[Record], data: st.DataObject) -> None:
    whole = written(records)
    at = data.draw(st.integers(0, len(whole) - 1))
    refused(whole[:at])
    changed = bytearray(whole)
    changed[at] ^= data.draw(st.integers(1, 255))
    refused(bytes(changed))


def parts_of(data: bytes) -> list[bytes]:
    found, at = [], HEAD.size
    while at < len(data):
        end = at + FRAME.size + FRAME.unpack_from(data, at)[0]
        found.append(data[at:end])
        at = end
    return found


def test_a_part_that_is_missing_repeated_or_out_of_place_is_found() -> None:
    """Each part is whole by itself, and would have its place."""
    records = [
        HEADER,
        DirectoryBegin("", 0o755, "o", "g"),
        FileBegin("a", 0o644, "o", "g", 1, 1, 3, 512, 2, 0), Content(b"x"), Content(b"y"),
        DirectoryEnd(1, 1),
        BackupEnd(Totals(1, 1, 0, 2)),
    ]  # fmt: skip
    head, parts = written(records)[: HEAD.size], parts_of(written(records))
    for wrong in (
        [*parts[:3], parts[4], parts[3], *parts[5:]],
        [*parts[:3], parts[3], parts[3], *parts[5:]],
        [*parts[:3], *parts[4:]],
    ):
        assert "checksum" in refused(head + b"".join(wrong))


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "behind byte 0, the backup is cut off"),
        (b"hello, world", "it is no backup: it does not begin with CLVRBKUP"),
        (bytes(1000), "it is no backup"),
        (HEAD.pack(MAGIC, stored(FORMAT + 1)), f"it has format {FORMAT + 1}; this version reads format {FORMAT}"),
        (HEAD.pack(MAGIC, 0x1234), "it is no backup"),
        (Encoder.head() + FRAME.pack(PART_MAX + 1, 0), f"{PART_MAX} are the most"),
        (Encoder.head() + FRAME.pack(3, crc32c(b"\xc1ab")) + b"\xc1ab", "a part is not readable"),
        (written(TREE) + b"x", "the backup has ended, and more follows"),
        (written(TREE)[:-1], "the backup is cut off"),
    ],
)  # fmt: skip
def test_what_is_no_whole_backup_is_refused_in_one_line(data: bytes, line: str) -> None:
    assert line in refused(data)


ROOT = DirectoryBegin("", 0o755, "o", "g")
FILE = FileBegin("f", 0o644, "o", "g", 0, 0, 3, 512, 0, 0)


@pytest.mark.parametrize(
    ("records", "line"),
    [
        ([ROOT], "a DirectoryBegin is out of its place"),
        ([HEADER, HEADER], "a BackupHeader is out of its place"),
        ([HEADER, FILE], "a name has no directory"),
        ([HEADER, DirectoryBegin("a", 0, "", "")], "the root has a name"),
        ([HEADER, ROOT, DirectoryEnd(0, 0), ROOT], "a second root"),
        ([HEADER, ROOT, DirectoryEnd(0, 0), DirectoryEnd(0, 0)], "no directory is open"),
        ([HEADER, ROOT, BackupEnd(Totals(1))], "a directory has not ended"),
        ([HEADER, BackupEnd(Totals())], "a directory has not ended"),
        ([HEADER, ROOT, DirectoryEnd(0, 0), BackupEnd(Totals(2))], "the counts at the end"),
        ([HEADER, ROOT, FILE, FILE], "not in the order of names"),
        ([HEADER, ROOT, DirectoryBegin("b", 0, "", ""), DirectoryEnd(0, 0), DirectoryBegin("a", 0, "", "")], "not in the order"),
        ([HEADER, ROOT, DirectoryBegin("..", 0, "", "")], "a `..`"),
        ([HEADER, ROOT, DirectoryBegin("a/b", 0, "", "")], "the name 'a/b' is a path"),
        ([HEADER, ROOT, DirectoryBegin("a" * 256, 0, "", "")], "a name of 256 bytes"),
        ([HEADER, ROOT, *[DirectoryBegin("d" * 255, 0, "", "")] * 17], "a path has 4352 bytes; 4096 are the most"),
        ([HEADER, ROOT, DirectoryBegin("a", 0o10000, "", "")], "permission bits"),
        ([HEADER, ROOT, DirectoryBegin("a", 0, "o" * 256, "")], "an owner or group"),
        ([HEADER, ROOT, DirectoryEnd(-1, 0)], "times are nanoseconds"),
        ([HEADER, ROOT, FileBegin("f", 0, "", "", 0, 0, 0, 512, 0, 0)], "0 replicas"),
        ([HEADER, ROOT, FileBegin("f", 0, "", "", 0, 0, 3, 100, 0, 0)], "a block size is a multiple of 512"),
        ([HEADER, ROOT, FileBegin("f", 0, "", "", 0, 0, 3, 512, 9, 0), DirectoryEnd(0, 0)], "9 bytes of a file are missing"),
        ([HEADER, ROOT, FILE, Content(b"x")], "1 bytes come where a file has 0 more"),
        ([HEADER, ROOT, FileBegin("f", 0, "", "", 0, 0, 3, 512, 0, 2)], "1 should come next"),
        ([HEADER, ROOT, FurtherName("n", 1)], "a name refers to file 1"),
        ([HEADER, ROOT, EndedEarly("no data node gives it")], "its export ended early: no data node gives it"),
    ],
)  # fmt: skip
def test_records_that_form_no_tree_are_refused(records: list[Record], line: str) -> None:
    assert line in refused(written(records))
