"""The server whose namespace the audit reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from nodes.explore.audit import leading


def taken(**places: str) -> Any:
    cluster: Any = SimpleNamespace(places=places)
    pages: Any = {name: name for name in places}
    return leading(cluster, pages)


def test_the_one_that_answers_is_read() -> None:
    assert taken(mds1="standby", mds2="active") == "mds2"
    assert taken(mds1="secondary", mds2="primary") == "mds2"


def test_who_joins_is_never_read() -> None:
    assert taken(mds1="joining", mds2="member", mds3="member") == "mds2"
    with pytest.raises(LookupError, match="no server serves of mds1"):
        taken(mds1="joining")
