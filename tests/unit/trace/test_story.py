"""Events as lines that a person reads."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from nodes.trace.events import AnyEvent, FaultEnded, FaultInjected, Stamped, Warned
from nodes.trace.prose import LONGEST, PROSE, operation, words
from nodes.trace.story import failure, story, text
from tests.unit.trace.test_causes import a_write, durable

EXAMPLES: dict[Any, Any] = {int: 3, str: "x", bool: True, float: 0.5, Any: ["Mkdir", "/a"]}


def example(kind: Any) -> Any:
    """A value of a field's type."""
    origin, of = get_origin(kind), get_args(kind)
    if origin is list:
        return [example(of[0])]
    if origin is tuple:
        return tuple(example(each) for each in of)
    if origin is Literal:
        return of[0]
    if origin is dict:
        return {example(of[0]): example(of[1])}
    return EXAMPLES[kind] if kind in EXAMPLES else kind(*fields(kind))


def fields(kind: Any) -> list[Any]:
    hints = get_type_hints(kind)
    return [example(hints[name]) for name in kind.__struct_fields__]


@pytest.mark.parametrize("kind", get_args(AnyEvent), ids=lambda kind: kind.__name__)
def test_every_event_has_a_sentence_of_one_line(kind: Any) -> None:
    sentence = words(kind(*fields(kind)))
    assert sentence and "\n" not in sentence and "{" not in sentence and "<" not in sentence


def test_there_is_a_sentence_for_each_event_and_for_nothing_else() -> None:
    assert set(PROSE) == set(get_args(AnyEvent))


def test_a_long_sentence_is_cut_and_lines_within_one_are_joined() -> None:
    fault = FaultInjected(1, "crash", ["mds1\nmds2"] * 60, {})
    assert len(words(fault)) == LONGEST and words(fault).endswith("…") and "\n" not in words(fault)


def test_an_operation_is_reported_as_it_would_be_typed() -> None:
    assert operation(["Rename", "/a", "/b", False]) == "rename /a /b"
    assert operation([]) == "nothing"


def test_a_story_goes_from_the_call_to_its_answer_over_all_servers() -> None:
    reported, (*_, answer, _) = a_write()
    lines = story(reported.events, (answer.server, answer.number)).splitlines()
    assert lines[0] == "    0.0000 s  ada   calls mkdir /a (call 7 of ada.1)"
    assert [line.split()[2] for line in lines] == ["ada", "mds1", "mds2", "mds1", "ada"]
    assert lines[3].endswith("mds1  commits sn 3 of epoch 1 with call ada.1 7, ada.1 8; mds1, mds2 hold it")


def test_what_a_check_holds_against_a_cluster_is_reported_with_what_led_to_it() -> None:
    reported, (first, second, *_) = a_write()
    unrelated = reported("mds3", durable(1))
    lines = failure(reported.events, [("mds2", second.number)])
    assert len(lines) == 3 and lines[-1].endswith("mds2  has synced sn 3 of epoch 1 (1 records)")
    assert not any(unrelated.server in line for line in lines)
    assert first.at_ns < second.at_ns


def test_without_evidence_the_last_turns_of_the_cluster_are_reported() -> None:
    reported, _ = a_write()
    reported("control", FaultInjected(1, "crash", ["mds1"], {}))
    assert failure(reported.events, []) == ["    0.0060 s  control  fault 1: crash mds1"]
    assert failure(reported.events, [("mds9", 1)]) == failure(reported.events, [])


def test_a_step_names_the_message_upon_which_it_was_taken() -> None:
    event = Stamped("mds2", 1, 1, 5, 0, durable(3), "mds1", "Prepare")
    assert story([event]).endswith("mds2  upon Prepare: has synced sn 3 of epoch 1 (1 records)")


def test_a_fault_that_stood_at_a_server_of_the_story_is_reported() -> None:
    """A cut keeps something from happening: nothing follows from it."""
    reported, (first, second, *_) = a_write()
    cut = Stamped("control", 1, 1, first.at_ns, 0, FaultInjected(1, "cut", ["mds2", "mds3"], {}))
    elsewhere = Stamped("control", 1, 2, first.at_ns, 0, FaultInjected(2, "cut", ["mds7", "mds8"], {}))
    over = Stamped("control", 1, 3, first.at_ns, 0, FaultInjected(3, "pause", ["mds2"], {}))
    ended = Stamped("control", 1, 4, second.at_ns, 0, FaultEnded(3, "pause", ["mds2"]))
    lines = failure([cut, elsewhere, over, ended, *reported.events], [("mds2", second.number)])
    assert [line for line in lines if "fault" in line] == [
        f"{first.at_ns / 1e9:10.4f} s  control  fault 1: cut mds2 mds3"
    ]


def test_the_roots_of_all_chains_stay_in_a_long_story() -> None:
    events = [Stamped("mds1", 1, n, n, n - 1, Warned(f"{n}")) for n in range(1, 60)]
    events += [Stamped("mds2", 1, n, n + 20, n - 1, Warned(f"other {n}")) for n in range(1, 60)]
    lines = failure(events, [("mds1", 59), ("mds2", 59)])
    assert sum("steps …" in line for line in lines) == 2
    assert any(line.endswith("mds2  warns: other 1") for line in lines)


def test_the_middle_of_a_long_story_is_left_out_and_counted() -> None:
    lines = [(number, "mds1", f"step {number}") for number in range(100)]
    shown = text(lines, 10)
    assert len(shown) == 11 and shown[4] == "… 90 steps …"
    assert shown[0].endswith("step 0") and shown[-1].endswith("step 99") and shown[5].endswith("step 94")


def test_equal_times_keep_the_order_of_cause() -> None:
    events = [Stamped("mds1", 1, n, 5, n - 1, Warned(f"{10 - n}")) for n in range(1, 6)]
    lines = story(events, ("mds1", 5)).splitlines()
    assert [line.split()[-1] for line in lines] == ["9", "8", "7", "6", "5"]


def test_of_what_a_server_reports_in_a_row_the_last_one_is_reported() -> None:
    events = [Stamped("mds1", 1, n, n, n - 1, durable(n)) for n in range(1, 6)]
    events.insert(2, Stamped("mds1", 1, 6, 9, 5, Warned("between")))
    events.append(Stamped("mds1", 1, 7, 10, 6, durable(7)))
    lines = story(events, ("mds1", 7)).splitlines()
    assert [line.split(maxsplit=3)[3] for line in lines] == [
        "has synced sn 5 of epoch 1 (1 records)",
        "warns: between",
        "has synced sn 7 of epoch 1 (1 records)",
    ]
