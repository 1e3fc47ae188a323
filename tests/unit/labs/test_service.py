"""Labs in the API: the list, a lab with a student's numbers, a run in a process of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from backend.errors import Impossible, Malformed, NotThere
from backend.labs import service
from backend.labs.reader import names, read_script

SOLUTIONS = Path(__file__).resolve().parents[2] / "simulation" / "labs" / "solutions"


def test_the_list_has_all_labs_in_their_order() -> None:
    rows = service.listed()
    assert {row["lab"] for row in rows} == set(names())
    assert rows[0]["lab"] == "what-is-a-standby"


def test_a_lab_does_not_show_the_answers() -> None:
    found = service.of_student("why-wait", "ada")
    question = found["steps"][1]["question"]
    assert set(question) == {"unit", "choices"}
    assert "why" not in found["steps"][1]
    assert f"{found['numbers']['pause']} seconds" in found["page"]
    with pytest.raises(NotThere):
        service.of_student("nothing", "ada")


def test_a_run_has_a_process_of_its_own_and_its_verdict() -> None:
    script = read_script(SOLUTIONS / "the-stream-that-nobody-acknowledges.yaml")
    actions = [
        {"at": "5s", "fault": "cut", "target": ["active of g1", "standby 1 of g1"], "for": "2s"},
        {"after": "1s", "fault": "crash", "target": "active of g1"},
    ]
    found = asyncio.run(
        service.run("the-stream-that-nobody-acknowledges", "ada", dict(script.answers), actions)
    )
    assert found["passed"], found["steps"]
    assert found["lost"]
    assert not service.under_way


def test_wrong_actions_are_one_line_and_runs_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Malformed, match="crush"):
        asyncio.run(service.run("why-wait", "ada", {}, [{"at": "5s", "fault": "crush"}]))
    with pytest.raises(Malformed, match="unknown field"):
        asyncio.run(service.run("why-wait", "ada", {}, [{"att": "5s"}]))
    monkeypatch.setattr(service, "AT_ONCE", 0)
    with pytest.raises(Impossible, match="try again"):
        asyncio.run(service.run("why-wait", "ada", {}, []))
