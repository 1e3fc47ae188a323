"""The API against a lab without running processes: everything but the processes' answers."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import msgspec
import pytest

from backend.app import create_app
from backend.fabrics.counters import Pipeline, Replicated
from backend.fleet.fleet import Fleet
from backend.gate import BODY_BYTES
from backend.key import authorization, key_in
from backend.lab import Lab
from backend.settings import Settings
from backend.shape import Shape
from backend.status import short
from nodes.faults.table import VERBS
from nodes.metadata.pages import Counters
from nodes.trace import events as e
from tests.unit.backend.story import Story, called, committed, durable

JSON = {"Content-Type": "application/json"}
URL = "http://127.0.0.1:8080"
FILES = {"application/byte-stream", "image/svg+xml", "text/csv"}
"""Answers that are files, which no model describes."""
ONE_GROUP = Shape()
Body = Callable[[httpx.AsyncClient, Lab], Awaitable[None]]


@contextlib.asynccontextmanager
async def api(tmp_path: Path, shape: Shape) -> AsyncIterator[tuple[httpx.AsyncClient, Lab]]:
    page = tmp_path / "dist"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<title>page</title>")
    (page / "assets" / "a.js").write_text("1")
    (tmp_path / "secret.txt").write_text("hidden words")
    lab = await Lab.open(Settings(tmp_path / "data", page=page, shape=shape))
    fleet = Fleet(lab)
    transport = httpx.ASGITransport(app=create_app(fleet), raise_app_exceptions=False)
    with_key = authorization(key_in(lab.home.path))
    try:
        async with httpx.AsyncClient(transport=transport, base_url=URL, headers=with_key) as client:
            yield client, lab
    finally:
        await fleet.stop()
        await lab.stop()
        await lab.workers.stop()


def with_api(tmp_path: Path, body: Body, shape: Shape = ONE_GROUP) -> None:
    async def run() -> None:
        async with api(tmp_path, shape) as (client, lab):
            await body(client, lab)

    asyncio.run(run())


def one_line(response: httpx.Response) -> str:
    error: str = response.json()["error"]
    assert list(response.json()) == ["error"] and "\n" not in error and "Traceback" not in error
    return error


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "says"),
    [
        ("POST", "/api/faults", {"verb": "crash", "targets": ["mds9"]}, 404, "no target is called 'mds9'"),
        ("POST", "/api/faults", {"verb": "smash", "targets": ["mds1"]}, 404, "no fault is called 'smash'"),
        ("POST", "/api/faults", {"verb": "clog", "targets": ["mds1"]}, 409, "only the simulator"),
        ("POST", "/api/faults", {"verb": "crash", "targets": ["active of g1"]}, 409, "no active of g1 now"),
        (
            "POST",
            "/api/faults",
            {"verb": "crash", "targets": ["active of g7"]},
            404,
            "no group is called 'g7'",
        ),
        ("POST", "/api/faults", {"verb": "crash", "targets": ["mds1"]}, 409, "mds1 does not run"),
        ("GET", "/api/pool/look?path=/a", None, 503, "no server of g1 can read its images now: "),
        ("GET", "/api/pool/look?path=a", None, 422, "does not begin with /"),
        ("GET", "/api/pool/look", None, 422, "path"),
        ("POST", "/api/faults", {"verb": "crash", "targets": ["g1"]}, 422, "is a group"),
        ("POST", "/api/faults", {"verb": "crash", "targets": []}, 422, "takes 1 to 32 targets"),
        ("POST", "/api/faults", {"verb": "cut", "targets": ["mds1", "mds1"]}, 422, "two ends"),
        (
            "POST",
            "/api/faults",
            {"verb": "cut", "targets": ["client1", "coordination"]},
            409,
            "no link between",
        ),
        (
            "POST",
            "/api/faults",
            {"verb": "delay", "targets": ["mds1"], "options": {"ms": -1}},
            422,
            "option ms of delay",
        ),
        (
            "POST",
            "/api/faults",
            {"verb": "delay", "targets": ["mds1"], "options": {"ns": 1}},
            422,
            "no option 'ns'",
        ),
        (
            "POST",
            "/api/faults",
            {"verb": "lose", "targets": ["mds1"], "options": {"share": True}},
            422,
            "option share",
        ),
        ("POST", "/api/faults", {"verb": "take_lock", "targets": ["mds1"]}, 422, "take_lock takes a group"),
        ("POST", "/api/faults", {"verb": "take_lock", "targets": ["g1"]}, 409, "no server holds the lock"),
        ("POST", "/api/faults", {"verb": "crash", "who": "mds1"}, 422, "who"),
        ("POST", "/api/faults", {"targets": ["x"] * 33, "verb": "crash"}, 422, "targets"),
        ("POST", "/api/workload", {"rate_per_s": -1}, 422, "rate_per_s"),
        ("POST", "/api/workload", {"rate": 5}, 422, "rate"),
        ("GET", "/api/runs/7/events", None, 404, "no run 7"),
        ("GET", "/api/runs/1/events?limit=5001", None, 422, "limit"),
        ("GET", "/api/runs/1/events?kinds=Nonsense", None, 422, "no event is called"),
        ("GET", "/api/runs/x/events", None, 422, "run"),
        ("GET", "/api/runs/1/journal?from_sn=1&to_sn=5000", None, 422, "2000 columns"),
        ("GET", "/api/runs/1/journal?from_sn=9&to_sn=2", None, 422, "forwards"),
        ("GET", "/api/runs/1/journal?from_sn=1&to_sn=9&group=g9", None, 404, "no group is called 'g9'"),
        ("GET", "/api/runs/1/timeline?from_ns=5&to_ns=5", None, 422, "later"),
        ("GET", "/api/journal/mds9/1", None, 404, "no server is called"),
        ("GET", "/api/journal/mds1/1", None, 503, "does not run"),
        ("GET", "/api/nothing", None, 404, "no page or route at"),
        ("POST", "/api/fs", {"do": "format", "path": "/"}, 422, "do"),
        ("POST", "/api/fs", {"do": "ls", "path": "/" + "x" * 9000}, 422, "path"),
        ("GET", "/api/fs/list?path=/" + "x" * 9000, None, 422, "path"),
        ("GET", "/api/fs/list?path=/&limit=201", None, 422, "limit"),
    ],
)
def test_wrong_input_gets_one_line_and_its_status(
    tmp_path: Path, method: str, path: str, body: dict[str, object] | None, status: int, says: str
) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        response = await client.request(method, path, json=body)
        assert (response.status_code, says in one_line(response)) == (status, True), response.text

    with_api(tmp_path, ask)


def test_only_this_machines_own_pages_may_speak(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        for headers in (
            {"Host": "evil.example"}, {"Host": "127.0.0.1.evil.example:8080"}, {"Origin": "http://evil.example:8080"},
            {"Origin": "null"}, {"Origin": "http://localhost:9999"}, {"Host": "localhost@evil.example"},
        ):  # fmt: skip
            response = await client.get("/api/cluster", headers=headers)
            assert response.status_code == 403 and one_line(response), headers
        for headers in (
            {"Host": "localhost:8080"},
            {"Origin": "http://localhost:8080"},
            {"Host": "[::1]:8080"},
            {},
        ):
            assert (await client.get("/api/cluster", headers=headers)).status_code == 200, headers

    with_api(tmp_path, ask)


def test_bodies_are_bounded_with_and_without_a_length(tmp_path: Path) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * (BODY_BYTES // 10)
        yield b'{"verb": "crash", "targets": ["mds9"]}'

    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        response = await client.post("/api/faults", content=b" " * (BODY_BYTES + 1))
        assert response.status_code == 413 and "bytes at most" in one_line(response)
        streamed = await client.post("/api/faults", content=pieces(), headers=JSON)
        assert streamed.status_code == 400 and one_line(streamed)
        malformed = await client.post(
            "/api/faults", content=b"{", headers={"Content-Type": "application/json"}
        )
        assert malformed.status_code == 422 and one_line(malformed)

    with_api(tmp_path, ask)


def test_the_page_is_served_and_nothing_beside_it(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        for path in ("/", "/namespace", "/storage-pool?select=g1/mds1/journal", "/checkpoints", "/compare"):
            assert "page" in (await client.get(path)).text
        assert (await client.get("/assets/a.js")).text == "1"
        for path in (
            "/../secret.txt",
            "/%2e%2e/secret.txt",
            "/assets/%2e%2e/%2e%2e/secret.txt",
            "/x%00y.js",
            "/no.js",
            "/nothing",
            "/cluster/g1",
            "/assets",
            "/" + "x" * 300,
            "/" + "x/" * 3000,
        ):
            response = await client.get(path)
            assert response.status_code == 404 and one_line(response), path

    with_api(tmp_path, ask)


def test_events_and_the_past_are_reported_by_name(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        story = Story()
        reported = [
            story(1, "coordination", e.Placed("g1", "mds1", "active", 1, 0)),
            story(2, "client1", called(1, 2)),
        ]
        for sn in (1, 2, 3):
            reported += [
                story(10 * sn, "mds1", durable(sn)),
                story(10 * sn + 1, "mds2", durable(sn, crc=5 if sn == 3 else None)),
            ]
        reported += [
            story(25, "mds1", committed(1)),
            story(35, "mds1", committed(3)),
            story(36, "mds1", e.Applied(1, 1, 1 << 63)),
        ]
        reported.sort(key=lambda stamped: stamped.at_ns)
        for stamped in reported:
            lab.fabric.picture.apply(stamped, 0)
        lab._on_events(reported)
        page = (await client.get("/api/runs/1/events?kinds=Placed,Applied")).json()
        assert [event["kind"] for event in page["events"]] == ["Placed", "Applied"]
        assert page["events"][0]["of_server"] == "mds1" and page["events"][1]["digest"] == f"{1 << 63:x}"
        journals = (await client.get("/api/runs/1/journal?from_sn=1&to_sn=10")).json()
        rows = {row["name"]: row["cells"] for row in journals["servers"]}
        assert rows["mds1"] == [[1, 1, 1, "a"], [2, 3, 1, "c"]]
        assert rows["mds2"] == [[1, 2, 1, "c"], [3, 3, 1, "e"]]
        assert rows["mds3"] == [[1, 3, 0, "x"]] and journals["commit_sn"] == 3
        past = (await client.get("/api/runs/1/picture?at_ns=15000000")).json()
        assert (past["servers"]["mds1"]["sn"], past["servers"]["mds1"]["role"]) == (1, "active")
        runs = (await client.get("/api/runs")).json()
        assert [(run["run"], run["live"], run["last_seq"]) for run in runs] == [(1, True, lab.store.seq)]

    with_api(tmp_path, ask)


def test_each_group_counts_its_own_serial_numbers(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        story = Story()
        reported = [
            story(1, "coordination", e.Placed("g1", "mds1", "active", 1, 0)),
            story(1, "coordination", e.Placed("g2", "mds4", "active", 7, 0)),
            story(2, "mds1", durable(1)),
            story(3, "mds4", durable(1, epoch=7)),
            story(4, "mds5", durable(1, epoch=7)),
            story(5, "mds1", committed(1)),
            story(6, "mds4", e.Committed("g2", 1, 7, 17, ["mds4", "mds5"], 1, [("c", 1)])),
            story(7, "mds4", durable(2, epoch=7)),
        ]
        for stamped in reported:
            lab.fabric.picture.apply(stamped, 0)
        lab._on_events(reported)
        first = (await client.get("/api/runs/1/journal?from_sn=1&to_sn=10&group=g1")).json()
        assert first == (await client.get("/api/runs/1/journal?from_sn=1&to_sn=10")).json()
        assert {row["name"]: row["cells"] for row in first["servers"]} == {
            "mds1": [[1, 1, 1, "c"]],
            "mds2": [[1, 1, 0, "x"]],
            "mds3": [[1, 1, 0, "x"]],
        }
        second = (await client.get("/api/runs/1/journal?from_sn=1&to_sn=10&group=g2")).json()
        assert (second["group"], second["commit_sn"], second["last_sn"]) == ("g2", 1, 2)
        rows = {row["name"]: row["cells"] for row in second["servers"]}
        assert rows["mds4"] == [[1, 1, 7, "c"], [2, 2, 7, "p"]]
        assert rows["mds5"] == [[1, 1, 7, "c"], [2, 2, 0, "x"]]
        bands = (await client.get("/api/runs/1/timeline?buckets=1")).json()["bands"]
        assert [(band["server"], band["group"]) for band in bands] == [
            (f"mds{number}", "g1" if number < 4 else "g2") for number in range(1, 7)
        ]

    with_api(tmp_path, ask, Shape(groups=2, standbys=2))


def test_jobs_and_locks_are_reported_by_server(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        lab.counted.pipelines = {"mds1": Pipeline(1, 2, 3, 4, 5, 6, 7)}
        reported = (await client.get("/api/cluster")).json()["pipelines"]
        assert reported == {"mds1": msgspec.structs.asdict(lab.counted.pipelines["mds1"])}

    with_api(tmp_path, ask)


def test_counters_of_the_groups_are_reported_where_they_are_known(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        lab.counted.groups = {
            "g2": Counters(
                objects=5,
                branch_points=2,
                open=1,
                done=4,
                aborted=3,
                sent=20,
                log_bytes=9,
                log_full=False,
                periodic=1,
                forced=2,
                protocol=7,
            )
        }
        lab.counted.servers = {"mds1": Replicated({"Prepare": 8}, {"Prepare": 900}, {"2": 4}, 5, 6)}
        cluster = (await client.get("/api/cluster")).json()
        assert (
            cluster["replicated"] == msgspec.to_builtins(lab.counted.servers) == short(cluster)["replicated"]
        )
        reported = {group["name"]: group["counters"] for group in cluster["groups"]}
        assert reported == {"g1": None, "g2": msgspec.structs.asdict(lab.counted.groups["g2"])}
        assert {group["name"]: group["counters"] for group in short(cluster)["groups"]} == reported
        metrics = (await client.get("/metrics")).text
        for line in (
            'cloverlab_group_objects{group="g2"} 5.0',
            'cloverlab_group_branch_points{group="g2"} 2.0',
            'cloverlab_group_open_operations{group="g2"} 1.0',
            'cloverlab_group_operations_total{group="g2",outcome="aborted"} 3.0',
            'cloverlab_group_messages_total{group="g2"} 20.0',
            'cloverlab_server_messages_total{kind="Prepare",server="mds1"} 8.0',
            'cloverlab_server_message_bytes_total{kind="Prepare",server="mds1"} 900.0',
            'cloverlab_server_log_writes_total{server="mds1"} 5.0',
            'cloverlab_server_answered_writes_total{server="mds1"} 6.0',
        ):
            assert line in metrics
        assert 'cloverlab_group_objects{group="g1"}' not in metrics

    with_api(tmp_path, ask, Shape(groups=2, standbys=2))


def test_the_api_describes_itself_with_named_models(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        schema = (await client.get("/api/openapi.json")).json()
        for path, methods in schema["paths"].items():
            for method, operation in methods.items():
                kinds = operation["responses"]["200"]["content"]
                if kinds.keys() <= FILES:
                    continue
                content = kinds["application/json"]["schema"]
                each = content.get("items", content.get("additionalProperties", content))
                assert "$ref" in each, (path, method)
        verbs = (await client.get("/api/verbs")).json()
        assert [verb["verb"] for verb in verbs] == [
            verb.verb for verb in VERBS if verb.key and verb.verb != "force_view"
        ]
        keys = [verb["key"] for verb in verbs]
        assert len(set(keys)) == len(keys)
        assert {
            "crash": "C",
            "restart": "R",
            "pause": "P",
            "take_lock": "L",
            "cut": "X",
            "heal": "H",
        }.items() <= {verb["verb"]: verb["key"] for verb in verbs}.items()
        metrics = await client.get("/metrics")
        assert 'cloverlab_server_role{group="g1",role="down",server="mds1"} 1.0' in metrics.text

    with_api(tmp_path, ask)
