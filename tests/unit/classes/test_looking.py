"""Every route of the application, as the instructor at a student's cluster: questions pass, and a new route that changes something is closed."""

from __future__ import annotations

import asyncio

import pytest

from backend.classes.permissions import SOCKET, only_looks
from tests.unit.classes.test_permissions import (
    ATTEMPT,
    INSTRUCTOR,
    MINE,
    OTHERS,
    ROUTES,
    access_with,
    ask,
    scope_of,
)

BESIDE = {"POST /api/scenarios/check", "POST /api/scenario-runs", "DELETE /api/scenario-runs/{number}"}
"""Routes that change no cluster, though their addresses may have one."""


@pytest.mark.parametrize("route", [route for route in ROUTES if " /api/" in route])
def test_an_instructor_looks_at_a_students_cluster_and_does_not_change_it(route: str) -> None:
    async def run() -> None:
        access, method = access_with(), route.split(" ")[0]
        looks = method in ("GET", SOCKET) or route in BESIDE
        assert (await ask(access, route, INSTRUCTOR, MINE))[0] == (200 if looks else 403)
        for cluster in (None, OTHERS):
            assert (await ask(access, route, INSTRUCTOR, cluster))[0] == 200

    asyncio.run(run())


def test_an_instructor_leaves_a_students_attempt_and_its_cluster_alone() -> None:
    async def run() -> None:
        access = access_with()
        for route in ("DELETE /api/clusters/{name}", *ATTEMPT):
            path, looks = route.split(" ")[1], route.startswith("GET")
            mine, other = path.replace("{name}", "lab-mine"), path.replace("{name}", "lab-other")
            assert (await ask(access, route, INSTRUCTOR, path=mine))[0] == (200 if looks else 403), route
            assert (await ask(access, route, INSTRUCTOR, path=other))[0] == 200

    asyncio.run(run())


@pytest.mark.parametrize("method", ["HEAD", "PATCH", "OPTIONS", "TRACE"])
def test_a_form_that_no_route_has_is_no_looking(method: str) -> None:
    assert not only_looks(scope_of(f"{method} /api/faults", MINE))
