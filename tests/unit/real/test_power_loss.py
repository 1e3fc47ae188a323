"""A power loss drops exactly the unsynced data of a real disk."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.errors import Damaged
from nodes.real.disk import RealDisk
from nodes.real.synced_lengths import FORMAT, MAGIC, NAME, SLOTS, Synced, lose_power, names
from nodes.real.turn import Turn

CHILD = """
import asyncio, os, signal, sys
from pathlib import Path
from nodes.real.disk import RealDisk
from nodes.real.turn import Turn

async def main():
    disk = RealDisk(Path(sys.argv[1]), Turn(asyncio.get_running_loop()))
    file = disk.open_append("journal/1.log")
    file.append(b"synced")
    await file.sync()
    file.append(b" and not")
    await disk.replace("epoch", b"9")
    await disk.replace("epoch", b"10")
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_of_a_killed_process_only_what_was_synced_is_left(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", CHILD, str(tmp_path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "journal/1.log").read_bytes() == b"synced and not"
    assert lose_power(tmp_path) == ["journal/1.log: 8 of 14 bytes were not synced"]
    assert (tmp_path / "journal/1.log").read_bytes() == b"synced"
    assert (tmp_path / "epoch").read_bytes() == b"10"
    assert lose_power(tmp_path) == []


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["append", "sync", "truncate", "remove", "move", "replace", "reopen"]),
        st.sampled_from(["a", "b", "journal/c"]),
        st.integers(0, 9),
    ),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(STEPS, st.integers(0, 1 << 30))
def test_every_file_keeps_its_durable_beginning(steps: list[tuple[str, str, int]], seed: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        durable = asyncio.run(played(Path(directory), steps))
        lose_power(Path(directory), random.Random(seed))
        there = {
            str(path.relative_to(directory)): path.read_bytes()
            for path in Path(directory).rglob("*")
            if path.is_file() and path.name != NAME
        }
        assert there.keys() == durable.keys()
        for name, (synced, written) in durable.items():
            assert there[name].startswith(synced) and written.startswith(there[name])


async def played(root: Path, steps: list[tuple[str, str, int]]) -> dict[str, tuple[bytes, bytes]]:
    """Durable and written content, by name."""
    disk = RealDisk(root, Turn(asyncio.get_running_loop()))
    open_files, model = {}, {}
    for do, name, amount in steps:
        if do == "replace":
            if name in open_files:
                continue
            await disk.replace(name, bytes([amount]) * amount)
            model[name] = (bytes([amount]) * amount, bytes([amount]) * amount)
            continue
        if do == "remove":
            if name in model:
                open_files.pop(name, None)
                disk.remove(name)
                del model[name]
            continue
        if do == "move":
            if name in model and name not in open_files and "moved" not in open_files:
                await disk.move(name, "aside/moved")
                model["aside/moved"] = model.pop(name)
            continue
        if name not in open_files:
            open_files[name] = disk.open_append(name)
            model.setdefault(name, (b"", b""))
        synced, written = model[name]
        file = open_files[name]
        if do == "append":
            file.append(bytes([amount]) * amount)
            model[name] = (synced, written + bytes([amount]) * amount)
        elif do == "sync":
            await file.sync()
            model[name] = (written, written)
        elif do == "truncate":
            size = min(amount, len(written))
            await file.truncate(size)
            model[name] = (written[:size], written[:size])
        else:
            file.close()
            del open_files[name]
    return model


def test_a_name_that_is_not_durable_vanishes(tmp_path: Path) -> None:
    synced = Synced(tmp_path)
    synced.slot_of("new", -1)
    (tmp_path / "new").write_bytes(b"size")
    (tmp_path / "older").write_bytes(b"of a version without a record")
    assert lose_power(tmp_path) == ["new: its name was not synced"]
    assert not (tmp_path / "new").exists() and (tmp_path / "older").exists()


def test_the_record_grows_and_is_found_again(tmp_path: Path) -> None:
    synced = Synced(tmp_path)
    for number in range(3 * SLOTS):
        synced.keep(synced.slot_of(f"file {number}", -1), number)
    synced.forget("file 7")
    again = Synced(tmp_path)
    assert again.slot_of("file 767", 0) == synced.slot_of("file 767", 0)
    (tmp_path / "file 767").write_bytes(bytes(1000))
    (tmp_path / "file 7").write_bytes(bytes(1000))
    assert lose_power(tmp_path) == ["file 767: 233 of 1000 bytes were not synced"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"something else entirely".ljust(256), "no record of what is synced"),
        (
            (MAGIC + (FORMAT + 8).to_bytes(2, "little")).ljust(256, b"\0"),
            "format 9; this version reads format 1",
        ),
        (MAGIC + FORMAT.to_bytes(2, "little"), "no record"),
    ],
)
def test_a_strange_record_is_refused_and_left_as_it_is(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / NAME).write_bytes(data)
    with pytest.raises(Damaged, match=said):
        Synced(tmp_path)
    with pytest.raises(Damaged, match=said):
        lose_power(tmp_path)
    assert (tmp_path / NAME).read_bytes() == data


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="246 is the most"):
        Synced(tmp_path).slot_of("n" * 300, -1)
    assert os.listdir(tmp_path) == [NAME]


def test_a_record_that_found_no_room_is_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its space is allocated before it is mapped, so that later writes cannot fail."""

    def full(fd: int, offset: int, length: int) -> None:
        os.ftruncate(fd, length)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "posix_fallocate", full)
        with pytest.raises(OSError, match="No space left"):
            Synced(tmp_path)
    assert lose_power(tmp_path) == []
    record = Synced(tmp_path)
    for number in range(SLOTS):
        record.keep(record.slot_of(f"file {number}", -1), number)
    with monkeypatch.context() as patched:
        patched.setattr(os, "posix_fallocate", full)
        with pytest.raises(OSError, match="No space left"):
            record.slot_of("one more", 0)
    record.keep(record.slot_of("one more", 0), 9)
    assert Synced(tmp_path).slot_of("file 7", 0) == record.slot_of("file 7", 0)


def test_without_the_system_s_call_room_is_taken_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "posix_fallocate")
    record = Synced(tmp_path)
    slots = {f"f{number}": record.slot_of(f"f{number}", number) for number in range(300)}
    assert len(set(slots.values())) == 300
    found = dict(names((tmp_path / NAME).read_bytes()))
    assert found == slots
    with (tmp_path / NAME).open("rb") as file:
        assert os.fstat(file.fileno()).st_blocks * 512 >= os.fstat(file.fileno()).st_size
