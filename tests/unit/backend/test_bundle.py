"""`bundle`: what is in the archive, and that no secret is."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import tarfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
import pytest

from backend import registry, remote_requests
from backend.bundle import directory
from backend.bundle.archive import writing
from backend.bundle.redaction import Redaction
from backend.cli import entry
from backend.fabrics.home import Home
from backend.key import key_in
from backend.lab import Lab
from backend.settings import data_of
from backend.store.store import EventStore
from nodes.trace import events as e
from nodes.wire.keys import Keys, keys_of
from tests.unit.backend.story import Story
from tests.unit.backend.test_api import with_api

CONTENT = b"content of a file, which is its owner's alone"
PASSWORD = bytes(range(100, 116))
OTHER = b"the only line of a file of other keys"
PASSED = "A-KEY-IN-THE-ENVIRONMENT-OF-THE-COMMAND-LINE"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("CLOVERLAB_KEY", PASSED)


def secrets_of(data: Path) -> dict[str, bytes]:
    """Each secret of a data directory in the forms in which something might print it."""
    token = (data / "token").read_bytes().strip()
    keys = keys_of(token, serves=True)
    found = {
        "token": token,
        "key": key_in(data).encode(),
        "peer": keys.peer,
        "client": keys.client,
        "coordination": keys.coordination.encode(),
        "other": OTHER,
        "environment": PASSED.encode(),
    }
    written = {
        f"{name} {form}": change(secret) for name, secret in found.items() for form, change in FORMS.items()
    }
    return (
        found
        | written
        | {"content": CONTENT, "password": PASSWORD, "password as hex": PASSWORD.hex().encode()}
    )


FORMS = {
    "base64": base64.b64encode,
    "hexadecimal": lambda secret: secret.hex().encode(),
    "capitals": lambda secret: secret.hex().upper().encode(),
    "repr": lambda secret: repr(secret).encode(),
    "in a link": lambda secret: quote(secret).encode(),
}


def planted(data: Path) -> dict[str, bytes]:
    """A data directory with every secret in its place, and in whatever a bundle reads."""
    Home.open(data).close()
    (data / "more.keys").write_bytes(OTHER + b"\n")
    secrets = secrets_of(data)
    printed = b"\n".join(secret for name, secret in secrets.items() if name[:4] not in ("cont", "pass"))
    for place in ("servers/mds1/journal", "servers/dn1/blocks", "coordination"):
        (data / place).mkdir(parents=True, exist_ok=True)
        (data / place / "1").write_bytes(CONTENT + PASSWORD + PASSWORD.hex().encode() + printed)
    (data / "logs").mkdir(exist_ok=True)
    for log in ("mds1.err", "mds1.err.1", "mds1.out", "coordination.err", "control.out"):
        (data / "logs" / log).write_bytes(b"the first line\n" + printed + b"\nthe last line\n")
    (data / "logs" / "mds2.err").symlink_to(data / "coordination" / "1")
    (data / "logs" / f"{key_in(data)}.err").write_bytes(b"")
    cluster = json.loads((data / "cluster.json").read_text())
    token = (data / "token").read_text()
    cluster |= {"token": token, "zookeeper": f"cloverlab:{token}@zoo:2181", "password": PASSWORD.hex()}
    (data / "cluster.json").write_text(json.dumps(cluster))
    return secrets


def events_with(secrets: dict[str, bytes]) -> list[e.Stamped]:
    story = Story()
    said = [
        secret.decode()
        for name, secret in secrets.items()
        if name[:4] not in ("cont", "pass") and secret.isascii()
    ]
    return [story(n, "mds1", e.Warned(line)) for n, line in enumerate(said, 1)]


async def store(data: Path, events: list[e.Stamped]) -> None:
    opened = await EventStore.open(data / "events.db")
    await opened.begin_run("mams", 1)
    opened.append(events)
    await opened.close()


def members(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as tar:
        return {each.name.partition("/")[2]: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]


def assert_clean(archive: Path, secrets: dict[str, bytes]) -> dict[str, bytes]:
    found = members(archive)
    leaks = [
        (name, which)
        for name, data in found.items()
        for which, secret in secrets.items()
        if secret in data or secret in os.fsencode(name)
    ]
    assert leaks == []
    return found


def test_without_a_control_plane(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, archive = data_of("quiet"), tmp_path / "b.tar.gz"
    secrets = planted(data)
    asyncio.run(store(data, events_with(secrets)))
    assert entry(["bundle", str(archive), "--name", "quiet", "-o", "json"]) == 0
    printed = capsys.readouterr()
    left_out = [f"no control plane runs with {data}; the bundle is made from {data} alone"]
    assert printed.err == f"cloverlab: {left_out[0]}\n"
    assert json.loads(printed.out) == {
        "file": str(archive), "bytes": archive.stat().st_size, "left_out": left_out
    }  # fmt: skip
    found = assert_clean(archive, secrets)
    assert found["logs/mds1.err"].startswith(b"the first line\n") and found["logs/mds1.out"].endswith(
        b"last line\n"
    )
    assert "logs/mds1.err.1" in found and "logs/mds2.err" not in found
    assert b"servers/mds1/journal/1" in found["files.txt"]
    assert json.loads(found["cluster.json"])["cluster"]["protocol"] == "mams"
    assert (
        json.loads(found["invariants.json"]) == {} and "mds1" not in json.loads(found["state.json"])["groups"]
    )
    events = [json.loads(line) for line in found["events.jsonl"].splitlines()]
    assert len(events) > 20 and {event["kind"] for event in events} == {"Warned"}
    assert set(json.loads(found["about.json"])) == {"cloverlab", "python", "system", "at", "left_out"}
    assert [path.name for path in tmp_path.iterdir()] == ["share", "b.tar.gz"] or not list(
        tmp_path.glob("*.part")
    )


def test_with_a_control_plane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "b.tar.gz"

    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        data, loop = lab.home.path, asyncio.get_running_loop()
        keys: Keys = keys_of((data / "token").read_bytes().strip(), serves=True)
        (data / "more.keys").write_bytes(OTHER + b"\n")
        secrets = secrets_of(data)
        lab.store.append(events_with(secrets))
        (data / "logs" / "mds1.err").write_bytes(msgspec.json.encode(keys) + b"\n")

        def ask(port: int, method: str, path: str, body: Any = None, timeout_s: float = 0) -> Any:
            response = asyncio.run_coroutine_threadsafe(client.request(method, path), loop).result(30)
            assert response.status_code == 200, response.text
            return response.json()

        monkeypatch.setattr(remote_requests, "ask", ask)
        with registry.registered(registry.ControlPlane.here(8080, data, "mams")):
            assert await asyncio.to_thread(entry, ["bundle", str(archive)]) == 0
        found = assert_clean(archive, secrets)
        assert json.loads(found["status.json"])["cluster"] == lab.home.name
        assert {each["state"] for each in json.loads(found["invariants.json"])} <= {
            "green",
            "unknown",
            "grey",
        }
        assert len(found["story.jsonl"].splitlines()) >= 20
        assert len(found["events.jsonl"].splitlines()) >= 20 and found["logs/mds1.err"] == b"[removed]\n"
        assert json.loads(found["about.json"])["left_out"] == []

    with_api(tmp_path, body)


def test_the_newest_events_alone(tmp_path: Path) -> None:
    data, archive, story = data_of("long"), tmp_path / "b.tar.gz", Story()
    Home.open(data).close()
    for run in range(2):
        events = [story(n, "mds1", e.Warned(f"{n}")) for n in range(run * 1_500 + 1, run * 1_500 + 1_501)]
        asyncio.run(store(data, events))
    assert entry(["bundle", str(archive), "--name", "long"]) == 0
    found = [json.loads(line)["number"] for line in members(archive)["events.jsonl"].splitlines()]
    assert found == list(range(1_001, 3_001))


def test_under_load_the_incident_is_in_the_story(tmp_path: Path) -> None:
    data, archive, story = data_of("busy"), tmp_path / "b.tar.gz", Story()
    Home.open(data).close()
    load = [story(n, "mds1", e.Applied(n, 1, 0)) for n in range(2, 3_000)]
    asyncio.run(store(data, [story(1, "mds1", e.RoleChanged("g1", "active", 1, 1, "step 6")), *load]))
    assert entry(["bundle", str(archive), "--name", "busy"]) == 0
    found = members(archive)
    assert b"RoleChanged" not in found["events.jsonl"]
    assert [json.loads(line)["kind"] for line in found["story.jsonl"].splitlines()] == ["RoleChanged"]


def test_a_log_ends_with_whole_lines(tmp_path: Path) -> None:
    log = tmp_path / "mds1.err"
    log.write_bytes(b"".join(b"line %06d\n" % number for number in range(20_000)))
    end = directory.tail(log)
    assert (
        end.endswith(b"line 019999\n")
        and len(end) % 12 == 0
        and directory.TAIL_BYTES - 12 <= len(end) <= directory.TAIL_BYTES
    )


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Home.open(data_of("quiet")).close()
    taken, begun, file = tmp_path / "taken", tmp_path / "begun", str(tmp_path / "b.tar.gz")
    taken.write_text("mine")
    (tmp_path / "begun.part").write_text("mine")
    name = ["--name", "quiet"]
    for words, code, says in (
        ([str(taken), *name], 3, "exists already"),
        ([str(tmp_path), *name], 3, "exists already"),
        ([".", *name], 3, "exists already"),
        ([str(begun), *name], 3, "begun.part exists"),
        ([str(tmp_path / "none" / "b"), *name], 2, "No such file"),
        ([file, "--name", "loud"], 3, "has no cluster"),
        ([file, "--data", str(tmp_path / "none")], 3, "has no cluster"),
        ([file, "--data", "x", *name], 2, "give one of them"),
        ([file, "--port", "1"], 4, "no control plane at port 1"),
    ):
        assert (entry(["bundle", *words]), words) == (code, words)
        printed = capsys.readouterr()
        assert says in printed.err and printed.err.count("\n") == 1 and printed.out == ""
    assert taken.read_text() == (tmp_path / "begun.part").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begun.part", "share", "taken"]


def test_what_cannot_be_read_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, archive = data_of("torn"), tmp_path / "b.tar.gz"
    secrets = planted(data)
    (data / "cluster.json").write_text("{")
    (data / "events.db").write_bytes(b"not a database, " * 100)
    assert entry(["bundle", str(archive), "--name", "torn"]) == 0
    lines = capsys.readouterr().err.splitlines()
    found = assert_clean(archive, secrets)
    assert "logs/mds1.err" in found and not {"cluster.json", "events.jsonl"} & set(found)
    assert [line.removeprefix("cloverlab: ") for line in lines] == json.loads(found["about.json"])["left_out"]
    assert len(lines) == 3


def test_a_bundle_that_is_broken_off_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), writing(tmp_path / "b.tar.gz", Redaction(set())) as archive:
        archive.add("a", b"a")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
