"""Runs of scenarios for the page: steps tick off, refusals, cancelling, reports."""

import asyncio
import contextlib
import os
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from backend.errors import Impossible, Malformed, NotThere
from backend.lab import Lab
from backend.scenario_runs import service
from backend.scenario_runs.service import PageRun, RunWish, ScenarioRuns
from backend.scenarios.runner import ScenarioOutcome
from tests.unit.backend.test_api import JSON, one_line, with_api

HEAD = "name: a\nteaches: <b>\ncluster: {session_timeout: 1s}\n"
SHORT = (
    HEAD
    + """steps:
  - {at: 1s, fault: crash, target: active of g1}
  - {expect: {serving: true}, within: 8s}
  - {expect: {roles: A A A A}}
end: {at: 8s}
expect: {failed_calls: 0, invariants: all}
"""
)
LONG = HEAD + "workload: {rate: 2000/s, clients: 64}\nend: {at: 1000m}\n"


async def over(runs: ScenarioRuns, number: int) -> PageRun:
    async with asyncio.timeout(120):
        while runs.read(number).state == "running":
            await asyncio.sleep(0.05)
    return runs.read(number)


def test_a_run_ticks_its_steps_off_and_a_failed_one_says_why() -> None:
    async def run() -> PageRun:
        runs = ScenarioRuns()
        begun = await runs.begin(RunWish(SHORT, protocol="qjm", seed=7))
        return await over(runs, begun.run)

    done = asyncio.run(run())
    assert (done.state, done.protocol, done.seed, done.error) == ("done", "qjm", 7, "")
    assert [(step.number, step.state) for step in done.steps] == [(1, "done"), (2, "done"), (3, "failed")]
    assert done.steps[0].text == "at 1s: crash active of g1" and "AAAA" in done.steps[2].why
    outcome = done.outcome
    assert outcome is not None and not outcome.held and outcome.steps == done.steps
    assert outcome.curve is not None and sum(outcome.curve.ok) > 100 and not any(outcome.curve.failed)
    assert any(end - begin > 10**9 for begin, end in outcome.curve.outages)


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("name: a", {}, "line 1: Object missing required field `teaches`"),
        (HEAD + "steps: [{fault: smash}]", {}, "line 4: no fault is called"),
        (SHORT, {"protocol": "raft"}, "there is no such family"),
        (SHORT, {"variant": 3}, "variant 3 of 1"),
        (
            HEAD + "steps: [{fault: clog, target: mds1}]",
            {"on": "processes"},
            "a step that only simulated can do",
        ),
        (HEAD + "steps: [{mark: k}]", {"protocol": "symmetric"}, "symmetric cannot run it"),
    ],
)
def test_what_cannot_run_is_refused_in_one_line(text: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(Malformed, match=r"line|variant|cannot") as refused:
        asyncio.run(ScenarioRuns().begin(RunWish(text, **options)))
    assert says in refused.value.message


def workers() -> list[int]:
    """Processes of runs and of their clusters that this process started."""
    own = os.getpid()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                ours = b"backend.scenario_runs.worker" in command and parent == own
                found += [int(entry.name)] if ours else []
    return found


def test_two_run_at_once_and_a_cancelled_one_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        runs, long = ScenarioRuns(), RunWish(LONG)
        numbers = [(await runs.begin(long)).run for _ in range(service.AT_ONCE["simulated"])]
        with pytest.raises(Impossible, match="are under way"):
            await runs.begin(long)
        assert (await runs.cancel(numbers[0])).state == "cancelled"
        again = (await runs.begin(long)).run
        await runs.stop()
        assert {runs.read(number).state for number in (*numbers, again)} == {"cancelled"}
        assert [row.run for row in runs.all()] == [3, 2, 1]
        monkeypatch.setitem(service.LIMIT_S, "simulated", 0.2)
        late = await over(runs, (await runs.begin(long)).run)
        assert (late.state, late.error) == ("failed", "not over after 0.2 s")
        assert workers() == []
        with pytest.raises(NotThere):
            runs.read(99)

    asyncio.run(run())


def test_only_the_newest_runs_are_kept_and_none_that_is_under_way() -> None:
    async def run() -> None:
        runs = ScenarioRuns()
        first = (await runs.begin(RunWish(LONG))).run
        for _ in range(service.KEPT + 1):
            await runs.cancel((await runs.begin(RunWish(LONG))).run)
        assert len(runs.all()) == service.KEPT and runs.read(first).state == "running"
        await runs.stop()

    asyncio.run(run())


def test_the_report_is_json_and_one_page_with_plots(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        request = msgspec.json.encode({"text": SHORT, "seed": 3})
        number = (await client.post("/api/scenario-runs", content=request, headers=JSON)).json()["run"]
        early = await client.get(f"/api/scenario-runs/{number}/report")
        assert early.status_code == 409 and "no result" in one_line(early)
        await over(lab.scenario_runs, number)
        shown = (await client.get(f"/api/scenario-runs/{number}")).json()
        [row] = (await client.get("/api/scenario-runs")).json()
        assert row == {name: shown[name] for name in row} and "outcome" not in row
        data = await client.get(f"/api/scenario-runs/{number}/report")
        assert (
            msgspec.json.decode(data.content, type=ScenarioOutcome) == lab.scenario_runs.read(number).outcome
        )
        assert shown["outcome"] == data.json()
        page = await client.get(f"/api/scenario-runs/{number}/report", params={"format": "html"})
        assert page.headers["content-disposition"] == f'attachment; filename="scenario-{number}.html"'
        assert 'class="calls"' in page.text and 'class="outage"' in page.text and "&lt;b&gt;" in page.text
        assert "<b>" not in page.text and "http" not in page.text
        assert (await client.get("/api/scenario-runs/99/report")).status_code == 404

    with_api(tmp_path, body)
