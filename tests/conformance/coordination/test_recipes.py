"""kazoo's recipes, unmodified."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from kazoo.client import KazooClient

from tests.conformance.coordination.test_sessions import until

Connect = Callable[..., KazooClient]


def test_lock_excludes_and_passes_on(connect: Connect, root: str) -> None:
    one, other = connect(), connect()
    held, wanted = one.Lock(f"{root}/lock", "one"), other.Lock(f"{root}/lock", "other")
    assert held.acquire(timeout=5)
    assert not wanted.acquire(blocking=False)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(wanted.acquire, timeout=10)
        until(lambda: held.contenders() == ["one", "other"])
        held.release()
        assert waiting.result(10)
    wanted.release()


def test_a_lock_is_free_when_its_holder_closes(connect: Connect, root: str) -> None:
    one, other = connect(), connect()
    assert one.Lock(f"{root}/lock").acquire(timeout=5)
    one.stop()
    assert other.Lock(f"{root}/lock").acquire(timeout=5)


def test_election_has_one_leader_at_a_time(connect: Connect, root: str) -> None:
    led: list[str] = []
    leading = threading.Semaphore(1)

    def lead(name: str) -> None:
        assert leading.acquire(blocking=False)
        led.append(name)
        leading.release()

    def run(name: str) -> None:
        connect().Election(f"{root}/election", name).run(lead, name)

    with ThreadPoolExecutor(3) as threads:
        for done in [threads.submit(run, name) for name in ("a", "b", "c")]:
            done.result(15)
    assert sorted(led) == ["a", "b", "c"]


def test_counter_loses_no_addition(connect: Connect, root: str) -> None:
    def add() -> None:
        counter = connect().Counter(f"{root}/counter")
        for _ in range(10):
            counter += 1

    with ThreadPoolExecutor(3) as threads:
        for done in [threads.submit(add) for _ in range(3)]:
            done.result(20)
    assert connect().Counter(f"{root}/counter").value == 30


def test_barrier_holds_until_removed(connect: Connect, root: str) -> None:
    one, other = connect(), connect()
    barrier = one.Barrier(f"{root}/barrier")
    barrier.create()
    assert not other.Barrier(f"{root}/barrier").wait(0.05)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(other.Barrier(f"{root}/barrier").wait, 10)
        barrier.remove()
        assert waiting.result(10)


def test_double_barrier_lets_all_in_and_out_together(connect: Connect, root: str) -> None:
    inside: list[int] = []

    def pass_through(number: int) -> int:
        barrier = connect().DoubleBarrier(f"{root}/double", 3)
        barrier.enter()
        inside.append(number)
        barrier.leave()
        return len(inside)

    with ThreadPoolExecutor(3) as threads:
        results = [threads.submit(pass_through, number) for number in range(3)]
        assert [done.result(20) for done in results] == [3, 3, 3]


def test_party_knows_its_members(connect: Connect, root: str) -> None:
    one, other = connect(), connect()
    party, same = one.Party(f"{root}/party", "one"), other.Party(f"{root}/party", "other")
    party.join()
    same.join()
    assert sorted(party) == ["one", "other"]
    other.stop()
    until(lambda: sorted(party) == ["one"])


def test_queue_gives_in_order_of_priority(client: KazooClient, root: str) -> None:
    queue = client.Queue(f"{root}/queue")
    for data, priority in ((b"late", 200), (b"first", 1), (b"second", 1)):
        queue.put(data, priority)
    assert len(queue) == 3
    assert [queue.get() for _ in range(4)] == [b"first", b"second", b"late", None]


def test_locking_queue_gives_each_entry_to_one(connect: Connect, root: str) -> None:
    one, other = connect().LockingQueue(f"{root}/queue"), connect().LockingQueue(f"{root}/queue")
    one.put_all([b"a", b"b"])
    assert {one.get(5), other.get(5)} == {b"a", b"b"}
    assert one.consume() and other.consume()
    assert one.get(0.05) is None


def test_data_watch_sees_every_state_to_the_end(client: KazooClient, connect: Connect, root: str) -> None:
    seen: list[bytes | None] = []
    client.DataWatch(f"{root}/a", lambda data, stat: seen.append(data))
    writer = connect()
    for act in (
        lambda: writer.create(f"{root}/a", b"1"),
        lambda: writer.set(f"{root}/a", b"2"),
        lambda: writer.delete(f"{root}/a"),
    ):
        reported = len(seen)
        act()
        until(lambda reported=reported: len(seen) > reported)
    assert seen == [None, b"1", b"2", None]


def test_children_watch_follows_the_list(client: KazooClient, connect: Connect, root: str) -> None:
    seen: list[list[str]] = []
    client.ChildrenWatch(root, lambda names: seen.append(sorted(names)))
    writer = connect()
    writer.create(f"{root}/a", ephemeral=True)
    until(lambda: seen[-1] == ["a"])
    writer.create(f"{root}/b")
    until(lambda: seen[-1] == ["a", "b"])
    writer.stop()
    until(lambda: seen[-1] == ["b"])


def test_watches_of_recipes_survive_a_reconnect(client: KazooClient, connect: Connect, root: str) -> None:
    seen: list[bytes | None] = []
    client.DataWatch(root, lambda data, stat: seen.append(data))
    client._connection._socket.shutdown(socket.SHUT_RDWR)
    connect().set(root, b"new")
    until(lambda: seen[-1] == b"new")
