"""Names and directories in the API's responses."""

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.fs.blocks import block
from backend.fs.service import entry
from nodes.metadata.operations import Attributes, Block
from nodes.units import DIRECTORY, GROUP_SHIFT
from nodes.wire.data_messages import DAMAGED, FINAL, WRITING, Location

GROUPS = st.integers(1, 9)
HOMES = {number: f"g{number}" for number in range(1, 10)}


def attributes(group: int, kind: str) -> Attributes:
    inode = (group << GROUP_SHIFT) | 7 | (DIRECTORY if kind == "directory" else 0)
    return Attributes(inode, kind, 0o755, "clover", "clover", 5, 0, 0, 0, 3 if kind == "directory" else 0, 1)


@given(GROUPS, GROUPS, st.sampled_from(["file", "directory"]))
def test_a_branch_point_is_a_name_whose_object_is_at_home_elsewhere(
    child: int, parent: int, kind: str
) -> None:
    reported = entry("x", attributes(child, kind), attributes(parent, "directory"), HOMES)
    assert reported["home"] == f"g{child}"
    assert reported["branch_point"] == (child != parent)
    assert (reported["kind"], reported["entries"]) == (kind, 3 if kind == "directory" else 0)


PLACES = st.lists(
    st.builds(
        Location,
        st.sampled_from(["dn1", "dn2", "dn3", "dn4"]),
        st.integers(1, 2),
        st.sampled_from([512, 700]),
        st.sampled_from([WRITING, FINAL, DAMAGED]),
    ),
    unique_by=lambda place: place.node,
)


@settings(max_examples=60, deadline=None)
@given(PLACES, st.integers(1, 3))
def test_a_replica_is_good_only_when_it_is_the_very_block(found: list[Location], replication: int) -> None:
    reported = block(Block(0x0001_0000_0000_0007, 2, 700), found, replication)
    good = {each.node for each in found if (each.stamp, each.length, each.state) == (2, 700, FINAL)}
    assert reported["number"] == "0001000000000007"
    assert {node for node, word in reported["replicas"].items() if word == "good"} == good
    assert {node for node, word in reported["replicas"].items() if word == "damaged"} == {
        each.node for each in found if each.state == DAMAGED
    }
    assert set(reported["replicas"]) == {each.node for each in found}
    many = len(good) - replication
    expected = "missing" if not good else "whole" if not many else "over" if many > 0 else "under"
    assert reported["health"] == expected
