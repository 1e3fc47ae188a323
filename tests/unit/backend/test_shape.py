"""Valid shapes of clusters, and contradictions: one line each."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import ClusterCannotStart, Malformed
from backend.shape import Shape, check, new_config
from nodes.config import opened
from nodes.families import FAMILIES, HOLES, PAPER, paper_holes


@pytest.mark.parametrize("protocol", FAMILIES)
def test_paper_opens_the_holes_of_the_text(protocol: str) -> None:
    config = new_config(Shape(protocol=protocol, variant="paper"), "c")
    assert set(opened(config.holes)) == set(paper_holes(protocol)) and config.variant == "paper"
    assert set(paper_holes(protocol)) <= set(FAMILIES[protocol].holes)
    assert opened(new_config(Shape(protocol=protocol), "c").holes) == ()


def test_every_protocol_has_its_text() -> None:
    assert list(PAPER) == list(FAMILIES)
    assert set(PAPER["mams"]) == set(HOLES["mams"])
    assert "async_flush" in PAPER["mams"] and "memory_only_accept" in PAPER["packed-paxos"]


def test_paper_places_as_fig_2_is_printed() -> None:
    assert new_config(Shape(variant="paper", placement="ddg"), "c").ddg_as_printed
    assert not new_config(Shape(variant="paper"), "c").ddg_as_printed
    assert new_config(Shape(placement="ddg", ddg_as_printed=True), "c").ddg_as_printed


def test_a_hole_may_be_named_beside_the_variant() -> None:
    config = new_config(Shape(protocol="2pc", variant="paper", holes=("async_flush",)), "c")
    assert set(opened(config.holes)) == {*paper_holes("2pc"), "async_flush"}


def test_the_plain_order_has_no_literal_rule_of_the_fast_one() -> None:
    config = new_config(Shape(protocol="symmetric", variant="paper", order="plain"), "c")
    assert set(opened(config.holes)) == set(paper_holes("symmetric")) - {"fast_literal_order"}


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (Shape(variant="safe", holes=("no_fencing",)), "the variant safe opens no hole"),
        (Shape(variant="bold"), "no such cluster"),
        (
            Shape(protocol="symmetric", order="plain", holes=("fast_literal_order",)),
            "a rule of the order fast",
        ),
        (Shape(ddg_as_printed=True), "of the placement ddg, not of hash"),
        (Shape(placement="ddg", ddg_as_printed=False, variant="paper"), "choose one of the two"),
        (Shape(nodes={"journal_node": 3}), "mams share no journal"),
        (Shape(protocol="avatar", nodes={"journal_node": 3}), "one filer"),
        (Shape(protocol="qjm", quorums="3-2-2"), "of bookkeeper, not of qjm"),
        (Shape(protocol="bookkeeper", quorums="3-2"), "not E-Qw-Qa"),
        (Shape(protocol="bookkeeper", quorums="2-3-1"), "each is no greater"),
        (Shape(protocol="bookkeeper", quorums="5-3-2"), "an ensemble of 5 needs as many bookies, not 4"),
    ],
)
def test_what_does_not_go_together(shape: Shape, words: str) -> None:
    with pytest.raises(Malformed) as caught:
        new_config(shape, "c")
    assert words in caught.value.message and "\n" not in caught.value.message


def test_three_numbers() -> None:
    journal = new_config(
        Shape(protocol="bookkeeper", quorums="5-3-2", nodes={"journal_node": 6}), "c"
    ).journal
    assert (journal.ensemble, journal.write_quorum, journal.ack_quorum) == (5, 3, 2)
    assert journal.nodes == [f"bookie{number}" for number in range(1, 7)]
    assert len(new_config(Shape(protocol="qjm", nodes={"journal_node": 5}), "c").journal.nodes) == 5


def test_another_cluster_lies_there() -> None:
    paper = new_config(Shape(variant="paper"), "c")
    check(Path("d"), paper, Shape())
    check(Path("d"), paper, Shape(variant="paper", holes=("no_fencing",)))
    books = new_config(Shape(protocol="bookkeeper"), "c")
    for have, shape, words in (
        (paper, Shape(variant="safe"), "variant paper"),
        (new_config(Shape(), "c"), Shape(variant="paper"), "variant safe"),
        (new_config(Shape(), "c"), Shape(holes=("no_fencing",)), "no hole open"),
        (books, Shape(quorums="3-3-2"), "quorums 3-3-3"),
        (books, Shape(nodes={"journal_node": 5}), "journal-nodes 4"),
    ):
        with pytest.raises(ClusterCannotStart) as caught:
            check(Path("d"), have, shape)
        assert words in caught.value.message


@pytest.mark.parametrize(
    ("shape", "slug"),
    [
        (Shape(), ""),
        (Shape(protocol="qjm"), "qjm"),
        (Shape(groups=2, standbys=1, variant="paper"), "paper-groups-2-standbys-1"),
        (Shape(nodes={"data_node": 0}, holes=("late_watch",)), "data_node-0-late_watch"),
        (Shape(protocol="../x"), "___x"),
    ],
)
def test_a_shape_names_its_data_directory(shape: Shape, slug: str) -> None:
    assert shape.slug == slug
