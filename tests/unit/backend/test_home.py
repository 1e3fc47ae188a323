import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from backend.errors import CannotStart
from backend.fabrics.children import began
from backend.fabrics.home import Home, free_port
from backend.shape import Shape


def test_a_second_opening_says_who_holds_it(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    with pytest.raises(CannotStart, match=f"in use by another .* \\(pid {os.getpid()}\\)"):
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
    with pytest.raises(CannotStart, match="has a cluster with standbys 2"):
        Home.open(tmp_path, Shape(standbys=3))
    with pytest.raises(CannotStart, match="has a cluster with no hole open; leave --hole out"):
        Home.open(tmp_path, Shape(holes=("late_watch",)))
    (tmp_path / "cluster.json").write_text("{")
    with pytest.raises(CannotStart, match="damaged"):
        Home.open(tmp_path)


@pytest.mark.parametrize("other", [1, 9])
def test_a_directory_of_another_version_is_refused_with_advice_and_not_altered(
    tmp_path: Path, other: int
) -> None:
    Home.open(tmp_path, Shape(standbys=2)).close()
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": other}))
    (tmp_path / "lock").write_text("of the other version\n")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(CannotStart, match=f"has format {other}; this version reads format 2.*a new --data"):
        Home.open(tmp_path)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_an_unusable_directory_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart, match="cannot use the data directory"):
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
