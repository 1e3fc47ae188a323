import socket
from pathlib import Path

import pytest

from backend.cli import entry
from backend.commands.faults import split_arguments


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
        (["status", "--port", "1"], "no control plane at port 1"),
        (["--port", "1", "status"], "no control plane at port 1"),
        (["--port", "1", "fault", "crash", "mds1"], "no control plane at port 1"),
        (["fs", "--port", "1", "ls", "/"], "no control plane at port 1"),
        (["fs", "ls", "/", "--port", "1"], "no control plane at port 1"),
        (["checkpoint", "--port", "1", "mark", "x"], "no control plane at port 1"),
        (["--port", "1", "checkpoint", "list"], "no control plane at port 1"),
        (["checkpoint", "recover", "x", "--port", "1"], "no control plane at port 1"),
        (["checkpoint", "delete", "x", "--port", "1"], "no control plane at port 1"),
        (["fs", "ln", "/a", "/b", "--port", "1"], "no control plane at port 1"),
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


def test_a_taken_port_gets_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert entry(["up", "--port", str(port), "--data", str(tmp_path / "data")]) == 2
    assert f"port {port} is taken" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "data").exists()


def test_another_program_at_the_port_gets_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unknown_peer:
        import threading

        def answer() -> None:
            connection, _ = unknown_peer.accept()
            connection.recv(1000)
            connection.sendall(b"220 mail.example ESMTP\r\n")
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        assert entry(["status", "--port", str(unknown_peer.getsockname()[1])]) == 2
        thread.join(5)
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
