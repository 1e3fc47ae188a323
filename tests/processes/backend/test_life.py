"""The life of `up`: start, Ctrl-C, a second `up`, a killed control plane."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from backend import remote_requests
from backend.fabrics.home import socket_place
from tests.processes.backend.running import alive, up

EVERYBODY = {"coordination", "relays", "mds1", "mds2", "mds3", "mds4", "dn1", "dn2", "dn3", "client1"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_all_of_it_within_a_few_seconds(tmp_path: Path, number: int) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("nohup ignores this signal, and `up` does as it says")
    with up(tmp_path / "data") as running:
        pids = running.pids()
        assert set(pids) == EVERYBODY and len(set(pids.values())) == 10 and alive(pids) == pids
        assert running.end(number) < 6
        assert running.process.returncode == 0 and alive(pids) == {}
        assert "Traceback" not in running.words()
        assert not socket_place(tmp_path / "data").exists()


def test_a_paused_and_a_crashed_server_do_not_hinder_the_end(tmp_path: Path) -> None:
    with up(tmp_path / "data") as running:
        pids = running.pids()
        running.fault("pause", "mds2")
        running.fault("crash", "mds3")
        assert running.end() < 6
        assert running.process.returncode == 0 and alive(pids) == {}


def test_what_is_under_way_is_cut_off_without_a_traceback(tmp_path: Path) -> None:
    with up(tmp_path / "data") as running, running.connection() as sending, running.connection() as following:
        key = f"Authorization: {running.headers()['Authorization']}\r\n".encode()
        sending.sendall(b"PUT /api/fs/content?path=/long HTTP/1.1\r\nHost: 127.0.0.1\r\n" + key)
        sending.sendall(b"Content-Length: 1000000\r\n\r\n" + bytes(1000))
        following.sendall(
            b"GET /api/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + key
            + b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        assert b" 101 " in following.recv(1000)
        running.await_true(lambda: "'long'" in str(running.get("/api/fs/list?path=/")), "the file is there")
        assert running.end() < 6
        assert running.process.returncode == 0
        assert running.words().splitlines()[-1].endswith(" info control: Stopping …")
        assert b" 503 " in sending.recv(1000)


def test_a_second_up_resumes_and_the_first_run_can_be_read(tmp_path: Path) -> None:
    with up(tmp_path / "data") as first:
        first.await_true(lambda: first.cluster()["groups"][0]["commit_sn"] > 20, "twenty groups committed")
        ports = [server["address"] for server in first.cluster()["servers"]]
        before = first.cluster()
        first.end()
    with up(tmp_path / "data") as second:
        now = second.cluster()
        assert (now["cluster"], now["run"]) == (before["cluster"], before["run"] + 1)
        assert [server["address"] for server in now["servers"]] == ports
        sn = before["groups"][0]["commit_sn"]
        second.await_true(lambda: second.cluster()["groups"][0]["commit_sn"] > sn, "the sn goes on")
        past = second.get(f"/api/runs/{before['run']}/picture?at_ns={before['now_ns']}")
        assert abs(past["groups"]["g1"]["commit_sn"] - sn) <= 20
        assert past["servers"]["mds1"]["process"] == "running"
        runs = second.get("/api/runs")
        assert [run["live"] for run in runs] == [True, False] and runs[1]["ended_at"]
        second.end()


def test_servers_outlive_a_killed_control_plane_and_the_next_adopts_them(tmp_path: Path) -> None:
    with up(tmp_path / "data") as first:
        pids = first.pids()
        run, sn = first.cluster()["run"], first.cluster()["groups"][0]["commit_sn"]
        first.process.kill()
        first.process.wait()
        assert alive(pids) == pids
        assert any(socket_place(tmp_path / "data").iterdir())
        with up(tmp_path / "data") as second:
            kept = second.pids()
            servers = EVERYBODY - {"client1"}
            assert {name: kept[name] for name in servers} == {name: pids[name] for name in servers}
            second.await_true(lambda: second.cluster()["groups"][0]["commit_sn"] > sn, "the sn goes on")
            assert second.cluster()["run"] == run + 1
            assert second.end() < 6
            assert alive({**pids, **kept}) == {}
            assert not socket_place(tmp_path / "data").exists()


def test_servers_of_another_version_are_started_anew(tmp_path: Path) -> None:
    with up(tmp_path / "data", "--standbys", "1", "--data-nodes", "0") as first:
        remote_requests.ask(first.port, "POST", "/api/fs", {"do": "mkdir", "path": "/kept"})
        first.process.kill()
        first.process.wait()
        pids, roster = first.pids(), tmp_path / "data" / "processes.json"
        entries = json.loads(roster.read_text())
        roster.write_text(json.dumps({name: {**each, "code": "older"} for name, each in entries.items()}))
        with up(tmp_path / "data") as second:
            assert not alive(pids) and not set(pids.values()) & set(second.pids().values())
            assert f"{len(pids)} processes of another version of the code were running" in second.words()
            listed = remote_requests.ask(second.port, "POST", "/api/fs", {"do": "ls", "path": "/"})["result"][
                "names"
            ]
            assert "kept" in listed
            second.end()
            assert "Traceback" not in second.words()


def test_no_event_is_lost_by_a_killed_control_plane(tmp_path: Path) -> None:
    with up(tmp_path / "data") as first:
        first.await_true(lambda: first.cluster()["groups"][0]["commit_sn"] > 5, "five groups committed")
        first.process.kill()
        first.process.wait()
        with up(tmp_path / "data") as second:
            second.await_true(lambda: second.server("mds2")["sn"] > 10, "ten groups durable")
            numbers = []
            for run in (1, 2):
                page = second.get(f"/api/runs/{run}/events?servers=mds2&limit=5000")
                numbers += [event["number"] for event in page["events"]]
            assert numbers == list(range(1, len(numbers) + 1))
            second.end()
