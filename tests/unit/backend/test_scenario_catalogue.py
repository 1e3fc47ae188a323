"""The list of scenarios, and the check of a text as one."""

from pathlib import Path

import httpx
import msgspec
import pytest

from backend.errors import TooLarge
from backend.lab import Lab
from backend.scenario_runs import catalogue
from backend.scenario_runs.plan import SIGNS_MAX, TEXT_BYTES, checked
from backend.scenarios.family_matrix import SCENARIOS, files, shown
from backend.scenarios.schema import schema
from nodes.families import FAMILIES
from tests.unit.backend.test_api import JSON, one_line, with_api

CRASH = "faults/crash-the-active"
HEAD = "name: a\nteaches: b\n"


def test_every_shipped_file_has_a_row_with_what_it_teaches() -> None:
    rows = catalogue.rows()
    assert [f"{row.file}.yaml" for row in rows] == [shown(path) for path in files()]
    assert all(row.teaches and row.families and row.fabrics and not row.error for row in rows)
    assert all(row.protocol in row.families for row in rows)
    others = [name for name in FAMILIES if name != "single"]
    crash = next(row for row in rows if row.file == CRASH)
    assert (crash.folder, crash.protocol, crash.families) == ("faults", "mams", others)
    assert crash.fabrics == ["simulated", "processes", "containers"]


def test_a_matrix_is_one_row_with_its_variants() -> None:
    [row] = [row for row in catalogue.rows() if row.file == "faults/crash-during-upgrade"]
    plan = catalogue.file_named(row.file).check.plan
    assert plan is not None and row.variants == len(plan.variants) > 1
    assert row.name == plan.variants[0]


def test_a_plan_names_each_step_and_its_line() -> None:
    file = catalogue.file_named(CRASH)
    plan = file.check.plan
    assert plan is not None and file.check.error is None
    lines = file.text.splitlines()
    assert [step.number for step in plan.steps] == [1, 2, 3, 4]
    assert [step.does.split()[0] in lines[step.line - 1] for step in plan.steps] == [True] * 4
    assert (plan.steps[0].begins, plan.steps[0].does) == ("at 10s", "crash active of g1")
    assert plan.end == "at 50s" and "failed_calls: 0" in plan.expects


def test_families_and_fabrics_that_cannot_run_it_are_named() -> None:
    plan = checked(HEAD + "steps:\n  - {at: 1s, fault: clog, target: mds1}\n  - {recover: noon}\n").plan
    assert plan is not None and plan.fabrics == ["simulated"]
    refused = {family.name: family.refused for family in plan.families}
    assert refused["mams"] == "" and "checkpoint" in refused["symmetric"]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "Expected `object`"),
        ("[1, 2]", 1, "Expected `object`"),
        (HEAD + "steps:\n  - {fault: crash, target: mds1}\n  - {fault: smash}\n", 5, "no fault is called"),
        (HEAD + "workload: {rate: fast}\n", 3, "rate"),
        (HEAD + "cluster:\n  standbys: 99\n", 4, "<= 14"),
        (HEAD + "cluster: {protocol: raft}\n", 3, "there is mams"),
        (HEAD + "surprise: 1\n", 3, "unknown field `surprise`"),
        (HEAD + "steps: [", 3, "found '<stream end>'"),
        (HEAD + "seed: " + "9" * 5000, None, "not YAML"),
        ("a: \x00", None, "not YAML"),
        (HEAD + "matrix: &a {k: *a}", 3, "Expected `array`"),
        (HEAD + "steps: " + "[" * 30 + "]" * 30, None, "nested"),
        ("[" * 9000, None, "nested"),
        (HEAD + 'matrix: {k: ["1"' + ', "2"' * 99 + "]}\nsteps:\n" + "  - {mark: k}\n" * 51, None, "5000 steps together"),
        ("- " * 5000, None, "not YAML"),
        (HEAD + "matrix: {k: [" + "x," * 200 + "]}", None, "at most 100 values"),
        ("name: \ud800", 1, "mapping"),
    ],
)  # fmt: skip
def test_a_wrong_text_has_one_error_at_its_line(text: str, line: int | None, says: str) -> None:
    check = checked(text)
    assert check.plan is None and check.error is not None
    assert check.error.line == line and says in check.error.reason
    assert "\n" not in check.error.reason and "scenario:" not in check.error.reason


def test_keys_of_the_release_before_are_noted() -> None:
    plan = checked(HEAD + "expect: {set_aside: 3}\n").plan
    assert plan is not None and plan.notes == [
        "`set_aside` is `quarantined` now; this release still reads it"
    ]


def test_the_api_lists_scenarios_and_returns_one(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        rows = (await client.get("/api/scenarios")).json()
        assert len(rows) == len(files())
        file = (await client.get(f"/api/scenarios/{CRASH}")).json()
        assert file["text"] == (SCENARIOS / f"{CRASH}.yaml").read_text()
        assert file["check"]["plan"]["protocol"] == "mams" and file["check"]["error"] is None
        for missing in ("faults/none", "..%2f/pyproject", "x" * 300 + "/y"):
            answer = await client.get(f"/api/scenarios/{missing}")
            assert answer.status_code == 404 and len(one_line(answer)) < 300
        for page in ("scenarios", f"scenarios/{CRASH}"):
            assert (await client.get(f"/{page}")).text == "<title>page</title>"
        assert (await client.get("/scenarios/a/b/c")).status_code == 404

    with_api(tmp_path, body)


@pytest.mark.parametrize("text", ["a: " + "x" * TEXT_BYTES, "[" * (SIGNS_MAX + 1), "ä" * TEXT_BYTES])
def test_a_text_that_would_take_long_is_refused_before_it_is_read(text: str) -> None:
    with pytest.raises(TooLarge, match="at most"):
        checked(text)


def test_the_api_checks_a_text(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        async def check(text: str) -> httpx.Response:
            return await client.post(
                "/api/scenarios/check", content=msgspec.json.encode({"text": text}), headers=JSON
            )

        sound = (await check((SCENARIOS / f"{CRASH}.yaml").read_text())).json()
        assert len(sound["plan"]["steps"]) == 4 and sound["error"] is None
        wrong = (await check(HEAD + "end: {at: soon}")).json()
        assert wrong["plan"] is None and wrong["error"]["line"] == 3
        for text, status in (("[" * 20_000, 413), ("x" * (TEXT_BYTES + 1), 422)):
            refused = await check(text)
            assert refused.status_code == status and len(one_line(refused)) < 200
        assert (await client.get("/api/scenarios/schema")).json() == msgspec.json.decode(schema())

    with_api(tmp_path, body)


def test_a_trial_of_the_explorer_runs_on_its_own_family() -> None:
    group = "{number: 1, name: g1, members: [mds1, mds2, mds3]}"
    plan = checked(HEAD + f"trial: {{cluster: {{protocol: packed-paxos, groups: [{group}]}}}}\n").plan
    assert plan is not None and plan.trial and (plan.protocol, plan.steps) == ("packed-paxos", [])
    assert [family.name for family in plan.families if not family.refused] == ["packed-paxos"]
    assert plan.fabrics == ["simulated", "processes"]
