"""The files of servers of every family, read without the servers: whole, cut off and damaged ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.dump import images, journals
from nodes.errors import Damaged
from nodes.metadata.operations import Create, Mkdir
from nodes.storage.records import CorruptJournal
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab

ALL = 1 << 62


def laid_out(lab: Lab, server: str, path: Path) -> Path:
    """The content of a server's simulated disk as files."""
    for name, file in lab.cluster.servers[server].store.files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(file.data)
    return path


def worked(protocol: str) -> Lab:
    lab = lab_of(protocol, 1)
    lab.ada.call(Mkdir("/a"))
    for number in range(20):
        lab.ada.call(Create(f"/a/f{number}"))
    lab.run_ms(2_000)
    return lab


def contents(path: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.mark.parametrize(
    ("protocol", "kind"),
    [
        ("mams", "mds"),
        ("2pc", "mds"),
        ("packed-paxos", "mds"),
        ("symmetric", "mds"),
        ("qjm", "jn"),
        ("bookkeeper", "bookie"),
    ],
)
def test_the_journal_of_every_family_is_read(protocol: str, kind: str, tmp_path: Path) -> None:
    lab = worked(protocol)
    files: set[str] = set()
    for server, disk in lab.cluster.servers.items():
        if not server.startswith(kind) or f"journal/{1:020d}.seg" not in disk.store.files:
            continue
        path = laid_out(lab, server, tmp_path / server)
        before = contents(path)
        found = list(journals.entries(path, 0, ALL))
        files.update(name for entry in found for record in entry["records"] for name in made(record))
        middle = found[len(found) // 2]["sn"]
        assert {entry["sn"] for entry in journals.entries(path, middle, middle)} == {middle}
        assert contents(path) == before
    assert files == {"a", *(f"f{number}" for number in range(20))}


def made(record: dict[str, object]) -> list[str]:
    """Names that a record makes, or that the call in it asks for."""
    if record["kind"] == "CallRecord" and record["operation"][0] in ("Create", "Mkdir"):  # type: ignore[index]
        return [record["operation"][1].rpartition("/")[2]]  # type: ignore[index]
    return record["names"] if record["kind"] == "MakeRecord" else []  # type: ignore[return-value]


def segment_of(tmp_path: Path) -> Path:
    return max(laid_out(worked("mams"), "mds1", tmp_path).glob("journal/*.seg"))


def until_damage(path: Path) -> tuple[list[int], str]:
    found = []
    try:
        for entry in journals.entries(path, 0, ALL):
            found.append(entry["sn"])
    except Damaged as damaged:
        return found, str(damaged)
    return found, ""


def test_a_segment_that_is_cut_off_gives_what_is_whole(tmp_path: Path) -> None:
    file = segment_of(tmp_path)
    data, (whole, nothing) = file.read_bytes(), until_damage(file)
    assert not nothing
    for size in range(len(data) - 1, -1, -97):
        file.write_bytes(data[:size])
        found, line = until_damage(file)
        assert found == whole[: len(found)] and str(file) in line and "\n" not in line


def test_a_flipped_bit_is_named_with_its_place(tmp_path: Path) -> None:
    file = segment_of(tmp_path)
    data, (whole, _) = file.read_bytes(), until_damage(file)
    rotten = bytearray(data)
    rotten[len(data) // 2] ^= 1
    file.write_bytes(rotten)
    found, line = until_damage(file)
    assert found == whole[: len(found)] and len(found) < len(whole)
    assert "offset" in line and f"sn {found[-1] + 1}" in line


def test_a_missing_segment_and_other_files_are_named(tmp_path: Path) -> None:
    file = segment_of(tmp_path)
    (file.with_name(f"{7_000:020d}.seg")).write_bytes(file.read_bytes())
    with pytest.raises(CorruptJournal, match="should come next"):
        list(journals.entries(tmp_path, 0, ALL))
    file.write_bytes(b"#!/bin/sh\n" * 40)
    with pytest.raises(CorruptJournal, match="begins with"):
        list(journals.entries(file, 0, ALL))
    with pytest.raises(FileNotFoundError, match="no journal"):
        list(journals.entries(tmp_path / "nothing", 0, ALL))


def imaged(tmp_path: Path) -> Path:
    lab = worked("mams")
    lab.cluster.ask(lab.active, {"do": "take_image"})
    lab.run_ms(3_000)
    return laid_out(lab, lab.standbys[0], tmp_path)


def test_an_image_gives_its_rows_by_name(tmp_path: Path) -> None:
    path = imaged(tmp_path)
    before = contents(path)
    rows = list(images.rows(path))
    assert rows[0]["kind"] == "manifest" and rows[1]["kind"] == "header"
    names = {row["name"] for row in rows if row["kind"] == "dentries"}
    assert names == {"a", *(f"f{number}" for number in range(20))}
    assert sum(row["kind"] == "inodes" for row in rows) == rows[1]["inodes"]
    assert contents(path) == before


def test_a_damaged_image_gives_what_is_whole(tmp_path: Path) -> None:
    path = imaged(tmp_path)
    whole = list(images.rows(path))
    file = max(path.glob("image/*.p*"), key=lambda file: file.stat().st_size)
    data = file.read_bytes()
    rotten = bytearray(data)
    rotten[-20] ^= 1
    for content in (data[:-3], data[:100], bytes(rotten), b"", data + b"x"):
        file.write_bytes(content)
        found = []
        with pytest.raises(Damaged, match=file.name) as error:
            for row in images.rows(path):
                found.append(row)
        assert found == whole[: len(found)] and "\n" not in str(error.value)
