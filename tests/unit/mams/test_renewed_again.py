"""A server may be renewed from an old registration: what its active has sent it since stays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from nodes.mutations import NO_MUTATIONS
from nodes.protocols.mams.pool_node import PoolJournal
from nodes.wire.messages import Mark


@pytest.mark.parametrize(
    ("last_epoch", "sent", "promised", "spared"),
    [
        pytest.param(2, (2, 38), 2, 38, id="written by the active"),
        pytest.param(1, (0, 0), 2, 0, id="nothing sent"),
        pytest.param(1, (1, 38), 2, 0, id="sent by an earlier active"),
        pytest.param(1, (2, 30), 2, 30, id="older groups sent by the active"),
        pytest.param(3, (3, 38), 3, 38, id="the session of an earlier epoch"),
    ],
)
def test_a_session_spares_what_its_writer_has_sent(
    last_epoch: int, sent: tuple[int, int], promised: int, spared: int
) -> None:
    pool: Any = SimpleNamespace(
        _log=SimpleNamespace(last=Mark(0, last_epoch, 38, 7)),
        _sent=sent,
        promised=promised,
        _mutations=NO_MUTATIONS,
    )
    assert PoolJournal.spared_sn(pool, 2) == spared
