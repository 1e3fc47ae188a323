"""Every route of the application, as a student, a stranger, and from another machine. A new route is closed until this list has it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import msgspec
import pytest
from starlette.routing import Route, WebSocketRoute
from starlette.types import Message, Scope

from backend.access import Access
from backend.app import ROUTERS, routes
from backend.classes.admission import SOCKETS_MAX
from backend.classes.permissions import ENTRANCE, SOCKET, STUDENTS, permitted
from backend.classes.roster import ClassRoster
from backend.dependencies import CLUSTER
from backend.grading.supervisor import Graded
from backend.grading.verdict import signed, verdict_of
from backend.key import authorization
from backend.lab import Lab
from backend.person import PERSON, Person
from backend.reach import NetworkReach
from tests.unit.backend.test_api import one_line, with_api

OWN = {
    "GET /api/cluster", "GET /api/status", "GET /api/verbs", "GET /api/clock", "GET /api/conditions", "GET /api/tree", "GET /api/coordination",
    "GET /api/coordination/changes", "GET /api/runs", "GET /api/runs/{run}/events", "GET /api/runs/{run}/picture",
    "GET /api/runs/{run}/timeline", "GET /api/runs/{run}/failovers", "GET /api/runs/{run}/journal", "GET /api/runs/{run}/pool",
    "GET /api/journal/{server}/{sn}", "GET /api/takeovers/{group}/{epoch}", "GET /api/pool/look", "GET /api/checkpoints",
    "GET /api/checkpoints/story", "GET /api/checkpoints/behind", "GET /api/checkpoints/{name:path}/behind", "GET /api/fs/list",
    "GET /api/fs/blocks", "POST /api/faults", "POST /api/clock", "POST /api/workload", "POST /api/fs",
    "POST /api/groups/{group}/handover", "POST /api/checkpoints", "POST /api/checkpoints/recover", "SOCKET /api/stream",
}  # fmt: skip
"""Routes that a student has for their own cluster."""
ATTEMPT = {
    "GET /api/attempts/{name}", "DELETE /api/attempts/{name}", "POST /api/attempts/{name}/answers", "POST /api/attempts/{name}/hints",
    "POST /api/attempts/{name}/verdict",
}  # fmt: skip
"""Routes that a student has for their own attempt."""
COMMON = {
    "GET /api/labs", "GET /api/labs/{name}", "GET /api/attempts", "POST /api/attempts", "GET /api/class/me",
    "POST /api/class/me/cluster", "POST /api/class/me/verdicts", "GET /join", "GET /healthz", "GET /readyz", "GET /metrics",
    "GET /api/papers", "GET /api/papers/{paper}/{mechanism}", "GET /api/experiments/{name}", "GET /api/experiments/{name}/plot",
}  # fmt: skip
"""Routes that a student has of nobody's things. The probes are open to everybody before any table is asked."""
OPEN_TO_ALL = {"GET /join", "POST /join", "POST /api/class/join"}


def every_route() -> Iterator[str]:
    found = [route for router in (routes(), *ROUTERS) for route in router.routes]
    for route in found:
        if isinstance(route, WebSocketRoute):
            yield f"{SOCKET} {route.path}"
        elif isinstance(route, Route):
            yield from (f"{method} {route.path}" for method in sorted(route.methods or ()))


ROUTES = sorted(every_route())


def scope_of(route: str, cluster: object = None) -> Scope:
    method, path = route.split(" ")
    path = re.sub(r"\{[^}]*\}", "x1", path)
    kind = "websocket" if method == SOCKET else "http"
    scope: Scope = {"type": kind, "method": method, "path": path, "query_string": b"", "headers": []}
    return scope if cluster is None else {**scope, CLUSTER: cluster}


def test_there_are_routes_of_every_kind() -> None:
    assert len(ROUTES) > 60 and {*ROUTES} >= OWN | ATTEMPT | COMMON | OPEN_TO_ALL


def test_what_a_student_reaches_is_exactly_this_list() -> None:
    of_clusters = {route for route in ROUTES if permitted(scope_of(route, object()), STUDENTS)}
    found = {route: permitted(scope_of(route), STUDENTS) for route in ROUTES}
    assert of_clusters == OWN
    assert {route for route, each in found.items() if each and each.whose == "attempt"} == ATTEMPT
    assert {route for route, each in found.items() if each and each.whose == "nobody's"} == COMMON


def test_what_a_stranger_reaches_is_the_entrance() -> None:
    assert {route for route in ROUTES if permitted(scope_of(route), ENTRANCE)} == OPEN_TO_ALL
    assert not any(permitted(scope_of(route, object()), ENTRANCE) for route in ROUTES)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api"), ("GET", "/api/"), ("GET", "/api/clusters/other/cluster"), ("HEAD", "/api/labs"), ("OPTIONS", "/api/labs"),
        ("PUT", "/api/attempts"), ("GET", "/api/labs/a/runs"), ("GET", "/api/labs/"), ("GET", "/api/attempts//"), ("POST", "/"),
        ("GET", "/api/docs"), ("GET", "/api/openapi.json"), ("GET", "/api/labs\n"), ("GET", "/api/attempts/a/../b"),
    ],
)  # fmt: skip
def test_forms_that_are_none_are_refused(method: str, path: str) -> None:
    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": []}
    assert permitted(scope, STUDENTS) is None


class Reached(Exception):
    """The application got the request."""


OTHERS = SimpleNamespace(name="other")
MINE = SimpleNamespace(name="mine")


def classes_with(students: dict[str, str]) -> Any:
    """A class whose students have these keys; each has the cluster `MINE`, and the attempt `lab-mine`."""
    there: dict[str, Any] = {}

    def presence(id: str) -> Any:
        return there.setdefault(id, SimpleNamespace(sockets=0, seen=lambda: None, revoked=asyncio.Event()))

    return SimpleNamespace(
        roster=SimpleNamespace(
            takes_students=True,
            person_of=lambda key: Person("1", students[key]) if key in students else None,
        ),
        cluster_of=lambda id: MINE,
        student_with=lambda cluster: Person("1", "Ada") if cluster in (MINE, "lab-mine") else None,
        attempts=SimpleNamespace(of=lambda id: {"lab-mine": None}),
        presence=presence,
    )


async def ask(
    access: Access,
    route: str,
    key: str,
    cluster: object = None,
    path: str = "",
    query: str = "",
    peer: str = "127.0.0.1",
) -> tuple[int, Scope | None]:
    """The status of a refusal, or 200 with the scope as the application got it."""
    scope = {**scope_of(route, cluster), "query_string": query.encode(), "client": (peer, 9)}
    scope["path"] = path or scope["path"]
    scope["headers"] = [(b"host", b"127.0.0.1:8080"), (b"authorization", f"Bearer {key}".encode())]
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    reached: list[Scope] = []

    async def app(scope: Scope, receive: Any, send: Any) -> None:
        reached.append(scope)

    access._app = app
    if access._admission is not None:
        access._admission._app = app
    await access(scope, receive, send)
    if reached:
        return 200, reached[0]
    first = sent[0]
    return (first["status"] if first["type"] == "http.response.start" else first["code"] - 4000), None


async def nothing(scope: Scope, receive: Any, send: Any) -> None:
    raise Reached


def access_with(reach: NetworkReach | None = None) -> Access:
    return Access(nothing, "i" * 43, classes_with({"s" * 43: "Ada"}), reach or NetworkReach())


STUDENT, INSTRUCTOR = "s" * 43, "i" * 43


@pytest.mark.parametrize("route", sorted(OWN))
def test_a_cluster_is_reached_by_its_student_alone(route: str) -> None:
    async def run() -> None:
        access = access_with()
        status, scope = await ask(access, route, STUDENT, MINE)
        assert status == 200 and scope is not None and scope[PERSON].name == "Ada"
        assert (await ask(access, route, STUDENT, OTHERS))[0] == 403
        assert (await ask(access, route, STUDENT))[0] == 403, "without a prefix it is the main cluster"
        assert (await ask(access, route, "x" * 43, MINE))[0] == 401

    asyncio.run(run())


@pytest.mark.parametrize("route", sorted(ATTEMPT))
def test_an_attempt_is_reached_by_its_student_alone(route: str) -> None:
    async def run() -> None:
        access, path = access_with(), route.split(" ")[1]
        assert (await ask(access, route, STUDENT, path=path.replace("{name}", "lab-mine")))[0] == 200
        assert (await ask(access, route, STUDENT, path=path.replace("{name}", "lab-other")))[0] == 403

    asyncio.run(run())


@pytest.mark.parametrize("route", sorted({*ROUTES} - OWN - ATTEMPT - COMMON - OPEN_TO_ALL))
def test_all_else_is_the_instructors(route: str) -> None:
    async def run() -> None:
        access = access_with()
        for cluster in (None, MINE, OTHERS):
            assert (await ask(access, route, STUDENT, cluster))[0] == 403
            assert (await ask(access, route, "", cluster))[0] == 401
        for cluster in (None, OTHERS):
            assert (await ask(access, route, INSTRUCTOR, cluster))[0] == 200

    asyncio.run(run())


def test_nobody_asks_for_the_numbers_of_another() -> None:
    async def run() -> None:
        access = access_with()
        assert (await ask(access, "GET /api/labs", STUDENT, query="student=Ada"))[0] == 200
        for query in ("student=Eve", "student=Ada&student=Eve", "student=", "%73tudent=Eve"):
            assert (await ask(access, "GET /api/labs", STUDENT, query=query))[0] == 403

    asyncio.run(run())


def test_from_another_machine_only_keys_of_students_work() -> None:
    async def run() -> None:
        access = access_with(NetworkReach(network=True))
        assert (await ask(access, "GET /api/cluster", INSTRUCTOR, peer="10.0.0.4"))[0] == 401
        assert (await ask(access, "GET /api/class/me", STUDENT, peer="10.0.0.4"))[0] == 200
        assert (await ask(access, "GET /api/cluster", INSTRUCTOR))[0] == 200

    asyncio.run(run())


def test_a_student_who_asks_without_end_waits_and_the_others_do_not() -> None:
    async def run() -> None:
        access = access_with()
        found = [(await ask(access, "GET /api/labs", STUDENT))[0] for _ in range(400)]
        assert found[0] == 200 and found[-1] == 429
        assert (await ask(access, "GET /api/labs", INSTRUCTOR))[0] == 200

    asyncio.run(run())


def test_a_student_has_few_sockets() -> None:
    async def run() -> None:
        access = access_with()
        admission = access._admission
        assert admission is not None
        admission._classes.presence("1").sockets = SOCKETS_MAX
        assert (await ask(access, "SOCKET /api/stream", STUDENT, MINE))[0] == 429

    asyncio.run(run())


def test_off_by_default(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        none = (await client.get("/api/class")).json()
        assert (none["number"], none["open"], none["joining"]) == (0, False, False)
        assert "no class is open" in one_line(await client.post("/api/class/end"))
        assert (await client.get("/api/class/me")).json()["name"] == ""
        del client.headers["Authorization"]
        for method, path in (("GET", "/join"), ("POST", "/join"), ("POST", "/api/class/join")):
            refused = await client.request(method, path, json={"code": "", "name": "Ada"})
            assert refused.status_code == 401, path

    with_api(tmp_path, body)


def test_a_class_from_its_start_to_its_end(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        started = (await client.post("/api/class", json={"name": "DS 101"})).json()
        assert started["open"] and started["joining"] and not started["network"]
        assert (await client.post("/api/class", json={})).status_code == 409
        instructor = dict(client.headers)
        del client.headers["Authorization"]
        assert "DS 101" in (await client.get("/join")).text
        joined = await client.post(
            "/api/class/join", json={"code": started["code"].lower(), "name": " Ada  B "}
        )
        assert joined.json()["name"] == "Ada B"
        student = authorization(joined.json()["key"])
        twice = await client.post("/api/class/join", json={"code": started["code"], "name": "ADA b"})
        assert twice.status_code == 409 and "another name" in one_line(twice)
        me = (await client.get("/api/class/me", headers=student)).json()
        assert (me["name"], me["class_name"], me["cluster"], me["passed"]) == ("Ada B", "DS 101", "", [])
        for path in (
            "/api/class",
            "/api/class/wall",
            "/api/cluster",
            "/api/clusters",
            "/api/clusters/main/cluster",
        ):
            assert (await client.get(path, headers=student)).status_code == 403, path
        assert (await client.get("/labs", headers=student)).status_code == 200
        wall = (await client.get("/api/class/wall", headers=instructor)).json()
        [tile] = wall["tiles"]
        assert (tile["name"], tile["cluster"], tile["stuck"]) == ("Ada B", None, "")
        renewed = await client.post(f"/api/class/students/{tile['id']}/key", headers=instructor)
        assert (await client.get("/api/class/me", headers=student)).status_code == 401
        student = authorization(renewed.json()["key"])
        assert (await client.get("/api/class/me", headers=student)).status_code == 200
        assert (await client.post("/api/class/end", headers=instructor)).json()["open"] is False
        assert (await client.get("/api/class/me", headers=student)).status_code == 401
        assert "Ada B,none" in (await client.get("/api/class/results.csv", headers=instructor)).text

    with_api(tmp_path, body)


def test_the_form_admits_too_and_keeps_what_was_typed(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        code = (await client.post("/api/class", json={})).json()["code"]
        del client.headers["Authorization"]
        wrong = await client.post("/join", data={"code": "<b>", "name": "<i>Ada"})
        assert wrong.status_code == 403 and "&lt;i&gt;Ada" in wrong.text and "<i>" not in wrong.text
        good = await client.post("/join", data={"code": code, "name": "李 小龙"})
        assert good.status_code == 200 and good.headers["cache-control"] == "no-store"
        found = re.search(r'href="(/labs\?key=[\w-]+)"', good.text)
        assert found is not None
        opened = await client.get(found[1])
        assert (opened.status_code, opened.headers["location"]) == (303, "/labs")
        cookie = opened.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie and "max-age" in cookie
        assert (await client.get("/api/class/me")).json()["name"] == "李 小龙"
        assert "You are in, 李 小龙" in (await client.get("/join")).text
        for broken in (b"", b"code", b"\xff=1", b"&".join([b"a=1"] * 50)):
            assert (
                400
                <= (await client.post("/join", content=broken, headers={"Authorization": ""})).status_code
                < 500
            )

    with_api(tmp_path, body)


def test_guessing_ends_after_ten_tries_also_with_the_right_code(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        code = (await client.post("/api/class", json={})).json()["code"]
        del client.headers["Authorization"]
        tries = [
            (await client.post("/api/class/join", json={"code": f"ABCD-{n:04}", "name": "Eve"})).status_code
            for n in range(14)
        ]
        assert tries[:10] == [403] * 10 and tries[-1] == 429
        last = await client.post("/api/class/join", json={"code": code, "name": "Eve"})
        assert last.status_code == 429 and "wait" in one_line(last)

    with_api(tmp_path, body)


def test_a_class_survives_a_new_start(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        code = (await client.post("/api/class", json={"name": "DS"})).json()["code"]
        key = (await client.post("/api/class/join", json={"code": code, "name": "Ada"})).json()["key"]
        again = ClassRoster(lab.home.path)
        person = again.person_of(key)
        assert person is not None and person.name == "Ada" and again.record.code == code
        file = lab.home.path / "classes" / "1.json"
        assert key not in file.read_text() and file.stat().st_mode & 0o777 == 0o600

    with_api(tmp_path, body)


def test_a_signed_verdict_is_handed_in_once_and_under_the_own_name(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        code = (await client.post("/api/class", json={})).json()["code"]
        key = (await client.post("/api/class/join", json={"code": code, "name": "Ada"})).json()["key"]
        student = authorization(key)
        made = verdict_of("election", "ada", range(1, 301), b"part", Graded(passed=300))
        good = msgspec.to_builtins(signed(made, code.lower()))
        for _ in range(2):
            taken = await client.post("/api/class/me/verdicts", json=good, headers=student)
            assert taken.json()["verdicts"] == [{"lab": "election", "passed": True}], taken.text
        for wrong in (
            good | {"passed": False},
            good | {"signature": "é"},
            good | {"more": 1},
            good | {"lab": "x" * 41},
            msgspec.to_builtins(signed(msgspec.structs.replace(made, student="Eve"), code)),
            msgspec.to_builtins(signed(made, "ABCD-2345")),
        ):
            refused = await client.post("/api/class/me/verdicts", json=wrong, headers=student)
            assert refused.status_code == 422 and one_line(refused), wrong
        mine = await client.post("/api/class/me/verdicts", json=good)
        assert mine.status_code == 404 and "instructor" in one_line(mine)
        rows = (await client.get("/api/class/results.csv")).text.splitlines()
        assert len(rows) == 2 and rows[1].startswith("Ada,handed in,election,") and "1..300" in rows[1]

    with_api(tmp_path, body)
