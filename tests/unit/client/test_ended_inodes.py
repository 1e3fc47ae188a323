"""When a client may conclude that a name leads to nothing: its inode had ended before the name was looked up, in the same incarnation."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace
from typing import Any

from nodes.client.dentries import Dentries
from nodes.client.paths import Paths
from nodes.client.pending_call import PendingCall
from nodes.metadata.lookup import TOP, Start
from nodes.metadata.operations import Attributes, Operation, Rename, Stat
from nodes.units import DIRECTORY, INCARNATION_SHIFT
from nodes.wire.messages import Answer, Referred

INODE = 2 << 48 | DIRECTORY | 7
THERE = Start(INODE, 2)


class Resolved:
    """A call whose path leads from /a in the first group to an inode of the second, and the groups' replies to it."""

    def __init__(self, operation: Operation):
        async def stat(path: str) -> Answer:
            found = Attributes(INODE, "directory", 0o755, "", "", 0, 0, 0, 0, 0, 1)
            return Answer("c", 2, 1, 1, 0, found, "")

        async def sleep(ns: int) -> None:
            pass

        world: Any = SimpleNamespace(clock=SimpleNamespace(sleep=sleep), rng=random.Random(1))
        self.dentries = Dentries()
        self.paths = Paths(world, (1, 2), self.dentries, stat)
        self.pending = PendingCall(1, operation, 0, 1, 0)
        self.pending.tries = 1

    def follow(self, start: Start | None, moves: int = 0, ended: int = 0, path: int = 0) -> str:
        """The error, if the call ends."""
        referred = Referred("c", 1, 1, path, start, moves, 0, 0, ended)
        answer = asyncio.run(self.paths.follow(self.pending, referred))
        return "" if answer is None else answer.error.partition(":")[0]


def test_a_name_that_leads_to_it_afterwards_leads_to_nothing() -> None:
    call = Resolved(Stat("/a/b/c"))
    assert not call.follow(THERE)
    assert not call.follow(None, ended=INODE)
    assert call.follow(THERE) == "EIO"


def test_the_name_is_looked_up_from_the_root_whatever_other_calls_have_cached() -> None:
    call = Resolved(Stat("/a/b/c"))
    call.follow(THERE)
    call.follow(None, ended=INODE)
    call.dentries.learn("/a/b", THERE, 0)
    call.follow(None)
    assert call.pending.starts == [TOP]


def test_a_name_that_leads_elsewhere_now_is_followed() -> None:
    call = Resolved(Stat("/a/b/c"))
    call.follow(None, ended=INODE)
    assert not call.follow(Start(INODE + 1, 2))
    assert call.pending.starts == [Start(INODE + 1, 2)] and call.pending.group == 2


def test_an_inode_that_is_not_here_yet_proves_nothing() -> None:
    call = Resolved(Stat("/a/b/c"))
    for _ in range(3):
        assert not call.follow(THERE)
        assert not call.follow(None)


def test_a_recovery_may_bring_it_back() -> None:
    call = Resolved(Stat("/a/b/c"))
    call.follow(None, ended=INODE)
    assert not call.follow(THERE, moves=1 << INCARNATION_SHIFT)
    assert not call.follow(None, moves=0, ended=INODE)
    assert not call.follow(THERE, moves=0)
    assert call.pending.moves == 1 << INCARNATION_SHIFT


def test_the_second_path_of_a_call_proves_nothing() -> None:
    """Its walk may have begun at a directory of the cache."""
    call = Resolved(Rename("/f", "/a/b/c"))
    call.follow(None, ended=INODE)
    assert call.pending.starts == [TOP, THERE]
    assert not call.follow(THERE, path=1)
