"""Why a scenario did not hold, for the message of a failed test."""

from __future__ import annotations

from backend.scenarios.runner import ScenarioOutcome

LINES = 60
"""Last lines of the timeline that are shown."""


def missed(outcome: ScenarioOutcome) -> str:
    """The expectations that did not hold, and what the cluster did before its end."""
    verdicts = [f"{each.expected}: {each.seen}" for each in outcome.verdicts if not each.held]
    timeline = [f"{ns / 1e9:9.4f} s  {server}  {says}" for ns, server, says in outcome.timeline[-LINES:]]
    return "\n".join([outcome.name, *verdicts, *timeline])
