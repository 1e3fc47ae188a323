"""Targets of reads that any server may answer."""

from __future__ import annotations

from nodes.client.routing import SILENT_NS, Routes

NAMES = ["mds1", "mds2", "mds3"]


def asked(routes: Routes, count: int, now_ns: int) -> list[str]:
    return sorted(routes.first(False, now_ns) for _ in range(count))


def test_reads_go_round_and_pass_a_silent_server_by() -> None:
    routes = Routes(NAMES, reads_anywhere=True)
    assert asked(routes, 3, 0) == NAMES
    routes.unanswered("mds2", 0)
    assert asked(routes, 6, 1) == ["mds1"] * 3 + ["mds3"] * 3


def test_one_read_tries_a_silent_server_again_after_a_while() -> None:
    routes = Routes(NAMES, reads_anywhere=True)
    routes.unanswered("mds2", 0)
    assert asked(routes, 9, SILENT_NS).count("mds2") == 1
    assert asked(routes, 9, 2 * SILENT_NS).count("mds2") == 1
    routes.accept("mds2", 1, writes=False)
    assert asked(routes, 3, 2 * SILENT_NS) == NAMES


def test_when_all_are_silent_the_one_believed_is_asked() -> None:
    routes = Routes(NAMES, reads_anywhere=True)
    for name in NAMES:
        routes.unanswered(name, 0)
    assert routes.first(False, 1) == routes.first(True, 1) == routes.believed


def test_other_families_ask_the_one_believed_whatever_it_does() -> None:
    routes = Routes(NAMES)
    routes.unanswered("mds1", 0)
    assert routes.first(False, 1) == "mds1"


def test_two_that_name_each_other_do_not_keep_a_client() -> None:
    routes, names = Routes(["a", "b", "c", "d"]), {"a": "b", "b": "a"}
    asked, server = list[str](), "a"
    for _ in range(8):
        asked.append(server)
        server = routes.next(server, names.get(server, ""))
    assert set(asked) == {"a", "b", "c", "d"}


def test_a_hint_counts_again_after_an_answer() -> None:
    routes = Routes(["a", "b", "c", "d"])
    assert routes.next("a", "c") == "c"
    assert routes.next("c", "c") == "d"
    routes.accept("d", 1)
    assert routes.next("d", "c") == "c"


def test_the_first_view_of_an_epoch_names_the_server_to_ask() -> None:
    routes = Routes(NAMES)
    assert routes.accept_view(2, "mds2") and routes.believed == "mds2"
    assert not routes.accept_view(2, "mds3") and not routes.accept_view(1, "mds3")
    assert routes.accept("mds3", 4)
    assert not routes.accept_view(4, "mds1") and routes.believed == "mds3"
    assert not routes.accept_view(5, "mds9") and routes.believed == "mds3"


def test_servers_are_asked_for_their_views_again_after_a_new_one_and_when_one_was_added() -> None:
    routes = Routes(NAMES)
    routes.asks_views = True
    routes.learn("mds2")
    assert routes.asks_views
    routes.learn("mds4")
    assert not routes.asks_views
    routes.asks_views = True
    assert routes.accept_view(2, "mds4") and not routes.asks_views


def test_a_server_that_names_itself_is_asked_once_more() -> None:
    routes = Routes(NAMES)
    assert routes.next("mds2", "mds2") == "mds2"
    assert routes.next("mds2", "mds2") == "mds3"
