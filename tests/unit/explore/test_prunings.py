"""What the audit knows of pruned journals: two images lead on from each, and one behind every barrier shrinks."""

from __future__ import annotations

import pytest

from nodes.config import Knobs, one_group
from nodes.explore.prunings import behind_barriers, growth_of, shrinks_soon
from nodes.explore.spare_images import SpareImages
from nodes.trace.base import Event
from nodes.trace.checkpoints import BarrierWritten
from nodes.trace.events import Committed, JournalOpened, Stamped
from nodes.trace.pool_events import HeldFile, ImageShelved, JournalPruned, PoolReported


def stamped(event: Event) -> Stamped:
    return Stamped("mds1", 1, 1, 0, 0, event)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("images", "first_sn", "lacks"), [((5, 9), 6, False), ((5, 9), 7, True), ((9, 9), 10, False)]
)
def test_a_pruned_journal_continues_two_images(images: tuple[int, ...], first_sn: int, lacks: bool) -> None:
    spare = SpareImages()
    for number, sn in enumerate(images):
        spare.on_event(stamped(ImageShelved(f"image{number}", sn, 1, 100)))
    spare.on_event(stamped(JournalPruned(first_sn)))
    assert bool(spare.lacking) is lacks


def replica(image: str, kind: str, sn: int, valid: int = 100) -> HeldFile:
    return HeldFile(f"image/{image}.{kind}", 100, valid, 0, 1, 0, sn)


@pytest.mark.parametrize(
    ("node", "image", "kind", "valid", "lacks"),
    [
        ("mds1", "image0", "manifest", 100, False),
        ("mds1", "image1", "manifest", 100, True),
        ("mds2", "image0", "manifest", 100, True),
        ("mds1", "image0", "p01", 100, True),
        ("mds1", "image0", "manifest", 99, True),
    ],
    ids=["unknown until then", "known already", "of another server", "not whole yet", "damaged"],
)
def test_a_whole_image_counts_that_only_a_report_to_the_pool_names(
    node: str, image: str, kind: str, valid: int, lacks: bool
) -> None:
    """The server lost its power after it had shelved the image, and before it said so (packed-paxos, seed 704)."""
    spare = SpareImages()
    held = [
        replica(image, "p00", 37),
        replica(image, kind, 37, valid),
        HeldFile("journal", 9, 9, 0, 1, 13, 38),
    ]
    for event in (ImageShelved("image1", 38, 1, 100), PoolReported(node, 3, 209, held), JournalPruned(36)):
        spare.on_event(stamped(event))
    assert bool(spare.lacking) is lacks


def test_an_image_counts_once_though_its_server_began_from_it() -> None:
    spare = SpareImages()
    for event in (ImageShelved("image1", 38, 1, 100), JournalOpened(25, 38, 1, 0, 0, 38), JournalPruned(36)):
        spare.on_event(stamped(event))
    assert spare.lacking


@pytest.mark.parametrize(("first_sn", "behind"), [(10, False), (11, False), (12, True)])
def test_a_journal_that_begins_from_an_image_at_the_barrier_leads_to_it(first_sn: int, behind: bool) -> None:
    events = [
        stamped(BarrierWritten("g1", "k1", 0, 10, 1, 0, 0)),
        stamped(JournalOpened(first_sn, 20, 1, 0, 0, 15)),
    ]
    assert behind_barriers(events, {"mds1": "g1"}) == (["mds1"] if behind else [])


def test_only_small_segments_under_frequent_images_are_expected_to_go() -> None:
    small = Knobs(segment_bytes=300)
    assert shrinks_soon(one_group(2, knobs=small, image_every=2))
    assert not shrinks_soon(one_group(2, image_every=2))
    assert not shrinks_soon(one_group(2, knobs=small, image_every=0))
    assert not shrinks_soon(one_group(2, protocol="symmetric", knobs=small, image_every=2))


def test_a_group_grows_by_what_it_commits() -> None:
    """A placement may leave a group without any change."""
    committed = [("g1", 7), ("g2", 90), ("g1", 19)]
    events = [stamped(Committed(group, sn, 1, 0, [], 0, [])) for group, sn in committed]
    assert [growth_of(group, events) for group in ("g1", "g2", "g3")] == [12, 0, 0]
