import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from backend.errors import ClusterCannotStart
from backend.fabrics.children import began
from backend.fabrics.home import SOCKET_PATH_BYTES, Home, fits_socket, free_port, socket_place
from backend.shape import Shape
from nodes.config import one_group
from nodes.real.private_files import replace_file
from nodes.wire.keys import Keys, keys_of


def test_a_second_opening_says_who_holds_it(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    with pytest.raises(ClusterCannotStart, match=f"in use by another .* \\(pid {os.getpid()}: .+\\)"):
        Home.open(tmp_path)
    home.close()
    again = Home.open(tmp_path)
    assert again.name == home.name and again.token == home.token
    again.close()


def test_ports_are_recorded_and_reused_but_not_when_taken(tmp_path: Path) -> None:
    home = Home.open(tmp_path, Shape(standbys=3))
    port = home.port_of("mds1")
    home.close()
    again = Home.open(tmp_path)
    assert again.port_of("mds1") == port
    with socket.create_server(("127.0.0.1", port)):
        assert again.port_of("mds1") != port
    again.close()
    assert free_port(set()) < 32_000


def test_the_token_is_the_owners_alone(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600 and len(home.token) == 64
    home.close()


def test_another_shape_or_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    Home.open(tmp_path, Shape(standbys=2)).close()
    with pytest.raises(ClusterCannotStart, match="has a cluster with standbys 2"):
        Home.open(tmp_path, Shape(standbys=3))
    with pytest.raises(ClusterCannotStart, match="has a cluster with no hole open; leave --hole out"):
        Home.open(tmp_path, Shape(holes=("late_watch",)))
    (tmp_path / "cluster.json").write_text("{")
    with pytest.raises(ClusterCannotStart, match="damaged"):
        Home.open(tmp_path)


@pytest.mark.parametrize("other", [2, 9])
def test_a_directory_of_another_version_is_refused_with_advice_and_not_altered(
    tmp_path: Path, other: int
) -> None:
    Home.open(tmp_path, Shape(standbys=2)).close()
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": other}))
    (tmp_path / "lock").write_text("of the other version\n")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(
        ClusterCannotStart, match=f"has format {other}; this version reads format 3.*a new --data"
    ):
        Home.open(tmp_path)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_an_unusable_directory_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ClusterCannotStart, match="cannot use the data directory"):
        Home.open(tmp_path / "file" / "data")


def test_a_long_path_still_has_short_sockets(tmp_path: Path) -> None:
    home = Home.open(tmp_path / ("x" * 120))
    assert len(os.fsencode(home.socket_of("coordination"))) < 104
    home.close()


def test_sockets_of_who_is_gone_are_removed_with_their_directory(tmp_path: Path) -> None:
    """A crash leaves a socket without a listener; the next opening finds the directory again."""
    path = tmp_path / ("x" * 120)
    home = Home.open(path)
    gone, running = home.socket_of("gone"), home.socket_of("running")
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(gone))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(running))
        listener.listen()
        home.close()
        assert running.exists() and not gone.exists()
    again = Home.open(path)
    assert again.socket_of("running") == running and running.exists()
    again.close()
    assert not running.parent.exists()


def test_a_pid_is_trusted_only_with_its_beginning() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert began(process.pid) != "" and began(process.pid) == began(process.pid)
    process.kill()
    process.wait()
    assert began(process.pid) == ""


def refused(path: Path, words: str) -> None:
    with pytest.raises(ClusterCannotStart, match=words):
        Home.open(path)


def test_a_directory_that_others_can_change_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    path.mkdir()
    for mode in (0o777, 0o1777):
        path.chmod(mode)
        refused(path, "can be changed by other users")
    path.chmod(0o755)
    Home.open(path).close()
    made = tmp_path / "made"
    Home.open(made).close()
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_a_directory_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = 4_000_000
    path, link, sockets = tmp_path / "theirs", tmp_path / "link", tmp_path / "sockets"
    for each in (path, sockets):
        each.mkdir()
    link.symlink_to(tmp_path)
    stats = {each: os.lstat(each) for each in (path, link, sockets)}

    def owned(self: Path) -> os.stat_result:
        found = stats[self] if self in stats else os.lstat(self)
        return os.stat_result((*found[:4], owner if self in stats else found.st_uid, *found[5:]))

    monkeypatch.setattr(Path, "lstat", owned)
    for each in (path, link):
        refused(each, "belongs to another user")
    monkeypatch.setattr("backend.fabrics.home.socket_place", lambda path: sockets)
    refused(tmp_path / "mine", "belongs to another user")


def test_a_long_directory_of_temporary_files_is_not_for_sockets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("a" * SOCKET_PATH_BYTES)
    monkeypatch.setattr("tempfile.tempdir", str(long))
    place = socket_place(long)
    assert fits_socket(place) and place == socket_place(long) != socket_place(long / "other")


@pytest.mark.parametrize("token", [b"", b"\n", b"x" * 31])
def test_a_short_token_is_refused(tmp_path: Path, token: bytes) -> None:
    (tmp_path / "token").write_bytes(token)
    refused(tmp_path, "32 are the least")


def test_planted_links_are_neither_followed_nor_taken(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("of somebody else " * 4)
    path = tmp_path / "data"
    path.mkdir()
    (path / "token").symlink_to(other)
    refused(path, "cannot use the data directory")
    (path / "token").unlink()
    (path / "lock").unlink()
    (path / "lock").symlink_to(other)
    refused(path, "cannot use the data directory")
    (path / "lock").unlink()
    (path / ".cluster.json.new").symlink_to(other)
    Home.open(path).close()
    assert other.read_text() == "of somebody else " * 4


def test_a_process_gets_the_keys_of_its_realms_alone(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    server, client = (
        msgspec.json.decode(home.keys_file(role).read_bytes(), type=Keys) for role in ("server", "workload")
    )
    assert server == keys_of(home.token, serves=True) and client == Keys(client=server.client)
    assert stat.S_IMODE(home.keys_file("server").stat().st_mode) == 0o600
    home.close()


def test_a_full_disk_leaves_the_old_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system takes a part of the bytes, as on a nearly full disk, and then no more."""
    path, write, taken = tmp_path / "file", os.write, []

    def short(descriptor: int, data: memoryview) -> int:
        if sum(taken) + len(data) > room and taken:
            raise OSError(28, "No space left on device")
        taken.append(write(descriptor, data[:1000]))
        return taken[-1]

    monkeypatch.setattr("nodes.real.private_files.os.write", short)
    room = 10_000
    replace_file(path, b"a" * 3000)
    assert path.read_bytes() == b"a" * 3000 and len(taken) == 3
    taken.clear()
    room = 2_500
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"b" * 3000)
    assert path.read_bytes() == b"a" * 3000 and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("shape", "detection"),
    [
        (Shape(), "members"),
        (Shape(detection="session"), "session"),
        (Shape(standbys=1), "session"),
        (Shape(protocol="2pc"), "members"),
        (Shape(protocol="qjm"), "members"),
        (Shape(protocol="hadoop-ha"), "members"),
        (Shape(protocol="qjm", standbys=0), "session"),
        (Shape(protocol="qjm", nodes={"journal_node": 1}), "session"),
        (Shape(protocol="bookkeeper"), "session"),
        (Shape(protocol="avatar"), "session"),
        (Shape(config=one_group(3)), "session"),
    ],
)
def test_members_of_a_new_cluster_detect_failures_where_they_can(
    tmp_path: Path, shape: Shape, detection: str
) -> None:
    home = Home.open(tmp_path, shape)
    assert home.file.cluster.detection == detection
    home.close()
    Home.open(tmp_path).close()
