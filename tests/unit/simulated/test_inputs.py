"""The log of inputs survives its process, and says what is wrong with it."""

from pathlib import Path

import pytest

from backend.errors import Unavailable
from backend.simulated import inputs
from backend.simulated.inputs import ClusterOrigin, InputLog, LoggedInput, forget_logs, read_log
from nodes.config import WorkloadConfig, many_groups
from nodes.metadata.operations import Mkdir, Rename

ORIGIN = ClusterOrigin(many_groups(1, 3), 7, WorkloadConfig(mix={"create": 1.0}))
INPUTS: list[inputs.Input] = [
    inputs.InjectFault("delay", ["mds1", "mds2"], {"ms": 50, "direction": "both", "others": None}),
    inputs.AskServer("mds1", {"do": "mark_checkpoint", "name": "x"}, 5),
    inputs.CallOperation(Mkdir("/a", parents=True)),
    inputs.CallOperation(Rename("/a", "/b", True)),
    inputs.PutContent("/f", bytes(range(256)), 512),
    inputs.GetContent("/f", 3, 9),
    inputs.FindBlocks("/f", 0, 4),
    inputs.ThrottleWorkload(5.0, None),
    inputs.ReplaceWorkload(WorkloadConfig(clients=9, mix={"mkdir": 1.0})),
    inputs.ChangeClock("play", 10.0),
]


def test_every_input_is_read_as_it_was_written(tmp_path: Path) -> None:
    log = InputLog(tmp_path / "1.jsonl", ORIGIN)
    for at_ns, each in enumerate(INPUTS):
        log.append(at_ns, each)
    log.close()
    origin, entries = read_log(tmp_path / "1.jsonl")
    assert origin == ORIGIN
    assert entries == [LoggedInput(at_ns, each) for at_ns, each in enumerate(INPUTS)]


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    log = InputLog(tmp_path / "1.jsonl", ORIGIN)
    log.append(1, INPUTS[0])
    log.append(2, INPUTS[1])
    log.close()
    data = (tmp_path / "1.jsonl").read_bytes()
    (tmp_path / "1.jsonl").write_bytes(data[:-9])
    assert read_log(tmp_path / "1.jsonl")[1] == [LoggedInput(1, INPUTS[0])]


def test_a_log_of_another_format_is_refused(tmp_path: Path) -> None:
    InputLog(tmp_path / "1.jsonl", ORIGIN).close()
    text = (tmp_path / "1.jsonl").read_text()
    (tmp_path / "1.jsonl").write_text(text.replace('"format":1', '"format":9'))
    with pytest.raises(ValueError, match="format 9, not 1"):
        read_log(tmp_path / "1.jsonl")


def test_a_full_log_takes_no_more_inputs(tmp_path: Path) -> None:
    log = InputLog(tmp_path / "1.jsonl", ORIGIN, 1)
    with pytest.raises(Unavailable, match="full"):
        log.append(1, INPUTS[0])
    log.close()


def test_only_the_newest_logs_are_kept(tmp_path: Path) -> None:
    for run in range(1, 15):
        (tmp_path / f"{run}.jsonl").touch()
    forget_logs(tmp_path, kept=3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["12.jsonl", "13.jsonl", "14.jsonl"]
