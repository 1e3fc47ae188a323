"""A session that has ended at a group which a call has left."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND
from nodes.metadata.operations import CloseSession, Create, Stat
from nodes.wire.messages import Request
from tests.simulation.dcfs2.lab import SETTLE_NS, Groups
from tests.simulation.dcfs2.test_late_copies import make_at

PATH = "/x/f"


@pytest.mark.parametrize("seed", range(3))
def test_a_group_that_has_closed_the_session_does_not_decide_a_call_that_went_on(seed: int) -> None:
    """The root's group refers the call. A second copy of it is late there, and comes when the session has been closed; the request at the other
    group is still on its way."""
    lab = Groups(seed, 2, 1, placement="random")
    make_at(lab, "/x", 2)
    make_at(lab, "/y", 2)
    lab.ada.call(Create("/own"))
    lab.ada.call(Create("/y/own"))
    first: list[tuple[str, str, Request]] = []

    def asked(sender: str, receiver: str, message: object) -> bool:
        asks = sender == "ada" and type(message) is Request and message.operation == Create(PATH)
        if asks and not first:
            first.append((sender, receiver, message))
        return asks and receiver in lab.servers(2)

    on_the_way = lab.cluster.hold(asked)
    call = lab.ada.spawn(Create(PATH))
    lab.cluster.run_until(lambda: bool(on_the_way.messages), SETTLE_NS)
    lab.ada.call(CloseSession())
    sender, receiver, copy = first[0]
    lab.cluster.net.carry(sender, receiver, [copy])
    lab.cluster.run_for(20 * MILLISECOND)
    assert not call.done(), call.exception()
    on_the_way.release()
    lab.cluster.run_until(call.done, SETTLE_NS)
    assert lab.eve.call(Stat(PATH)).result.inode == call.result().result.inode  # type: ignore[union-attr]
    lab.finish()
