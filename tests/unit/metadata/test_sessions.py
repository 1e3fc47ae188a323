"""The memory of calls (safety rule 10) and the limits of paths."""

from __future__ import annotations

import subprocess
import sys

import pytest

from nodes.errors import FsError
from nodes.metadata import operations as ops
from nodes.metadata.images import ImageDamaged, dump, load
from nodes.metadata.namespace import Namespace
from nodes.metadata.sessions import OPEN_MAX
from nodes.units import OpId


def run(namespace: Namespace, operation: object, number: int, lowest: int = 1, client: str = "ada") -> object:
    record = namespace.plan(operation, OpId(client, number), lowest, 10 * number)  # type: ignore[arg-type]
    namespace.apply(record)
    return record.result


def opened(short_memory: bool = False) -> Namespace:
    namespace = Namespace(short_memory=short_memory)
    run(namespace, ops.OpenSession(), 1)
    return namespace


def error_of(
    namespace: Namespace, operation: object, number: int, lowest: int = 1, client: str = "ada"
) -> str:
    with pytest.raises(FsError) as caught:
        run(namespace, operation, number, lowest, client)
    assert "\n" not in str(caught.value)
    return caught.value.name


def test_results_are_kept_until_the_client_has_them() -> None:
    namespace = opened()
    made = run(namespace, ops.Mkdir("/a"), 2)
    run(namespace, ops.Mkdir("/b"), 3)
    assert namespace.sessions.recorded(OpId("ada", 2)) == made
    run(namespace, ops.Mkdir("/c"), 4, lowest=3)
    assert namespace.sessions.recorded(OpId("ada", 2)) is None
    assert namespace.sessions.recorded(OpId("ada", 3)) is not None
    assert error_of(namespace, ops.Mkdir("/d"), 2, lowest=1) == "ESTALE"


def test_the_hole_of_a_short_memory_forgets_other_calls() -> None:
    namespace = opened(short_memory=True)
    run(namespace, ops.Mkdir("/a"), 2)
    run(namespace, ops.Mkdir("/b"), 3)
    assert namespace.sessions.recorded(OpId("ada", 2)) is None
    assert namespace.sessions.recorded(OpId("ada", 3)) is not None


def test_unknown_and_ended_sessions_are_refused() -> None:
    namespace = opened()
    assert error_of(namespace, ops.Mkdir("/a"), 1, client="eve") == "ESTALE"
    run(namespace, ops.CloseSession(), 2)
    assert error_of(namespace, ops.Mkdir("/a"), 3) == "ESTALE"


def test_open_calls_are_bounded() -> None:
    namespace = opened()
    assert error_of(namespace, ops.Mkdir("/a"), OPEN_MAX + 1, lowest=1) == "EAGAIN"
    assert error_of(namespace, ops.Mkdir("/a"), 2, lowest=3) == "EAGAIN"
    run(namespace, ops.Mkdir("/a"), OPEN_MAX, lowest=1)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("", "EINVAL"),
        ("a", "EINVAL"),
        ("/a/", "EINVAL"),
        ("//a", "EINVAL"),
        ("/a/../b", "EINVAL"),
        ("/.", "EINVAL"),
        ("/a\0b", "EINVAL"),
        ("/\ud800", "EINVAL"),
        ("/" + "n" * 256, "ENAMETOOLONG"),
        ("/" + "é" * 128, "ENAMETOOLONG"),
        ("/" + "/".join(["n" * 99] * 50), "ENAMETOOLONG"),
    ],
)
def test_hostile_paths(path: str, error: str) -> None:
    namespace = opened()
    before = namespace.digest
    for operation in (
        ops.Mkdir(path), ops.Mkdir(path, True), ops.Create(path), ops.Delete(path), ops.Rename("/x", path),
        ops.Rename(path, "/x"), ops.SetPermission(path, 0),
    ):  # fmt: skip
        assert error_of(namespace, operation, 2) == error
    for read in (ops.Stat(path), ops.List(path), ops.ContentSummary(path)):
        with pytest.raises(FsError) as caught:
            namespace.read(read)
        assert caught.value.name == error and len(str(caught.value)) < 300
    assert namespace.digest == before


def test_the_longest_names_are_good() -> None:
    namespace = opened()
    run(namespace, ops.Mkdir("/" + "n" * 255), 2)
    run(namespace, ops.Mkdir("/" + "é" * 127), 3)
    assert ops.Stat("/" + "n" * 255) and namespace.read(ops.Stat("/" + "é" * 127)).kind == "directory"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "operation",
    [ops.Create("/f", -1), ops.Mkdir("/f", False, 1 << 40), ops.SetTimes("/", -1, 0), ops.SetTimes("/", 0, 1 << 70),
     ops.SetReplication("/f", 0), ops.Delete("/", True), ops.Rename("/", "/a"), ops.SetOwner("/", "n" * 256)],
)  # fmt: skip
def test_absurd_arguments(operation: object) -> None:
    assert error_of(opened(), operation, 2) == "EINVAL"


def test_a_damaged_image_is_refused_wherever_it_is_damaged() -> None:
    namespace = opened()
    for number in range(2, 12):
        run(namespace, ops.Mkdir(f"/d{number}"), number)
    chunks = list(dump(namespace))
    for place, chunk in enumerate(chunks):
        for offset in range(len(chunk)):
            bad = bytearray(chunk)
            bad[offset] ^= 0x40
            with pytest.raises(ImageDamaged):
                load([*chunks[:place], bytes(bad), *chunks[place + 1 :]])
        with pytest.raises(ImageDamaged):
            load(chunks[:place])
        with pytest.raises(ImageDamaged):
            load([*chunks[:place], *chunks[place + 1 :]])
    assert load(chunks).digest == namespace.digest


def test_the_digest_is_the_same_in_another_process() -> None:
    code = (
        "from tests.unit.metadata.test_sessions import *\n"
        "n = opened(); run(n, ops.Mkdir('/é'), 2); run(n, ops.Create('/é/f'), 3); print(n.digest)"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(digests) == 1
