"""The secret of a container: what somebody who has taken it over can compute, and what not."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from backend import containers
from backend.fabrics.inventory import Inventory
from nodes.supervisor.secret import ContainerKeys, container_keys, read_secret
from nodes.wire.keys import Keys, WeakToken, keys_of, supervisor_key

TOKEN = b"t" * 64
HOSTS = {"CLOVERLAB_GROUPS": "mds1 mds2", "CLOVERLAB_SPARES": "mds3", "CLOVERLAB_ZOOKEEPERS": "zk1", "CLOVERLAB_DATA_NODES": "dn1"}  # fmt: skip


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of keys, as the command writes it."""
    (tmp_path / "token").write_bytes(TOKEN + b"\n")
    for name, value in HOSTS.items():
        monkeypatch.setenv(name, value)
    command = ["containers", "keys", str(tmp_path / "keys"), "--token", str(tmp_path / "token")]
    monkeypatch.setattr(sys, "argv", command)
    assert containers.main() == 0
    return tmp_path / "keys"


def test_every_host_has_a_secret_of_its_own_without_the_token(written: Path) -> None:
    files = {path.name: path for path in written.iterdir()}
    assert set(files) == set(Inventory.reported(HOSTS).hosts())
    found = {name: read_secret(path, name) for name, path in files.items()}
    assert len({each.supervisor for each in found.values()}) == len(found)
    for name, path in files.items():
        assert path.stat().st_mode & 0o777 == 0o600
        assert found[name].supervisor == supervisor_key(TOKEN, name), "the control plane knows it"
        assert TOKEN not in path.read_bytes()
        others = {other: supervisor_key(TOKEN, other) for other in files if other != name}
        assert not set(msgspec.structs.astuple(found[name].process)) & set(others.values())


def test_a_container_has_the_keys_of_its_own_kind_alone(written: Path) -> None:
    server, client = keys_of(TOKEN, serves=True), keys_of(TOKEN, serves=False)
    assert (
        read_secret(written / "mds1", "mds1").process == read_secret(written / "dn1", "dn1").process == server
    )
    assert read_secret(written / "client1", "client1").process == client
    assert read_secret(written / "zk1", "zk1").process == Keys()
    with pytest.raises(WeakToken, match="no keys of a server"):
        read_secret(written / "client1", "client1").of_process(serves=True)
    with pytest.raises(WeakToken, match="no keys of a client"):
        read_secret(written / "zk1", "zk1").of_process(serves=False)
    assert read_secret(written / "mds1", "mds1").of_process(serves=False) == client


def test_the_token_gives_the_same_keys(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(TOKEN)
    assert read_secret(file, "mds1") == container_keys(TOKEN, "mds1", keys_of(TOKEN, serves=True))


@pytest.mark.parametrize(
    "content",
    [b"", b"t" * 31, b"{", b"{}", b'{"supervisor": ""}', b'{"supervisor": "dA=="}', b'{"supervisor": 5}',
     msgspec.json.encode(ContainerKeys(b"t" * 31))],
)  # fmt: skip
def test_half_a_secret_is_none(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(WeakToken) as weak:
        read_secret(file, "mds1")
    assert "\n" not in str(weak.value)


def test_without_a_whole_token_no_keys_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in HOSTS.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "token").write_bytes(b"short")
    for token in ("token", "nothing"):
        monkeypatch.setattr(
            sys, "argv", ["containers", "keys", str(tmp_path / "keys"), "--token", str(tmp_path / token)]
        )
        assert containers.main() == 2
    assert not (tmp_path / "keys").exists()
    first, second = capsys.readouterr().err.splitlines()
    assert "32 are the least" in first and "No such file" in second
