import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.cli import entry
from backend.commands.faults import split_arguments
from backend.version import version


@contextlib.contextmanager
def answering(text: str) -> Iterator[int]:
    """The port of a server that sends this text to its first caller."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            connection.recv(1000)
            connection.sendall(text.encode())
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        yield server.getsockname()[1]
        thread.join(5)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["up", "--frob"], "No such option"),
        (["up", "--port", "0"], "--port"),
        (["up", "--port", "many"], "--port"),
        (["up", "--protocol", "raft"], "unknown; there is mams"),
        (
            ["up", "--protocol", "qjm", "--hole", "late_watch"],
            "'late_watch' is not a hole of qjm; it has no_fencing",
        ),
        (["up", "--standbys", "99"], "--standbys"),
        (["test", "some"], "use quick, all, full"),
        (["bench", "nothing"], "is unknown"),
        (["reproduce", "saa-fig99"], "is unknown; there are cfs-fig8a"),
        (["reproduce", "saa-fig10", "--to", "/dev/null/x"], "--to /dev/null/x"),
        (["run", "x.yaml", "--on", "mars"], "use simulated, processes or containers"),
        (
            ["run", "scenarios/groups/rename-storm.yaml", "--protocol", "symmetric"],
            "it has 2 groups, symmetric runs 1",
        ),
        (
            ["run", "x.yaml", "--protocol", "qjm", "--on", "containers"],
            "PROTOCOL sets the family of containers",
        ),
        (["nonsense"], "nonsense"),
    ],
)
def test_wrong_input_gets_one_line_and_two(
    arguments: list[str],
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert entry(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and says in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["status", "--port", "1"],
        ["--port", "1", "status"],
        ["--port", "1", "fault", "crash", "mds1"],
        ["fs", "--port", "1", "ls", "/"],
        ["fs", "ls", "/", "--port", "1"],
        ["checkpoint", "--port", "1", "mark", "x"],
        ["--port", "1", "checkpoint", "list"],
        ["checkpoint", "recover", "x", "--port", "1"],
        ["checkpoint", "delete", "x", "--port", "1"],
        ["fs", "ln", "/a", "/b", "--port", "1"],
    ],
)
def test_without_a_control_plane_there_is_one_line_and_four(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry(arguments) == 4
    out, err = capsys.readouterr()
    assert out == "" and "no control plane at port 1" in err and err.count("\n") == 1


def test_the_port_may_come_from_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOVERLAB_PORT", "1")
    assert entry(["status"]) == entry(["fs", "ls", "/"]) == 4
    assert capsys.readouterr().err.count("no control plane at port 1:") == 2
    monkeypatch.setenv("CLOVERLAB_UP_PROTOCOL", "raft")
    assert entry(["up"]) == 2
    assert "raft" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("status", "code"), [(422, 2), (413, 2), (404, 3), (409, 3), (403, 3), (503, 4), (504, 4)]
)
def test_a_refusal_has_the_exit_code_of_its_kind(
    status: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(f'HTTP/1.1 {status} No\r\nContent-Length: 14\r\n\r\n{{"error":"no"}}') as port:
        assert entry(["status", "--port", str(port)]) == code
    assert capsys.readouterr().err == "cloverlab: no\n"


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry(["--version"]) == 0
    assert capsys.readouterr().out == f"cloverlab {version()}\n"


def test_a_taken_port_gets_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert entry(["up", "--port", str(port), "--data", str(tmp_path / "data")]) == 3
    assert f"port {port} is taken" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "data").exists()


def test_another_program_at_the_port_gets_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with answering("220 mail.example ESMTP\r\n") as port:
        assert entry(["status", "--port", str(port)]) == 4
    assert "is not a control plane" in capsys.readouterr().err


def test_targets_are_words_or_phrases_and_options_have_types() -> None:
    assert split_arguments(["active", "of", "g1"]) == (["active of g1"], {})
    assert split_arguments(["mds1", "a standby of g1", "--ms", "50", "--direction=to"]) == (
        ["mds1", "a standby of g1"], {"ms": 50, "direction": "to"},
    )  # fmt: skip
    assert split_arguments(["standby", "2", "of", "g1", "last", "down", "of", "g1"])[0] == [
        "standby 2 of g1",
        "last down of g1",
    ]
    assert split_arguments(["mds1", "mds2", "--island"]) == (["mds1", "mds2"], {"island": True})


@pytest.mark.parametrize(("arguments", "says"), [([], "Commands:\n  up "), (["fs"], "Commands:\n  ls ")])
def test_without_a_command_there_is_a_list_of_them(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("Usage: ./cloverlab ") and says in said
