"""The log: synced entries survive, a torn tail is truncated, damage in the middle is refused."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from nodes.coordination import operations as ops
from nodes.coordination.image import dump
from nodes.coordination.log import LogRefused, TransactionLog, image_bytes, payload_at
from nodes.coordination.tree import OPERATOR, ZnodeTree
from tests.unit.coordination.story import FILE, logged, reopened, written

HEAD = 12


def offsets(data: bytes) -> list[int]:
    """Offset of each record, and of the end."""
    found = [HEAD]
    while (payload := payload_at(data, found[-1])) is not None:
        found.append(found[-1] + 8 + len(payload))
    return found


def test_reopening_restores_nodes_versions_zxid_and_sessions(tmp_path: Path) -> None:
    images = written(tmp_path)
    tree, _ = reopened(tmp_path)
    assert dump(tree) == images[-1]
    assert len(tree.sessions.open) == 4 and tree.sessions.open[1].password == b"secret"
    assert sum(len(session.ephemerals) for session in tree.sessions.open.values()) == 3


def test_time_outs_start_afresh(tmp_path: Path) -> None:
    written(tmp_path)
    tree, log = ZnodeTree(), TransactionLog(tmp_path)
    log.open(tree, 1_000_000)
    assert tree.sessions.due(1_005_000) == []
    assert len(tree.sessions.due(1_005_100)) == 4


def test_a_tail_torn_at_any_octet_is_cut_and_the_log_goes_on(tmp_path: Path) -> None:
    images = written(tmp_path)
    data = (tmp_path / FILE).read_bytes()
    last = offsets(data)[-2]
    for cut in range(last, len(data)):
        for before in tmp_path.glob("log-*"):
            before.unlink()
        (tmp_path / FILE).write_bytes(data[:cut])
        tree, log = reopened(tmp_path)
        assert dump(tree) == images[-2], cut
        assert log.cut_bytes == cut - last
        log.write([logged(tree, OPERATOR, ops.CreateZnode("/after"))])
        log.close()
        assert "/after" in reopened(tmp_path)[0].nodes


def test_a_tail_of_zeros_is_cut(tmp_path: Path) -> None:
    images = written(tmp_path)
    with (tmp_path / FILE).open("ab") as file:
        file.write(bytes(4096))
    assert dump(reopened(tmp_path)[0]) == images[-1]


def test_a_flipped_octet_in_the_middle_is_refused_with_file_and_offset(tmp_path: Path) -> None:
    written(tmp_path)
    data = (tmp_path / FILE).read_bytes()
    first, last = offsets(data)[1], offsets(data)[-2]
    for at in range(first, last):
        damaged = bytearray(data)
        damaged[at] ^= 0x41
        (tmp_path / FILE).write_bytes(damaged)
        with pytest.raises(LogRefused) as refused:
            reopened(tmp_path)
        line = str(refused.value)
        record = max(offset for offset in offsets(data) if offset <= at)
        assert str(tmp_path / FILE) in line and f"offset {record}" in line and "\n" not in line
        assert (tmp_path / FILE).read_bytes() == damaged


def test_a_damaged_image_is_refused(tmp_path: Path) -> None:
    written(tmp_path)
    data = bytearray((tmp_path / FILE).read_bytes())
    data[HEAD + 9] ^= 1
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(LogRefused, match="damaged at offset 12"):
        reopened(tmp_path)


def test_an_unknown_format_is_refused_with_both_numbers(tmp_path: Path) -> None:
    written(tmp_path)
    data = bytearray((tmp_path / FILE).read_bytes())
    data[11] = 9
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(LogRefused, match=r"format 9.*format 2.*a new --data"):
        reopened(tmp_path)


@pytest.mark.parametrize("data", [b"", b"CLVR", b"something else entirely"])
def test_what_is_not_ours_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(LogRefused, match="wrong magic"):
        reopened(tmp_path)


def test_rotation_keeps_one_bounded_file(tmp_path: Path) -> None:
    tree, log = ZnodeTree(), TransactionLog(tmp_path, rotate_bytes=2_000)
    log.open(tree, 0)
    tree.submit(OPERATOR, ops.CreateZnode("/a"), 1)
    log.begin(image_bytes(tree))
    for number in range(500):
        change = logged(tree, OPERATOR, ops.SetData("/a", b"%d" % number))
        if log.full:
            log.begin(image_bytes(tree))
        else:
            log.write([change])
        files = list(tmp_path.iterdir())
        assert len(files) == 1 and files[0].stat().st_size < 3_000
    log.close()
    again, _ = reopened(tmp_path)
    assert dump(again) == dump(tree) and again.nodes["/a"].version == 500


@pytest.mark.parametrize("leftover", ["log-00000002.tmp", "old"])
def test_a_rotation_cut_short_is_put_right(tmp_path: Path, leftover: str) -> None:
    images = written(tmp_path)
    data = (tmp_path / FILE).read_bytes()
    if leftover == "old":
        (tmp_path / "log-00000002").write_bytes(data)
        (tmp_path / FILE).write_bytes(b"older, no longer looked at")
    else:
        (tmp_path / leftover).write_bytes(data[: random.Random(1).randrange(len(data))])
    tree, _ = reopened(tmp_path)
    assert dump(tree) == images[-1] and len(list(tmp_path.iterdir())) == 1


def test_a_write_returns_only_after_all_of_it_was_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill leaves written bytes in place, and only a power loss shows a missing sync, so the test observes the call."""
    tree, log = ZnodeTree(), TransactionLog(tmp_path)
    log.open(tree, 0)
    synced: list[int] = []
    real = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda fd: (synced.append(os.fstat(fd).st_size), real(fd)))
    for number in range(3):
        log.write([logged(tree, OPERATOR, ops.CreateZnode(f"/{number}"))])
        assert len(synced) == number + 1 and synced[-1] == (tmp_path / FILE).stat().st_size
    log.close()


def test_a_new_file_is_synced_before_the_old_one_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, log = ZnodeTree(), TransactionLog(tmp_path)
    log.open(tree, 0)
    seen: list[list[str]] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (seen.append(sorted(os.listdir(tmp_path))), real(fd)))
    log.begin(image_bytes(tree))
    assert seen == [[FILE, "log-00000002.tmp"], [FILE, "log-00000002"]]
    log.close()
