"""A server may be renewed from an old registration: what it has received from this active since stays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from nodes.protocols.mams.messages import Renew
from nodes.protocols.mams.pool_reader import known_good_sn
from nodes.wire.messages import Mark


@pytest.mark.parametrize(("epoch", "kept"), [(2, 38), (1, 21)])
def test_groups_of_the_active_s_own_epoch_stay(epoch: int, kept: int) -> None:
    replica: Any = SimpleNamespace(log=SimpleNamespace(last=Mark(0, epoch, 38, 7)))
    assert known_good_sn(replica, Renew(2, 21, 40, ["mds1"], False, 0)) == kept
