"""Names as the page is told them."""

from hypothesis import given
from hypothesis import strategies as st

from backend.fs.service import entry
from nodes.metadata.operations import Attributes
from nodes.units import DIRECTORY, GROUP_SHIFT

GROUPS = st.integers(1, 9)
HOMES = {number: f"g{number}" for number in range(1, 10)}


def attributes(group: int, kind: str) -> Attributes:
    inode = (group << GROUP_SHIFT) | 7 | (DIRECTORY if kind == "directory" else 0)
    return Attributes(inode, kind, 0o755, "clover", "clover", 5, 0, 0, 0, 3 if kind == "directory" else 0)


@given(GROUPS, GROUPS, st.sampled_from(["file", "directory"]))
def test_a_branch_point_is_a_name_whose_object_is_at_home_elsewhere(
    child: int, parent: int, kind: str
) -> None:
    told = entry("x", attributes(child, kind), attributes(parent, "directory"), HOMES)
    assert told["home"] == f"g{child}"
    assert told["branch_point"] == (child != parent)
    assert (told["kind"], told["entries"]) == (kind, 3 if kind == "directory" else 0)
