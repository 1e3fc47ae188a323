"""Invalid files get one line with file, line and the accepted form."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from backend.errors import Malformed
from backend.scenarios.reader import read
from backend.scenarios.report import report
from backend.scenarios.runner import ScenarioOutcome, cluster_config
from backend.scenarios.schema import schema

ROOT = Path(__file__).resolve().parents[3]
HEAD = "name: x\nteaches: y\n"


def refused(tmp_path: Path, text: str | bytes) -> str:
    file = tmp_path / "s.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(Malformed) as caught:
        read(file)
    assert "\n" not in caught.value.message and str(file) in caught.value.message
    return caught.value.message.removeprefix(str(file))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("name: x\n", 1, "teaches"),
        (HEAD + "colour: red\n", 3, "colour"),
        (HEAD + "cluster:\n  standbys: many\n", 4, "int"),
        (HEAD + "cluster:\n  standbys: 99\n", 4, "14"),
        (HEAD + "cluster:\n  min_in_step: 9\n", 4, "never has more in step"),
        (HEAD + "cluster:\n  session_timeout: soon\n", 4, "500ms"),
        (HEAD + "cluster:\n  holes: [black]\n", 4, "no_fencing"),
        (HEAD + "cluster:\n  protocol: raft\n", 4, "raft"),
        (HEAD + "workload:\n  rate: fast\n", 4, "200/s"),
        (HEAD + "workload:\n  mix: {fly: 1}\n", 4, "mkdir"),
        (HEAD + "steps:\n  - {at: 1s}\n", 4, "one thing"),
        (HEAD + "steps:\n  - {at: 1s, after: 2s, fault: heal_all}\n", 4, "a step begins"),
        (HEAD + "steps:\n  - {at: 1s, fault: explode, target: mds1}\n", 4, "explode"),
        (HEAD + "steps:\n  - {at: 1s, fault: crash}\n", 4, "takes 1"),
        (HEAD + "steps:\n  - {at: 1s, fault: crash, target: mds1, options: {hard: true}}\n", 4, "hard"),
        (HEAD + "steps:\n  - {at: 1s, expect: {roles: A B C}}\n", 4, "A P S M J -"),
        (HEAD + "steps:\n  - {when: it rains, fault: heal_all}\n", 4, "not a condition"),
        (HEAD + "steps:\n  - {at: 1s, target: mds1, expect: {settled: true}}\n", 4, "belong to a fault"),
        (HEAD + "steps:\n  - {at: 1s, mark: one, recover: two}\n", 4, "one thing"),
        (HEAD + "steps:\n  - {at: 1s, mark: no good}\n", 4, "not a valid name of a checkpoint"),
        (HEAD + "steps:\n  - {at: 1s, recover: ../x}\n", 4, "not a valid name of a checkpoint"),
        (HEAD + "steps:\n  - {when: reported nothing, fault: heal_all}\n", 4, "not a condition"),
        (HEAD + "steps:\n  - {when: reported Thunder by mds1, fault: heal_all}\n", 4, "BlockHealth"),
        (HEAD + "expect: {checkpoints: {one: pending}}\n", 3, "pending"),
        (HEAD + "expect: {reported: {Thunder: 1}}\n", 3, "BlockHealth"),
        (HEAD + "expect: {reported: {Cut: 0}}\n", 3, "1"),
        (HEAD + "expect: {fsck: dirty}\n", 3, "dirty"),
        (HEAD + "expect: {invariants: [exactly up to the barrier, up to what]}\n", 3, "blocks kept"),
        (HEAD + "workload:\n  mix: {put: 1}\n", 4, "data_nodes"),
        (HEAD + "workload: {size: 0}\n", 3, "1"),
        (HEAD + "workload: {block_size: 1000}\n", 3, "512"),
        (HEAD + "end: {}\n", 3, "ends"),
        (HEAD + "expect: {invariants: [gravity]}\n", 3, "linearisable"),
        (HEAD + "expect: {failed_calls: -1}\n", 3, "0"),
        ("- 1\n- 2\n", 1, "object"),
        ("name: [\n", 2, ""),
        ("name: x\nname: y\n", 2, "name"),
        (HEAD + "cluster:\n  session_timeout: " + "9" * 400 + "s\n", 4, "500ms"),
        (HEAD + "workload:\n  rate: " + "9" * 400 + "/s\n", 4, "200/s"),
    ],
)  # fmt: skip
def test_the_line_and_the_reason(tmp_path: Path, text: str, line: int, words: str) -> None:
    reported = refused(tmp_path, text)
    assert reported.startswith(f":{line}:"), reported
    assert words in reported


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", b"", b"a: &a [*a]\n", b"x" * ((1 << 20) + 1), b"{" * 5000, b"[" * 100_000]
)
def test_hostile_files(tmp_path: Path, data: bytes) -> None:
    refused(tmp_path, data)


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 18)
)


def test_a_document_that_its_aliases_make_large_is_refused(tmp_path: Path) -> None:
    assert "aliases" in refused(tmp_path, HEAD + BOMB)


@pytest.mark.parametrize(
    "text", ["a: &self\n  <<: *self\n", "? [a, b]\n: 1\n", "<<: 5\n", "a: !!timestamp x\n"]
)
def test_unusual_yaml_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    refused(tmp_path, HEAD + text)


def test_an_endless_file_is_read_up_to_the_limit() -> None:
    with pytest.raises(Malformed, match="at most 1048576 bytes"):
        read(Path("/dev/zero"))


@pytest.mark.parametrize("value", ['say \\"stop\\"', "back\\\\slash", "[/red]"])
def test_a_value_of_a_matrix_is_put_as_it_is(tmp_path: Path, value: str) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(f'name: "x {{n}}"\nteaches: y\nend: {{at: 1s}}\nmatrix: {{n: ["{value}"]}}\n')
    [varied] = read(file)
    assert varied.name == "x " + value.replace('\\"', '"').replace("\\\\", "\\")


def test_a_name_that_looks_like_markup_is_printed_as_it_is(tmp_path: Path) -> None:
    output = io.StringIO()
    outcome = ScenarioOutcome(
        "a [/red] name", "", "", "simulated", 1, 1.0, True, [], [], 0, 0, 0, 0, 0.0, [], []
    )
    report(Console(file=output, width=100), outcome)
    assert "a [/red] name" in output.getvalue()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match="No such file"):
        read(tmp_path / "nothing.yaml")


def test_every_shipped_file_is_right() -> None:
    files = sorted((ROOT / "scenarios").rglob("*.yaml"))
    assert len(files) >= 42
    for file in files:
        assert all(scenario.teaches for scenario in read(file))


def test_a_matrix_makes_one_scenario_for_each_value() -> None:
    varied = read(ROOT / "scenarios/faults/crash-during-upgrade.yaml")
    assert [scenario.steps[1].when for scenario in varied] == [f"step upgrade {n} of g1" for n in range(1, 8)]
    assert len({scenario.name for scenario in varied}) == 7


def test_the_published_schema_is_current() -> None:
    assert (ROOT / "docs/scenario.schema.json").read_bytes() == schema()


def test_the_order_of_symmetric_members_reaches_the_cluster(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(HEAD + "cluster: {protocol: symmetric, order: plain}\n")
    assert cluster_config(read(file)[0].cluster, 1.0).order == "plain"


@pytest.mark.parametrize(
    ("text", "old_word", "new_word"),
    [
        ("expect: {told: {Cut: 1}}\n", "told", "reported"),
        ("steps:\n  - {at: 1s, expect: {told: {Cut: 1}}}\n", "told", "reported"),
        ("steps:\n  - {when: told Cut by mds1, fault: heal_all}\n", "told", "reported"),
        ("cluster: {log_octets: 8192}\n", "log_octets", "log_bytes"),
        ("expect: {letters: A S S S}\n", "letters", "roles"),
        ("expect: {rows: {letters: [A S S S, J S S S]}}\n", "letters", "roles"),
        ("steps:\n  - {at: 1s, expect: {taken_back: noon}}\n", "taken_back", "rolled_back"),
        ("expect: {set_aside: 7}\n", "set_aside", "quarantined"),
    ],
)
def test_an_old_word_is_read_and_named_once(
    tmp_path: Path, text: str, old_word: str, new_word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = tmp_path / "old.yaml", tmp_path / "new.yaml"
    for file, words in zip(files, (text, text.replace(old_word, new_word)), strict=True):
        file.write_text(HEAD + words)
    [old], [new] = read(files[0]), read(files[1])
    assert (old.cluster, old.expect) == (new.cluster, new.expect)
    assert [step.expect for step in old.steps] == [step.expect for step in new.steps]
    said = capsys.readouterr().err
    assert said == f"{files[0]}: `{old_word}` is `{new_word}` now; this release still reads it\n"
