"""The instructor's wall: a tile for each student, with the cluster as it is now, the lab, and who is stuck."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.classes.presence import StudentPresence
from backend.classes.record import ClassStudent, LabResult
from backend.classes.service import Classes
from backend.lab import Lab
from nodes.roles import SERVING

STUCK_S = 180.0
"""A lab that has not changed for so long, with the student there, stands still."""
ABSENT_S = 60.0
FAILED_OFTEN = 2
"""Attempts in a row that failed at the same step."""


class StuckFacts(msgspec.Struct, frozen=True):
    under_way: bool
    """Whether a lab has begun and is not over."""
    still_s: float
    hints_left: int | None
    """Of the first step that is open; None when there is none, or it has no hints at all."""
    failed_often: str
    """The step at which the last attempts failed, one after the other."""


def why_stuck(facts: StuckFacts) -> str:
    """One line for the instructor; empty for a student who gets on."""
    if facts.failed_often:
        return f"failed at {facts.failed_often} {FAILED_OFTEN} times in a row"
    if facts.under_way and facts.still_s > STUCK_S:
        return f"no step for {facts.still_s / 60:.0f} minutes"
    if facts.under_way and facts.hints_left == 0:
        return "has read every hint of the open step"
    return ""


def failed_often(results: tuple[LabResult, ...]) -> str:
    """The first failed step that the last attempts of one lab have in common."""
    ended = [each for each in results if each.steps][-FAILED_OFTEN:]
    if len(ended) < FAILED_OFTEN or len({each.lab for each in ended}) > 1:
        return ""
    common = [step for step in ended[0].steps if all(each.steps.get(step) is False for each in ended)]
    return common[0] if common else ""


def tiles(classes: Classes) -> list[dict[str, Any]]:
    """In the order of the joins."""
    return [
        tile(student, classes.presence(student.id), classes.clusters.of(student.id), classes.attempts.shown_to_instructor(student.id))
        for student in classes.roster.record.students
    ]  # fmt: skip


def tile(
    student: ClassStudent,
    presence: StudentPresence,
    found: tuple[str, Lab] | None,
    attempt: dict[str, Any] | None,
) -> dict[str, Any]:
    steps = attempt["steps"] if attempt is not None else []
    return {
        "id": student.id,
        "name": student.name,
        "away_s": round(presence.away_s),
        "absent": presence.away_s > ABSENT_S,
        "stuck": why_stuck(stuck_facts(student, presence, attempt)),
        "passed": sorted(student.passed),
        "verdicts": verdicts(student),
        "lab": attempt["lab"] if attempt is not None else "",
        "phase": attempt["phase"] if attempt is not None else "",
        "run_s": attempt["run_s"] if attempt is not None else 0.0,
        "steps": [{"id": each["id"], "state": each["state"], "answer": each["answer"]} for each in steps],
        "cluster": cluster_tile(*found) if found is not None else None,
    }


def verdicts(student: ClassStudent) -> list[dict[str, Any]]:
    return [{"lab": each.verdict.lab, "passed": each.verdict.passed} for each in student.hand_ins]


def stuck_facts(
    student: ClassStudent, presence: StudentPresence, attempt: dict[str, Any] | None
) -> StuckFacts:
    under_way = attempt is not None and attempt["phase"] != "over"
    steps = attempt["steps"] if attempt is not None else []
    open_step = next((each for each in steps if each["state"] == "open"), None)
    hinted = open_step is not None and (open_step["hints"] or open_step["hints_left"])
    return StuckFacts(
        under_way, presence.still_s, open_step["hints_left"] if open_step is not None and hinted else None,
        "" if under_way else failed_often(student.results),
    )  # fmt: skip


def cluster_tile(name: str, lab: Lab) -> dict[str, Any]:
    fabric, clock = lab.fabric, lab.fabric.virtual_clock
    return {
        "name": name,
        "protocol": lab.home.file.cluster.protocol,
        "now_ns": fabric.now_ns,
        "playing": clock.playing if clock is not None else True,
        "servers": [
            {"name": server.name, "group": server.group, "role": server.role, "process": fabric.state_of(server.name)}
            for server in fabric.picture.servers.values()
        ],
        "unserved": unserved(lab),
        "broken": [each["invariant"] for each in lab.checks.invariants() if each["state"] == "red"],
        "trouble": fabric.trouble or lab.trouble or lab.store.trouble,
    }  # fmt: skip


def unserved(lab: Lab) -> list[str]:
    """The groups without a server that serves."""
    picture = lab.fabric.picture
    served = {
        server.group
        for server in picture.servers.values()
        if server.role in SERVING
        and server.believes in SERVING
        and lab.fabric.state_of(server.name) == "running"
    }
    return [name for name in picture.groups if name not in served]
