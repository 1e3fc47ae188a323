"""Who gets in: codes, names, and how often one may try."""

from __future__ import annotations

import math

import msgspec
import pytest

from backend.classes.limits import TokenLimit, TokenRule
from backend.classes.names import NAME_MAX, identity_of, read_name
from backend.errors import Malformed
from backend.grading.join_code import LETTERS, canonical, fits, new_code
from backend.grading.supervisor import Graded
from backend.grading.verdict import is_signed, signed, verdict_of


def test_a_code_cannot_be_guessed_and_is_not_misread() -> None:
    codes = {new_code() for _ in range(1000)}
    assert len(codes) == 1000
    assert all(len(code) == 9 and set(code) <= {*LETTERS, "-"} for code in codes)
    assert not set("01ILO") & set(LETTERS)
    assert math.log2(len(LETTERS) ** 8) > 39


@pytest.mark.parametrize("given", ["ABCD-2345", "abcd-2345", " abcd 2345\n", "AbCd2345"])
def test_a_code_fits_however_it_is_written(given: str) -> None:
    assert fits(given, "ABCD-2345")
    made = signed(verdict_of("election", "Ada", range(1, 3), b"", Graded()), given)
    assert is_signed(made, "ABCD-2345")


@pytest.mark.parametrize("given", ["", "ABCD-2346", "ABCD-234", "ABCD-23455", "é" * 9, "\x00", "A" * 10_000])
def test_another_code_does_not(given: str) -> None:
    assert not fits(given, "ABCD-2345")
    assert len(canonical(given)) <= 40


def test_a_signature_that_is_no_ascii_is_no_signature() -> None:
    made = verdict_of("election", "Ada", range(1, 3), b"", Graded())
    assert not is_signed(msgspec.structs.replace(made, signature="é"), "ABCD-2345")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Ada", "ADA"),
        ("Ada  Byron", " ada byron "),
        ("José", "JOSE\u0301"),
        ("Straße", "STRASSE"),
        ("\uff21da", "Ada"),
    ],
)
def test_names_that_people_take_for_the_same_are_the_same(first: str, second: str) -> None:
    assert identity_of(read_name(first)) == identity_of(read_name(second))


@pytest.mark.parametrize("name", ["Ada", "李 小龙", "O\u2019Neill", "Anne-Marie v. Ø", "ada_7", "محمد", "7"])
def test_names_of_the_world_are_names(name: str) -> None:
    assert read_name(f"  {name} ") == name


@pytest.mark.parametrize(
    "name",
    [
        "", "   ", "=1+1", "-x", "@x", "a\x00b", "a\u202eb", "a\u200bb", "<b>", "a,b", 'a"b', "a/b", "a" * (NAME_MAX + 1), "a" * 10_000,
        "\ud800", "😀",
    ],
)  # fmt: skip
def test_what_could_be_misread_is_no_name(name: str) -> None:
    with pytest.raises(Malformed, match="a name has"):
        read_name(name)


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def limit(keys_max: int = 1_024) -> tuple[TokenLimit, Clock]:
    clock = Clock()
    return TokenLimit(TokenRule(most=3, every_s=6), keys_max, clock), clock


def test_who_has_tried_too_often_waits_and_nobody_else() -> None:
    made, clock = limit()
    for _ in range(3):
        assert made.wait_s("a") == 0
        made.take("a")
    assert made.wait_s("a") == 6 and made.wait_s("b") == 0
    clock.now_s = 4.0
    assert made.wait_s("a") == pytest.approx(2)
    clock.now_s = 6.0
    assert made.wait_s("a") == 0
    made.take("a")
    assert made.wait_s("a") == pytest.approx(6)


def test_a_long_rest_fills_a_bucket_and_no_more() -> None:
    made, clock = limit()
    clock.now_s = 1e6
    for _ in range(3):
        made.take("a")
    assert made.wait_s("a") == 6


def test_a_flood_of_addresses_takes_no_memory_and_frees_nobody() -> None:
    made, clock = limit(keys_max=10)
    for _ in range(3):
        made.take("bad")
    for number in range(1_000):
        made.take(f"address {number}")
    assert len(made._buckets) <= 11
    assert made.wait_s("bad") > 0
    assert made.wait_s("another new one") > 0, "who comes in a flood counts as part of it"
    clock.now_s = 60.0
    assert made.wait_s("after it") == 0
