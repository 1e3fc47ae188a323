"""A client ends while one of its calls is under way."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.errors import FsError
from nodes.metadata.operations import Create, Made, Mkdir, Stat
from nodes.wire.messages import Answer
from tests.simulation.client.test_mutations import FAMILIES
from tests.simulation.client.test_sessions import copied, lab_of_short_sessions
from tests.simulation.mams.lab import SETTLE_NS


def answers_creation(message: object) -> bool:
    return type(message) is Answer and type(message.result) is Made


@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_second_copy_behind_the_closing_does_not_refuse_the_call(protocol: str) -> None:
    """The call is carried out, and its answer is late. The link delivers its request a second time when the session has been closed."""
    lab = lab_of_short_sessions(protocol)
    lab.ada.call(Mkdir("/a"))
    copies = copied(lab, (Create,))
    late = lab.cluster.hold(lambda sender, receiver, message: receiver == "ada" and answers_creation(message))
    call = lab.begin(lab.ada, Create("/f"))
    lab.cluster.run_until(lambda: bool(late.messages), SETTLE_NS)
    closing = lab.ada.begin(lab.ada.client.close())
    lab.cluster.run_until(closing.done, 10 * SECOND)
    assert len(copies) == 1
    lab.cluster.net.holds.remove(late)
    sender, receiver, copy = copies[0]
    lab.cluster.net.carry(sender, receiver, [copy])
    lab.cluster.run_until(call.done, SETTLE_NS)
    with pytest.raises(FsError, match="ETIMEDOUT"):
        call.result()
    lab.eve.call(Stat("/f"))
    lab.finish()
    assert lab.broken() == {}
