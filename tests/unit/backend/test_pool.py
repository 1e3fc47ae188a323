"""The storage pool, reduced from events."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.pool.volume import KINDS, Pool, pools
from backend.store.encoding import KINDS as EVENT_KINDS
from nodes.trace import events as e
from nodes.trace import pool_events as p
from nodes.trace.base import Event
from tests.unit.backend.story import Story

HOMES = {"mds1": "g1", "mds2": "g1", "mds3": "g1", "mds4": "g2"}
IMAGE = "000000-0000000001-00000000000000000416-829ec90c"


def held(name: str, size: int = 1000, valid: int | None = None) -> p.HeldFile:
    sn = 416 if name != "journal" else 420
    return p.HeldFile(name, size, size if valid is None else valid, 77, 1, 0, sn)


def report(node: str, *files: p.HeldFile) -> p.PoolReported:
    return p.PoolReported(node, len(files), sum(file.size for file in files), list(files))


def whole(node: str) -> p.PoolReported:
    names = ("journal", f"image/{IMAGE}.p00", f"image/{IMAGE}.p01", f"image/{IMAGE}.manifest")
    return report(node, *(held(name) for name in names))


def seen(*reported: tuple[str, Event]) -> Pool:
    story = Story()
    return pools(HOMES, [story(at_ms, server, event) for at_ms, (server, event) in enumerate(reported, 1)])[0]


def states(pool: Pool, node: str) -> dict[str, str]:
    return {file.rpartition(".")[2]: by[node].state for file, by in pool.files.items() if node in by}


def test_reports_make_the_volume() -> None:
    pool = seen(("mds1", whole("mds1")), ("mds1", whole("mds2")), ("mds1", report("mds3", held("journal"))))
    assert pool.images[IMAGE].whole == ["mds1", "mds2"] and pool.images[IMAGE].sn == 416
    assert set(pool.files["journal"]) == {"mds1", "mds2", "mds3"}
    assert (pool.nodes["mds3"].files, pool.nodes["mds3"].size) == (1, 1000)
    assert pool.nodes["mds3"].reported_ns > pool.nodes["mds1"].reported_ns > 0


def test_a_damaged_partition_is_doubted_repaired_and_believed_again() -> None:
    file = f"image/{IMAGE}.p01"
    reported: list[tuple[str, Event]] = [
        ("mds1", whole("mds1")),
        (
            "mds1",
            report(
                "mds2", *(each for each in whole("mds2").held if each.name != file), held(file, 1000, 512)
            ),
        ),
        ("mds1", p.ReplicasDisagree(file, "mds2", "recover", "it is damaged behind byte 512")),
    ]
    pool = seen(*reported)
    assert pool.files[file]["mds2"].state == "damaged" and pool.files[file]["mds2"].valid == 512
    assert pool.files[file]["mds1"].state == "agrees" and pool.images[IMAGE].whole == ["mds1"]
    reported.append(("mds2", p.Repairing(f"{IMAGE}.p01", "mds1", 512, 700, 1000)))
    under_way = seen(*reported).files[file]["mds2"]
    assert (under_way.state, under_way.source, under_way.began, under_way.offset) == (
        "repairing",
        "mds1",
        512,
        700,
    )
    reported += [
        ("mds2", p.Repairing(f"{IMAGE}.p01", "mds1", 512, 1000, 1000)),
        ("mds2", p.ImageShelved(IMAGE, 416, 2, 2000)),
    ]
    pool = seen(*reported)
    assert states(pool, "mds2")["p01"] == "repaired" and pool.images[IMAGE].whole == ["mds1", "mds2"]
    assert set(states(seen(*reported, ("mds1", whole("mds2"))), "mds2").values()) == {"agrees"}


def test_a_journal_that_ends_earlier_is_behind_and_one_that_nobody_can_judge_disputed() -> None:
    behind = p.ReplicasDisagree("journal", "mds2", "recover", "ends at sn 417, mds1 at 420")
    disputed = p.ReplicasDisagree("journal", "mds3", "", "journals that end at sn 420 differ")
    pool = seen(
        *(("mds1", whole(node)) for node in ("mds1", "mds2", "mds3")), ("mds1", behind), ("mds1", disputed)
    )
    assert [pool.files["journal"][node].state for node in ("mds1", "mds2", "mds3")] == [
        "agrees",
        "behind",
        "disputed",
    ]


def test_what_a_person_damages_is_marked_until_a_server_notices() -> None:
    faulted = ("control", e.FaultInjected(1, "corrupt", ["mds2"], {"what": "image"}))
    assert seen(faulted).nodes["mds2"].faulted == "image"
    assert seen(faulted, ("mds1", whole("mds2"))).nodes["mds2"].faulted == ""
    pool = seen(faulted, ("mds2", p.ImageRefused(IMAGE, "partition 1 is damaged")))
    assert pool.nodes["mds2"].faulted == "" and pool.images[IMAGE].refused == {
        "mds2": "partition 1 is damaged"
    }
    tail = ("control", e.FaultInjected(2, "corrupt", ["mds1"], {"what": "journal_tail"}))
    assert seen(tail).nodes["mds1"].faulted == "journal"


def test_renewing_is_reported_until_the_junior_is_in_step() -> None:
    renewing = ("mds3", e.Renewing("journal", 40, 100))
    assert seen(renewing).nodes["mds3"].renewal is not None
    standby = e.RoleChanged("g1", "standby", 1, 100, "the view says standby")
    assert seen(renewing, ("mds3", standby)).nodes["mds3"].renewal is None


def test_what_nobody_has_any_more_is_forgotten() -> None:
    pool = seen(("mds1", whole("mds1")), ("mds1", report("mds1", held("journal"))))
    assert list(pool.files) == ["journal"] and pool.images == {}


def test_every_kind_that_counts_is_an_event() -> None:
    assert set(KINDS) <= set(EVENT_KINDS)


NAMES = st.sampled_from(["mds1", "mds2", "mds3", "mds4", "stranger"])
FILES = st.sampled_from(["journal", *(f"image/{IMAGE}.{part}" for part in ("p00", "p01", "manifest"))])
BYTES = st.integers(0, 2000)
EVENTS = st.one_of(
    st.builds(lambda node, names: report(node, *map(held, sorted(names))), NAMES, st.sets(FILES)),
    st.builds(p.ReplicasDisagree, FILES, NAMES, st.sampled_from(["recover", "remove", ""]), st.just("differs")),
    st.builds(lambda file, *rest: p.Repairing(file[6:], *rest), FILES.filter(lambda file: "/" in file), NAMES, BYTES, BYTES, BYTES),
    st.builds(p.ImageShelved, st.just(IMAGE), st.just(416), st.just(2), BYTES),
    st.builds(p.ImageRefused, st.just(IMAGE), st.just("damaged")),
    st.builds(p.JournalPruned, BYTES),
    st.builds(e.JournalCorrupt, st.just("journal/1"), BYTES, BYTES, st.just("checksum")),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(NAMES, EVENTS), max_size=40))
def test_any_order_of_events_makes_a_volume_of_known_nodes(reported: list[tuple[str, Event]]) -> None:
    """Also when the earlier events are no longer stored."""
    pool = seen(*reported)
    for image in pool.images.values():
        assert len(set(image.whole)) == len(image.whole) and not set(image.whole) & set(image.refused)
    for by in pool.files.values():
        assert by
        for replica in by.values():
            assert replica.state in ("agrees", "behind", "damaged", "disputed", "repairing", "repaired")
