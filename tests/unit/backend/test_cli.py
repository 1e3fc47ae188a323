import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend import remote_requests
from backend.cli import entry, root
from backend.commands import up
from backend.fabrics.home import Home
from backend.repository import REPOSITORY
from backend.settings import Settings
from backend.version import version
from nodes.config import ClusterConfig
from nodes.faults.table import VERBS


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
        (["bench", "failovr"], "(did you mean failover?)"),
        (["bench", "page", "0"], "takes 1 to 600 minutes"),
        (["reproduce", "cfs-fig8"], "(did you mean cfs-fig8"),
        (["up", "--protocol", "qjn"], "(did you mean qjm?)"),
        (["reproduce", "saa-fig99"], "; there are cfs-fig8a"),
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
        (["restart", "mds1"], "it is ./cloverlab fault restart SERVER"),
        (["fault", "add_server"], "takes 1 target, was given 0; a target is a group"),
        (["journal", "dump", ".", "--from", "5", "--to", "2"], "--to 2 is before --from 5"),
        (["help", "metrics"], "deploy"),
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


@pytest.mark.parametrize(
    ("arguments", "targets", "options"),
    [
        (["crash", "active", "of", "g1"], ["active of g1"], {}),
        (["delay", "mds1", "a standby of g1", "--ms", "50", "--direction=to"], ["mds1", "a standby of g1"], {"ms": 50, "direction": "to"}),
        (["crash", "standby", "2", "of", "g1", "last", "down", "of", "g1"], ["standby 2 of g1", "last down of g1"], {}),
        (["cut", "mds1", "mds2", "--island"], ["mds1", "mds2"], {"island": True}),
        (["fail-disk", "mds1", "--off"], ["mds1"], {"on": False}),
        (["heal_all"], [], {}),
    ],
)  # fmt: skip
def test_a_fault_has_typed_options(
    arguments: list[str], targets: list[str], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(remote_requests, "ask", lambda *asked: sent.append(asked) or {"fault": 1})
    assert entry(["fault", *arguments]) == 0
    [(_, _, _, body)] = sent
    assert body == {"verb": arguments[0].replace("-", "_"), "targets": targets, "options": options}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["crsh", "mds1"], "Did you mean 'crash'"),
        (["delay", "mds1", "--mss", "5"], "--ms"),
        (["delay", "mds1", "--ms", "many"], "--ms"),
        (["delay", "mds1", "--direction", "up"], "both"),
        (["lose", "mds1", "--share", "2"], "--share"),
        (["crash"], "takes 1 to 32 targets"),
    ],
)
def test_a_wrong_fault_is_refused_before_it_is_sent(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry(["fault", *arguments, "--port", "1"]) in (2, 3)
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1


def test_every_verb_has_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry(["fault", "list", "-o", "json"]) == 0
    verbs = json.loads(capsys.readouterr().out)
    assert {verb["verb"] for verb in verbs} == {verb.verb for verb in VERBS}
    for verb in verbs:
        assert entry(["fault", verb["verb"], "--help"]) == 0
        said = capsys.readouterr().out
        assert all(option in said for option in verb["options"].split())


@pytest.mark.parametrize(("arguments", "says"), [([], "Commands:\n  up "), (["fs"], "Commands:\n  ls ")])
def test_without_a_command_there_is_a_list_of_them(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("Usage: ./cloverlab ") and says in said


def test_an_age_to_keep_that_is_none_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry(["up", "--keep", "soon"]) == 2
    assert "write it like 12h, 7d or 4w" in " ".join(capsys.readouterr().err.split())


SILENT = {
    "help", "man", "completion", "up", "down", "wait", "logs", "watch", "test", "bench", "reproduce",
    "fs mkdir", "fs create", "fs touch", "fs chmod", "fs mv",
    "fs ln", "fs rm", "fs cat", "fs tail",
    "lab start", "lab answer", "lab do", "lab undo", "lab hint", "class results",
}  # fmt: skip
"""Commands that print nothing, a text, or lines of progress; bench, reproduce and watch always print JSON."""


def leaves(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
        return
    for each in command.commands:
        yield from leaves(command.commands[each], f"{name} {each}".strip())


def test_every_command_that_prints_data_has_one_option_for_its_form() -> None:
    without = {
        name for name, command in leaves(root()) if not any("-o" in option.opts for option in command.params)
    }
    assert without == SILENT


@pytest.mark.parametrize(
    ("line", "proposed"),
    [
        ("cloverlab sta", "status"),
        ("cloverlab fault cra", "crash"),
        ("cloverlab run scenarios/faults/ca", "scenarios/faults/calm.yaml"),
        ("cloverlab help command", "command-line"),
    ],
)
def test_a_shell_completes_commands_verbs_files_and_topics(
    line: str, proposed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    monkeypatch.setenv("_CLOVERLAB_COMPLETE", "complete_bash")
    monkeypatch.chdir(REPOSITORY)
    assert entry([]) == 0
    assert proposed in capsys.readouterr().out.split()


def test_a_shell_completes_servers_of_the_running_cluster(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        remote_requests, "ask", lambda *_: {"rows": [{"server": "g1/mds1"}], "groups": [{"name": "g1"}]}
    )
    for key, value in (
        ("COMP_WORDS", "cloverlab fault crash md"),
        ("COMP_CWORD", "3"),
        ("_CLOVERLAB_COMPLETE", "complete_bash"),
    ):
        monkeypatch.setenv(key, value)
    assert entry([]) == 0
    assert capsys.readouterr().out.split() == ["mds1"]


def test_every_option_names_its_value() -> None:
    for name, command in leaves(root()):
        for option in command.params:
            typed = option.param_type_name == "option" and not option.is_flag
            assert not typed or option.metavar, f"{name} {option.opts}"


def test_help_shows_pages_and_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry(["help"]) == 0
    assert "command-line" in capsys.readouterr().out.split()
    assert entry(["help", "command-line"]) == 0
    assert "## Exit codes" in capsys.readouterr().out
    assert entry(["help", "status"]) == 0
    assert "--check" in capsys.readouterr().out
    assert entry(["help", "comand-line"]) == 2
    assert "did you mean command-line?" in capsys.readouterr().err


def test_the_manual_has_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry(["man"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(".TH CLOVERLAB 1") and said.count(".SS ") == len(list(leaves(root())))


CLUSTER = (
    "name: mine\nteaches: settings\ncluster: {{standbys: 1, session_timeout: {session}}}\nend: {{at: 1s}}\n"
)


def test_a_scenario_file_gives_up_every_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    found: list[ClusterConfig] = []

    def open_only(settings: Settings) -> int:
        home = Home.open(settings.data, settings.shape)
        found.append(home.file.cluster)
        home.close()
        return 0

    monkeypatch.setattr(up, "run_up", open_only)
    file = tmp_path / "mine.yaml"
    file.write_text(CLUSTER.format(session="3s"))
    for _ in range(2):
        assert entry(["up", "--cluster", str(file)]) == 0
    assert found[0] == found[1] and found[0].timing.session_timeout_ms == 3_000
    assert (tmp_path / "cloverlab" / "clusters" / "mine" / "cluster.json").exists()
    assert entry(["up", "--cluster", str(file), "--groups", "2"]) == 2
    file.write_text(CLUSTER.format(session="4s"))
    assert entry(["up", "--cluster", str(file)]) == 3
    assert "has a cluster with other settings" in capsys.readouterr().err
    assert entry(["up", "--cluster", str(tmp_path / "none.yaml")]) == 2
