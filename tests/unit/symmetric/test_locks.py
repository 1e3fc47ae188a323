"""Table 1 to the letter, beside a second implementation made only from the table."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.protocols.symmetric.locks import EXCLUDES, MemberLocks, Mode, Place, Thing, WantedLocks

THINGS: list[Thing] = ["/a", "/a/", "/b", "@ada", 17]


def test_table_1() -> None:
    """Rows and columns as printed; X is an incompatibility."""
    printed = {
        Mode.READ: "..X",
        Mode.UPDATE: ".XX",
        Mode.WRITE: "XXX",
    }
    for row, marks in printed.items():
        assert [mode in EXCLUDES[row] for mode in Mode] == [mark == "X" for mark in marks]


def test_an_update_lock_keeps_no_reader_out_until_it_is_upgraded() -> None:
    locks = MemberLocks()
    locks.ask((5, 0), WantedLocks({"/"}, {"/a"}))
    assert locks.grant((5, 0))
    assert locks.writer_of(["/a"], (5, 9)) is None
    locks.upgrade((5, 9))
    assert locks.writer_of(["/a"], (5, 9)) == (5, 0)
    assert locks.writer_of(["/"], (5, 9)) is None and locks.writer_of(["/a"], (4, 9)) is None
    locks.release((5, 0))
    assert locks.writer_of(["/a"], (5, 9)) is None


def test_write_mode_waits_for_who_looks_and_readers_wait_for_it_meanwhile() -> None:
    locks = MemberLocks()
    locks.ask((1, 0), WantedLocks({"/a"}, {"/a/x"}))
    locks.ask((2, 0), WantedLocks((), {"/a"}))
    assert locks.grant((1, 0)) and locks.grant((2, 0))
    locks.upgrade((2, 9))
    assert locks.held()["/a"] == {(1, 0): Mode.READ, (2, 0): Mode.UPDATE}
    assert locks.writer_of(["/a"], (2, 9)) == (2, 0)
    locks.release((1, 0))
    assert locks.held()["/a"] == {(2, 0): Mode.WRITE}


@pytest.mark.parametrize("looks", [True, False])
def test_nobody_passes_one_before_it_that_will_write(looks: bool) -> None:
    locks = MemberLocks()
    locks.ask((1, 0), WantedLocks((), {"/a"}))
    locks.ask((2, 0), WantedLocks({"/a"}, ()) if looks else WantedLocks((), {"/a"}))
    assert not locks.grant((2, 0)) and locks.grant((1, 0))
    assert not locks.grant((2, 0))
    locks.release((1, 0))
    assert locks.grant((2, 0))


# --- a second implementation --------------------------------------------------------------------------------------------


class Plain:
    """A list of requests; each answer compares all requests with all others by the table."""

    def __init__(self) -> None:
        self.rows: list[tuple[Place, Thing, bool]] = []
        """Rows of (place, thing, whether the request changes it)."""
        self.granted: set[Place] = set()
        self.until: Place = (0, 0)

    def grant(self, place: Place) -> bool:
        for mine, thing, changes in self.rows:
            mode = Mode.UPDATE if changes else Mode.READ
            for other, at, other_changes in self.rows:
                in_the_end = Mode.WRITE if other_changes else Mode.READ
                if mine == place and other < place and at == thing and in_the_end in EXCLUDES[mode]:
                    return False
        self.granted.add(place)
        return True

    def writer_of(self, things: list[Thing], until: Place) -> Place | None:
        found = [
            place
            for place, thing, changes in self.rows
            if changes and thing in things and place <= min(until, self.until)
        ]
        return max(found, default=None)

    def release(self, place: Place) -> None:
        self.rows = [row for row in self.rows if row[0] != place]
        self.granted.discard(place)


TAKEN = st.tuples(st.sets(st.sampled_from(THINGS), max_size=3), st.sets(st.sampled_from(THINGS), max_size=2))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), TAKEN),
        st.tuples(st.just("ready"), st.integers(0, 20)),
        st.tuples(st.just("submit"), st.none()),
        st.tuples(st.just("roll back"), st.none()),
        st.tuples(
            st.just("read"), st.tuples(st.lists(st.sampled_from(THINGS), max_size=3), st.integers(0, 20))
        ),
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_both_grant_the_same_and_nobody_holds_what_the_table_excludes(
    steps: list[tuple[str, object]],
) -> None:
    """Transactions begin and end as in the pipeline: decided in their order, submitted from the first, rolled back from the last."""
    locks, plain = MemberLocks(), Plain()
    open_places: list[Place] = []
    waiting: list[Place] = []
    sn = 0

    def decide() -> None:
        while waiting:
            granted = locks.grant(waiting[0])
            assert granted == plain.grant(waiting[0])
            if not granted:
                return
            waiting.pop(0)

    for verb, what in steps:
        if verb == "begin":
            looks, changes = what  # type: ignore[misc]
            sn += 1
            place = (sn, 0)
            locks.ask(place, WantedLocks(looks - changes, changes))
            plain.rows += [(place, thing, False) for thing in looks - changes]
            plain.rows += [(place, thing, True) for thing in changes]
            open_places.append(place)
            waiting.append(place)
        elif verb == "ready":
            until = max(plain.until, (min(sn, what), 9))  # type: ignore[type-var]
            locks.upgrade(until)
            plain.until = until
        elif verb == "read":
            things, asked = what  # type: ignore[misc]
            assert locks.writer_of(things, (asked, 9)) == plain.writer_of(things, (asked, 9))
        elif open_places:
            place = open_places.pop(0 if verb == "submit" else -1)
            if place in waiting:
                waiting.remove(place)
            locks.release(place)
            plain.release(place)
        decide()
        for modes in locks.held().values():
            held = list(modes.items())
            assert not any(b in EXCLUDES[a] for p, a in held for q, b in held if p != q), modes
        assert {place for modes in locks.held().values() for place in modes} <= plain.granted
        assert not waiting or waiting[0] != open_places[0], "the first of all never waits"
