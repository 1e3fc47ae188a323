"""`wait`: conditions on what the control plane reports."""

from __future__ import annotations

from typing import Any

import pytest

from backend.commands.wait import situation
from backend.errors import Malformed
from backend.scenarios.conditions import state_condition


def cluster(**changes: str) -> dict[str, Any]:
    active = {"name": "mds1", "group": "g1", "role": "active", "believes": "active", "process": "running"}
    standby = {"name": "mds2", "group": "g1", "role": "standby", "believes": "standby", "process": "running"}
    return {"servers": [active | changes, standby], "groups": [{"name": "g1", "active": "mds1"}]}


@pytest.mark.parametrize(
    ("text", "changes", "holds"),
    [
        ("settled", {}, True),
        ("settled", {"process": "paused"}, False),
        ("active of g1 serves", {}, True),
        ("active of g1 serves", {"believes": "elected"}, False),
        ("active of g1 is mds1", {}, True),
        ("active of g1 is mds2", {}, False),
        ("active of g1 is mds1", {"process": "stopped"}, False),
        ("active of g2 is mds1", {}, False),
        ("primary of g1 is mds1", {"role": "primary", "believes": "primary"}, True),
        ("mds2 is standby", {}, True),
        ("1 standby in g1", {}, True),
        ("2 standbys in g1", {}, False),
    ],
)
def test_conditions(text: str, changes: dict[str, str], holds: bool) -> None:
    assert state_condition(text)(situation(cluster(**changes))) == holds


@pytest.mark.parametrize("text", ["happy", "step upgrade 4 of g1", "blocks whole", "reported Serving"])
def test_what_is_no_condition_on_the_state_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        state_condition(text)
