"""What a server does next follows from the change that it read, even where a timer or a look that was under way read it first."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nodes.replicas.view_watcher import ViewServer, ViewWatcher
from nodes.trace.present import UNKNOWN, Cause
from nodes.world import ConnectionLoss

TIMER: Cause = ("mds1", 1)
CHANGE: Cause = ("control", 7)


class Trace:
    """The present cause, and nothing else."""

    def __init__(self) -> None:
        self.cause = UNKNOWN

    def at(self) -> Cause:
        return self.cause

    def follows(self, cause: Cause) -> None:
        self.cause = cause


class View:
    """A view in which the lock is free; `reading` runs while the epoch is read."""

    def __init__(self) -> None:
        self.reading = lambda: None
        self.confirmations = SimpleNamespace(follow=lambda owner: None)
        self.number = 0
        self.addresses: dict[str, str] = {}
        self.failing: BaseException | None = None

    async def epoch(self, watch: object) -> tuple[Any, int]:
        self.reading()
        return SimpleNamespace(epoch=self.number, active=""), 0

    async def known_servers(self) -> list[str]:
        return [*self.addresses]

    async def address(self, name: str) -> str:
        failing, self.failing = self.failing, None
        if failing is not None:
            raise failing
        return self.addresses[name]

    async def lock_owner(self, watch: object) -> tuple[str, int]:
        return "", 0

    async def place(self, name: str, watch: object) -> None:
        return None


def watcher(view: View, trace: Trace, known: dict[str, str]) -> ViewWatcher:
    """`known`: where the addresses are noted that the network learns."""
    mutations = SimpleNamespace(forgotten_watch=False)
    network = SimpleNamespace(know=known.__setitem__)
    server = SimpleNamespace(
        world=SimpleNamespace(trace=trace, name="mds1", network=network),
        view=view,
        config=SimpleNamespace(cluster=SimpleNamespace(mutations=mutations)),
    )
    return ViewWatcher(cast(ViewServer, server))


@pytest.mark.parametrize("during", [True, False], ids=["during the look", "before the look"])
def test_a_change_that_a_poll_reads_first_is_the_cause_of_what_follows(during: bool) -> None:
    trace, view = Trace(), View()
    following = watcher(view, trace, {})

    def fires() -> None:
        trace.cause = CHANGE
        following.wake()
        trace.cause = TIMER

    async def look() -> Cause:
        if during:
            view.reading = fires
        else:
            fires()
        trace.cause = TIMER
        await following.look()
        return trace.at()

    assert asyncio.run(look()) == CHANGE


@pytest.mark.parametrize("error", [ConnectionLoss(), asyncio.CancelledError()])
def test_addresses_whose_reading_ended_early_are_read_again(error: BaseException) -> None:
    view, known = View(), dict[str, str]()
    following = watcher(view, Trace(), known)
    view.number, view.addresses, view.failing = 1, {"mds2": "a:1"}, error
    with pytest.raises(type(error)):
        asyncio.run(following.look())
    asyncio.run(following.look())
    assert known == {"mds2": "a:1"}
