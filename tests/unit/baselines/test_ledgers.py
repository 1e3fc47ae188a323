"""The ledger and the bookies that have an entry."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.protocols.baselines.ledgers import Fragment, Ledger, LedgerMetadata

LENGTHS = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), min_size=1, max_size=5)


def book_of(lengths: list[list[int]]) -> LedgerMetadata:
    """A ledger for each list, a fragment for each number; all ledgers but the last are closed."""
    ledgers, sn = [], 1
    for number, fragments in enumerate(lengths, 1):
        first, parts = sn, []
        for place, length in enumerate(fragments):
            parts.append(Fragment(sn, [f"bookie{number}-{place}"]))
            sn += length
        ledgers.append(Ledger(number, first, parts, sn - 1 if number < len(lengths) else -1))
    return LedgerMetadata(ledgers)


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
    book = LedgerMetadata(
        [Ledger(1, 1, [Fragment(1, ["bookie1"])], 4), Ledger(2, 5, fragment, 4), Ledger(3, 5, fragment)]
    )
    ledger = book.ledger_of(5)
    assert ledger is not None and ledger.number == 3
    assert book.ledger_of(0) is None


@st.composite
def quorums(draw: st.DrawFn) -> tuple[int, int, int]:
    """E, Qw, Qa."""
    ensemble = draw(st.integers(1, 7))
    write = draw(st.integers(1, ensemble))
    return ensemble, write, draw(st.integers(1, write))


def ledger_of(numbers: tuple[int, int, int]) -> Ledger:
    ensemble, write, ack = numbers
    fragment = Fragment(1, [f"bookie{place}" for place in range(ensemble)])
    return Ledger(1, 1, [fragment], write_quorum=write, ack_quorum=ack)


@given(quorums(), st.integers(0, 1 << 40))
def test_an_entry_begins_at_its_number_modulo_the_ensemble(numbers: tuple[int, int, int], sn: int) -> None:
    ledger = ledger_of(numbers)
    bookies = ledger.fragments[0].bookies
    write_set = ledger.write_set(ledger.fragments[0], sn)
    assert write_set[0] == bookies[sn % len(bookies)]
    assert len(set(write_set)) == len(write_set) == ledger.write_quorum


@given(quorums())
def test_every_bookie_has_its_share(numbers: tuple[int, int, int]) -> None:
    ledger = ledger_of(numbers)
    sets = [ledger.write_set(ledger.fragments[0], sn) for sn in range(numbers[0])]
    for bookie in ledger.fragments[0].bookies:
        assert sum(bookie in each for each in sets) == ledger.write_quorum


@given(quorums(), st.integers(0, 127))
def test_who_is_shut_out_finds_no_acknowledgement_quorum(numbers: tuple[int, int, int], drawn: int) -> None:
    """Against the definition: no write set has enough bookies left that are not fenced."""
    ledger = ledger_of(numbers)
    fragment = ledger.fragments[0]
    fenced = [bookie for place, bookie in enumerate(fragment.bookies) if drawn >> place & 1]
    free = [
        sum(bookie not in fenced for bookie in ledger.write_set(fragment, sn)) for sn in range(numbers[0])
    ]
    assert ledger.shut_by(fragment, fenced) == (max(free) < ledger.ack_quorum)


@given(quorums(), st.data())
def test_witnesses_meet_every_acknowledgement_quorum(
    numbers: tuple[int, int, int], data: st.DataObject
) -> None:
    ledger = ledger_of(numbers)
    write_set = ledger.write_set(ledger.fragments[0], data.draw(st.integers(0, 99)))
    acknowledged = set(data.draw(st.permutations(write_set))[: ledger.ack_quorum])
    witnesses = set(data.draw(st.permutations(write_set))[: ledger.witnesses])
    assert acknowledged & witnesses
