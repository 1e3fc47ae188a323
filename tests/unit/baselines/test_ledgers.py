"""Which ledger, and which bookies, have an entry."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.protocols.baselines.ledgers import Book, Fragment, Ledger

LENGTHS = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), min_size=1, max_size=5)


def book_of(lengths: list[list[int]]) -> Book:
    """A ledger for each list, a fragment for each number, all of them closed but for the last ledger."""
    ledgers, sn = [], 1
    for number, fragments in enumerate(lengths, 1):
        first, parts = sn, []
        for place, length in enumerate(fragments):
            parts.append(Fragment(sn, [f"bookie{number}-{place}"]))
            sn += length
        ledgers.append(Ledger(number, first, parts, sn - 1 if number < len(lengths) else -1))
    return Book(ledgers)


@settings(deadline=None)
@given(LENGTHS)
def test_every_entry_has_one_place(lengths: list[list[int]]) -> None:
    book, sn = book_of(lengths), 1
    for number, fragments in enumerate(lengths, 1):
        for place, length in enumerate(fragments):
            for _ in range(length):
                ledger = book.ledger_of(sn)
                assert ledger is not None and ledger.number == number
                fragment, last_sn = ledger.fragment_of(sn)
                assert fragment.bookies == [f"bookie{number}-{place}"]
                assert last_sn == -1 or sn <= last_sn
                sn += 1


def test_an_empty_ledger_is_passed_over() -> None:
    fragment = [Fragment(5, ["bookie1"])]
    book = Book(
        [Ledger(1, 1, [Fragment(1, ["bookie1"])], 4), Ledger(2, 5, fragment, 4), Ledger(3, 5, fragment)]
    )
    ledger = book.ledger_of(5)
    assert ledger is not None and ledger.number == 3
    assert book.ledger_of(0) is None
