"""Images that copies of the writer make: the namespace goes on at once, and the image is of one instant."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Made
from nodes.metadata.records import MakeRecord
from nodes.protocols.vssp import pieces
from nodes.trace.events import Warned
from nodes.trace.pool_events import ImageWritten
from nodes.units import ROOT, OpId
from nodes.wire.messages import Mark
from nodes.world import CopyLost, Piece, Share
from tests.simulation.vssp.lab import PoolLab

LATER = Mark(0, 1, 200, 8)


@pytest.fixture(autouse=True)
def small_images_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "APART_FROM", 1)


class Copied:
    """Shares that were made at one instant. After `lost_after` pieces a copy is lost."""

    def __init__(self, share: Share, count: int, lost_after: int | None = None):
        self._pieces = iter([piece for number in range(count) for piece in share(number, count)])
        self._left = lost_after
        self.closed = 0

    async def next(self) -> Piece | None:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise CopyLost("a copy of this process ended before its share was complete")
        return next(self._pieces, None)

    def close(self) -> None:
        self.closed += 1


class Copies:
    """`copies` of a world: each call gets the next of these."""

    def __init__(self, lab: PoolLab, *made: Callable[[Share], Copied | None]):
        self.made: list[Copied | None] = []
        self._makes: Iterator[Callable[[Share], Copied | None]] = iter(made)
        world = lab.cluster.servers["n1"].world
        assert world is not None
        world.copies = self.copies  # type: ignore[method-assign, assignment]

    def copies(self, share: Share, most: int) -> Copied | None:
        self.made.append(next(self._makes)(share))
        return self.made[-1]


def make(namespace: Namespace, number: int) -> None:
    call = OpId("ada", number)
    namespace.apply(
        MakeRecord(
            call, number, number, Made(ROOT + number), ROOT, [f"late{number}"], ROOT + number, True, 0o755
        )
    )


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_image_is_of_one_instant_while_the_namespace_goes_on(count: int) -> None:
    lab = PoolLab(11)
    copies = Copies(lab, lambda share: Copied(share, count))
    digest, freed = lab.namespace.digest, []

    def dumped() -> None:
        freed.append(lab.pools["n1"].stored())
        make(lab.namespace, 90_001)

    task = lab.spawn("n1", lab.pools["n1"].write(lab.namespace, lab.mark, lab.names, dumped))
    lab.until(lambda: bool(freed))
    assert not task.done()
    number = 90_002
    while not task.done():
        lab.cluster.run_for(1_000_000)
        make(lab.namespace, number)
        number += 1
    assert task.result() == lab.names and freed == [[]]
    assert lab.namespace.digest != digest
    assert {lab.image(name).digest for name in lab.names} == {digest}
    assert {lab.image(name).recompute_digest() for name in lab.names} == {digest}
    assert copies.made[0] is not None and copies.made[0].closed == 1


def test_the_image_is_the_one_that_is_made_without_copies() -> None:
    one, other = PoolLab(12), PoolLab(12)
    Copies(one, lambda share: Copied(share, 2))
    assert one.written() == other.written() == one.names
    files = [{path: bytes(data) for path, data in lab.files("n3").items()} for lab in (one, other)]
    assert files[0] == files[1]


@pytest.mark.parametrize("after", [0, 1, 9, 20])
def test_a_lost_copy_costs_one_image_and_the_next_is_made_here(after: int) -> None:
    lab = PoolLab(13)
    copies = Copies(lab, lambda share: Copied(share, 2, after), lambda share: Copied(share, 2))
    assert lab.written() == []
    assert copies.made[0] is not None and copies.made[0].closed == 1
    [warned] = lab.reported(Warned, "n1")
    assert warned.what.startswith("the image at sn 100 is given up: a copy of this process ended")
    assert lab.reported(ImageWritten) == [] and all(lab.pools[name].stored() == [] for name in lab.names)
    assert lab.written(mark=LATER) == lab.names
    assert len(copies.made) == 1, "the second one is made by the process alone"
    assert lab.written(mark=Mark(0, 1, 300, 9)) == lab.names
    assert len(copies.made) == 2, "memory may be there again"
    assert all(lab.equal(name) and lab.pools[name].stored() == [200, 300] for name in lab.names)


def test_without_copies_the_namespace_is_kept_until_the_image_is_made() -> None:
    lab = PoolLab(14)
    Copies(lab, lambda share: None)
    at: list[int] = []

    def dumped() -> None:
        at.append(sum(len(data) for path, data in lab.files("n1").items() if ".p" in path))

    task = lab.spawn("n1", lab.pools["n1"].write(lab.namespace, lab.mark, lab.names, dumped))
    lab.until(task.done)
    assert at == [sum(len(data) for path, data in lab.files("n1").items() if ".p" in path)]
    assert task.result() == lab.names and all(lab.equal(name) for name in lab.names)


def test_the_copies_are_ended_when_the_image_is_cancelled_or_its_disk_fails() -> None:
    lab = PoolLab(15)
    copies = Copies(lab, lambda share: Copied(share, 2), lambda share: Copied(share, 2))
    task = lab.write()
    lab.until(lambda: bool(copies.made))
    task.cancel()
    lab.until(task.done)
    assert copies.made[0] is not None and copies.made[0].closed == 1
    lab.cluster.faults.fail_disk("n1")
    task = lab.write(mark=LATER)
    lab.until(task.done)
    assert isinstance(task.exception(), OSError)
    assert copies.made[1] is not None and copies.made[1].closed == 1


def test_a_small_namespace_is_not_worth_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = PoolLab(16)
    monkeypatch.setattr(pieces, "APART_FROM", len(lab.namespace.tree.inodes) + 1)
    copies = Copies(lab)
    assert lab.written() == lab.names and copies.made == []
    assert all(lab.equal(name) for name in lab.names)
